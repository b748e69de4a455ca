package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"evener/internal/id"
	"evener/internal/regular"
)

// BundleFile is the name, in a root's folder, of what a bundle says of itself.
const BundleFile = "bundle.json"

// Bundled says what a bundle is and what was left out of it on purpose.
type Bundled struct {
	Format  int64      `json:"format"`
	Version string     `json:"version"` // of the program that made it
	Session id.Session `json:"session_id"`
	// Step is the last decision that is in it, where the session was in use.
	Step     int64     `json:"up_to_step,omitempty"`
	Secrets  []string  `json:"secrets,omitempty"` // names of those that were looked for
	Outputs  []LeftOut `json:"outputs_left_out,omitempty"`
	Problems []string  `json:"problems,omitempty"` // files that are not in it against the wish of who made it
}

// LeftOut is output of a job that was left out.
type LeftOut struct {
	Job   id.Job `json:"job_id"`
	Bytes int64  `json:"bytes"`
}

// maxBundled bounds what is read of it, in bytes: half a million outputs that were left out.
const maxBundled = 64 << 20

// bundleFormat is the one that this program writes and reads.
const bundleFormat = 1

// NewBundled begins what a bundle says of itself.
func NewBundled(root id.Session, version string) Bundled {
	return Bundled{Format: bundleFormat, Version: version, Session: root}
}

// Bundled is what a root's folder says that was unpacked from a bundle; ok is
// false for any other.
func (h Home) Bundled(root id.Session) (b Bundled, ok bool, err error) {
	path := filepath.Join(h.Dir(root), BundleFile)
	if err := NoLink(path); err != nil {
		return b, false, err
	}
	raw, err := regular.Read(path, maxBundled)
	if errors.Is(err, fs.ErrNotExist) {
		return b, false, nil
	}
	if err == nil {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.DisallowUnknownFields()
		err = d.Decode(&b)
	}
	switch {
	case err != nil:
		return b, false, fmt.Errorf("%s cannot be read: %w", path, err)
	case b.Format != bundleFormat || b.Session != root:
		return b, false, fmt.Errorf("%s is of another session or a later version", path)
	}
	return b, true, nil
}

// Aside is the name of the file in which data of an event stands, if it stands in one.
func Aside(data []byte) (name string, ok bool) {
	var a aside
	if !bytes.HasPrefix(data, asidePrefix) || json.Unmarshal(data, &a) != nil {
		return "", false
	}
	return a.File, true
}

// NamedAside is the data that names a file with this body.
func NamedAside(body []byte) (name string, data []byte, err error) {
	a := asideOf(body)
	data, err = json.Marshal(a)
	return a.File, data, err
}

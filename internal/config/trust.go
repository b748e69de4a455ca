package config

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/renameio/v2"

	"evener/internal/regular"
)

// Trust is the user's word on which projects may set what only a trusted one
// may: one file a folder, beside the user's configuration. It holds for the
// folder's real path and for the text of its configuration at that time; a
// changed text is asked about again.
type Trust struct {
	dir string // empty: there is no place for it, and nothing is trusted
}

// TrustBeside is the trust that stands beside the user's file.
func TrustBeside(userFile string) Trust {
	if userFile == "" {
		return Trust{}
	}
	return Trust{filepath.Join(filepath.Dir(userFile), "trusted")}
}

// Grant is one folder that was trusted.
type Grant struct {
	Folder string `json:"folder"`
	SHA256 string `json:"config_sha256"`
	At     string `json:"at"`
}

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// project is the folder that a configuration file speaks for, by its real path.
func project(file string) string {
	dir := filepath.Dir(filepath.Dir(file))
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return dir
}

func (t Trust) file(folder string) string { return filepath.Join(t.dir, sum([]byte(folder))+".json") }

func readGrant(path string) (Grant, error) {
	data, err := regular.Read(path, maxFile)
	if err != nil {
		return Grant{}, err
	}
	var g Grant
	if err := json.Unmarshal(data, &g); err != nil || filepath.Base(path) != sum([]byte(g.Folder))+".json" {
		return Grant{}, fmt.Errorf("%s says nothing that can be understood; remove it and trust the folder again", path)
	}
	return g, nil
}

// Doubt tells why a text of a project's file is not trusted; empty if it is.
func (t Trust) Doubt(file string, data []byte) string {
	folder := project(file)
	ask := "read it, then run evener trust " + Quoted(folder)
	if t.dir == "" {
		return "you trust, and there is no place to keep that: neither XDG_CONFIG_HOME nor HOME names one"
	}
	g, err := readGrant(t.file(folder))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "you trust: " + ask
	case err != nil:
		return "you trust: " + err.Error()
	case g.SHA256 != sum(data):
		return "you trust, and this file has changed since you did: " + ask
	}
	return ""
}

// Grant records that the user trusts a project's file as it stands.
func (t Trust) Grant(file string, data []byte, now time.Time) (Grant, error) {
	g := Grant{project(file), sum(data), now.UTC().Format(time.RFC3339)}
	if t.dir == "" {
		return g, errors.New("there is no place to keep it: neither XDG_CONFIG_HOME nor HOME names one")
	}
	line, err := json.Marshal(g)
	if err == nil {
		err = os.MkdirAll(t.dir, 0o700)
	}
	if err == nil {
		err = renameio.WriteFile(t.file(g.Folder), append(line, '\n'), 0o600, renameio.WithTempDir(t.dir))
	}
	return g, err
}

// Revoke takes a folder's trust back. It reports whether there was any.
func (t Trust) Revoke(folder string) (bool, error) {
	if t.dir == "" {
		return false, nil
	}
	err := os.Remove(t.file(folder))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Grants lists the folders that were trusted, by the names of their files.
func (t Trust) Grants() ([]Grant, error) {
	if t.dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(t.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var all []Grant
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		g, err := readGrant(filepath.Join(t.dir, e.Name()))
		if err != nil {
			return nil, err
		}
		all = append(all, g)
	}
	return all, err
}

// State tells how a grant stands to what is there now: holds, changed or gone.
func (t Trust) State(g Grant) string {
	data, err := regular.Read(filepath.Join(g.Folder, ".evener", "config.json"), maxFile)
	switch {
	case err != nil:
		return "gone"
	case sum(data) != g.SHA256:
		return "changed"
	}
	return "holds"
}

// Quoted is a word as a shell reads it.
func Quoted(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+,:@%=", r) || r >= 0x80
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Asked is a setting of a project's file that counts only if it is trusted.
type Asked struct {
	Key   string
	Value string // as it may be printed
	At    string // FILE:LINE
}

// Review reads a project's file as if it were trusted, and tells what in it
// needs that. data is the text that this is said of.
func Review(s Sources) (asked []Asked, data []byte, err error) {
	if _, err := os.Stat(s.ProjectFile); err != nil {
		return nil, nil, err
	}
	c, err := loadAll(s, func(text []byte) string { // asked where something needs it
		data = text
		return ""
	})
	if err != nil {
		return nil, nil, err
	}
	rows := c.rows()
	for i := range rows {
		k, o := &rows[i], c.origins[rows[i].name]
		if o.Source == Project && k.top == nil && k.needsTrust(k.load(&c)) {
			asked = append(asked, Asked{k.name, cell(k.shown(&c)), o.At})
		}
	}
	return asked, data, nil
}

// needsTrust tells whether a value in a project's file counts only if that is trusted.
func (k *key) needsTrust(value any) bool {
	return !k.allows(Project) && k.allows(Trusted) || k.risky != nil && k.risky(value)
}

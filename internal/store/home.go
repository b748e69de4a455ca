package store

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode"

	"evener/internal/id"
)

// FindIn locates the state folder for a working directory in a state home,
// which holds the sessions of all projects and leaves nothing in theirs:
//
//	<state home>/projects/<project>/sessions/<session_id>/
//
// The project is the folder whose .evener counts, else the repository, else the
// directory itself.
func FindIn(dir, stateHome string) (Home, error) {
	h, err := Find(dir, "")
	if err != nil {
		return Home{}, err
	}
	project := filepath.Dir(h.Project)
	if root := Repository(project); root != "" && !isDir(h.Project) {
		project = root
	}
	if project, err = filepath.EvalSymlinks(project); err != nil {
		return Home{}, fmt.Errorf("find the state folder: %w", err)
	}
	h.Projects = filepath.Join(stateHome, "projects")
	h.Sessions = filepath.Join(h.Projects, projectName(project), "sessions")
	return h, nil
}

// maxReadable bounds the readable part of a project's name, in bytes.
const maxReadable = 60

// projectName names a folder: readable by its beginning, distinct by the hash
// of its real path. Paths are told apart byte by byte, as Linux does, so two
// spellings of one word are two projects where they are two folders.
func projectName(dir string) string {
	var b strings.Builder
	for _, r := range filepath.Base(dir) {
		if r == unicode.ReplacementChar || !unicode.In(r, unicode.L, unicode.M, unicode.N) && r != '.' && r != '_' {
			r = '-'
		}
		if b.Len()+len(string(r)) > maxReadable {
			break
		}
		b.WriteRune(r)
	}
	readable := strings.Trim(b.String(), ".-")
	if readable == "" {
		readable = "project"
	}
	sum := sha256.Sum256([]byte(dir))
	return readable + "-" + hex.EncodeToString(sum[:8])
}

// Siblings are the other projects of the state home that have a session. Where
// none is found and one of them cannot be looked into, that is the answer.
func (h Home) Siblings(s id.Session) ([]Home, error) {
	if h.Projects == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(h.Projects)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Home
	var hidden error
	for _, e := range entries {
		other := Home{Sessions: filepath.Join(h.Projects, e.Name(), "sessions"), Projects: h.Projects}
		if other.Sessions == h.Sessions {
			continue
		}
		switch _, err := os.Stat(other.Journal(s)); {
		case err == nil:
			out = append(out, other)
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			hidden = err
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	return nil, hidden
}

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"evener/internal/id"
)

// Home is a state folder.
type Home struct {
	// Project is the .evener folder of the project, which holds its settings.
	// It need not exist.
	Project string
	// Sessions holds one folder a session.
	Sessions string
	// Projects holds one folder a project, of which this is one; empty where
	// sessions do not stand in a state home.
	Projects string
	// At is the decision behind which reads see nothing, for a look at the past; 0 is
	// none. Summaries and job output are as they are now.
	At int64
	// Lean folds keep of results and replies only how they begin, so that a check of a
	// long session takes little memory. Nothing is decided on what they give.
	Lean bool
}

const folder = ".evener"

// Find locates the state folder for a working directory: the nearest .evener
// at or above it, as far up as the repository reaches; without a repository
// only dir itself counts. stateDir, if not empty, moves sessions/ only.
func Find(dir, stateDir string) (Home, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return Home{}, fmt.Errorf("find the state folder: %w", err)
	}
	h := Home{Project: filepath.Join(nearest(dir), folder)}
	h.Sessions = filepath.Join(h.Project, "sessions")
	if stateDir != "" {
		if stateDir, err = filepath.Abs(stateDir); err != nil {
			return Home{}, fmt.Errorf("find the state folder: %w", err)
		}
		h.Sessions = filepath.Join(stateDir, "sessions")
	}
	return h, nil
}

// nearest is the folder whose .evener counts for dir.
func nearest(dir string) string {
	root := Repository(dir)
	if root == "" {
		return dir
	}
	for d := dir; ; d = filepath.Dir(d) {
		if isDir(filepath.Join(d, folder)) {
			return d
		}
		if d == root {
			return dir
		}
	}
}

// Repository is the root of the git repository that dir lies in, or "".
func Repository(dir string) string {
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
		if d == filepath.Dir(d) {
			return ""
		}
	}
}

func isDir(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.IsDir()
}

// PlaceError says what stands in the place of a folder of the state.
type PlaceError struct{ Path, Text string }

func (e *PlaceError) Error() string { return e.Path + " " + e.Text }

// Folder refuses what stands where a folder of the state does and is none, under
// the path itself or above it. One that is not there can be made.
func Folder(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
	case err == nil:
		return &PlaceError{path, "is a file, and a folder is wanted there; move it away"}
	case errors.Is(err, syscall.ENOTDIR):
		return Folder(filepath.Dir(path))
	default:
		if to, err := os.Readlink(path); err == nil {
			return &PlaceError{path, "is a symbolic link to " + to + ", which is no folder that can be entered; make that folder, or remove the link"}
		}
		if errors.Is(err, fs.ErrNotExist) && filepath.Dir(path) != path {
			return Folder(filepath.Dir(path))
		}
	}
	return nil
}

// Check refuses a state folder of a repository that is a symbolic link or holds
// sessions/ as one: a repository could so send what is written elsewhere, and
// what is read could be another's.
func (h Home) Check() error {
	if filepath.Dir(h.Sessions) != h.Project || Repository(filepath.Dir(h.Project)) == "" {
		return nil
	}
	for _, p := range []string{h.Project, h.Sessions} {
		if info, err := os.Lstat(p); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%s is a symbolic link, which is not followed inside a repository; --state-dir names another folder for sessions", p)
		}
	}
	return nil
}

// Make creates what is missing of the folder. The .gitignore is written before
// the first session, also into a folder that holds settings already, so that
// session state is not committed by accident. One that is there is left alone.
func (h Home) Make() error {
	if err := h.Check(); err != nil {
		return err
	}
	if filepath.Dir(h.Sessions) == h.Project && !isDir(h.Sessions) {
		if err := makeDurable(h.Project); err != nil {
			return unmade(err)
		}
		f, err := os.OpenFile(filepath.Join(h.Project, ".gitignore"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_, err = f.WriteString("sessions/\n")
			err = errors.Join(err, f.Close())
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return unmade(err)
		}
	}
	if err := makeDurable(h.Sessions); err != nil {
		return unmade(err)
	}
	return nil
}

func unmade(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("make the state folder: %w; make that writable, or name another place with --state-dir", err)
	}
	return fmt.Errorf("make the state folder: %w", err)
}

// makeDurable makes a folder and what is missing above it. Each new entry is
// synced: a session that was given out must not vanish with a folder above it.
func makeDurable(dir string) error {
	if isDir(dir) {
		return nil
	}
	if err := makeDurable(filepath.Dir(dir)); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(filepath.Dir(dir))
}

// Dir is the folder of a session, Journal its journal.
func (h Home) Dir(s id.Session) string     { return filepath.Join(h.Sessions, string(s)) }
func (h Home) Journal(s id.Session) string { return filepath.Join(h.Dir(s), "session.jsonl") }

// Delegates is the journal of the delegates of a root.
func (h Home) Delegates(root id.Session) string { return filepath.Join(h.Dir(root), "delegates.jsonl") }

// Scratch is the scratch folder of a tree.
func (h Home) Scratch(root id.Session) string { return filepath.Join(h.Dir(root), "scratch") }

// Log is the output file of a job, in its owner's folder.
func (h Home) Log(j id.Job) string {
	return filepath.Join(h.Dir(j.Owner()), "jobs", string(j)+".log")
}

// IDs lists the sessions there are, oldest first. Other names in the folder
// are passed over: they are not sessions.
func (h Home) IDs() ([]id.Session, error) {
	entries, err := os.ReadDir(h.Sessions)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	var out []id.Session
	for _, e := range entries {
		if s, ok := id.ParseSession(e.Name()); ok && e.IsDir() {
			out = append(out, s)
		}
	}
	return out, nil
}

// Has reports whether the session has a journal.
func (h Home) Has(s id.Session) bool {
	_, err := os.Stat(h.Journal(s))
	return err == nil
}

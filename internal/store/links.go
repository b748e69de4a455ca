package store

import (
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"evener/internal/regular"
	"evener/journal"
)

// A session's folder and what stands in it are never symbolic links: evener makes none
// there but for those of compacted output, inside jobs/. One that somebody planted, in a
// repository or an archive, would have another file read as a journal, or written over.

const linked = "is a symbolic link, which is not followed there; remove it"

// NoLink refuses a path that is a symbolic link, or stands in a folder that is one.
func NoLink(path string) error {
	for _, p := range []string{filepath.Dir(path), path} {
		if info, err := os.Lstat(p); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return &PlaceError{p, linked}
		}
	}
	return nil
}

// noLinks refuses a session's folder that is a link or has one in it.
func noLinks(dir string) error {
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return &PlaceError{dir, linked}
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			return &PlaceError{filepath.Join(dir, e.Name()), linked}
		}
	}
	return err
}

// Read reads a journal of a state folder from its beginning.
func Read(path string) iter.Seq2[journal.Entry, error] {
	if err := NoLink(path); err != nil {
		return func(yield func(journal.Entry, error) bool) { yield(journal.Entry{}, err) }
	}
	return journal.Read(path, journal.Pos{})
}

// openRegular opens a file of a session's folder, and what is none not at all: a pipe
// would wait for its other end.
func openRegular(path string, flag int) (*os.File, error) {
	if err := NoLink(path); err != nil {
		return nil, err
	}
	return regular.Open(path, flag)
}

// writeNew writes a file in place of what stands under its name, never through it.
func writeNew(path string, data []byte) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

package joblog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// makeRoom evicts the oldest bytes so that n more fit under the cap.
func (l *Log) makeRoom(n int64) error {
	start, end := l.start.Load(), l.end.Load()
	if end+n-start <= l.cap {
		return nil
	}
	if !l.compact {
		target := (end + n - l.cap + l.slack + l.block - 1) &^ (l.block - 1)
		err := punch(l.f, start, target-start)
		if err == nil {
			l.start.Store(target)
			return nil
		}
		if !errors.Is(err, errNoPunch) {
			return err
		}
		l.compact = true
	}
	if end+n-start <= 2*l.cap {
		return nil
	}
	return l.compactTo(end + n - l.cap)
}

// compactTo keeps the bytes from base on, in a new file that replaces the log
// in one rename.
func (l *Log) compactTo(base int64) error {
	file := l.path + "@" + strconv.FormatInt(base, 10)
	f, err := createFile(file)
	if err != nil {
		return err
	}
	keep := l.end.Load() - base
	_, err = io.Copy(f, io.NewSectionReader(l.f, base-l.base, keep))
	if err == nil {
		// A gap at the end may not have reached the old file's size.
		err = f.Truncate(keep)
	}
	if err == nil {
		err = relink(l.path, file)
	}
	if err != nil {
		return errors.Join(err, f.Close(), os.Remove(file))
	}
	old, oldFile := l.f, l.file
	l.f, l.file, l.base = f, file, base
	l.start.Store(base)
	l.dirSync = false
	if oldFile != l.path {
		err = os.Remove(oldFile)
	}
	return errors.Join(err, old.Close())
}

// relink lets path name the compacted file.
func relink(path, file string) error {
	tmp := file + ".link"
	if err := os.Symlink(filepath.Base(file), tmp); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return nil
}

// baseOf reads the lifetime offset of a compacted file's first byte from the
// link that leads to it. A link that leads anywhere else is refused.
func baseOf(path, target string) (int64, error) {
	digits, ok := strings.CutPrefix(target, filepath.Base(path)+"@")
	base, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil || base < 0 || strconv.FormatInt(base, 10) != digits {
		return 0, fmt.Errorf("open job output %s: link to %q is not one of ours", path, target)
	}
	return base, nil
}

// Remove deletes a log and whatever an interrupted compaction left of it. A log
// without a file is no error.
func Remove(path string) error {
	st, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove job output: %w", err)
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("remove job output: %w", err)
	}
	if st.Mode().IsRegular() && st.Size() < 2*MinCap {
		return nil // too small to have ever been compacted
	}
	dir, prefix := filepath.Dir(path), filepath.Base(path)+"@"
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return fmt.Errorf("remove job output: %w", err)
	}
	return nil
}

// Package enclosure reads what a cloned repository brings, without being led
// out of it: the repository's author decides what stands under a name, and a
// link to a file elsewhere would send the model, and so its server, what that
// author has no right to.
package enclosure

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Resolve follows the links of a path and refuses one that ends outside root.
// An empty root bounds nothing. A path that is not there is fs.ErrNotExist; a
// link that leads nowhere is not.
func Resolve(path, root string) (string, error) {
	if _, err := os.Lstat(path); err != nil {
		return "", err
	}
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("it cannot be followed: %s", Reason(err))
	}
	if root == "" {
		return target, nil
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(root, target); err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return "", fmt.Errorf("it is a link to %s, which is outside %s", target, root)
	}
	return target, nil
}

// Read returns at most limit bytes of a regular file, or of one that a link
// leads to inside root. It never waits for a writer.
func Read(path, root string, limit int64) ([]byte, error) {
	target, err := Resolve(path, root)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(target, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, fmt.Errorf("it cannot be opened: %s", Reason(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	return io.ReadAll(io.LimitReader(f, limit))
}

// Reason is an error without the path that the message names already.
func Reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

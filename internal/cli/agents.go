package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"evener/internal/store"
)

const maxAgents = 1 << 20 // bytes that are read; the prompt takes less

// agentsFile finds the nearest AGENTS.md at or above a folder, inside its
// repository. What stands under the name and may not be read is passed over,
// and warned of: a cloned repository decides what stands there.
func agentsFile(dir string, warn func(string)) (content, path string) {
	root := store.Repository(dir)
	bounds := root
	if root == "" {
		bounds = dir
	}
	for d := dir; ; d = filepath.Dir(d) {
		p := filepath.Join(d, "AGENTS.md")
		b, err := readInside(p, bounds)
		switch {
		case err == nil:
			return string(b), p
		case !errors.Is(err, fs.ErrNotExist):
			warn(fmt.Sprintf("%s is ignored: %v", p, err))
		}
		if d == root || root == "" {
			return "", ""
		}
	}
}

// readInside reads a regular file, or one that a link leads to inside bounds:
// a link elsewhere would send the model, and so its server, what the
// repository's author has no right to. It never waits for a writer.
func readInside(p, bounds string) ([]byte, error) {
	if _, err := os.Lstat(p); err != nil {
		return nil, err
	}
	target, err := filepath.EvalSymlinks(p)
	if err != nil { // also of a link that leads nowhere
		return nil, fmt.Errorf("it cannot be followed: %s", reason(err))
	}
	if bounds, err = filepath.EvalSymlinks(bounds); err != nil {
		return nil, err
	}
	if rel, err := filepath.Rel(bounds, target); err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return nil, fmt.Errorf("it is a link to %s, which is outside %s", target, bounds)
	}
	f, err := os.OpenFile(target, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, fmt.Errorf("it cannot be opened: %s", reason(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	return io.ReadAll(io.LimitReader(f, maxAgents))
}

// reason is an error without the path that the message names already.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

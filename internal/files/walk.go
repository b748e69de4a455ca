package files

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// walk goes through a folder in the order of names, without following links, and
// without what .gitignore excludes, git's own folder and evener's state.
type walk struct {
	ctx  context.Context
	all  bool   // also what .gitignore excludes
	skip string // the state folder
	// visit is told of each entry; parts is its path below the root.
	visit func(parts []string, e fs.DirEntry) verdict

	ignored    int // entries that were left out; of folders not what is in them
	unreadable int // folders
}

type verdict int

const (
	goOn verdict = iota
	pass         // do not go into this folder
	stop
)

// run walks below a folder; real is its path without links. The error is that of
// the folder itself, or that the time is over.
func (w *walk) run(real string) error {
	var ig ignores
	if !w.all {
		ig = above(real)
	}
	_, err := w.folder(real, nil, ig)
	return err
}

func (w *walk) folder(dir string, parts []string, ig ignores) (more bool, err error) {
	entries, err := w.entries(dir)
	if err != nil {
		return false, err
	}
	if !w.all {
		ig = ig.with(dir)
	}
	at := split(dir)
	for _, e := range entries {
		if err := w.ctx.Err(); err != nil {
			return false, err
		}
		path := filepath.Join(dir, e.Name())
		if e.Name() == ".git" || path == w.skip || e.Name() == "sessions" && filepath.Base(dir) == ".evener" {
			continue
		}
		if !w.all && ig.excluded(append(slices.Clip(at), e.Name()), e.IsDir()) {
			w.ignored++
			continue
		}
		below := append(slices.Clip(parts), e.Name())
		switch v := w.visit(below, e); {
		case v == stop:
			return false, nil
		case v == pass || !e.IsDir():
			continue
		}
		more, err := w.folder(path, below, ig)
		switch {
		case w.ctx.Err() != nil:
			return false, w.ctx.Err()
		case err != nil:
			w.unreadable++
		case !more:
			return false, nil
		}
	}
	return true, nil
}

// entries reads a folder piece by piece, so that a huge one can be given up.
func (w *walk) entries(dir string) (out []fs.DirEntry, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for {
		if err := w.ctx.Err(); err != nil {
			return nil, err
		}
		some, err := f.ReadDir(4096)
		out = append(out, some...)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	slices.SortFunc(out, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return out, nil
}

// walker is a walk of this session's.
func (p Place) walker(ctx context.Context, all bool, visit func([]string, fs.DirEntry) verdict) *walk {
	w := &walk{ctx: ctx, all: all, visit: visit}
	if real, err := filepath.EvalSymlinks(p.Sessions); err == nil {
		w.skip = real
	}
	return w
}

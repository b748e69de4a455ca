package worktree

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// A note stands beside a worktree, on disk before git is asked for it, until
// its owner is recorded (Keep) or it is gone (Remove, Reclaim). So a maker that
// is killed leaves nothing that its successor does not find.
const noteSuffix = ".making"

func (w Worktree) note() error {
	body, err := json.Marshal(w)
	if err == nil {
		err = writeSynced(w.Path+noteSuffix, body)
	}
	return err
}

// Keep says that the owner of the worktree at path is recorded.
func Keep(path string) error { return unnoted(path) }

func unnoted(path string) error {
	if err := os.Remove(path + noteSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Unfinished are the names of the worktrees in a folder that a note stands
// beside. They are neither kept nor removed while their maker lives.
func Unfinished(dir string) []string {
	entries, _ := os.ReadDir(dir) // none where there is no folder
	var names []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), noteSuffix); ok && e.Type().IsRegular() {
			names = append(names, name)
		}
	}
	return names
}

// Reclaim removes what a maker that was killed left of the worktree at path.
// Nobody has used it, so nothing can be lost. Of the note only the repository,
// branch and commit are believed: commands write to the folder that it lies in.
func (g *Git) Reclaim(ctx context.Context, path string) error {
	body, err := os.ReadFile(path + noteSuffix)
	if err != nil {
		return fmt.Errorf("remove a half-made worktree: %w", err)
	}
	var w Worktree
	if json.Unmarshal(body, &w) != nil || !filepath.IsAbs(w.Git) || !filepath.IsLocal(w.Branch) { // cut off: git was not asked yet
		return unnoted(path)
	}
	w.Path = path
	err = g.alone(ctx, func() error {
		// What a killed git leaves of a reference that it was about to make.
		_ = os.Remove(filepath.Join(w.Git, "refs", "heads", w.Branch+".lock"))
		return g.remove(ctx, w)
	})
	if err != nil {
		return fmt.Errorf("remove the half-made worktree %s: %w", path, err)
	}
	return nil
}

// writeSynced makes a file that is on disk, with its name, when this returns.
func writeSynced(path string, body []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(body)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

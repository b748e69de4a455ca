package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Remove takes a worktree away, with its branch if that has no commits of its
// own. One with changes stays, and the error is ErrDirty, as does one with
// commits that would be lost, with ErrLoose, unless lose is set.
// What is gone already, the repository included, is no error.
func (g *Git) Remove(ctx context.Context, w Worktree, lose bool) error {
	err := g.alone(ctx, func() error {
		if _, err := os.Lstat(w.Path); !lose && !errors.Is(err, fs.ErrNotExist) {
			switch e, err := g.look(ctx, w); {
			case err != nil:
				return err
			case e.Dirty:
				return ErrDirty
			case e.Loose:
				return ErrLoose
			}
		}
		return g.remove(ctx, w)
	})
	if err != nil {
		return fmt.Errorf("remove the worktree %s: %w", w.Path, err)
	}
	return nil
}

func (g *Git) remove(ctx context.Context, w Worktree) error {
	if err := os.RemoveAll(w.Path); err != nil && !errors.Is(err, syscall.ENOTDIR) { // of a path below a file
		return err
	}
	if isDir(w.Git) {
		if err := g.forget(ctx, w); err != nil {
			return err
		}
	}
	return unnoted(w.Path)
}

// forget takes out of the repository what it knows of a worktree whose folder
// is gone.
func (g *Git) forget(ctx context.Context, w Worktree) error {
	quiet, err := g.silenced(ctx, w.Git)
	if err != nil {
		return err
	}
	// The folder is gone, so git looks into nothing: it forgets the worktree, also
	// a locked one. That it does not know it is as good.
	if _, err = g.run(ctx, w.Git, quiet, "worktree", "remove", "--force", "--force", w.Path); err != nil {
		return err
	}
	// Nor does it know one in whose making it was killed.
	record := filepath.Join(w.Git, "worktrees", filepath.Base(w.Path))
	if _, err := os.Lstat(filepath.Join(record, "gitdir")); errors.Is(err, fs.ErrNotExist) {
		if err := os.RemoveAll(record); err != nil {
			return err
		}
	}
	// Of the branch, only one that still stands where it was made.
	_, err = g.run(ctx, w.Git, quiet, "update-ref", "-d", "refs/heads/"+w.Branch, w.Base)
	return err
}

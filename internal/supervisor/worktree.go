package supervisor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"evener/internal/delegate"
	"evener/internal/effect"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/store"
	"evener/internal/tree"
	"evener/internal/worktree"
)

// isolate makes the worktree of a delegate to be. What a process that is lost
// before the delegate is recorded leaves of it, the next one removes.
func (t *Tree) isolate(ctx context.Context, d id.Delegate, dir string) (delegate.Worktree, *fault.Error) {
	w, err := t.git.Make(ctx, dir, worktreePath(t.o.Store.Home, t.o.Store.Root, d), "delegate/"+string(d))
	if refused, ok := errors.AsType[*fault.Error](err); ok {
		return delegate.Worktree{}, fault.New(refused.Code, "delegate: %s", refused.Text)
	}
	if err != nil && ctx.Err() != nil {
		return delegate.Worktree{}, fault.New(fault.Interrupted, "delegate: the call was given up, and nothing is left of the worktree that it was to have")
	}
	if err != nil {
		return delegate.Worktree{}, fault.New(fault.FileFailed, "delegate: %v", err)
	}
	return delegate.Worktree(w), nil
}

// worktreePath is where the worktree of a delegate stands. It does not trust
// the record: the session may have been moved since.
func worktreePath(home store.Home, root id.Session, d id.Delegate) string {
	return filepath.Join(home.Scratch(root), string(d))
}

// Worktrees are those of a tree, where they stand now.
func Worktrees(home store.Home, t *tree.State) []worktree.Worktree {
	var all []worktree.Worktree
	for d, w := range t.Delegates.Worktrees {
		w.Path = worktreePath(home, t.Root, d.ID)
		all = append(all, worktree.Worktree(w))
	}
	return all
}

// lookLimit bounds the look at a worktree for which a call waits.
const lookLimit = 10 * time.Second

func (t *Tree) lookWorktree(s id.Session, e effect.LookWorktree) {
	d := t.o.Store.State.Delegates.Get(e.Delegate)
	w := worktree.Worktree(*d.Descriptor.Worktree)
	w.Path = worktreePath(t.o.Store.Home, t.o.Store.Root, d.ID)
	t.outside(func() {
		ctx, cancel := context.WithTimeoutCause(t.ctx, lookLimit, fmt.Errorf("git took more than %v", lookLimit))
		defer cancel()
		x, err := t.git.Look(ctx, w)
		found := delegate.Evidence{Path: x.Path, Branch: x.Branch, HeadSHA: x.HeadSHA, AheadCommits: x.AheadCommits, Dirty: x.Dirty}
		if err != nil {
			found = delegate.Evidence{Path: w.Path, Branch: w.Branch, Error: err.Error()}
		}
		t.tell(s, tree.WorktreeLooked{Call: e.Call, Delegate: e.Delegate, Evidence: found})
	})
}

// dropWorktree removes the worktree of a delegate that did not come to be.
// Nobody has used it, so nothing can be lost.
func (t *Tree) dropWorktree(w delegate.Worktree) {
	// Also when the run has ended meanwhile, which joins this.
	if err := t.git.Remove(context.WithoutCancel(t.ctx), worktree.Worktree(w), true); err != nil {
		t.o.Warn(err.Error())
	}
}

// handled is told of each input once it was decided, or refused.
func (t *Tree) handled(in tree.Input) {
	t.named(in.In)
	if p, ok := in.In.(tree.Prepared); ok {
		t.prepared(in.Session, p.Call)
		t.keepWorktree(p)
	}
}

// keepWorktree says, once the delegate of an accepted call is on disk, that its
// worktree is its own.
func (t *Tree) keepWorktree(p tree.Prepared) {
	if p.Descriptor.Worktree == nil || t.o.Store.State.Delegates.Get(id.DelegateOf(p.Child)) == nil {
		return
	}
	t.outside(func() {
		if err := worktree.Keep(p.Descriptor.Worktree.Path); err != nil {
			t.o.Warn(err.Error())
		}
	})
}

// reclaimLimit bounds what a start waits for git to forget.
const reclaimLimit = 30 * time.Second

// reclaim removes, before anything is decided, the worktrees that a lost process
// was making for delegates that did not come to be.
func (t *Tree) reclaim() {
	ctx, cancel := context.WithTimeoutCause(t.ctx, reclaimLimit, fmt.Errorf("git took more than %v", reclaimLimit))
	defer cancel()
	scratch := t.o.Store.Home.Scratch(t.o.Store.Root)
	for _, name := range worktree.Unfinished(scratch) {
		path := filepath.Join(scratch, name)
		var err error
		if t.o.Store.State.Delegates.Get(id.Delegate(name)) != nil {
			err = worktree.Keep(path)
		} else if err = t.git.Reclaim(ctx, path); err == nil {
			t.o.Warn(fmt.Sprintf("the process ended while it made the worktree %s; what there was of it is removed", path))
		}
		if err != nil {
			t.o.Warn(err.Error())
		}
	}
}

// tidy waits, when the loop has ended, for what must be carried to its end, and
// removes what was made for inputs that nobody will decide.
func (t *Tree) tidy() {
	t.tidying.Wait()
	left := t.queue
	for len(t.in) > 0 {
		left = append(left, <-t.in)
	}
	for _, p := range left {
		t.unmake(p.input)
	}
	t.tidying.Wait()
}

// unmake removes the worktree that was made for an input that is not decided.
func (t *Tree) unmake(in tree.Input) {
	if p, ok := in.In.(tree.Prepared); ok && p.Descriptor.Worktree != nil {
		t.tidied(func() { t.dropWorktree(*p.Descriptor.Worktree) })
	}
}

// Unsaved refuses to lose what is not committed in a worktree of the tree. The
// run must be over.
func (t *Tree) Unsaved() *fault.Error {
	for _, w := range Worktrees(t.o.Store.Home, t.o.Store.State) {
		if _, err := os.Lstat(w.Path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		x, err := t.git.Look(t.ctx, w)
		switch {
		case err != nil:
			return fault.Invalid("session %s stays: %v; move that folder away, or delete the session", t.o.Store.Root, err)
		case x.Dirty:
			return fault.Invalid("session %s stays: the worktree %s has changes that are not committed; commit them, or delete the session", t.o.Store.Root, w.Path)
		case x.Loose:
			return fault.Invalid("session %s stays: the worktree %s has commits that are on no branch; make a branch there, or delete the session", t.o.Store.Root, w.Path)
		}
	}
	return nil
}

// dropScratch removes the scratch folder, and the worktrees in it with what git
// knows of them. One with changes keeps the folder.
func (t *Tree) dropScratch() {
	for _, w := range Worktrees(t.o.Store.Home, t.o.Store.State) {
		if err := t.git.Remove(context.WithoutCancel(t.ctx), w, false); err != nil {
			t.o.Warn(fmt.Sprintf("the scratch folder stays: %v", err))
			return
		}
	}
	if err := t.o.Store.Home.DropScratch(t.o.Store.Root); err != nil {
		t.o.Warn(err.Error())
	}
}

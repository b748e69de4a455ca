package tree_test

import (
	"evener/internal/delegate"
	"evener/internal/effect"
	"evener/internal/id"
	"evener/internal/tree"
)

// The worktrees of a family's delegates.

// isolate makes a worktree for a delegate to be.
func (f *family) isolate(in *tree.Prepared) {
	d := id.DelegateOf(in.Child)
	w := delegate.Worktree{Path: "/w/scratch/" + string(d), Dir: "/w/scratch/" + string(d), Branch: "delegate/" + string(d), Base: "0123456789", Git: "/w/.git"}
	in.Descriptor.Worktree, in.Descriptor.Dir = &w, w.Dir
	f.made[w.Path] = 0
}

// look answers a look at a worktree.
func (f *family) look() []tree.Input {
	if len(f.looks) == 0 {
		return nil
	}
	e := f.looks[0].Effect.(effect.LookWorktree)
	in := tree.Input{Session: f.looks[0].Session, In: tree.WorktreeLooked{Call: e.Call, Delegate: e.Delegate, Evidence: delegate.Evidence{Path: "/w/x", Dirty: true}}}
	f.looks = f.looks[1:]
	return []tree.Input{in}
}

// worktrees: each that was made has its delegate, or was taken away once.
func (f *family) worktrees() {
	for d, w := range f.state.Delegates.Worktrees {
		if f.made[w.Path] != 0 {
			f.fatalf("the worktree of %s is taken away", f.name(d.Session))
		}
		delete(f.made, w.Path)
	}
	for w, n := range f.made {
		if n != 1 {
			f.fatalf("%s has no delegate and was taken away %d times", f.names(w), n)
		}
	}
}

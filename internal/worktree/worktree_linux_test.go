package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"evener/internal/fault"
)

// TestLife: made of a commit, changed, looked at, removed; the repository's own
// files and branches stay as they were.
func TestLife(t *testing.T) {
	r := newRig(t)
	r.write("repo/sub/file", "changed but not committed\n")
	before := r.sh(r.repo, "git status --porcelain; git branch")
	head := r.sh(r.repo, "git rev-parse HEAD")

	w, err := r.Make(t.Context(), filepath.Join(r.repo, "sub"), r.path("scratch/a"), "delegate/a")
	want := Worktree{Path: r.path("scratch/a"), Dir: r.path("scratch/a/sub"), Branch: "delegate/a", Base: head, Git: r.path("repo/.git")}
	if err != nil || w != want {
		t.Fatalf("got %+v, %v; want %+v", w, err, want)
	}
	if got := read(t, r.path("scratch/a/sub/file")); got != "one\n" {
		t.Errorf("the file holds %q", got)
	}
	evidence := Evidence{Path: w.Path, Branch: "delegate/a", HeadSHA: head}
	if got := r.look(w); got != evidence {
		t.Errorf("fresh: got %+v", got)
	}

	r.write("scratch/a/sub/new", "")
	evidence.Dirty = true
	if got := r.look(w); got != evidence {
		t.Errorf("a new file: got %+v", got)
	}
	r.sh(w.Dir, "git add . && git commit -qm second && echo x > file && git commit -qam third")
	evidence.Dirty, evidence.AheadCommits, evidence.HeadSHA = false, 2, r.sh(w.Path, "git rev-parse HEAD")
	if got := r.look(w); got != evidence {
		t.Errorf("two commits: got %+v", got)
	}
	r.sh(w.Path, "echo y > sub/file && git checkout -q --detach")
	evidence.Dirty, evidence.Branch = true, ""
	if got := r.look(w); got != evidence {
		t.Errorf("detached: got %+v", got)
	}

	if err := r.Remove(t.Context(), w, false); !errors.Is(err, ErrDirty) || !isDir(w.Path) {
		t.Errorf("a dirty worktree is removed unasked: %v", err)
	}
	if err := r.Remove(t.Context(), w, true); err != nil || isDir(w.Path) {
		t.Errorf("remove: %v", err)
	}
	if got := r.sh(r.repo, "git status --porcelain; git branch | grep -v delegate/"); got != before {
		t.Errorf("the repository was %q and is %q", before, got)
	}
	if got := r.sh(r.repo, "git worktree list --porcelain | grep -c ^worktree; git rev-list --count main..delegate/a"); got != "1\n2" {
		t.Errorf("worktrees and commits of the branch: %q", got)
	}
}

// A branch without commits of its own goes with its worktree.
func TestRemoveTakesTheBranch(t *testing.T) {
	r := newRig(t)
	w := r.make("a")
	for range 2 { // a second time there is nothing to do
		if err := r.Remove(t.Context(), w, false); err != nil {
			t.Fatal(err)
		}
	}
	if got := r.sh(r.repo, "git branch; git worktree list --porcelain | grep -c ^worktree"); got != "* main\n1" {
		t.Errorf("got %q", got)
	}
}

// What a delegate did to its worktree does not keep it from being removed, but
// nothing is guessed where it has to be looked at.
func TestDamaged(t *testing.T) {
	for _, c := range []struct{ what, script string }{
		{"the folder is gone", "rm -r $W"},
		{"its link is gone", "rm $W/.git"},
		{"its link leads elsewhere", "echo gitdir: $R/.git > $W/.git"},
		{"another repository stands there", "rm $W/.git && git init -q $W"},
		{"a clone stands there", "rm -r $W && git clone -q $R $W"},
		{"its record is gone", "rm -r $R/.git/worktrees"},
		{"it is locked", "git -C $R worktree lock $W && echo x > $W/y"},
		{"the repository is gone", "mv $R $R.away"},
	} {
		r := newRig(t)
		w := r.make("a")
		r.sh(r.top, "W="+w.Path+" R="+r.repo+"; "+c.script)
		if e, err := r.Look(t.Context(), w); err == nil && !e.Dirty {
			t.Errorf("%s: got %+v", c.what, e)
		}
		if err := r.Remove(t.Context(), w, false); err == nil && isDir(w.Path) {
			t.Errorf("%s: it stays without a word", c.what)
		}
		if err := r.Remove(t.Context(), w, true); err != nil || isDir(w.Path) {
			t.Errorf("%s: remove: %v", c.what, err)
		}
		if _, err := os.Stat(r.repo); err == nil {
			if got := r.sh(r.repo, "git worktree list --porcelain | grep -c ^worktree; git branch"); got != "1\n* main" {
				t.Errorf("%s: left over: %q", c.what, got)
			}
		}
	}
}

func TestMakeRefuses(t *testing.T) {
	r := newRig(t)
	r.sh(r.top, "git init -q empty && git clone -q --bare repo bare.git && mkdir plain repo/.git/in")
	for _, c := range []struct{ dir, want string }{
		{"plain", "invalid_request: a worktree needs a git repository, and " + r.path("plain") + " is in none"},
		{"empty", "invalid_request: a worktree needs a commit, and the repository of " + r.path("empty") + " has none yet"},
		{"bare.git", "invalid_request: a worktree needs a repository with files, and that of " + r.path("bare.git") + " is a bare one"},
		{"repo/.git/in", "invalid_request: no worktree can be made of " + r.path("repo/.git/in") + ": it is not among the files of its repository"},
	} {
		_, err := r.Make(t.Context(), r.path(c.dir), r.path("scratch/a"), "delegate/a")
		if _, ok := errors.AsType[*fault.Error](err); !ok || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.dir, err, c.want)
		}
	}
	if _, err := New(without{r.runner}).Make(t.Context(), r.repo, r.path("scratch/a"), "delegate/a"); err == nil || err.Error() != "invalid_request: a worktree needs git, which is not installed here" {
		t.Errorf("without git: %v", err)
	}
	if _, err := os.Lstat(r.path("scratch")); err == nil {
		t.Error("a refusal made a folder")
	}
}

// What fails on the way takes back what it made, and nothing else.
func TestMakeTakesBack(t *testing.T) {
	r := newRig(t)
	r.sh(r.repo, "git branch delegate/taken")
	r.write("scratch/file", "")
	r.write("scratch/there/x", "")
	r.sh(r.repo, `git checkout -q -b broken && echo two > two && git add two && git commit -qm two && rm .git/objects/$(git rev-parse HEAD:two | sed 's/^../&\//')`)
	before := r.sh(r.repo, "git branch")
	for _, c := range []struct{ dest, branch, want string }{
		{"scratch/there", "delegate/a", "is there already"},
		{"scratch/b", "delegate/taken", "there is a branch delegate/taken already"},
		{"scratch/b", "main/a", "git worktree: "}, // main is a branch, so main/a cannot be
		{"scratch/file/b", "delegate/a", "not a directory"},
		{"scratch/b", "delegate/a", "git reset: "}, // an object is missing
	} {
		_, err := r.Make(t.Context(), r.repo, r.path(c.dest), c.branch)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: got %v", c, err)
		}
		if _, err := os.Lstat(r.path("scratch/b")); err == nil {
			t.Errorf("%+v: a folder is left", c)
		}
		if got := r.sh(r.repo, "git branch; git worktree list --porcelain | grep -c ^worktree"); got != before+"\n1" {
			t.Errorf("%+v: got %q", c, got)
		}
	}
	if !isDir(r.path("scratch/there")) {
		t.Error("a folder that was there is gone")
	}
}

// A caller that gives up gets its folder back.
func TestMakeCancelled(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	git := New(cancelling{r.runner, cancel, "reset"})
	if _, err := git.Make(ctx, r.repo, r.path("scratch/a"), "delegate/a"); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if got := r.sh(r.repo, "git branch; git worktree list --porcelain | grep -c ^worktree"); got != "* main\n1" || isDir(r.path("scratch/a")) {
		t.Errorf("left over: %q", got)
	}
}

// Delegates begin and end at the same time.
func TestMakeAtOnce(t *testing.T) {
	r := newRig(t)
	var all sync.WaitGroup
	errs := make([]error, 6)
	for i := range errs {
		all.Go(func() {
			name := fmt.Sprint("d", i)
			w, err := r.Make(t.Context(), r.repo, r.path("scratch/"+name), "delegate/"+name)
			if err == nil {
				if _, err = r.Look(t.Context(), w); err == nil && i%2 == 0 {
					err = r.Remove(t.Context(), w, false)
				}
			}
			errs[i] = err
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// A worktree of a worktree belongs to the same repository.
func TestMakeOfAWorktree(t *testing.T) {
	r := newRig(t)
	a := r.make("a")
	r.sh(a.Path, "git commit -q --allow-empty -m second")
	b, err := r.Make(t.Context(), a.Path, filepath.Join(a.Path, "scratch/b"), "delegate/b")
	if err != nil || b.Git != a.Git || b.Base != r.sh(a.Path, "git rev-parse HEAD") {
		t.Fatalf("got %+v, %v", b, err)
	}
	if e := r.look(b); e.AheadCommits != 0 || e.Dirty {
		t.Errorf("got %+v", e)
	}
	// Without its link git would answer for the worktree around it.
	if err := os.Remove(filepath.Join(b.Path, ".git")); err != nil {
		t.Fatal(err)
	}
	if e, err := r.Look(t.Context(), b); err == nil {
		t.Errorf("got %+v", e)
	}
	if err := r.Remove(t.Context(), b, true); err != nil {
		t.Error(err)
	}
	if err := r.Remove(t.Context(), a, false); err != nil {
		t.Error(err)
	}
}

// Commits that no branch has would be lost with the worktree.
func TestLooseCommits(t *testing.T) {
	r := newRig(t)
	w := r.make("a")
	r.sh(w.Path, "git checkout -q --detach && git commit -q --allow-empty -m second")
	if e := r.look(w); !e.Loose || e.AheadCommits != 1 || e.Dirty {
		t.Errorf("got %+v", e)
	}
	if err := r.Remove(t.Context(), w, false); !errors.Is(err, ErrLoose) || !isDir(w.Path) {
		t.Errorf("they are lost unasked: %v", err)
	}
	r.sh(w.Path, "git branch kept")
	if e := r.look(w); e.Loose {
		t.Errorf("got %+v", e)
	}
	if err := r.Remove(t.Context(), w, false); err != nil || isDir(w.Path) {
		t.Error(err)
	}
	if got := r.sh(r.repo, "git rev-list --count main..kept"); got != "1" {
		t.Errorf("commits: %q", got)
	}
}

package worktree

import (
	"os"
	"path/filepath"
	"testing"
)

const (
	leftovers = `git branch; git worktree list --porcelain | grep -c ^worktree; ls .git/worktrees 2>/dev/null || true; find .git -name '*.lock'`
	nothing   = "* main\n1"
)

// TestKilled: wherever a maker is killed, what there is of the worktree is found
// and goes, and one that is whole stands without a note once it is kept.
func TestKilled(t *testing.T) {
	r := newRig(t)
	scratch := r.path("scratch")
	for n := 1; ; n++ {
		for _, done := range []bool{false, true} {
			left, made := n, false
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_, err := New(killing{r.runner, &left, done}).Make(t.Context(), r.repo, filepath.Join(scratch, "a"), "delegate/a")
				made = err == nil
			}()
			<-ended
			names := Unfinished(scratch)
			if made {
				if len(names) != 1 || Keep(filepath.Join(scratch, "a")) != nil || len(Unfinished(scratch)) != 0 {
					t.Fatalf("a whole one: %v", names)
				}
				if n < 8 {
					t.Fatalf("only %d commands", n)
				}
				return
			}
			for _, name := range names {
				if err := r.Reclaim(t.Context(), filepath.Join(scratch, name)); err != nil {
					t.Errorf("command %d, %v: %v", n, done, err)
				}
			}
			if got := r.sh(r.repo, leftovers); got != nothing {
				t.Errorf("command %d, %v: left over: %q", n, done, got)
			}
			if entries, _ := os.ReadDir(scratch); len(entries) > 0 {
				t.Errorf("command %d, %v: left over: %v", n, done, entries)
			}
		}
	}
}

// git itself is killed, too, and then leaves parts that it does not know itself.
func TestKilledGit(t *testing.T) {
	for _, c := range []struct{ what, script string }{
		{"with a locked reference", "rm -r $W && git worktree prune && touch .git/refs/heads/delegate/a.lock"},
		{"with a record that leads nowhere", "rm -r $W .git/worktrees/a/gitdir && echo initializing >.git/worktrees/a/locked"},
		{"with the files half there", "rm $W/sub/file && touch .git/worktrees/a/index.lock"},
		{"before it made anything", "git worktree remove $W && git branch -D delegate/a"},
	} {
		r := newRig(t)
		w := r.make("a")
		r.sh(r.repo, "W="+w.Path+"; "+c.script)
		if err := r.Reclaim(t.Context(), w.Path); err != nil {
			t.Errorf("%s: %v", c.what, err)
		}
		if got := r.sh(r.repo, leftovers); got != nothing || isDir(w.Path) || len(Unfinished(r.path("scratch"))) > 0 {
			t.Errorf("%s: left over: %q", c.what, got)
		}
	}
}

// Commands can write notes, too. They lead to nothing outside.
func TestForgedNote(t *testing.T) {
	r := newRig(t)
	r.write("outside/file.lock", "")
	r.sh(r.repo, "git branch other")
	for _, note := range []string{
		"", "{", `{"git_dir":"` + r.repo + `/.git","branch":"../../../../outside/file"}`, `{"git_dir":"repo","branch":"other"}`,
		`{"path":"` + r.path("outside") + `","git_dir":"` + r.repo + `/.git","branch":"other","base_sha":"` + r.sh(r.repo, "git rev-parse HEAD:sub/file") + `"}`,
	} {
		r.write("scratch/a"+noteSuffix, note)
		if err := r.Reclaim(t.Context(), r.path("scratch/a")); err != nil {
			t.Errorf("%s: %v", note, err)
		}
		if _, err := os.Stat(r.path("outside/file.lock")); err != nil || len(Unfinished(r.path("scratch"))) > 0 {
			t.Errorf("%s: %v", note, err)
		}
	}
	if got := r.sh(r.repo, "git branch"); got != "* main\n  other" {
		t.Errorf("branches: %q", got)
	}
}

package worktree

import (
	"os"
	"path/filepath"
	"testing"
)

// traps are what a repository's configuration can name for git to run, each
// with a script that sets it up: $EVIL is the program, which leaves a mark. As a
// proof that it is one, $TRIGGER must leave a mark where git runs as it likes.
var traps = []struct{ what, setup, trigger string }{
	{"a hook", `cp $EVIL .git/hooks/post-checkout; cp $EVIL .git/hooks/reference-transaction; cp $EVIL .git/hooks/post-index-change`, `git worktree add -q $T`},
	{"a folder of hooks", `mkdir h && cp $EVIL h/post-checkout && cp $EVIL h/reference-transaction && git config core.hooksPath $PWD/h`, `git worktree add -q $T`},
	{"a monitor", `git config core.fsmonitor $EVIL`, `git status`},
	{"a filter that smudges", `git config filter.f.smudge "$EVIL; cat"; ATTRIBUTES`, `git worktree add -q $T`},
	{"a filter that cleans", `git config filter.f.clean "$EVIL; cat"; ATTRIBUTES`, `touch -d 2001-01-01 sub/file; git status`},
	{"a filter process", `git config filter.f.process $EVIL; git config filter.f.required true; ATTRIBUTES`, `git worktree add -q $T || true`},
	{"a filter with a hard name", `printf '[filter "a=b.c d"]\n\tsmudge = "%s; cat"\n\tclean = "%s; cat"\n' $EVIL $EVIL >>.git/config; printf '* filter=a=b.c\n' >.git/info/attributes; printf '[filter "a=b.c"]\n\tsmudge = "%s; cat"\n' $EVIL >>.git/config`, `git worktree add -q $T`},
	{"a filter of some branches only", `printf '[filter "f"]\n\tsmudge = "%s; cat"\n\tclean = "%s; cat"\n' $EVIL $EVIL >.git/late; git config includeIf.onbranch:delegate/**.path late; ATTRIBUTES`, `git worktree add -q -b delegate/t $T`},
	{"a server for what is missing", `git config remote.r.url $PWD/.git; git config remote.r.promisor true; git config remote.r.uploadpack $EVIL; git config extensions.partialClone r; git config core.repositoryFormatVersion 1; MISSING`, `git worktree add -q $T || true`},
	{"a pager, an editor, an alias and a differ", `git config core.pager $EVIL; git config core.editor $EVIL; git config alias.status "!$EVIL"; git config diff.external $EVIL; git config status.submoduleSummary true; git config alias.e "!$EVIL"`, `git e`},
}

// TestNothingRuns: of what the configuration names, nothing runs while a
// worktree is made, looked at and removed.
func TestNothingRuns(t *testing.T) {
	for _, c := range traps {
		t.Run(c.what, func(t *testing.T) {
			r := newRig(t)
			mark := r.path("mark")
			r.write("evil", "#!/bin/sh\necho ran >>"+mark+"\n")
			prelude := "EVIL=" + r.path("evil") + " T=" + r.path("proof") + `; set +e
				ATTRIBUTES() { echo '* filter=f' >.git/info/attributes; }
				MISSING() { echo two >two; git add two; git commit -qm two; rm .git/objects/$(git rev-parse HEAD:two | sed 's/^../&\//'); }
				`
			r.sh(r.repo, prelude+c.setup+"\n")
			r.sh(r.repo, prelude+c.trigger+"\ntrue")
			if _, err := os.Stat(mark); err != nil {
				t.Fatal("the trap does not work")
			}
			if err := os.Remove(mark); err != nil {
				t.Fatal(err)
			}
			w, err := r.Make(t.Context(), r.repo, r.path("scratch/a"), "delegate/a")
			if (err != nil) != (c.what == "a server for what is missing") {
				t.Fatal(err)
			}
			if err == nil {
				r.write("scratch/a/sub/file", "two\n") // same size: git must read it
				if e := r.look(w); !e.Dirty {
					t.Errorf("got %+v", e)
				}
				if err := r.Remove(t.Context(), w, false); err == nil {
					t.Error("a dirty worktree went unasked")
				}
				if err := r.Remove(t.Context(), w, true); err != nil {
					t.Error(err)
				}
			}
			if _, err := os.Stat(mark); err == nil {
				t.Error("it ran")
			}
		})
	}
}

// TestSubmodules: a submodule has a configuration of its own. It is not
// entered; that it may hold changes makes the worktree dirty.
func TestSubmodules(t *testing.T) {
	r := newRig(t)
	mark := r.path("mark")
	r.write("evil", "#!/bin/sh\necho ran >>"+mark+"\n")
	r.sh(r.top, "git clone -q repo other && cd repo && git -c protocol.file.allow=always submodule --quiet add ../other mod && git commit -qm mod")
	w := r.make("a")
	if entries, err := os.ReadDir(filepath.Join(w.Path, "mod")); err != nil || len(entries) > 0 {
		t.Errorf("the submodule holds %v, %v", entries, err)
	}
	if e := r.look(w); e.Dirty {
		t.Errorf("an empty submodule: got %+v", e)
	}
	r.sh(w.Path, "git -c protocol.file.allow=always submodule --quiet update --init && cd mod/sub && git config filter.f.clean '"+r.path("evil")+"; cat' && echo '* filter=f' >../.gitattributes && echo two >file && git status")
	if err := os.Remove(mark); err != nil {
		t.Fatal("the trap does not work")
	}
	if e := r.look(w); !e.Dirty {
		t.Errorf("a changed submodule: got %+v", e)
	}
	if err := r.Remove(t.Context(), w, true); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("it ran")
	}
}

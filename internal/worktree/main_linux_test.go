package worktree

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"evener/internal/proc"
)

// A rig is a repository with one commit, and what runs git in it.
type rig struct {
	t    *testing.T
	top  string // holds everything
	repo string
	*Git
}

func newRig(t *testing.T) *rig {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	// GIT_DIR would lead every command astray that does not drop it.
	env := append(os.Environ(), "HOME="+top, "XDG_CONFIG_HOME="+top, "GIT_CONFIG_NOSYSTEM=1", "GIT_DIR="+top+"/astray")
	host, err := proc.Open(proc.Options{Env: env, Post: func(proc.Event) {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := host.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	r := &rig{t: t, top: top, repo: filepath.Join(top, "repo"), Git: New(host)}
	r.write("home/x", "")
	r.write("repo/sub/file", "one\n")
	r.sh(r.repo, `git init -q -b main . && git config user.name n && git config user.email e@x && git add . && git commit -qm first`)
	return r
}

func (r *rig) write(name, body string) {
	r.t.Helper()
	p := filepath.Join(r.top, name)
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(body), 0o755); err != nil {
		r.t.Fatal(err)
	}
}

// sh runs git as anybody would, with everything that a repository names.
func (r *rig) sh(dir, script string) string {
	r.t.Helper()
	res, err := r.runner.Run(r.t.Context(), proc.Short{Argv: []string{"sh", "-ec", script}, Dir: dir, Drop: []string{"GIT_DIR"}})
	if err != nil || res.Code != 0 {
		r.t.Fatalf("%s: %v, %d, %s%s", script, err, res.Code, res.Stdout, res.Stderr)
	}
	return strings.TrimSpace(string(res.Stdout))
}

func (r *rig) path(name string) string { return filepath.Join(r.top, name) }

func (r *rig) make(name string) Worktree {
	r.t.Helper()
	w, err := r.Make(r.t.Context(), r.repo, r.path("scratch/"+name), "delegate/"+name)
	if err != nil {
		r.t.Fatal(err)
	}
	return w
}

func (r *rig) look(w Worktree) Evidence {
	r.t.Helper()
	e, err := r.Look(r.t.Context(), w)
	if err != nil {
		r.t.Fatal(err)
	}
	return e
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

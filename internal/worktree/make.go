package worktree

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"evener/internal/fault"
)

// Make makes a worktree at dest, which must not exist, for a folder of a
// repository: the commit that is checked out there, on a new branch. What the
// repository's own worktree holds beyond the commit does not come along. A
// folder that cannot have one is a *fault.Error. Keep must follow once it is
// recorded whose the worktree is.
func (g *Git) Make(ctx context.Context, repoDir, dest, branch string) (Worktree, error) {
	w, prefix, err := g.plan(ctx, repoDir, dest, branch)
	if err != nil {
		return Worktree{}, err
	}
	err = g.alone(ctx, func() error {
		err := g.add(ctx, repoDir, w)
		if err != nil { // taken back also when the caller has given up
			_ = g.remove(context.WithoutCancel(ctx), w)
		}
		return err
	})
	if err != nil {
		return Worktree{}, fmt.Errorf("make a worktree of %s: %w", repoDir, err)
	}
	// A folder that the commit does not know has no counterpart.
	if w.Dir = filepath.Join(dest, prefix); !isDir(w.Dir) {
		w.Dir = dest
	}
	return w, nil
}

// plan judges the folder and finds what the worktree is made from.
func (g *Git) plan(ctx context.Context, repoDir, dest, branch string) (w Worktree, prefix string, err error) {
	if _, err := os.Lstat(dest); err == nil || !filepath.IsAbs(dest) {
		return w, "", fmt.Errorf("make a worktree: %s is there already, or no absolute path", dest)
	}
	r, err := g.run(ctx, repoDir, nil, "rev-parse", "--is-bare-repository", "--is-inside-work-tree", "--path-format=absolute", "--git-common-dir", "--show-prefix")
	if err != nil {
		return w, "", err
	}
	// Three lines, and the prefix, which ends in a slash unless it is empty.
	lines := strings.SplitN(string(r.Stdout), "\n", 4)
	switch {
	case r.Code != 0 && strings.Contains(string(r.Stderr), "not a git repository"):
		return w, "", fault.Invalid("a worktree needs a git repository, and %s is in none", repoDir)
	case r.Code != 0:
		return w, "", fault.Invalid("no worktree can be made of %s: %s", repoDir, complaint(r))
	case len(lines) < 4:
		return w, "", fmt.Errorf("make a worktree of %s: git rev-parse said %q", repoDir, r.Stdout)
	case lines[0] == "true":
		return w, "", fault.Invalid("a worktree needs a repository with files, and that of %s is a bare one", repoDir)
	case lines[1] != "true":
		return w, "", fault.Invalid("no worktree can be made of %s: it is not among the files of its repository", repoDir)
	}
	w = Worktree{Path: dest, Branch: branch, Git: lines[2]}
	head, err := g.run(ctx, repoDir, nil, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil {
		return w, "", err
	}
	if w.Base = strings.TrimSpace(string(head.Stdout)); head.Code != 0 || w.Base == "" {
		return w, "", fault.Invalid("a worktree needs a commit, and the repository of %s has none yet", repoDir)
	}
	// A branch of that name is not ours, and must not be taken back with the rest.
	if r, err := g.run(ctx, repoDir, nil, "rev-parse", "--verify", "--quiet", "refs/heads/"+branch); err != nil {
		return w, "", err
	} else if r.Code == 0 {
		return w, "", fmt.Errorf("make a worktree of %s: there is a branch %s already", repoDir, branch)
	}
	return w, strings.TrimSuffix(lines[3], "\n"), nil
}

// add makes what was planned. The files come in a command of their own: only in
// the new worktree can be seen which filters its configuration has.
func (g *Git) add(ctx context.Context, repoDir string, w Worktree) error {
	if err := os.MkdirAll(filepath.Dir(w.Path), 0o700); err != nil {
		return err
	}
	if err := w.note(); err != nil {
		return err
	}
	quiet, err := g.silenced(ctx, repoDir)
	if err != nil {
		return err
	}
	if _, err = g.git(ctx, repoDir, quiet, "worktree", "add", "--quiet", "--no-checkout", "-b", w.Branch, w.Path, w.Base); err != nil {
		return err
	}
	if _, err = g.own(ctx, w); err != nil {
		return err
	}
	if quiet, err = g.silenced(ctx, w.Path); err != nil {
		return err
	}
	_, err = g.git(ctx, w.Path, quiet, "reset", "--hard", "--quiet", "--no-recurse-submodules")
	return err
}

func isDir(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.IsDir()
}

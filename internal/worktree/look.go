package worktree

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"evener/internal/proc"
)

// Look says what a worktree holds. It writes nothing, and reads of the changes
// no more than that there are some.
func (g *Git) Look(ctx context.Context, w Worktree) (Evidence, error) {
	e, err := g.look(ctx, w)
	if err != nil {
		return Evidence{}, fmt.Errorf("look at the worktree %s: %w", w.Path, err)
	}
	return e, nil
}

func (g *Git) look(ctx context.Context, w Worktree) (Evidence, error) {
	own, err := g.own(ctx, w)
	if err != nil {
		return Evidence{}, err
	}
	quiet, err := g.silenced(ctx, w.Path)
	if err != nil {
		return Evidence{}, err
	}
	// Submodules are not entered: each would be run by settings of its own.
	status := strings.Fields("git status --porcelain=v2 --branch -z --untracked-files=normal --ignore-submodules=dirty --no-renames")
	r, err := g.call(ctx, proc.Short{Argv: status, Dir: w.Path, Limit: 64 << 10, Strict: true}, quiet)
	if err != nil {
		return Evidence{}, err
	}
	if r.Code != 0 && !r.Cut {
		return Evidence{}, fmt.Errorf("git status: %s", complaint(r))
	}
	e := Evidence{Path: w.Path, Dirty: isDir(filepath.Join(own, "modules"))}
	for line := range strings.SplitSeq(string(r.Stdout), "\x00") {
		key, value, _ := strings.Cut(strings.TrimPrefix(line, "# "), " ")
		switch {
		case !strings.HasPrefix(line, "# "):
			e.Dirty = e.Dirty || line != ""
		case key == "branch.oid" && value != "(initial)":
			e.HeadSHA = value
		case key == "branch.head" && value != "(detached)":
			e.Branch = value
		}
	}
	if e.HeadSHA == "" { // a branch without a commit has none ahead
		return e, nil
	}
	n, err := g.git(ctx, w.Path, nil, "rev-list", "--count", w.Base+".."+e.HeadSHA)
	if err == nil {
		e.AheadCommits, err = strconv.Atoi(strings.TrimSpace(string(n)))
	}
	if err != nil || e.Branch != "" {
		return e, err
	}
	ref, err := g.git(ctx, w.Path, nil, "for-each-ref", "--count=1", "--contains", e.HeadSHA)
	e.Loose = len(ref) == 0
	return e, err
}

// own is the worktree's own git folder. It is an error when the path is not,
// or no more, a worktree of its repository: git would then answer for one
// further up, whose changes are not the delegate's.
func (g *Git) own(ctx context.Context, w Worktree) (string, error) {
	r, err := g.run(ctx, w.Path, nil, "rev-parse", "--path-format=absolute", "--git-common-dir", "--git-dir", "--show-toplevel")
	if err != nil {
		return "", err
	}
	real, _ := filepath.EvalSymlinks(w.Path)
	lines := strings.Split(string(r.Stdout), "\n")
	if r.Code != 0 || len(lines) < 3 || lines[0] != w.Git || lines[1] == w.Git || lines[2] != real {
		return "", fmt.Errorf("it is no worktree of %s any more", w.Git)
	}
	return lines[1], nil
}

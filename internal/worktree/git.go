package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"evener/internal/fault"
	"evener/internal/proc"
	"evener/internal/text"
)

// Runner runs git: a proc.Host.
type Runner interface {
	Run(context.Context, proc.Short) (proc.Result, error)
}

// Git makes, looks at and removes worktrees.
type Git struct {
	runner Runner
	// turn holds one token: git trips over the half-made worktree of another git
	// when it makes one. Between processes that is left to git.
	turn chan struct{}
}

// New is a Git that runs its commands with r.
func New(r Runner) *Git { return &Git{runner: r, turn: make(chan struct{}, 1)} }

// alone runs f while no other worktree is made or removed.
func (g *Git) alone(ctx context.Context, f func() error) error {
	select {
	case g.turn <- struct{}{}:
		defer func() { <-g.turn }()
		return f()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// limit bounds one git command: its repository may make it wait for ever, as
// with a settings file that is a pipe.
const limit = 10 * time.Minute

// One of these is in the error of a removal that would lose something.
var (
	ErrDirty = errors.New("it has changes that are not committed")
	ErrLoose = errors.New("it has commits that are on no branch")
)

// dropped are variables that would send git to another repository than the one
// of its folder; a program that git itself started has them.
var dropped = strings.Fields(`GIT_DIR GIT_WORK_TREE GIT_IMPLICIT_WORK_TREE GIT_COMMON_DIR GIT_INDEX_FILE GIT_PREFIX GIT_NAMESPACE
	GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_GRAFT_FILE GIT_SHALLOW_FILE GIT_REPLACE_REF_BASE GIT_NO_REPLACE_OBJECTS
	GIT_CONFIG GIT_CONFIG_PARAMETERS GIT_EXTERNAL_DIFF GIT_ATTR_SOURCE`)

// A setting overrides the repository's configuration.
type setting struct{ key, value string }

// harmless are the settings under which a git command runs no program that the
// configuration names, beside filters and hooks of the configuration, whose
// names are its own.
var harmless = []setting{
	{hooks, nowhere},
	{"core.fsmonitor", "false"},
	{"submodule.recurse", "false"},
}

const hooks, nowhere = "core.hookspath", "/dev/null"

// git runs one git command in a folder, under the harmless settings and more.
// A failure is git's own first line of complaint.
func (g *Git) git(ctx context.Context, dir string, more []setting, args ...string) ([]byte, error) {
	r, err := g.run(ctx, dir, more, args...)
	switch {
	case err != nil:
		return nil, err
	case r.Code != 0:
		return nil, fmt.Errorf("git %s: %s", args[0], complaint(r))
	case r.Cut:
		return nil, fmt.Errorf("git %s: its output is too long", args[0])
	}
	return r.Stdout, nil
}

func (g *Git) run(ctx context.Context, dir string, more []setting, args ...string) (proc.Result, error) {
	return g.call(ctx, proc.Short{Argv: append([]string{"git"}, args...), Dir: dir}, more)
}

func (g *Git) call(ctx context.Context, s proc.Short, more []setting) (proc.Result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took more than %v", limit))
	defer cancel()
	// As variables, not as -c: a name may hold "=".
	s.Drop = dropped
	s.Env = []string{
		"GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", // a missing object is fetched from nowhere
		"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "LC_ALL=C",
	}
	all := slices.Concat(harmless, more)
	s.Env = append(s.Env, "GIT_CONFIG_COUNT="+strconv.Itoa(len(all)))
	for i, o := range all {
		s.Env = append(s.Env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, o.key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, o.value))
	}
	r, err := g.runner.Run(ctx, s)
	if errors.Is(err, proc.ErrNoProgram) {
		return r, fault.Invalid("a worktree needs git, which is not installed here")
	}
	return r, err
}

// complaint is the line in which git says what is wrong.
func complaint(r proc.Result) string {
	var last string
	for line := range strings.Lines(string(r.Stderr)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ") {
			return text.Preview(line[len("fatal: "):], 300)
		} else if line != "" {
			last = line
		}
	}
	switch {
	case last != "":
		return text.Preview(last, 300)
	case r.Signal != "":
		return "it was ended by " + r.Signal
	}
	return fmt.Sprintf("exit status %d", r.Code)
}

// maxNamed bounds the filters and hooks that a configuration may define.
const maxNamed = 500

// silenced are the settings that keep the filters and hooks, which the
// configuration defines at a folder, from being run. The folder must be the one
// that the next command runs in: what is included depends on folder and branch.
func (g *Git) silenced(ctx context.Context, dir string) ([]setting, error) {
	list, err := g.git(ctx, dir, nil, "config", "--list", "-z")
	if err != nil {
		return nil, err
	}
	var all []setting
	var hooksAt string
	seen := map[string]bool{}
	for entry := range bytes.SplitSeq(list, []byte{0}) {
		key, value, _ := strings.Cut(string(entry), "\n")
		if key == hooks {
			hooksAt = value
		}
		section, name, ok := named(key)
		if !ok || seen[section+name] {
			continue
		}
		if seen[section+name] = true; len(seen) > maxNamed {
			return nil, fmt.Errorf("the configuration of %s defines more than %d filters and hooks", dir, maxNamed)
		}
		for _, s := range switches[section] {
			all = append(all, setting{section + "." + name + "." + s.key, s.value})
		}
	}
	if hooksAt != nowhere {
		return nil, errors.New("git is older than 2.31 and cannot be kept from running what a repository names")
	}
	return all, nil
}

// switches turn off what a configuration section with a name defines.
var switches = map[string][]setting{
	"filter": {{"clean", ""}, {"smudge", ""}, {"process", ""}, {"required", "false"}},
	"hook":   {{"enabled", "false"}, {"command", ""}},
}

// named takes apart a key of such a section: section.NAME.variable, where NAME
// may hold any character.
func named(key string) (section, name string, ok bool) {
	section, rest, _ := strings.Cut(key, ".")
	i := strings.LastIndexByte(rest, '.')
	if switches[section] == nil || i < 0 {
		return "", "", false
	}
	return section, rest[:i], true
}

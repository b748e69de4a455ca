package worktree

import (
	"context"
	"runtime"
	"slices"

	"evener/internal/proc"
)

// without is a machine on which there is no git.
type without struct{ Runner }

func (r without) Run(ctx context.Context, s proc.Short) (proc.Result, error) {
	s.Argv = append([]string{"no-such-git-anywhere"}, s.Argv[1:]...)
	return r.Runner.Run(ctx, s)
}

// killing lets whoever runs the n-th git command from now on end there, as a
// process that is killed: before the command has begun, or when it is done.
type killing struct {
	Runner
	n    *int
	done bool
}

func (r killing) Run(ctx context.Context, s proc.Short) (res proc.Result, err error) {
	*r.n--
	if r.done || *r.n > 0 {
		res, err = r.Runner.Run(ctx, s)
	}
	if *r.n == 0 {
		runtime.Goexit()
	}
	return res, err
}

// cancelling gives up when a git command is about to run.
type cancelling struct {
	Runner
	cancel  context.CancelFunc
	command string
}

func (r cancelling) Run(ctx context.Context, s proc.Short) (proc.Result, error) {
	if slices.Contains(s.Argv, r.command) {
		r.cancel()
	}
	return r.Runner.Run(ctx, s)
}

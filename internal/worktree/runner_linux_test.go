package worktree

import (
	"context"
	"slices"

	"evener/internal/proc"
)

// without is a machine on which there is no git.
type without struct{ Runner }

func (r without) Run(ctx context.Context, s proc.Short) (proc.Result, error) {
	s.Argv = append([]string{"no-such-git-anywhere"}, s.Argv[1:]...)
	return r.Runner.Run(ctx, s)
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

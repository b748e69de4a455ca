package cli

import (
	"context"
	"errors"
	"os/signal"
	"syscall"

	"evener/journal"
)

var logCommand = command{
	name: "log", args: "[-f] [SESSION]", summary: "the records of a session's tree in decision order, as JSON lines",
	help: "Each line is a journal line as it stands. -f goes on as lines are written, until interrupted;\nit waits with the newest lines until they are known to be on disk.",
}

func init() { logCommand.run = runLog }

func runLog(e *env, args []string) int {
	fs := e.flags(logCommand)
	set := e.stateFlags(fs)
	follow := fs.Bool("f", false, "go on as lines are written")
	rest, status, ok := e.parse(logCommand, fs, args)
	if !ok {
		return status
	}
	home, _, err := e.home(set)
	if err != nil {
		return e.failLoad(err)
	}
	target, status, ok := e.oneSession(home, "log", rest)
	if !ok {
		return status
	}
	lines := journal.Read(home.Journal(target), journal.Pos{})
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if *follow {
		lines = journal.FollowFile(ctx, home.Journal(target), journal.Pos{}, journal.FollowOptions{Durable: true})
	}
	for line, err := range lines {
		if errors.Is(err, context.Canceled) {
			return exitOK
		}
		if err != nil {
			return e.failState(err)
		}
		if _, err := e.out.Write(append(line.Line[:len(line.Line):len(line.Line)], '\n')); err != nil {
			return e.fail(exitState, "", "write: %v", err)
		}
	}
	return exitOK
}

package cli

import (
	"context"
	"errors"
	"os/signal"
	"syscall"

	"evener/internal/store"
	"evener/journal"
)

var logCommand = command{
	name: "log", args: "[-f] [SESSION]", summary: "the records of a session's tree in decision order, as JSON lines",
	help: "Each line is a journal line as it stands. Those of a root session's delegates, and of the tree's own\n" +
		"journal, begin with the place of their journal: {\"journal\":\"SESSION/session.jsonl\",\"seq\":...\n\n" +
		"-f goes on as lines are written, until interrupted, with the session's own journal only; it waits with\n" +
		"the newest lines until they are known to be on disk.",
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
	if !*follow {
		for line, err := range store.Lines(home, target) {
			if err != nil {
				return e.failState(err)
			}
			if _, err := e.out.Write(logLine(home, target, line)); err != nil {
				return e.fail(exitState, "", "write: %v", err)
			}
		}
		return exitOK
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	for line, err := range journal.FollowFile(ctx, home.Journal(target), journal.Pos{}, journal.FollowOptions{Durable: true}) {
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

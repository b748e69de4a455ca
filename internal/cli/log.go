package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"evener/internal/id"
	"evener/internal/store"
	"evener/journal"
)

var logCommand = command{
	name: "log", args: "[-f] [--kind K,...] [--since TIME] [SESSION]", summary: "the records of a session's tree in decision order, as JSON lines",
	help: "Each line is a journal line as it stands. Those of a root session's delegates, and of the tree's own\n" +
		"journal, begin with the place of their journal: {\"journal\":\"SESSION/session.jsonl\",\"seq\":...\n\n" +
		"--kind shows only lines with an event of one of these kinds; job is every kind that begins with job. --since passes over what\n" +
		"was decided before.\n\n" +
		"-f goes on as lines are written, also by delegates that come into being meanwhile, until interrupted. It waits with\n" +
		"a line until it is known to be on disk and nothing can come before it: about a second where nothing follows. The lines\n" +
		"with which a process closes its journals come with the next decision, if there is one.",
}

func init() { logCommand.run = runLog }

func runLog(e *env, args []string) int {
	fs := e.flags(logCommand)
	set := e.stateFlags(fs)
	follow := fs.Bool("f", false, "go on as lines are written")
	wanted := fs.String("kind", "", "`kinds` of events, separated by commas: job.finished, or job for all that begin so")
	since := fs.String("since", "", "`TIME` such as 2026-01-31T09:30:00Z, or how long ago, such as 2h")
	rest, status, ok := e.parse(logCommand, fs, args)
	if !ok {
		return status
	}
	f, bad := filterOf(*wanted, *since, time.Now())
	if bad != "" {
		return e.fail(exitUsage, "", "log: %s", bad)
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
		return e.writeLog(home, target, store.Lines(home, target), f)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	ctx, leave := untilGone(ctx, e.out)
	defer leave()
	return e.writeLog(home, target, store.Follow(ctx, home, target), f)
}

// writeLog writes the lines that are wanted, up to the end, an error or an interrupt.
func (e *env) writeLog(home store.Home, target id.Session, lines iter.Seq2[store.Line, error], f filter) int {
	for line, err := range lines {
		switch {
		case errors.Is(err, context.Canceled):
			return exitOK
		case err != nil:
			return e.failState(err)
		case !f.wants(line.Entry):
			continue
		}
		if _, err := e.out.Write(logLine(home, target, line)); err != nil {
			return e.fail(exitState, "", "%v", err)
		}
	}
	return exitOK
}

// filter picks lines of a log.
type filter struct {
	kinds []string
	since time.Time
}

// filterOf reads the flags of one; bad says what is wrong with them.
func filterOf(kinds, since string, now time.Time) (f filter, bad string) {
	if kinds != "" {
		f.kinds = strings.Split(kinds, ",")
	}
	for _, k := range f.kinds {
		if !slices.ContainsFunc(store.Kinds(), func(known string) bool { return ofKind(known, k) }) {
			return f, fmt.Sprintf("--kind %q is no kind of event, nor how some begin; docs/records.md lists them", k)
		}
	}
	if since == "" {
		return f, ""
	}
	if ago, err := time.ParseDuration(since); err == nil && ago >= 0 {
		f.since = now.Add(-ago)
		return f, ""
	}
	at, err := time.Parse(time.RFC3339Nano, since)
	if err != nil {
		return f, fmt.Sprintf("--since %q is no time; use one such as 2026-01-31T09:30:00Z, or how long ago, such as 2h", since)
	}
	f.since = at
	return f, ""
}

func ofKind(kind, wanted string) bool { return kind == wanted || strings.HasPrefix(kind, wanted+".") }

func (f filter) wants(e journal.Entry) bool {
	if e.At().Before(f.since) {
		return false
	}
	if len(f.kinds) == 0 {
		return true
	}
	for kind := range e.Events() {
		if slices.ContainsFunc(f.kinds, func(k string) bool { return ofKind(kind, k) }) {
			return true
		}
	}
	return false
}

package cli

import (
	"fmt"
	"strings"

	"evener/internal/delegate"
	"evener/internal/id"
	"evener/internal/text"
	"evener/internal/tree"
)

var treeCommand = command{
	name: "tree", args: "[--json] [SESSION]", summary: "a session and the delegates below it, by default the latest one",
	help: "Each delegate stands below its owner, with its status, how its last run ended, how\noften it ran, its jobs that run and all of them, and its name or brief. With --json each\ndelegate is one line: what job_list tells of it, and its depth. What is running in a\nsession which no process holds was lost; resuming the session settles it.",
}

func init() { treeCommand.run = runTree }

func runTree(e *env, args []string) int {
	_, t, asJSON, status, ok := e.look(treeCommand, args, "one delegate a line")
	if !ok {
		return status
	}
	if !asJSON {
		s := t.Session()
		outcome := string(s.Run.Outcome)
		if s.Run.Open {
			outcome = "open"
		}
		treeLine(e, 0, string(t.Root), outcome+" "+jobsOf(t, t.Root), "")
	}
	e.delegatesOf(t, t.Root, 1, asJSON)
	return exitOK
}

// delegatesOf prints what a session owns, each followed by what is below it.
func (e *env) delegatesOf(t *tree.State, owner id.Session, depth int, asJSON bool) {
	for d := range t.Delegates.OwnedBy(owner) {
		if asJSON {
			row := t.RowOf(d)
			row.Depth = &depth
			writeJSON(e, row)
		} else {
			treeLine(e, depth, string(d.ID), fmt.Sprintf("%s %s %s", howItIs(d), counted(d.Generation, "run"), jobsOf(t, d.Session)), d.Descriptor.Name+" "+d.Task)
		}
		e.delegatesOf(t, d.Session, depth+1, asJSON)
	}
}

func howItIs(d *delegate.State) string {
	if d.Last == nil || d.Open {
		return d.Status()
	}
	return fmt.Sprintf("%s (%s)", d.Status(), d.Last.Status)
}

// jobsOf counts a session's jobs, and those that run.
func jobsOf(t *tree.State, s id.Session) string {
	x := t.Sessions[s]
	if x == nil {
		return counted(0, "job")
	}
	n, live := len(x.Jobs()), 0
	for _, j := range x.Jobs() {
		if !j.Terminal() {
			live++
		}
	}
	if live == 0 {
		return counted(int64(n), "job")
	}
	return fmt.Sprintf("%d of %s running", live, counted(int64(n), "job"))
}

// treeWidth is what a line has at most, so that none wraps on a common terminal.
const treeWidth = 80

func treeLine(e *env, depth int, name, state, about string) {
	line := strings.Repeat("  ", depth) + name + "  " + state
	if room := treeWidth - len([]rune(line)) - 2; room > 3 && strings.TrimSpace(about) != "" {
		line += "  " + text.Preview(strings.TrimSpace(about), room)
	}
	fmt.Fprintln(e.out, line)
}

package cli

import (
	"fmt"
	"slices"
	"strings"

	"evener/internal/delegate"
	"evener/internal/id"
	"evener/internal/store"
	"evener/internal/tree"
)

var treeCommand = command{
	name: "tree", args: "[--json] [SESSION]", summary: "a session and the delegates below it, by default the latest one",
	help: "The first line is the session, which may be that of a delegate: how its latest run ended, or\nwhich process holds it, and its jobs. Each delegate stands below its owner, the latest first,\nwith its status, how its last run ended, how often it ran, its jobs that run and all of them,\nand its name or brief. What never ended and no process holds is lost; resuming the session\nsettles it. With --json each delegate is one line: what job_list tells of it, its depth, and\nof one that runs whether a process holds the session.",
}

func init() { treeCommand.run = runTree }

// treeRecord is a delegate as evener tree --json prints it.
type treeRecord struct {
	tree.Row
	Held *bool `json:"held,omitempty"`
}

func runTree(e *env, args []string) int {
	home, t, asJSON, status, ok := e.look(treeCommand, args, "one delegate a line")
	if !ok {
		return status
	}
	target := t.Root
	if t.Session().Delegate != "" { // what is below it stands in the journal of the whole tree
		var err error
		if t, err = store.LoadTree(home, target); err != nil {
			return e.failState(err)
		}
	}
	who, err := e.heldBy(home, t.Root)
	if err != nil {
		return e.failState(err)
	}
	v := treeView{env: e, t: t, who: who}
	if asJSON {
		v.records(target, 1)
		return exitOK
	}
	s := t.Sessions[target]
	state := s.Latest()
	switch {
	case who == then && s.Run.Open:
		state = "at work"
	case who != nil && who != then:
		state = "in use by " + process(who)
	case s.Run.Open:
		state = "lost"
	}
	v.line(0, string(target), state+", "+v.jobs(target), "")
	v.delegates(target, 1)
	return exitOK
}

// treeView prints a tree.
type treeView struct {
	*env
	t   *tree.State
	who *store.Holder // of the tree; nil for nobody
}

// owned are the delegates of a session, the latest first.
func (v treeView) owned(owner id.Session) []*delegate.State {
	all := slices.Collect(v.t.Delegates.OwnedBy(owner))
	slices.Reverse(all)
	return all
}

func (v treeView) records(owner id.Session, depth int) {
	held := v.who != nil
	for _, d := range v.owned(owner) {
		r := treeRecord{Row: v.t.RowOf(d)}
		r.Depth = &depth
		if d.Open {
			r.Held = &held
		}
		writeJSON(v.env, r)
		v.records(d.Session, depth+1)
	}
}

// delegates prints what a session owns, each followed by what is below it.
func (v treeView) delegates(owner id.Session, depth int) {
	for _, d := range v.owned(owner) {
		about := d.Descriptor.Name
		if about == "" {
			about = d.Task
		}
		v.line(depth, string(d.ID), fmt.Sprintf("%s, %s, %s", v.how(d), counted(d.Generation, "run"), v.jobs(d.Session)), about)
		v.delegates(d.Session, depth+1)
	}
}

func (v treeView) how(d *delegate.State) string {
	switch {
	case d.Open && v.who == nil:
		return "lost"
	case d.Open || d.Last == nil:
		return d.Status()
	}
	return string(d.Last.Status)
}

// jobs counts a session's jobs, and those that run.
func (v treeView) jobs(s id.Session) string {
	x := v.t.Sessions[s]
	if x == nil {
		return counted(0, "job")
	}
	n, live := len(x.Jobs()), 0
	for _, j := range x.Jobs() {
		if !j.Terminal() {
			live++
		}
	}
	switch {
	case live == 0:
		return counted(int64(n), "job")
	case v.who == nil:
		return fmt.Sprintf("%d of %s lost", live, counted(int64(n), "job"))
	}
	return fmt.Sprintf("%d of %s running", live, counted(int64(n), "job"))
}

func (v treeView) line(depth int, name, state, about string) {
	if about != "" {
		state += ": " + about
	}
	fmt.Fprintln(v.out, withAbout(strings.Repeat("  ", depth)+name+"  ", state))
}

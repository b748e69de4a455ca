package cli

import (
	"fmt"

	"evener/internal/id"
	"evener/internal/proc"
	"evener/internal/store"
)

// What is recorded as running runs only while a process holds its tree. Listings
// say which it is.

// then stands for whoever held a tree at a moment of the past: nothing was lost yet.
var then = &store.Holder{PID: -1}

// heldBy is the process that holds a tree; nil for none.
func (e *env) heldBy(home store.Home, root id.Session) (*store.Holder, error) {
	if home.At > 0 {
		return then, nil
	}
	who, held, err := home.Held(root, proc.BootID())
	if err != nil || !held {
		return nil, err
	}
	return &who, nil
}

// heldOpen tells of a session whose latest run has not ended whether a process
// holds it; nil for any other.
func (e *env) heldOpen(home store.Home, s store.Listed) *bool {
	if s.Outcome != "open" {
		return nil
	}
	who, err := e.heldBy(home, s.Root)
	held := err == nil && who != nil
	return &held
}

// sayHeld names the process beside a listing, not in it.
func (e *env) sayHeld(who *store.Holder, s id.Session) {
	if who != nil && who != then {
		fmt.Fprintf(e.err, "evener: session %s is in use by %s\n", s, process(who))
	}
}

// process names a holder in a line.
func process(who *store.Holder) string {
	if who.PID == 0 {
		return "another process"
	}
	return fmt.Sprintf("process %d", who.PID)
}

// watching is the state of an active watch.
func watching(held bool) string {
	if held {
		return "watching"
	}
	return "lost"
}

package tree

import (
	"encoding/json"

	"evener/internal/delegate"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/session"
)

// treeInput is an input that the tree decides itself.
type treeInput interface {
	session.Input
	tree()
}

// Signalled is what a decision of a session told its tree.
type Signalled struct{ Signal session.Signal }

// Prepared is a delegate call whose outside questions are answered: the role,
// the model, the schema. Refused says that one of them has no good answer.
type Prepared struct {
	Call       string              `json:"call_id"`
	Child      id.Session          `json:"child_session_id"` // minted outside, used if the call is admitted
	Descriptor delegate.Descriptor `json:"-"`
	Refused    *fault.Error        `json:"-"`
}

// WorktreeLooked is what the worktree of a delegate holds whose stop has
// finished: the last that the call needs which waits for it.
type WorktreeLooked struct {
	Call     string            `json:"call_id"`
	Delegate id.Delegate       `json:"delegate_id"`
	Evidence delegate.Evidence `json:"worktree"`
}

// TimerFired: the time of a timer of the tree has passed.
type TimerFired struct {
	Key string `json:"key"`
}

// Restarted is the first input of a process that took up an existing tree. It
// writes nothing itself: each session settles what it left open, then the tree
// goes on with what it owes.
type Restarted struct {
	Sessions map[id.Session]session.Restarted `json:"sessions"`
}

// Reconcile goes on with what the tree's journal says is owed.
type Reconcile struct{}

// retry is a decision that had to wait for another one that is on its way.
type retry struct{ call string }

func (Signalled) Kind() string      { return "signal" }
func (Prepared) Kind() string       { return "delegate.prepared" }
func (WorktreeLooked) Kind() string { return "worktree.looked" }
func (TimerFired) Kind() string     { return "tree.timer" }
func (Restarted) Kind() string      { return "tree.restarted" }
func (Reconcile) Kind() string      { return "tree.reconcile" }
func (retry) Kind() string          { return "retry" }

func (Signalled) tree()      {}
func (Prepared) tree()       {}
func (WorktreeLooked) tree() {}
func (TimerFired) tree()     {}
func (Restarted) tree()      {}
func (Reconcile) tree()      {}
func (retry) tree()          {}

// MarshalJSON writes a signal with its name: a cause says what was signalled.
func (s Signalled) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Signal string `json:"signal"`
		Args   any    `json:"args"`
	}{signalName(s.Signal), s.Signal})
}

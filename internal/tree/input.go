package tree

import (
	"encoding/json"
	"fmt"

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

// Retry is a call whose decision had to wait for another one that is on its way.
type Retry struct {
	Call string `json:"call_id"`
}

func (Signalled) Kind() string      { return "signal" }
func (Prepared) Kind() string       { return "delegate.prepared" }
func (WorktreeLooked) Kind() string { return "worktree.looked" }
func (TimerFired) Kind() string     { return "tree.timer" }
func (Restarted) Kind() string      { return "tree.restarted" }
func (Reconcile) Kind() string      { return "tree.reconcile" }
func (Retry) Kind() string          { return "retry" }

func (Signalled) tree()      {}
func (Prepared) tree()       {}
func (WorktreeLooked) tree() {}
func (TimerFired) tree()     {}
func (Restarted) tree()      {}
func (Reconcile) tree()      {}
func (Retry) tree()          {}

// MarshalJSON writes a signal with its name: a cause says what was signalled.
func (s Signalled) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Signal string `json:"signal"`
		Args   any    `json:"args"`
	}{signalName(s.Signal), s.Signal})
}

// UnmarshalJSON reads what MarshalJSON wrote; members beside it, as those of a
// cause, are passed over.
func (s *Signalled) UnmarshalJSON(b []byte) error {
	var x struct {
		Signal string          `json:"signal"`
		Args   json.RawMessage `json:"args"`
	}
	if err := json.Unmarshal(b, &x); err != nil {
		return err
	}
	read := signals[x.Signal]
	if read == nil {
		return fmt.Errorf("there is no signal %q", x.Signal)
	}
	var err error
	s.Signal, err = read(x.Args)
	return err
}

// signals reads each signal by its name.
var signals = signalTable(
	readSignal[session.CallTree], readSignal[session.CallExpired], readSignal[session.RunBegan], readSignal[session.RunOver], readSignal[session.Owed],
	readSignal[session.Received], readSignal[session.Taken], readSignal[session.StopOver], readSignal[session.ShellStopped], readSignal[session.JobEnded],
	readSignal[session.Happened], readSignal[session.CloseBelow],
)

type signalReader func(args []byte) (session.Signal, error)

func readSignal[S session.Signal]() (string, signalReader) {
	var zero S
	return signalName(zero), func(args []byte) (session.Signal, error) {
		var s S
		err := json.Unmarshal(args, &s)
		return s, err
	}
}

func signalTable(rows ...func() (string, signalReader)) map[string]signalReader {
	t := map[string]signalReader{}
	for _, row := range rows {
		name, read := row()
		t[name] = read
	}
	return t
}

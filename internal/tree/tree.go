// Package tree is one root session with everything below it: the unit that
// one process owns and one loop decides for. It numbers decisions, so that
// the journals of a tree merge into one order, and routes each input.
//
// A decision writes one line to one journal: that of a session, or that of the
// tree, delegates.jsonl. What follows in another journal is an input of its
// own (Decision.Next), taken once the line is on disk; so whatever a crash
// leaves, the journals tell what is still owed, and a restart goes on with it.
package tree

import (
	"encoding/json"
	"fmt"
	"time"

	"evener/internal/delegate"
	"evener/internal/effect"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
)

// State is one tree, folded.
type State struct {
	Root      id.Session
	Sessions  map[id.Session]*session.State
	Delegates delegate.Tree
	Step      int64 // the highest step of any journal
}

// New is the tree of a root that has no history yet.
func New(root id.Session) *State {
	return &State{Root: root, Sessions: map[id.Session]*session.State{root: session.New()}, Delegates: delegate.NewTree()}
}

// Session is the root session's state.
func (t *State) Session() *session.State { return t.Sessions[t.Root] }

// Input is an input for one session of the tree, or for the tree itself where
// In is one of this package's.
type Input struct {
	Session id.Session // whose; of a tree input, who it concerns
	In      session.Input
}

// ForTree reports whether the tree decides this input: it may read every
// journal, so no other may be ahead of the disk.
func (i Input) ForTree() bool {
	_, ok := i.In.(treeInput)
	return ok
}

// Write is what a decision says to one journal: one line.
type Write struct {
	Session id.Session // whose journal; empty: the tree's
	Step    int64
	At      time.Time
	Cause   []byte
	Events  []session.Event
}

// Effect is an order that belongs to a session.
type Effect struct {
	Session id.Session
	Effect  effect.Effect
}

// Decision is what an input came to.
type Decision struct {
	Writes  []Write
	Effects []Effect
	// Next are inputs that follow once the writes are on disk.
	Next []Input
}

// Decide takes one input. A *fault.Error refuses it and changes nothing; after
// any other error the state is not to be used again.
func (t *State) Decide(decode session.Decoder, f session.Facts, in Input) (Decision, error) {
	f.Now = f.Now.UTC().Truncate(time.Microsecond)
	if x, ok := in.In.(treeInput); ok {
		return t.decideTree(decode, f, in.Session, x)
	}
	s := t.Sessions[in.Session]
	if s == nil && begins(in.In) {
		s = session.New()
		t.Sessions[in.Session] = s
	}
	if s == nil {
		return Decision{}, fmt.Errorf("tree %s: input %s for unknown session %s", t.Root, in.In.Kind(), in.Session)
	}
	if x, ok := in.In.(session.WatchScanned); ok {
		in.In = t.ofScan(x)
	}
	f.Kin = t.kin(in.Session)
	step, err := session.Decide(s, decode, f, in.In)
	if err != nil {
		return Decision{}, err
	}
	var d Decision
	if len(step.Events) > 0 {
		t.Step++
		d.Writes = []Write{{Session: in.Session, Step: t.Step, At: f.Now, Cause: cause(in.In, step, f), Events: step.Events}}
	}
	for _, e := range step.Effects {
		d.Effects = append(d.Effects, Effect{in.Session, e})
	}
	for _, x := range step.Signals {
		d.Next = append(d.Next, Input{in.Session, Signalled{x}})
	}
	return d, nil
}

// begins tells the inputs that a session which is not there yet begins with.
func begins(in session.Input) bool {
	switch in.(type) {
	case session.Begin, session.Inherit:
		return true
	}
	return false
}

// kin is what the rules of a session read of what is below it.
func (t *State) kin(s id.Session) session.Kin {
	k := session.Kin{Family: t.Delegates.Len() > 0}
	if !k.Family {
		return k
	}
	k.Shells = func() int64 { return t.shellsBeside(s) }
	k.Watched = func() bool { return t.watched(s) }
	k.Working = func() bool { return t.awaits(s) }
	k.Delegates = func() []string { return t.delegateLines(s) }
	if s == t.Root {
		k.Working = t.working
		k.Open = func() bool { return t.Delegates.Closing() || t.unsettled() }
		k.Jobs = t.jobsBelow
	}
	return k
}

// awaits reports whether delegates of a session run or owe it something.
func (t *State) awaits(s id.Session) bool {
	for d := range t.Delegates.OwnedBy(s) {
		if d.Open || len(d.Owed) > 0 {
			return true
		}
	}
	return false
}

// shellsBeside counts the commands that run in other sessions than this one.
func (t *State) shellsBeside(s id.Session) int64 {
	n := 0
	for name, x := range t.Sessions {
		if name != s {
			n += len(x.Live())
		}
	}
	return int64(n)
}

// jobsBelow lists the handed-off commands of all delegates that have not ended.
func (t *State) jobsBelow() (jobs []*job.State) {
	for d := range t.Delegates.All {
		if s := t.Sessions[d.Session]; s != nil {
			jobs = append(jobs, s.Running()...)
		}
	}
	return jobs
}

// working reports whether anything below the root runs, is owed, or waits to be
// driven. A drive that failed is tried again while the root goes on, but holds
// up no end.
func (t *State) working() bool {
	for d := range t.Delegates.All {
		if d.Open || len(d.Owed) > 0 || d.Stops > 0 || t.drivable(d) && d.Drives == 0 {
			return true
		}
	}
	return false
}

// unsettled reports whether something below the root still runs that its close
// must end, or is on its way to an owner.
func (t *State) unsettled() bool {
	for d := range t.Delegates.All {
		if s := t.Sessions[d.Session]; d.Open || len(d.Owed) > 0 || s != nil && len(s.Live()) > 0 {
			return true
		}
	}
	return false
}

// Apply folds one line of a session's journal.
func (t *State) Apply(s id.Session, step int64, at time.Time, events []session.Event) error {
	t.Step = max(t.Step, step)
	if t.Sessions[s] == nil {
		t.Sessions[s] = session.New()
	}
	for _, e := range events {
		if err := t.Sessions[s].Apply(at, e); err != nil {
			return err
		}
	}
	return nil
}

// ApplyTree folds one line of the tree's own journal.
func (t *State) ApplyTree(step int64, at time.Time, events []session.Event) error {
	t.Step = max(t.Step, step)
	for _, e := range events {
		x, ok := e.(delegate.Event)
		if !ok {
			return fmt.Errorf("tree %s: %s does not belong into the journal of delegates", t.Root, e.Kind())
		}
		if err := t.Delegates.Apply(at, x); err != nil {
			return err
		}
	}
	return nil
}

// Cause is the cause of an input whose decision reads nothing else.
func Cause(in session.Input) []byte { return cause(in, session.Step{}, session.Facts{}) }

// cause is the decision's input with every value that came from outside the
// fold, so that the decision can be made again from the line.
func cause(in session.Input, step session.Step, f session.Facts) []byte {
	args, err := json.Marshal(in)
	if err != nil {
		panic("tree: input does not encode: " + err.Error()) // inputs are plain structs
	}
	facts := struct {
		Kind   string     `json:"kind"`
		Random *uint32    `json:"random,omitempty"`
		Live   []job.Live `json:"live,omitempty"`
		Full   string     `json:"full_filesystem,omitempty"`
		Room   int64      `json:"room_bytes,omitempty"`
	}{Kind: in.Kind(), Live: step.Live, Full: f.Full}
	if f.Full != "" {
		facts.Room = f.Room
	}
	if step.UsedRandom {
		facts.Random = &f.Random
	}
	head, err := json.Marshal(facts)
	if err != nil {
		panic("tree: facts do not encode: " + err.Error())
	}
	if len(args) == 2 { // {}
		return head
	}
	return append(append(head[:len(head)-1], ','), args[1:]...)
}

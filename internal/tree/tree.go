// Package tree is one root session with everything below it: the unit that
// one process owns and one loop decides for. It numbers decisions, so that
// the journals of a tree merge into one order, and routes each input to its
// session.
package tree

import (
	"encoding/json"
	"fmt"
	"time"

	"evener/internal/effect"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
)

// State is one tree, folded.
type State struct {
	Root     id.Session
	Sessions map[id.Session]*session.State
	Step     int64 // the highest step of any journal
}

// New is the tree of a root that has no history yet.
func New(root id.Session) *State {
	return &State{Root: root, Sessions: map[id.Session]*session.State{root: session.New()}}
}

// Session is the root session's state.
func (t *State) Session() *session.State { return t.Sessions[t.Root] }

// Input is an input for one session of the tree.
type Input struct {
	Session id.Session
	In      session.Input
}

// Write is what a decision says to one journal: one line.
type Write struct {
	Session id.Session // whose journal
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
}

// Decide takes one input. A *fault.Error refuses it and changes nothing; after
// any other error the state is not to be used again.
func (t *State) Decide(decode session.Decoder, f session.Facts, in Input) (Decision, error) {
	s := t.Sessions[in.Session]
	if s == nil {
		return Decision{}, fmt.Errorf("tree %s: input %s for unknown session %s", t.Root, in.In.Kind(), in.Session)
	}
	f.Now = f.Now.UTC().Truncate(time.Microsecond)
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
	return d, nil
}

// Apply folds one line of a session's journal.
func (t *State) Apply(s id.Session, step int64, at time.Time, events []session.Event) error {
	t.Step = max(t.Step, step)
	for _, e := range events {
		if err := t.Sessions[s].Apply(at, e); err != nil {
			return err
		}
	}
	return nil
}

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

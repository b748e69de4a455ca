package delegate

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"evener/internal/id"
	"evener/internal/text"
)

// State is one delegate, folded.
type State struct {
	ID         id.Delegate
	Session    id.Session
	Owner      id.Session
	Parent     id.Delegate
	Call       string
	Descriptor Descriptor
	CreatedAt  time.Time
	Task       string // its first message
	Tasks      []Task // that its list begins with
	Fork       *Fork  // what its conversation begins with; nil is a clean one

	Generation int64
	Purpose    Purpose
	Open       bool
	StartedAt  time.Time // of the latest generation
	Text       string    // the owner's message that began it
	Updates    int64     // queued in it

	Last   *Outcome
	Report string     // how the message of its latest packet begins
	Owed   []Delivery // in order; not yet in the owner's journal
	Stops  int        // pending stops that cover it
	// Stopped is the latest finished stop that was asked for it.
	Stopped StopRequested
	// Drives counts the attention generations in a row that did not end well.
	Drives int64
	// Revision counts the facts about this delegate.
	Revision  int64
	ChangedAt time.Time
}

// reportLen bounds what is kept of a report for listings, in code points.
const reportLen = 200

// Outcome is how the latest ended generation went.
type Outcome struct {
	Generation int64
	Status     Status
	Reason     string
	Error      string
	EndedAt    time.Time
}

// Delivery is owed to the owner.
type Delivery struct {
	ID         string
	Generation int64
	Message    string  // of an update
	Packet     *Packet // of a report
}

// Running is the public status.
func (s *State) Status() string {
	if s.Open {
		return "running"
	}
	return "idle"
}

// Ref is the transcript ref of its conversation.
func (s *State) Ref() string { return "local:" + string(s.Session) }

// Tree is all delegates of a root, folded from its delegates.jsonl.
type Tree struct {
	byID  map[id.Delegate]*State
	order []id.Delegate // as created: owners stand before what they own
	stops []*Stop
	// Running and Driving count open generations by what started them.
	Running, Driving int64
}

// Stop is a pending stop of a subtree.
type Stop struct {
	StopRequested
	At       time.Time
	Receipts map[id.Delegate]bool // members of which nothing runs any more
}

// NewTree has no delegates.
func NewTree() Tree { return Tree{byID: map[id.Delegate]*State{}} }

// Get finds a delegate; nil if there is none.
func (t *Tree) Get(d id.Delegate) *State { return t.byID[d] }

// Len counts the delegates there ever were.
func (t *Tree) Len() int { return len(t.order) }

// All yields the delegates in the order created.
func (t *Tree) All(yield func(*State) bool) {
	for _, d := range t.order {
		if !yield(t.byID[d]) {
			return
		}
	}
}

// OwnedBy yields the direct delegates of a session.
func (t *Tree) OwnedBy(s id.Session) func(func(*State) bool) {
	return func(yield func(*State) bool) {
		for x := range t.All {
			if x.Owner == s && !yield(x) {
				return
			}
		}
	}
}

// Subtree lists a delegate and everything below it, owners first.
func (t *Tree) Subtree(top id.Delegate) []id.Delegate {
	in := map[id.Delegate]bool{top: true}
	out := []id.Delegate{top}
	for x := range t.All {
		if in[x.Parent] && x.Parent != "" {
			in[x.ID] = true
			out = append(out, x.ID)
		}
	}
	return out
}

// Stops lists the pending stops, the oldest first.
func (t *Tree) Stops() []*Stop { return t.stops }

// StopOf finds the pending stop that was asked for this target; "" is the close
// of the root.
func (t *Tree) StopOf(d id.Delegate) *Stop {
	for _, s := range t.stops {
		if s.Delegate == d {
			return s
		}
	}
	return nil
}

// Closing reports that the root is closing.
func (t *Tree) Closing() bool { return t.StopOf("") != nil }

// Clone is a copy that folds on by itself.
func (t *Tree) Clone() Tree {
	c := Tree{byID: make(map[id.Delegate]*State, len(t.byID)), order: slices.Clone(t.order), Running: t.Running, Driving: t.Driving}
	for d, s := range t.byID {
		x := *s
		x.Owed = slices.Clone(s.Owed)
		c.byID[d] = &x
	}
	for _, s := range t.stops {
		x := *s
		x.Receipts = maps.Clone(s.Receipts)
		c.stops = append(c.stops, &x)
	}
	return c
}

// Apply folds one event at its line's time. It fails on an event that cannot follow.
func (t *Tree) Apply(at time.Time, e Event) error {
	switch e := e.(type) {
	case Created:
		if t.byID[e.Delegate] != nil {
			return fmt.Errorf("delegate %s: created twice", e.Delegate)
		}
		t.share(&e.Descriptor)
		t.byID[e.Delegate] = &State{
			ID: e.Delegate, Session: e.Session, Owner: e.Owner, Parent: e.Parent, Call: e.Call, Descriptor: e.Descriptor, Tasks: e.Tasks, Fork: e.Fork,
			CreatedAt: at, Revision: 1, ChangedAt: at,
		}
		t.order = append(t.order, e.Delegate)
		return nil
	case StopRequested:
		return t.fence(at, e)
	case StopReceipt:
		return t.receipt(e)
	case StopFinished:
		return t.unfence(e)
	}
	s := t.byID[e.DelegateID()]
	if s == nil {
		return fmt.Errorf("delegate %s: %s of an unknown delegate", e.DelegateID(), e.Kind())
	}
	s.Revision++
	s.ChangedAt = at
	switch e := e.(type) {
	case GenerationStarted:
		if s.Open || e.Generation != s.Generation+1 {
			return fmt.Errorf("delegate %s: generation %d started after %d (open: %v)", s.ID, e.Generation, s.Generation, s.Open)
		}
		s.Generation, s.Purpose, s.Open, s.StartedAt, s.Text, s.Updates = e.Generation, e.Purpose, true, at, e.Text, 0
		if s.Generation == 1 {
			s.Task = e.Text
		}
		*t.counter(s)++
		return nil
	case Delivered:
		if len(s.Owed) == 0 || s.Owed[0].ID != e.Delivery {
			return fmt.Errorf("delegate %s: %s delivered out of order", s.ID, e.Delivery)
		}
		s.Owed = s.Owed[1:]
		return nil
	case Discarded:
		s.Owed = slices.DeleteFunc(s.Owed, func(d Delivery) bool { return slices.Contains(e.Deliveries, d.ID) })
		return nil
	}
	return t.applyOpen(at, s, e)
}

// share holds what is the same text as in the delegate before only once: most are
// told the same.
func (t *Tree) share(d *Descriptor) {
	if len(t.order) == 0 {
		return
	}
	last := t.byID[t.order[len(t.order)-1]].Descriptor
	if bytes.Equal(last.Tools, d.Tools) {
		d.Tools = last.Tools
	}
	if last.System == d.System {
		d.System = last.System
	}
}

// applyOpen folds what only an open generation can do.
func (t *Tree) applyOpen(at time.Time, s *State, e Event) error {
	if !s.Open {
		return fmt.Errorf("delegate %s: %s while it is idle", s.ID, e.Kind())
	}
	switch e := e.(type) {
	case UpdateQueued:
		s.Updates++
		s.Owed = append(s.Owed, Delivery{ID: e.Delivery, Generation: e.Generation, Message: e.Message})
	case Finished:
		if e.Generation != s.Generation {
			return fmt.Errorf("delegate %s: generation %d finished while %d is open", s.ID, e.Generation, s.Generation)
		}
		s.Open = false
		*t.counter(s)--
		switch {
		case s.Purpose != ForAttention || e.Status == Completed:
			s.Drives = 0
		case e.Reason != RuntimeLost: // which says nothing of the drive
			s.Drives++
		}
		s.Last = &Outcome{Generation: e.Generation, Status: e.Status, Reason: e.Reason, Error: e.Error, EndedAt: at}
		if e.Packet != nil {
			s.Report = text.Preview(e.Packet.Message, reportLen)
			s.Owed = append(s.Owed, Delivery{ID: e.Delivery, Generation: e.Generation, Packet: e.Packet})
		}
	default:
		return fmt.Errorf("delegate: unknown event %T", e)
	}
	return nil
}

func (t *Tree) counter(s *State) *int64 {
	if s.Purpose == ForAttention {
		return &t.Driving
	}
	return &t.Running
}

func (t *Tree) fence(at time.Time, e StopRequested) error {
	if t.StopOf(e.Delegate) != nil {
		return fmt.Errorf("stop %s: the target is stopping already", e.Stop)
	}
	for _, m := range e.Members {
		s := t.byID[m]
		if s == nil {
			return fmt.Errorf("stop %s: unknown member %s", e.Stop, m)
		}
		s.Stops++
		s.Revision++
		s.ChangedAt = at
	}
	t.stops = append(t.stops, &Stop{StopRequested: e, At: at, Receipts: map[id.Delegate]bool{}})
	return nil
}

func (t *Tree) receipt(e StopReceipt) error {
	for _, s := range t.stops {
		if s.Stop == e.Stop && slices.Contains(s.Members, e.Delegate) && !s.Receipts[e.Delegate] {
			s.Receipts[e.Delegate] = true
			return nil
		}
	}
	return fmt.Errorf("stop %s: receipt of %s, which it does not wait for", e.Stop, e.Delegate)
}

func (t *Tree) unfence(e StopFinished) error {
	i := slices.IndexFunc(t.stops, func(s *Stop) bool { return s.Stop == e.Stop })
	if i < 0 {
		return fmt.Errorf("stop %s: finished and not requested", e.Stop)
	}
	for _, m := range t.stops[i].Members {
		if t.byID[m].Open {
			return fmt.Errorf("stop %s: finished while %s runs", e.Stop, m)
		}
		t.byID[m].Stops--
		t.byID[m].Revision++
	}
	if d := t.byID[e.Delegate]; d != nil {
		d.Stopped = t.stops[i].StopRequested
	}
	t.stops = slices.Delete(t.stops, i, i+1)
	return nil
}

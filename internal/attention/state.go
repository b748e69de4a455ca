package attention

import (
	"fmt"

	"evener/internal/id"
)

// Event is a fact about notices.
type Event interface {
	Kind() string
	attention()
}

// Armed: a notice is owed to the receiver.
type Armed struct {
	ID         string `json:"attention_id"`
	Source     id.Job `json:"job_id"`
	Generation int    `json:"terminal_generation"`
	Frame      string `json:"frame"`
}

// Class is what a notice of a delegate says.
type Class string

const (
	Shell  Class = "shell"  // the end of a shell job
	Report Class = "report" // a delegate's terminal packet
	Update Class = "update" // a delegate's word in the middle of its work
	Quiet  Class = "quiet"  // a delegate has been silent for long
	Watch  Class = "watch"  // a condition of a watch was met, or the watch has ended
)

// WatchArmed: a frame of a watch is owed to the session that watches. One that
// no request has carried yet may be replaced by a later one.
type WatchArmed struct {
	ID       string   `json:"attention_id"`
	Watch    id.Watch `json:"watch_id"`
	Replaces string   `json:"replaces,omitempty"`
	Depth    int      `json:"influence_depth,omitempty"` // how deep it stands in the watch's own influence
	Frame    string   `json:"frame"`
}

// DelegateArmed: a notice of a delegate is owed to its owner. Its identity is
// that of the delivery in the journal of the tree.
type DelegateArmed struct {
	ID       string      `json:"attention_id"`
	Delegate id.Delegate `json:"delegate_id"`
	Class    Class       `json:"notice_kind"`
	Message  string      `json:"message,omitempty"` // an update as the delegate wrote it
	Frame    string      `json:"frame"`
}

// ConsumedBy is what settled a notice.
type ConsumedBy string

const (
	ByTurn   ConsumedBy = "turn"   // a turn that carried it ended well
	ByStatus ConsumedBy = "status" // the owner read the terminal status
	ByWait   ConsumedBy = "wait"   // the call that waited for it returned it
)

// Consumed: these notices are settled for good.
type Consumed struct {
	IDs []string   `json:"attention_ids"`
	By  ConsumedBy `json:"by"`
}

// SettledInline: a kept completion was told by its own tool result; nothing is
// owed, and a restore must not announce it again.
type SettledInline struct {
	Source id.Job `json:"job_id"`
}

// Discarded: the subtree of the receiver was stopped, and what it was owed goes
// with it.
type Discarded struct {
	IDs []string `json:"attention_ids"`
}

func (Armed) Kind() string         { return "attention.armed" }
func (DelegateArmed) Kind() string { return "attention.delegate_armed" }
func (WatchArmed) Kind() string    { return "attention.watch_armed" }
func (Discarded) Kind() string     { return "attention.discarded" }
func (Consumed) Kind() string      { return "attention.consumed" }
func (SettledInline) Kind() string { return "attention.settled_inline" }

// Notice states of a job's record.
const (
	NotArmed  = "not_armed"
	Pending   = "pending"
	Delivered = "delivered"
	Settled   = "consumed"
)

// Notice is one notice that is not consumed yet.
type Notice struct {
	ID       string
	Class    Class
	Source   id.Job      // of a shell's end
	Delegate id.Delegate // of a delegate
	Watch    id.Watch    // of a watch
	Depth    int         // of its frame in the watch's own influence
	Message  string      // of an update
	Frame    string
	Shown    bool // in the transcript already
	at       int  // how many entries stood before it there
}

// State is the receiver's notices, folded.
type State struct {
	pending []*Notice         // in the order armed
	states  map[string]string // of every notice that was ever armed, by its identity
}

// New is an empty state.
func New() State { return State{states: map[string]string{}} }

// ID derives the identity of a job's terminal notice. A job has one terminal
// record, so its generation is 1.
func ID(j id.Job, generation int) string { return fmt.Sprintf("%s/%d", j, generation) }

// Apply folds one event. It fails on an event that cannot follow.
func (s *State) Apply(e Event) error {
	switch e := e.(type) {
	case Armed:
		if s.Known(e.Source) {
			return fmt.Errorf("attention of %s: armed twice", e.Source)
		}
		return s.arm(&Notice{ID: e.ID, Class: Shell, Source: e.Source, Frame: e.Frame})
	case DelegateArmed:
		return s.arm(&Notice{ID: e.ID, Class: e.Class, Delegate: e.Delegate, Message: e.Message, Frame: e.Frame})
	case WatchArmed:
		if e.Replaces != "" {
			if n := s.find(e.Replaces); n == nil || n.Shown || n.Watch != e.Watch {
				return fmt.Errorf("attention %s: replaces %s, which is no frame of the watch that still waits", e.ID, e.Replaces)
			}
			s.drop(e.Replaces)
		}
		return s.arm(&Notice{ID: e.ID, Class: Watch, Watch: e.Watch, Depth: e.Depth, Frame: e.Frame})
	case Consumed:
		return s.settle(e.IDs)
	case Discarded:
		return s.settle(e.IDs)
	case SettledInline:
		if s.Known(e.Source) {
			return fmt.Errorf("attention of %s: settled inline after it was armed", e.Source)
		}
		s.states[ID(e.Source, 1)] = Settled
	default:
		return fmt.Errorf("attention: unknown event %T", e)
	}
	return nil
}

func (s *State) arm(n *Notice) error {
	if s.states[n.ID] != "" {
		return fmt.Errorf("attention %s: armed twice", n.ID)
	}
	s.states[n.ID] = Pending
	s.pending = append(s.pending, n)
	return nil
}

func (s *State) settle(ids []string) error {
	for _, x := range ids {
		if !s.drop(x) {
			return fmt.Errorf("attention %s: settled but not pending", x)
		}
	}
	return nil
}

// Show marks notices as carried by a request; the transcript has their frames now,
// behind so many entries.
func (s *State) Show(ids []string, at int) ([]string, error) {
	var frames []string
	for _, x := range ids {
		n := s.find(x)
		if n == nil || n.Shown {
			return nil, fmt.Errorf("attention %s: shown but not pending", x)
		}
		n.Shown, n.at, s.states[n.ID] = true, at, Delivered
		frames = append(frames, n.Frame)
	}
	return frames, nil
}

// Frames is what notices say that a request carried, for a reader that follows no requests.
func (s *State) Frames(ids []string) ([]string, error) {
	var frames []string
	for _, x := range ids {
		n := s.find(x)
		if n == nil {
			return nil, fmt.Errorf("attention %s: shown but not pending", x)
		}
		frames = append(frames, n.Frame)
	}
	return frames, nil
}

// Covered says that no request has what stood in the first entries of the
// transcript any more: what was shown there and is not settled is to be shown again.
func (s *State) Covered(entries int) {
	for _, n := range s.pending {
		if n.Shown && n.at < entries {
			n.Shown, s.states[n.ID] = false, Pending
		}
	}
}

func (s *State) find(x string) *Notice {
	for _, n := range s.pending {
		if n.ID == x {
			return n
		}
	}
	return nil
}

func (s *State) drop(x string) bool {
	for i, n := range s.pending {
		if n.ID == x {
			s.states[x] = Settled
			s.pending = append(s.pending[:i], s.pending[i+1:]...)
			return true
		}
	}
	return false
}

// Unshown lists the notices that the next request must carry, in order.
func (s *State) Unshown() []string { return s.ids(func(n *Notice) bool { return !n.Shown }) }

// Shown lists the notices that a turn that ends well consumes.
func (s *State) Shown() []string { return s.ids(func(n *Notice) bool { return n.Shown }) }

// OfJob lists the pending notices of one source.
func (s *State) OfJob(j id.Job) []string {
	return s.ids(func(n *Notice) bool { return n.Source == j })
}

func (s *State) ids(want func(*Notice) bool) []string {
	var out []string
	for _, n := range s.pending {
		if want(n) {
			out = append(out, n.ID)
		}
	}
	return out
}

// UnshownOf lists the notices of a class that no request has carried yet.
func (s *State) UnshownOf(c Class) []string {
	return s.ids(func(n *Notice) bool { return !n.Shown && n.Class == c })
}

// Pending lists every notice that is not settled.
func (s *State) Pending() []string { return s.ids(func(*Notice) bool { return true }) }

// Waits reports whether no request has carried the notice yet.
func (s *State) Waits(x string) bool {
	n := s.find(x)
	return n != nil && !n.Shown
}

// OfWatch lists the notices of a watch that no request has carried yet.
func (s *State) OfWatch(x id.Watch) []string {
	return s.ids(func(n *Notice) bool { return n.Watch == x && !n.Shown })
}

// Influence is, of each watch that notices are of, how deep the deepest of them
// stands in its own influence.
func (s *State) Influence(ids []string) map[id.Watch]int {
	var out map[id.Watch]int
	for _, x := range ids {
		n := s.find(x)
		if n == nil || n.Watch == "" {
			continue
		}
		if out == nil {
			out = map[id.Watch]int{}
		}
		out[n.Watch] = max(out[n.Watch], n.Depth)
	}
	return out
}

// UpdatesOf lists the updates of a delegate that no request has carried yet.
func (s *State) UpdatesOf(d id.Delegate) []*Notice {
	var out []*Notice
	for _, n := range s.pending {
		if n.Delegate == d && n.Class == Update && !n.Shown {
			out = append(out, n)
		}
	}
	return out
}

// StateOf is the state of a notice by its identity: NotArmed if it is unknown.
func (s *State) StateOf(notice string) string {
	if v := s.states[notice]; v != "" {
		return v
	}
	return NotArmed
}

// Of is the notification state of a job's record.
func (s *State) Of(j id.Job) string { return s.StateOf(ID(j, 1)) }

// Known reports whether the source's notice was ever armed.
func (s *State) Known(j id.Job) bool { return s.states[ID(j, 1)] != "" }

func (Armed) attention()         {}
func (DelegateArmed) attention() {}
func (Consumed) attention()      {}
func (SettledInline) attention() {}
func (Discarded) attention()     {}
func (WatchArmed) attention()    {}

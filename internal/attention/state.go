package attention

import (
	"fmt"

	"evener/internal/id"
)

// Event is a fact about notices.
type Event interface{ Kind() string }

// Armed: a notice is owed to the receiver.
type Armed struct {
	ID         string `json:"attention_id"`
	Source     id.Job `json:"job_id"`
	Generation int    `json:"terminal_generation"`
	Frame      string `json:"frame"`
}

// ConsumedBy is what settled a notice.
type ConsumedBy string

const (
	ByTurn   ConsumedBy = "turn"   // a turn that carried it ended well
	ByStatus ConsumedBy = "status" // the owner read the terminal status
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

func (Armed) Kind() string         { return "attention.armed" }
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
	ID     string
	Source id.Job
	Frame  string
	Shown  bool // in the transcript already
}

// State is the receiver's notices, folded.
type State struct {
	pending []*Notice         // in the order armed
	states  map[id.Job]string // of every armed source
}

// New is an empty state.
func New() State { return State{states: map[id.Job]string{}} }

// ID derives the identity of a job's terminal notice.
func ID(j id.Job, generation int) string { return fmt.Sprintf("%s/%d", j, generation) }

// Apply folds one event. It fails on an event that cannot follow.
func (s *State) Apply(e Event) error {
	switch e := e.(type) {
	case Armed:
		if s.states[e.Source] != "" {
			return fmt.Errorf("attention %s: armed twice", e.ID)
		}
		s.states[e.Source] = Pending
		s.pending = append(s.pending, &Notice{ID: e.ID, Source: e.Source, Frame: e.Frame})
	case Consumed:
		for _, x := range e.IDs {
			if !s.drop(x) {
				return fmt.Errorf("attention %s: consumed but not pending", x)
			}
		}
	case SettledInline:
		if s.states[e.Source] != "" {
			return fmt.Errorf("attention of %s: settled inline after it was armed", e.Source)
		}
		s.states[e.Source] = Settled
	default:
		return fmt.Errorf("attention: unknown event %T", e)
	}
	return nil
}

// Show marks notices as carried by a request; the transcript has their frames now.
func (s *State) Show(ids []string) ([]string, error) {
	var frames []string
	for _, x := range ids {
		n := s.find(x)
		if n == nil || n.Shown {
			return nil, fmt.Errorf("attention %s: shown but not pending", x)
		}
		n.Shown, s.states[n.Source] = true, Delivered
		frames = append(frames, n.Frame)
		n.Frame = "" // the transcript holds it from here on
	}
	return frames, nil
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
			s.states[n.Source] = Settled
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

// Of is the notification state of a job's record.
func (s *State) Of(j id.Job) string {
	if v := s.states[j]; v != "" {
		return v
	}
	return NotArmed
}

// Known reports whether the source's notice was ever armed.
func (s *State) Known(j id.Job) bool { return s.states[j] != "" }

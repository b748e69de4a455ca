package session

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/text"
)

// A branch that leaves a conversation may be marked. The mark stands with the
// conversation that was left, not in the branch, and there is room for one: a
// later one takes its place. Nothing else of a session changes when it is marked.

// maxLabel is how long a label may be, in characters.
const maxLabel = 200

// LabelFork marks the branch that a session has just become the parent of. It
// is asked for when the branch is there, so no mark names what is not.
type LabelFork struct {
	Child      id.Session `json:"child_session_id"`
	Divergence int64      `json:"divergence_turn"`
	Label      string     `json:"label"`
}

func (LabelFork) Kind() string { return "fork.label" }

// ForkLabelled: a branch of this conversation was marked.
type ForkLabelled struct {
	Child      id.Session `json:"child_session_id"`
	Divergence int64      `json:"divergence_turn"`
	Label      string     `json:"label"`
}

func (ForkLabelled) Kind() string { return "session.fork_labelled" }

// CheckLabel refuses what is no label.
func CheckLabel(label string) *fault.Error {
	switch {
	case strings.TrimSpace(label) == "":
		return fault.Invalid("the label is empty")
	case !utf8.ValidString(label) || strings.ContainsAny(label, "\n\r") || text.Printable(label) != label:
		return fault.Invalid("the label is more than one line, or has characters that cannot be shown")
	case utf8.RuneCountInString(label) > maxLabel:
		return fault.Invalid("the label has more than %d characters", maxLabel)
	}
	return nil
}

func (w *work) labelFork(in LabelFork) *fault.Error {
	if w.s.ID == "" {
		return fault.Invalid("the session has no history yet")
	}
	if err := CheckLabel(in.Label); err != nil {
		return err
	}
	w.emit(ForkLabelled(in))
	return nil
}

func (s *State) applyLabel(e ForkLabelled) error {
	if s.ID == "" || e.Label == "" || e.Child == "" {
		return fmt.Errorf("session %s: a branch was labelled out of order", s.ID)
	}
	s.ForkLabel = e.Label
	return nil
}

package session

import (
	"fmt"

	"evener/internal/effect"
	"evener/internal/fault"
)

// Archive puts the session away, or takes that back (Undo). Its record stays
// whole and readable; the next run takes it up again.
type Archive struct {
	Undo bool `json:"undo,omitempty"`
}

func (Archive) Kind() string { return "archive" }

// Archived: the session was put away. Its scratch is dropped; listings pass it over.
type Archived struct{}

// Unarchived: it was taken back. The scratch stays gone.
type Unarchived struct{}

func (Archived) Kind() string   { return "session.archived" }
func (Unarchived) Kind() string { return "session.unarchived" }

// archive refuses a session that somebody works on. Asked again it drops the
// scratch again: the process that archived may have been lost before it had.
func (w *work) archive(in Archive) *fault.Error {
	s := w.s
	switch {
	case s.ID == "":
		return fault.Invalid("session has no history yet; delete it instead")
	case s.Run.Open:
		return fault.Invalid("session %s is at work; end its run first", s.ID)
	case in.Undo && s.Archived:
		w.emit(Unarchived{})
	case !in.Undo:
		if !s.Archived {
			w.emit(Archived{})
		}
		w.order(effect.DropScratch{})
	}
	return nil
}

func (s *State) applyArchive(away bool) error {
	if s.Archived == away || s.Run.Open || s.ID == "" {
		return fmt.Errorf("session %s: archived or taken back out of order", s.ID)
	}
	s.Archived = away
	return nil
}

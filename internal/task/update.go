package task

import (
	"strings"
	"unicode/utf8"

	"evener/internal/fault"
)

// Update gives a task a state, a note, or both. ok is false when neither is new.
func Update(s *State, n int64, to Stage, note string) (e Changed, ok bool, err *fault.Error) {
	x, err := Get(s, n)
	if err != nil {
		return Changed{}, false, err
	}
	note = strings.TrimSpace(note)
	if c := utf8.RuneCountInString(note); c > maxNote {
		return Changed{}, false, fault.Invalid("note has %d characters; %d at most", c, maxNote)
	}
	if to == "" {
		if note == "" {
			return Changed{}, false, fault.Invalid("neither state nor note is given; give the new state, a note, or both")
		}
		to = x.Stage
	}
	if note == x.Note {
		note = ""
	}
	return Changed{ID: n, State: to, Note: note}, to != x.Stage || note != "", nil
}

// Get finds a task that must be there.
func Get(s *State, n int64) (Task, *fault.Error) {
	x, ok := s.Find(n)
	switch {
	case ok:
		return x, nil
	case n > 0 && n <= s.last:
		return x, fault.New(fault.TargetNotFound, "task %d left the list to make room", n)
	case s.last == 0:
		return x, fault.New(fault.TargetNotFound, "no task %d: the list is empty", n)
	}
	return x, fault.New(fault.TargetNotFound, "no task %d; the latest is %d", n, s.last)
}

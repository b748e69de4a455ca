package session

import (
	"slices"
	"strings"

	"evener/internal/transcript"
)

// Quiescent reports that nothing of the session runs, waits or is owed to it, so
// that its conversation need not be in memory.
func (s *State) Quiescent() bool {
	return s.Run.N > 0 && !s.Run.Open && s.Turn == nil && len(s.Live()) == 0 && len(s.Attention.Pending()) == 0 &&
		len(s.Messages) == 0 && len(s.Stops) == 0 && len(s.Transcript.Open()) == 0
}

// Release lets the conversation go. told is what the model is told, held anyway.
func (s *State) Release(told ContextSet) {
	if s.Transcript.Released() {
		return
	}
	s.opening = s.Opening()
	if sameContext(s.Context, told) {
		s.Context = told
	}
	s.Transcript.Release()
}

// Opening is the first that was said to this session.
func (s *State) Opening() string {
	if s.Transcript.Released() {
		return s.opening
	}
	for _, e := range s.Own() {
		if e.Role == transcript.User {
			return strings.TrimPrefix(e.Text, inherited)
		}
	}
	return ""
}

// Inherited is the latest prompt of the conversation that a branch has from another
// session.
func (s *State) Inherited() string {
	inherited := s.Transcript.Entries[:len(s.Transcript.Entries)-len(s.Own())]
	for _, e := range slices.Backward(inherited) {
		if e.Role == transcript.User && !e.Note {
			return e.Text
		}
	}
	return ""
}

package transcript

import "fmt"

// A conversation of which nothing is asked may be let go: its entries stand in
// the journal. Nothing can be said in it until it is there again.

// Release lets the entries go. No call may be open.
func (s *State) Release() {
	if len(s.open) == 0 {
		*s = State{gone: len(s.Entries)}
	}
}

// Released reports whether the entries were let go.
func (s *State) Released() bool { return s.gone > 0 }

// Restore takes the entries back, as they were folded again.
func (s *State) Restore(from State) error {
	if len(from.Entries) != s.gone || len(from.open) > 0 {
		return fmt.Errorf("transcript: %d entries were let go and %d are found", s.gone, len(from.Entries))
	}
	*s = from
	return nil
}

// here fails where something is to be said while the entries are not there.
func (s *State) here() error {
	if s.gone > 0 {
		return fmt.Errorf("transcript: its %d entries were let go", s.gone)
	}
	return nil
}

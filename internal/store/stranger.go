package store

import (
	"fmt"

	"evener/internal/id"
	"evener/internal/session"
)

// StrangerError: a journal stands where that of another session, or tree, belongs. Each
// of its lines may be whole; only who moved it can put it back.
type StrangerError struct {
	Path  string
	Of    id.Session // whose it is
	Place id.Session // whose place it stands in
}

func (e *StrangerError) Error() string {
	return fmt.Sprintf("journal %s is that of session %s, and stands in the place of that of %s; put each back into the folder of its session", e.Path, e.Of, e.Place)
}

// stands looks whether a journal whose line 1 says this is of another session than s,
// or, where that is "", of another tree than root's. An older program's says neither.
func (o owner) stands(path string, root, s id.Session) error {
	of, place := o.Session, s
	if s == "" {
		of, place = o.Root, root
	}
	if of != "" && of != place {
		return &StrangerError{path, of, place}
	}
	return nil
}

// stranger looks whether a decision says that it is of another session.
func stranger(path string, s id.Session, e session.Event) error {
	if c, ok := e.(session.Created); ok && s != "" && c.Session != s {
		return &StrangerError{path, c.Session, s}
	}
	return nil
}

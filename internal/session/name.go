package session

import (
	"fmt"
	"strings"

	"evener/internal/effect"
	"evener/internal/text"
	"evener/internal/transcript"
)

// A session may get a short name, from its model, by a request without tools on
// the side. It is asked for once a turn has ended and while the model has nothing
// else to do: while no turn is open, or while a call of a later turn runs. So no
// turn waits for it, and no run: what is not answered by then is dropped, and
// nothing is told of it. Where none comes, the first prompt goes on standing for
// the session.

// maxName is how long a name may be, in characters.
const maxName = 60

// NameFound is what the model answered; empty where it did not.
type NameFound struct {
	Text  string           `json:"-"`
	Usage transcript.Usage `json:"-"`
}

func (NameFound) Kind() string { return "model.named" }

// Named: the session has a name.
type Named struct {
	Name  string           `json:"name"`
	Usage transcript.Usage `json:"usage"` // of the request for it
}

func (Named) Kind() string { return "session.named" }

// askName asks for the name of the session where it has none and this is the
// moment. Whoever performs it asks once at a time.
func (w *work) askName() {
	s := w.s
	if w.err == nil && s.Run.Limits.NameSessions && s.root() && s.Run.Open && s.Run.Ending == "" && s.Name == "" && s.endedTurn() && (s.Turn == nil || s.Turn.Waiting == 0) {
		w.order(effect.NameSession{})
	}
}

// endedTurn reports whether a turn of the session's own has ended.
func (s *State) endedTurn() bool {
	own := s.Turns
	if s.Fork.Parent != "" {
		own -= s.Fork.Divergence - 1
	}
	return own > 1 || own == 1 && s.Turn == nil
}

func (w *work) nameFound(in NameFound) {
	if name := nameOf(in.Text); name != "" && w.s.Name == "" && w.s.root() {
		w.emit(Named{Name: name, Usage: in.Usage})
	}
}

// nameOf is the first line of an answer, without what models put around it.
func nameOf(answer string) string {
	for line := range strings.Lines(answer) {
		line = strings.Trim(strings.TrimSpace(line), "\"'`*#.: ")
		if line != "" {
			return text.Preview(line, maxName)
		}
	}
	return ""
}

func (s *State) applyName(e Named) error {
	if s.ID == "" || s.Name != "" || e.Name == "" {
		return fmt.Errorf("session %s: named out of order", s.ID)
	}
	s.Name, s.Tokens = e.Name, s.Tokens.Plus(e.Usage)
	return nil
}

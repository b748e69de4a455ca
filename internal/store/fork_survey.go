package store

import (
	"fmt"
	"slices"

	"evener/internal/fault"
	"evener/internal/session"
	"evener/internal/transcript"
)

// survey finds where a copy ends, without copying anything.
type survey struct {
	c         Copy
	end, last place
	message   *string // of the user, in the turn before which the copy ends
	answered  bool    // something stands in that turn already
	round     begunRound
}

// begunRound is a round of calls of which some are answered.
type begunRound struct {
	entry int64 // that made the calls
	done  []string
}

func (h Home) survey(c Copy) (Copied, error) {
	s := survey{c: c}
	r, err := h.conversation(c, s.visit)
	if err == nil {
		err = s.check()
	}
	if err != nil {
		return Copied{}, err
	}
	whole := s.end.entries
	if s.last.callOpen && c.How == session.Aside && len(s.round.done) > 0 { // what is answered was said
		s.end = s.last
	} else {
		s.round = begunRound{}
	}
	out := Copied{
		Forked:  session.Forked{Parent: c.From, Divergence: s.end.turn + 1, How: c.How, Step: s.end.step, Requests: s.end.request, Entries: s.end.entries},
		Message: s.message, Dir: r.dir, context: r.context, bound: r.fork.Tools, round: s.round,
	}
	if r.delegate && r.context != nil {
		if out.bound, err = r.context.Names(); err != nil {
			return Copied{}, err
		}
	}
	switch {
	case c.Cut == BeforeTurn:
		out.Divergence = c.Turn
	case s.last.turnOpen && s.last.entries > whole:
		out.LeftOut = s.last.turn
	}
	return out, nil
}

func (s *survey) visit(e *transcript.Inherited, at place) error {
	s.last = at
	switch s.c.Cut {
	case WholeTurns:
		if !at.turnOpen {
			s.end = at
		}
	case WholeRounds:
		if !at.callOpen {
			s.end = at
		}
		s.begins(e, at)
	case BeforeTurn:
		switch {
		case at.turn < s.c.Turn:
			s.end = at
		case at.turn == s.c.Turn && e != nil:
			s.opens(e, at)
		}
	}
	return nil
}

// begins follows the round of calls that is open.
func (s *survey) begins(e *transcript.Inherited, at place) {
	switch {
	case e == nil:
	case e.Assistant != nil:
		s.round = begunRound{entry: at.entries}
	case e.Result != nil:
		s.round.done = append(s.round.done, e.Result.Call)
	}
}

// of is an entry of the copy: where it made the calls, with those that are answered.
func (r begunRound) of(e transcript.Inherited, at place) transcript.Inherited {
	if r.entry != at.entries || e.Assistant == nil {
		return e
	}
	said := *e.Assistant
	said.Calls = slices.DeleteFunc(slices.Clone(said.Calls), func(c transcript.Call) bool { return !slices.Contains(r.done, c.ID) })
	e.Assistant = &said
	return e
}

// opens looks for the user's text that began the turn. What the owner of a
// delegate added stands before it, what evener says itself is none.
func (s *survey) opens(e *transcript.Inherited, at place) {
	switch {
	case e.User == nil:
		s.answered = true
	case !s.answered && !e.User.Note && (at.kind == "" || at.kind == session.UserTurn):
		s.message = &e.User.Text
	}
}

func (s *survey) check() error {
	if s.c.Cut != BeforeTurn {
		if s.end.entries == 0 && s.c.How != session.Aside {
			return fmt.Errorf("session %s cannot be begun with: %w", s.c.From, ErrNothing)
		}
		return nil
	}
	most, open := s.last.turn+1, ""
	if s.last.turnOpen {
		most, open = s.last.turn, fmt.Sprintf(", and turn %d has not ended", s.last.turn)
	}
	turns := "1 turn"
	if s.last.turn != 1 {
		turns = fmt.Sprintf("%d turns", s.last.turn)
	}
	if s.c.Turn < 1 || s.c.Turn > most {
		return fault.Invalid("session %s has %s%s: a branch can begin before turn 1 to %d, not %d", s.c.From, turns, open, most, s.c.Turn)
	}
	return nil
}

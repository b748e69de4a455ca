package store

import (
	"errors"
	"fmt"
	"os"
	"time"

	"evener/internal/attention"
	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/transcript"
	"evener/internal/tree"
	"evener/journal"
)

// ErrNothing answers for a session whose conversation has nothing to begin with.
var ErrNothing = errors.New("it has no finished turn yet")

// Cut is how far a conversation is copied.
type Cut int

const (
	// WholeTurns copies up to the end of the last turn that has ended.
	WholeTurns Cut = iota
	// WholeRounds copies up to the last round of calls that are all answered, also
	// of a turn that is open.
	WholeRounds
)

// Copy says what a new session is to begin with.
type Copy struct {
	From id.Session // read only; it may be live in another process
	How  session.ForkHow
	Cut  Cut
	Step int64 // number of the first decision; a new root begins with 1
}

// Copied is what came of it.
type Copied struct {
	session.Forked
	LeftOut int64 // the turn that was open, of which something is not in the copy; 0 for none
}

// Fork makes a session that begins with the conversation of another, and opens
// it. On an error nothing is left of it.
func Fork(h Home, create session.Created, c Copy, version, bootID string) (*Tree, Copied, error) {
	if !h.Has(c.From) {
		return nil, Copied{}, fmt.Errorf("%w: %s in %s", ErrNoSession, c.From, h.Sessions)
	}
	if err := h.Make(); err != nil {
		return nil, Copied{}, err
	}
	if err := makeDurable(h.Dir(create.Session)); err != nil {
		return nil, Copied{}, fmt.Errorf("make session %s: %w", create.Session, err)
	}
	lock, err := h.Lock(create.Session, bootID)
	if err == nil {
		var done Copied
		if done, err = h.Begin(create, c, version); err == nil {
			t, err := openTree(h, create.Session, lock, version)
			return t, done, err
		}
		err = errors.Join(err, lock.Close())
	}
	return nil, Copied{}, errors.Join(err, os.RemoveAll(h.Dir(create.Session)))
}

// Begin writes the journal of a new session that begins with the conversation of
// another. It takes its name only when it is whole and durable; the folder is
// there already. Memory does not grow with the conversation: the source is read
// twice, a line at a time.
func (h Home) Begin(create session.Created, c Copy, version string) (Copied, error) {
	end, err := h.survey(c)
	if err != nil {
		return Copied{}, err
	}
	draft := h.Journal(create.Session) + ".forking"
	j, err := journal.Create(draft, journal.Options{Version: version, Owner: []byte(`{"session_id":"` + string(create.Session) + `"}`)})
	if err != nil {
		return Copied{}, err
	}
	w := &copier{h: h, j: j, session: create.Session, step: c.Step, at: time.Now().UTC().Truncate(time.Microsecond)}
	w.put(session.Inherit{Create: &create, Fork: &end.Forked}, create, end.Forked)
	err = h.conversation(c.From, func(e *transcript.Inherited, at place) error {
		if at.entries > end.Entries {
			return errEnough
		}
		if e != nil {
			w.add(*e)
		}
		return w.err
	})
	w.flush()
	w.wait(0)
	err = errors.Join(noErr(err, errEnough), w.err, j.Close())
	if err == nil && w.entries != end.Entries {
		err = fmt.Errorf("its journal was changed meanwhile")
	}
	if err == nil {
		err = os.Rename(draft, h.Journal(create.Session))
	}
	if err == nil {
		err = syncDir(h.Dir(create.Session))
	}
	if err != nil {
		return Copied{}, errors.Join(fmt.Errorf("copy the conversation of session %s: %w", c.From, err), noErr(os.Remove(draft), os.ErrNotExist))
	}
	return end, nil
}

// errEnough ends a reading early.
var errEnough = errors.New("enough was read")

func noErr(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// survey finds where the copy ends.
func (h Home) survey(c Copy) (Copied, error) {
	var end, last place
	err := h.conversation(c.From, func(e *transcript.Inherited, at place) error {
		last = at
		if !at.turnOpen || c.Cut == WholeRounds && !at.callOpen {
			end = at
		}
		return nil
	})
	if err != nil {
		return Copied{}, err
	}
	if end.entries == 0 {
		return Copied{}, fmt.Errorf("session %s cannot be begun with: %w", c.From, ErrNothing)
	}
	out := Copied{Forked: session.Forked{Parent: c.From, Divergence: end.turn + 1, How: c.How, Step: end.step, Requests: end.request, Entries: end.entries}}
	if last.turnOpen && last.entries > end.entries {
		out.LeftOut = last.turn
	}
	return out, nil
}

// place is how far a reading of a conversation has come.
type place struct {
	entries, step, turn, request int64
	turnOpen, callOpen           bool
}

// conversation reads what a journal says of its conversation. visit is told each
// entry, and nil at the end of a turn, with the place behind it. An entry that
// could not follow is damage.
func (h Home) conversation(s id.Session, visit func(*transcript.Inherited, place) error) error {
	r := &reading{visit: visit, said: transcript.New(), owed: attention.New()}
	line := int64(0)
	for e, err := range journal.Read(h.Journal(s), journal.Pos{}) {
		if err != nil {
			return legacy(err)
		}
		line++
		if e.Own() {
			continue
		}
		r.at.step = e.Step
		for kind, data := range e.Events() {
			err := r.read(h, s, kind, data)
			if errors.Is(err, errEnough) {
				return err
			}
			if err != nil {
				return &FoldError{h.Journal(s), line, e.Seq, e.Off, err}
			}
		}
	}
	return nil
}

type reading struct {
	visit func(*transcript.Inherited, place) error
	said  transcript.State // for its order only: its entries are dropped
	owed  attention.State
	at    place
}

// read takes one event. Of what is no part of the conversation the kind alone is looked at.
func (r *reading) read(h Home, s id.Session, kind string, data []byte) error {
	switch kind {
	case "session.forked", "transcript.inherited", "transcript.user", "transcript.assistant", "transcript.result",
		"attention.armed", "attention.delegate_armed", "attention.watch_armed", "attention.consumed", "attention.discarded", "attention.settled_inline", "turn.started", "turn.requested", "turn.ended":
	default:
		if kinds[kind] == nil {
			return unknownKind(kind)
		}
		return nil
	}
	ev, err := decode(h, s, kind, data)
	if err != nil {
		return err
	}
	switch e := ev.(type) {
	case session.Forked:
		r.at.turn, r.at.request = e.Divergence-1, e.Requests
	case transcript.Inherited:
		return r.entry(e)
	case transcript.UserSaid:
		e.Input, e.Prompt, e.Message = "", 0, "" // names that mean something there
		return r.entry(transcript.Inherited{User: &e})
	case transcript.AssistantSaid:
		return r.entry(transcript.Inherited{Assistant: &e})
	case transcript.Answered:
		return r.entry(transcript.Inherited{Result: &e})
	case session.TurnStarted:
		r.at.turn, r.at.turnOpen = e.Turn, true
	case session.TurnEnded:
		r.at.turnOpen = false
		return r.visit(nil, r.at)
	case session.Requested:
		r.at.request = e.Request
		if len(e.Attention) == 0 {
			return nil
		}
		frames, err := r.owed.Show(e.Attention)
		if err != nil {
			return err
		}
		return r.entry(transcript.Inherited{Notices: transcript.NoticesOf(e.Turn, frames)})
	case attention.Event:
		return r.owed.Apply(e)
	}
	return nil
}

func (r *reading) entry(e transcript.Inherited) error {
	if err := r.said.Apply(e); err != nil {
		return err
	}
	r.said.Entries = r.said.Entries[:0]
	r.at.entries++
	r.at.callOpen = len(r.said.Open()) > 0
	return r.visit(&e, r.at)
}

// copier writes the lines of a copy.
type copier struct {
	h       Home
	j       *journal.Journal
	session id.Session
	step    int64
	at      time.Time
	batch   []transcript.Inherited
	bytes   int
	entries int64
	out     []*journal.Ticket // lines whose outcome is not known
	err     error
}

// linesOut is how many lines are on their way.
const linesOut = 32

func (w *copier) add(e transcript.Inherited) {
	w.batch = append(w.batch, e)
	w.entries++
	if w.bytes += e.Size(); w.bytes >= transcript.LineBytes {
		w.flush()
	}
}

func (w *copier) flush() {
	if len(w.batch) == 0 {
		return
	}
	var events []session.Event
	for _, e := range w.batch {
		events = append(events, e)
	}
	w.put(session.Inherit{Entries: w.batch}, events...)
	w.batch, w.bytes = nil, 0
}

// wait learns the outcome of all lines but the last few.
func (w *copier) wait(but int) {
	for len(w.out) > but {
		if _, err := w.out[0].Wait(); err != nil && w.err == nil {
			w.err = err
		}
		w.out = w.out[1:]
	}
}

// put writes one line. Its outcome is learnt later.
func (w *copier) put(in session.Inherit, events ...session.Event) {
	if w.err != nil {
		return
	}
	r, err := encode(w.h, w.session, tree.Write{Session: w.session, Step: w.step, At: w.at, Cause: tree.Cause(in), Events: events})
	if err == nil {
		w.step++
		w.out = append(w.out, w.j.AppendAsync(r))
		w.wait(linesOut)
	}
	if err != nil && w.err == nil {
		w.err = err
	}
}

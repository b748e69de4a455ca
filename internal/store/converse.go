package store

import (
	"bytes"
	"context"
	"errors"

	"evener/internal/attention"
	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/transcript"
)

// Talk is what a reading of a conversation tells beside its entries.
type Talk struct {
	Session  id.Session // empty where nothing was recorded yet
	Delegate id.Delegate
	Parent   id.Session // the owner's, of a delegate
	Name     string     // from the model, where it was asked for one
	Model    string
	Run      string // outcome of the latest run, "open" while it is not ended
	Turns    int64  // begun, those of another session counted that it began with
}

// Words is an entry before it is read. The text of notices is none: that is at hand.
type Words struct {
	Kind  string // of its event
	Turn  int64  // of an entry of the session's own
	JSON  []byte
	Aside bool // JSON only names the file in which the entry stands
}

// Inherited: another session said it, in a turn that the entry itself tells.
func (w Words) Inherited() bool { return w.Kind == "transcript.inherited" }

// ErrEnough ends a reading early. Who visits returns it, and nobody else sees it.
var ErrEnough = errors.New("enough was read")

// Converse reads the conversation of a session from its journal, entry by entry
// with the turn of each. Memory does not grow with it, and nothing else of the
// session is folded. Where wants is given, an entry is read only when wants likes
// it as it stands. visit is also told what is known so far beside the entries.
func (h Home) Converse(ctx context.Context, s id.Session, wants func(Words) bool, visit func(*Talk, transcript.Entry, int64) error) (Talk, error) {
	t := &talking{home: h, session: s, owed: attention.New(), turn: 1, wants: wants, visit: visit}
	err := t.all(ctx)
	return t.Talk, noErr(err, ErrEnough)
}

// talking goes through a journal for what was said in it.
type talking struct {
	Talk
	home    Home
	session id.Session
	owed    attention.State // for the text of notices
	turn    int64           // of the latest entry
	wants   func(Words) bool
	visit   func(*Talk, transcript.Entry, int64) error
}

func (t *talking) all(ctx context.Context) error {
	line, path := int64(0), t.home.Journal(t.session)
	for e, err := range t.home.entries(path) {
		if err != nil {
			return legacy(err)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		line++
		if e.Own() {
			continue
		}
		for kind, data := range e.Events() {
			err := t.read(kind, data)
			if errors.Is(err, ErrEnough) {
				return err
			}
			if err != nil {
				return &FoldError{path, line, e.Seq, e.Off, err}
			}
		}
	}
	return nil
}

// part is what an event is to a reading.
type part int

const (
	nothing part = iota // its kind alone is looked at
	words               // an entry
	course              // what else makes the conversation, or is told of it
)

var parts = map[string]part{
	"transcript.user": words, "transcript.assistant": words, "transcript.result": words, "transcript.compacted": words,
	"transcript.inherited": words, "turn.started": course, "turn.requested": course,
	"attention.armed": course, "attention.delegate_armed": course, "attention.watch_armed": course, "attention.consumed": course,
	"attention.discarded": course, "attention.settled_inline": course,
	"session.created": course, "session.named": course, "session.forked": course, "session.context_set": course, "run.started": course, "run.ended": course,
}

func (t *talking) read(kind string, data []byte) error {
	p := parts[kind]
	switch {
	case p == nothing && kinds[kind] == nil:
		return unknownKind(kind)
	case p == nothing, p == words && t.wants != nil && !t.wants(Words{kind, max(1, t.Turns), data, bytes.HasPrefix(data, asidePrefix)}):
		return nil
	}
	ev, err := decode(t.home, t.session, kind, data)
	if err != nil {
		return err
	}
	entry, err := entryOf(&t.owed, ev)
	if err != nil {
		return err
	}
	if entry != nil {
		return t.take(*entry)
	}
	t.note(ev)
	return nil
}

// entryOf is the entry that an event adds to its conversation; nil where it adds
// none. owed follows the notices, whose text the request that carries them does not repeat.
func entryOf(owed *attention.State, ev session.Event) (*transcript.Inherited, error) {
	switch e := ev.(type) {
	case transcript.Inherited:
		return &e, nil
	case transcript.UserSaid:
		return &transcript.Inherited{User: &e}, nil
	case transcript.AssistantSaid:
		return &transcript.Inherited{Assistant: &e}, nil
	case transcript.Answered:
		return &transcript.Inherited{Result: &e}, nil
	case transcript.Compacted:
		return &transcript.Inherited{Compacted: &e}, nil
	case session.Requested:
		if len(e.Attention) == 0 {
			return nil, nil
		}
		frames, err := owed.Frames(e.Attention)
		if err != nil {
			return nil, err
		}
		return &transcript.Inherited{Notices: transcript.NoticesOf(e.Turn, frames)}, nil
	case attention.Event:
		return nil, owed.Apply(e)
	}
	return nil, nil
}

// take hands an entry on. Results have no turn of their own: they stand where
// their calls do.
func (t *talking) take(e transcript.Inherited) error {
	entry := e.Entry()
	if entry.Turn != 0 {
		t.turn = entry.Turn
	}
	return t.visit(&t.Talk, entry, t.turn)
}

// note keeps what is told beside the entries.
func (t *talking) note(ev session.Event) {
	switch e := ev.(type) {
	case session.Created:
		t.Session, t.Delegate, t.Parent = e.Session, e.Delegate, e.Parent
	case session.Forked:
		t.Turns, t.Run = e.Divergence-1, session.BranchOnly
	case session.Named:
		t.Name = e.Name
	case session.ContextSet:
		t.Model = e.Model
	case session.RunStarted:
		t.Run = "open"
	case session.RunEnded:
		t.Run = string(e.Outcome)
	case session.TurnStarted:
		t.Turns, t.turn = e.Turn, e.Turn
	}
}

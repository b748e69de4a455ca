package store

import (
	"errors"
	"fmt"

	"evener/internal/attention"
	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/transcript"
)

// place is how far a reading of a conversation has come.
type place struct {
	entries, step, turn, request int64
	turnOpen, callOpen           bool
	kind                         session.TurnKind // of that turn; "" in what the source has from another one
}

// conversation reads what a journal says of its conversation. visit is told each
// entry, and nil at the end of a turn, with the place behind it. An entry that
// could not follow is damage.
func (h Home) conversation(c Copy, visit func(*transcript.Inherited, place) error) (*reading, error) {
	s := c.From
	h.At = c.At
	r := &reading{visit: visit, said: transcript.New(), owed: attention.New()}
	line := int64(0)
	for e, err := range h.entries(h.Journal(s)) {
		if err != nil {
			return r, legacy(err)
		}
		line++
		if e.Own() {
			continue
		}
		r.at.step = e.Step
		for kind, data := range e.Events() {
			err := r.read(h, s, kind, data)
			if errors.Is(err, errEnough) {
				return r, err
			}
			if err != nil {
				return r, &FoldError{h.Journal(s), line, e.Seq, e.Off, err}
			}
		}
	}
	return r, nil
}

type reading struct {
	visit func(*transcript.Inherited, place) error
	said  transcript.State // for its order only: its entries are dropped
	owed  attention.State
	at    place
	fork  session.Forked // where the source has its own beginning from
	dir   string
	// delegate: the source is one's session.
	delegate bool
	context  *session.ContextSet // the latest
}

// read takes one event. Of what is no part of the conversation the kind alone is looked at.
func (r *reading) read(h Home, s id.Session, kind string, data []byte) error {
	switch kind {
	case "session.created", "session.context_set", "session.forked", "transcript.inherited", "transcript.user", "transcript.assistant", "transcript.result", "transcript.compacted", "session.compaction_started",
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
	entry, err := entryOf(&r.owed, ev)
	if err != nil {
		return err
	}
	switch e := ev.(type) {
	case session.Created:
		r.dir, r.delegate = e.Dir, e.Root != e.Session
	case session.ContextSet:
		r.context = &e
	case session.Forked:
		r.fork = e
		r.inherited(nil)
	case transcript.Inherited:
		r.inherited(&e)
	case transcript.UserSaid:
		entry.User.Input, entry.User.Prompt, entry.User.Message = "", 0, "" // names that mean something there
	case session.CompactionStarted:
		r.at.request = e.Request
	case session.TurnStarted:
		r.at.turn, r.at.turnOpen, r.at.kind = e.Turn, true, e.Type
	case session.TurnEnded:
		r.at.turnOpen = false
		return r.visit(nil, r.at)
	case session.Requested:
		r.at.request = e.Request
	}
	if entry == nil {
		return nil
	}
	return r.entry(*entry)
}

// inherited follows the numbers through what the source has from another one:
// only what was said tells them, and behind it the source's first decision.
func (r *reading) inherited(e *transcript.Inherited) {
	n := r.at.entries
	if e != nil {
		n++
		switch {
		case e.User != nil:
			r.at.turn = e.User.Turn
		case e.Assistant != nil:
			r.at.turn, r.at.request = e.Assistant.Turn, e.Assistant.Request
		case e.Notices != nil:
			r.at.turn = e.Notices.Turn
		case e.Compacted != nil:
			r.at.turn, r.at.request = e.Compacted.Turn, e.Compacted.Request
		}
	}
	if n == r.fork.Entries {
		r.at.turn, r.at.request = r.fork.Divergence-1, r.fork.Requests
	}
}

func (r *reading) entry(e transcript.Inherited) error {
	if c := e.Compacted; c != nil {
		if c.Upto > r.at.entries || len(r.said.Open()) > 0 {
			return fmt.Errorf("transcript: a summary of %d entries behind %d", c.Upto, r.at.entries)
		}
	} else if err := r.said.Apply(e); err != nil {
		return err
	}
	r.said.Entries = r.said.Entries[:0]
	r.at.entries++
	r.at.callOpen = len(r.said.Open()) > 0
	return r.visit(&e, r.at)
}

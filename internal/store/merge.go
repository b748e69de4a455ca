package store

import (
	"cmp"
	"encoding/json"
	"iter"
	"math"
	"slices"

	"evener/internal/id"
	"evener/internal/session"
	"evener/journal"
)

// Line is one line of a journal of a tree.
type Line struct {
	Session id.Session // whose journal; of "" the tree's
	Path    string     // of the journal
	N       int64      // its place there, from 1
	journal.Entry
}

// Lines reads the journals of a tree as one: a session's own, and for a root
// those of its tree and of each delegate from the line on that made it. The
// steps of a tree are counted over all of them; a line that a journal writes of
// itself has none and stands before the next decision of that journal, or at the
// end. So a later line never changes the order of those before it. An error is
// the last that is yielded.
func Lines(h Home, s id.Session) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		m := &merge{home: h}
		m.add(s, h.Journal(s))
		if path := h.Delegates(s); exists(path) {
			m.add("", path)
		}
		m.lines(yield)
	}
}

type merge struct {
	home    Home
	sources []*source
}

type source struct {
	head Line
	own  []Line // what the journal writes of itself before the head
	step int64  // of the head; at the end of the journal, past all
	err  error  // in place of the head
	over bool
	next func() (journal.Entry, error, bool)
	stop func()
}

func (m *merge) add(s id.Session, path string) {
	x := &source{head: Line{Session: s, Path: path}}
	x.next, x.stop = iter.Pull2(m.home.entries(path))
	m.sources = append(m.sources, x)
	x.advance()
}

// advance goes on to the next decision of a journal.
func (x *source) advance() {
	x.own = x.own[:0]
	for {
		e, err, ok := x.next()
		if !ok {
			x.step, x.over = math.MaxInt64, true
			return
		}
		x.head.Entry, x.err = e, err
		x.head.N++
		if err != nil {
			return // told next, whatever its step is
		}
		if !e.Own() {
			x.step = e.Step
			return
		}
		own := x.head
		own.Entry = e.Clone()
		x.own = append(x.own, own)
	}
}

func (m *merge) lines(yield func(Line, error) bool) {
	defer func() {
		for _, x := range m.sources {
			x.stop()
		}
	}()
	for len(m.sources) > 0 {
		n := 0
		for i, s := range m.sources {
			if s.step < m.sources[n].step {
				n = i
			}
		}
		x := m.sources[n]
		for _, own := range x.own {
			if !yield(own, nil) {
				return
			}
		}
		if x.over {
			x.stop()
			m.sources = slices.Delete(m.sources, n, n+1)
			continue
		}
		if x.err != nil {
			yield(x.head, legacy(x.err))
			return
		}
		if !yield(x.head, nil) {
			return
		}
		m.children(x.head)
		x.advance()
	}
}

// children adds the journals of the delegates that a line made.
func (m *merge) children(l Line) {
	for _, s := range Children(l.Entry) {
		if exists(m.home.Journal(s)) {
			m.add(s, m.home.Journal(s))
		}
	}
}

// Children are the sessions of the delegates that a line of a tree's journal made.
func Children(e journal.Entry) (out []id.Session) {
	for kind, data := range e.Events() {
		var made struct {
			Child id.Session `json:"child_session_id"`
		}
		if kind != "delegate.created" || json.Unmarshal(data, &made) != nil {
			continue
		}
		if s, ok := id.ParseSession(string(made.Child)); ok {
			out = append(out, s)
		}
	}
	return out
}

// Decode reads the events of a line. Data that stands in a file of its own is
// fetched.
func (l Line) Decode(h Home, root id.Session) ([]session.Event, error) {
	var out []session.Event
	for kind, data := range l.Events() {
		e, err := decode(h, cmp.Or(l.Session, root), kind, data)
		if err != nil {
			return nil, &FoldError{l.Path, l.N, l.Seq, l.Off, err}
		}
		out = append(out, e)
	}
	return out, nil
}

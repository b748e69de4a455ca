package store

import (
	"cmp"
	"encoding/json"
	"iter"

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
// itself has none and stays behind the one before it. An error is the last that
// is yielded.
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
	step int64 // of its last decision
	err  error // in place of the head
	next func() (journal.Entry, error, bool)
	stop func()
}

func (m *merge) add(s id.Session, path string) {
	x := &source{head: Line{Session: s, Path: path}}
	x.next, x.stop = iter.Pull2(m.home.entries(path))
	m.sources = append(m.sources, x)
	m.advance(x)
}

// advance takes the next line of a journal, or lets go of one that is at its end.
func (m *merge) advance(x *source) {
	e, err, ok := x.next()
	if !ok {
		x.stop()
		for i, s := range m.sources {
			if s == x {
				m.sources = append(m.sources[:i], m.sources[i+1:]...)
				return
			}
		}
	}
	x.head.Entry, x.err = e, err
	x.head.N++
	if !e.Own() {
		x.step = e.Step
	}
}

func (m *merge) lines(yield func(Line, error) bool) {
	defer func() {
		for _, x := range m.sources {
			x.stop()
		}
	}()
	for len(m.sources) > 0 {
		x := m.sources[0]
		for _, s := range m.sources {
			if s.step < x.step {
				x = s
			}
		}
		if x.err != nil {
			yield(x.head, legacy(x.err))
			return
		}
		if !yield(x.head, nil) {
			return
		}
		m.children(x.head)
		m.advance(x)
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

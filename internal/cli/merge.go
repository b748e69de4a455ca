package cli

import (
	"encoding/json"
	"iter"
	"os"
	"path/filepath"

	"evener/internal/id"
	"evener/internal/store"
	"evener/journal"
)

// merge reads the journals of a tree as one: a session's own, and for a root
// those of its tree and of each delegate from the line on that made it. The steps
// of a tree are counted over all of them; a line that a journal writes of itself
// has none and stays behind the one before it. A line of another journal than the
// session's own is given with the place of that journal first.
type merge struct {
	home    store.Home
	sources []*source // the session's own first
}

type source struct {
	place string // in the sessions folder; empty: the session's own
	step  int64  // of its last decision
	head  journal.Entry
	err   error // in place of the head
	next  func() (journal.Entry, error, bool)
	stop  func()
}

func mergeTree(home store.Home, s id.Session) *merge {
	m := &merge{home: home}
	m.add("", home.Journal(s))
	if path := home.Delegates(s); there(path) {
		m.add(filepath.Join(string(s), "delegates.jsonl"), path)
	}
	return m
}

func there(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (m *merge) add(place, path string) {
	x := &source{place: place}
	x.next, x.stop = iter.Pull2(journal.Read(path, journal.Pos{}))
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
	x.head, x.err = e, err
	if !e.Own() {
		x.step = e.Step
	}
}

// lines yields them in order, up to the first that cannot be read.
func (m *merge) lines(yield func([]byte, error) bool) {
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
			yield(nil, x.err)
			return
		}
		if !yield(x.text(), nil) {
			return
		}
		m.children(x.head)
		m.advance(x)
	}
}

func (x *source) text() []byte {
	line := x.head.Line
	if x.place == "" {
		return append(line[:len(line):len(line)], '\n')
	}
	place, _ := json.Marshal(x.place) // a string always is JSON
	return append(append(append([]byte(`{"journal":`), place...), ','), append(line[1:len(line):len(line)], '\n')...)
}

// children adds the journals of the delegates that a line made.
func (m *merge) children(e journal.Entry) {
	for kind, data := range e.Events() {
		var made struct {
			Child id.Session `json:"child_session_id"`
		}
		if kind != "delegate.created" || json.Unmarshal(data, &made) != nil {
			continue
		}
		if s, ok := id.ParseSession(string(made.Child)); ok && there(m.home.Journal(s)) {
			m.add(filepath.Join(string(s), "session.jsonl"), m.home.Journal(s))
		}
	}
}

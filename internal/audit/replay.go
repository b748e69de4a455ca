// Package audit proves what the files of a tree say: that they are whole and keep
// what they promise one another (Verified), and that each decision follows from
// its cause (Replay). It writes nothing.
package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/text"
	"evener/internal/tree"
)

// Rules are what decisions use beside the state: functions that give the same
// answer every time.
type Rules struct {
	Decode session.Decoder
	Fits   func(schema, value json.RawMessage) []string
}

// Decision is one line of a tree, as it is told of.
type Decision struct {
	Path   string          `json:"journal"`
	Line   int64           `json:"line"`
	Step   int64           `json:"step"`
	At     time.Time       `json:"at"`
	Cause  json.RawMessage `json:"cause"`
	Events []Event         `json:"events"`
}

// Event is one event of a line.
type Event struct {
	Kind string          `json:"kind"`
	Data json.RawMessage `json:"data"`
}

func (e Event) same(o Event) bool { return e.Kind == o.Kind && bytes.Equal(e.Data, o.Data) }

// Difference is a decision that comes out otherwise than it was recorded.
type Difference struct {
	Recorded Decision `json:"recorded"`
	Before   Before   `json:"state_before"`
	// Decided is what the rules give, empty where Why says that they give nothing.
	Decided []Event `json:"decided"`
	Why     string  `json:"why,omitempty"`
	// First is the first event that is not the same, from 0; it may be behind the
	// end of one of the two.
	First int `json:"first_difference"`
}

// Replayed is what a replay found.
type Replayed struct {
	Decisions int64       `json:"decisions"`        // that were made again
	Versions  []string    `json:"versions"`         // of the program, that wrote the journals
	Repaired  bool        `json:"repaired"`         // a journal is a repaired copy: what builds on a line that it lacks comes out otherwise
	Edited    bool        `json:"edited,omitempty"` // a journal is an edited copy: what was decided by what is gone from it may come out otherwise
	Diff      *Difference `json:"difference"`
}

// Replay decides every recorded cause of a tree again, from the empty state on,
// and compares what comes of it with what was recorded, up to the first
// difference. Nothing is asked, started or written. An error is a journal that
// cannot be read.
func Replay(h store.Home, root id.Session, r Rules) (Replayed, error) {
	var out Replayed
	t := tree.New(root)
	for l, err := range store.Lines(h, root) {
		if err != nil {
			return out, err
		}
		if l.Own() {
			out.own(l)
			continue
		}
		events, err := l.Decode(h, root)
		if err != nil {
			return out, err
		}
		if err := takeBack(h, t, l); err != nil {
			return out, err
		}
		d, err := r.again(t, root, l, events)
		if err != nil {
			return out, err
		}
		if d != nil {
			out.Diff = d
			return out, nil
		}
		out.Decisions++
	}
	return out, nil
}

// takeBack gives a session the conversation again that a decision let go from
// memory, as the program does from the journal.
func takeBack(h store.Home, t *tree.State, l store.Line) error {
	x := t.Sessions[l.Session]
	if x == nil || !x.Transcript.Released() {
		return nil
	}
	then, err := store.Load(h, t.Root, l.Step-1)
	if err != nil {
		return err
	}
	return x.Transcript.Restore(then.Sessions[l.Session].Transcript)
}

// own notes what a journal says of itself: the version of the program that
// opened it, and that it is a repaired copy.
func (o *Replayed) own(l store.Line) {
	for kind, data := range l.Events() {
		var says struct {
			Version  string `json:"version"`
			Salvaged *struct {
				Lost   int64 `json:"lost"`
				Edited bool  `json:"edited"`
			} `json:"salvaged"`
		}
		if json.Unmarshal(data, &says) != nil {
			continue
		}
		if s := says.Salvaged; s != nil {
			o.Repaired = o.Repaired || !s.Edited || s.Lost > 0
			o.Edited = o.Edited || s.Edited
		}
		if kind != "journal.opened" || says.Version == "" {
			continue
		}
		if !slices.Contains(o.Versions, says.Version) {
			o.Versions = append(o.Versions, says.Version)
		}
	}
}

// again makes the decision of a line again on the state before it, which it
// changes; nil if it comes out as recorded.
func (r Rules) again(t *tree.State, root id.Session, l store.Line, events []session.Event) (*Difference, error) {
	recorded := Decision{Path: l.Path, Line: l.N, Step: l.Step, At: l.At(), Cause: bytes.Clone(l.Cause)}
	var err error
	if recorded.Events, err = encoded(events); err != nil {
		return nil, err
	}
	before := beforeOf(t, l.Session)
	differs := func(why string, decided []Event) *Difference {
		return &Difference{Recorded: recorded, Before: before, Decided: decided, Why: why, First: firstDifference(recorded.Events, decided)}
	}
	m := memory{line: l, root: root, events: events, state: t}
	in := m.input()
	facts := m.facts(r)
	if m.err != nil {
		return differs(m.err.Error(), nil), nil
	}
	t.Step = l.Step - 1 // a crash leaves gaps
	d, err := t.Decide(r.Decode, facts, in)
	switch {
	case m.err != nil:
		return differs(m.err.Error(), nil), nil
	case err != nil:
		return differs("refused: "+err.Error(), nil), nil
	case len(d.Writes) == 0:
		return differs("nothing is decided", nil), nil
	}
	w := d.Writes[0]
	decided, err := encoded(w.Events)
	if err != nil {
		return nil, err
	}
	switch {
	case firstDifference(recorded.Events, decided) >= 0:
		return differs("", decided), nil
	case w.Session != l.Session:
		return differs(fmt.Sprintf("decided for the journal of %q", w.Session), decided), nil
	case !bytes.Equal(w.Cause, l.Cause):
		return differs("decided because of "+string(w.Cause), decided), nil
	}
	return nil, nil
}

func encoded(events []session.Event) ([]Event, error) {
	out := make([]Event, len(events))
	for i, e := range events {
		data, err := text.JSON(e)
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", e.Kind(), err)
		}
		out[i] = Event{e.Kind(), data}
	}
	return out, nil
}

// firstDifference is the place of the first event that is not the same; -1 if all are.
func firstDifference(a, b []Event) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || !a[i].same(b[i]) {
			return i
		}
	}
	return -1
}

// Before is what matters most of the state that a decision was made on: of the
// session whose line it is, or of the tree.
type Before struct {
	Session   id.Session `json:"session_id,omitempty"`
	Run       string     `json:"run"`
	Turn      string     `json:"turn"`
	OpenCalls []string   `json:"open_calls,omitempty"`
	Jobs      []string   `json:"live_jobs,omitempty"`
	Pending   []string   `json:"pending_notices,omitempty"`
	Watches   []string   `json:"watches,omitempty"`
	Delegates []string   `json:"delegates,omitempty"`
}

func beforeOf(t *tree.State, s id.Session) Before {
	b := Before{Session: s, Run: "none", Turn: "none"}
	for d := range t.Delegates.All {
		if s == "" || d.Owner == s {
			state := "idle"
			if d.Open {
				state = "running"
			}
			b.Delegates = append(b.Delegates, fmt.Sprintf("%s generation %d %s", d.ID, d.Generation, state))
		}
	}
	x := t.Sessions[s]
	if x == nil {
		return b
	}
	if x.Run.N > 0 {
		b.Run = fmt.Sprintf("%d %s", x.Run.N, map[bool]string{true: "open", false: "ended"}[x.Run.Open])
	}
	if x.Turn != nil {
		b.Turn = fmt.Sprintf("%d %s, waits for request %d", x.Turn.N, x.Turn.Kind, x.Turn.Waiting)
	}
	for _, c := range x.Transcript.Open() {
		b.OpenCalls = append(b.OpenCalls, c.ID+" "+c.Name)
	}
	for _, j := range x.Live() {
		b.Jobs = append(b.Jobs, fmt.Sprintf("%s %s", j.ID, j.Phase()))
	}
	b.Pending = x.Attention.Pending()
	for _, w := range x.Watches.Active() {
		b.Watches = append(b.Watches, string(w.Watch))
	}
	return b
}

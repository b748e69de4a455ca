package watch

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"evener/internal/id"
)

// MaxRecent bounds how many watches that have ended are kept, and listed.
const MaxRecent = 100

// Watch is one active watch.
type Watch struct {
	Created
	At         time.Time
	Seen       int64     // occurrences of the watched kind since the last fire that every counts
	Fires      int64     // of output matches and events: what the budget bounds
	Deliveries int64     // frames that the model gets, each counted once however often it was replaced
	Frames     int64     // frames made
	Due        time.Time // of a timer or of progress: when it fires next
	Runaway    bool      // the chain that goes on was dropped and that was told
	Rearmed    string    // the notice that a process said last that it goes on with it
	owed       map[Class]Owed
}

// Owed is the latest frame of a class; a request may have carried it since.
type Owed struct {
	Delivery string
	Count    int64
	Excerpts []string
}

// Past is a watch that has ended.
type Past struct {
	Watch
	Reason string
	Ended  time.Time
}

// State is the watches of a session, folded.
type State struct {
	active []*Watch // in the order created
	recent []Past   // the latest first
	made   map[id.Watch]bool
	untold []*Watch // ended by a stop of the session, which has not been told

	observed []id.Session // that a watch ever had for its source, in the order of the first one
}

// New is a session without watches.
func New() State { return State{made: map[id.Watch]bool{}} }

// Made reports whether an id was ever given to a watch.
func (s *State) Made(x id.Watch) bool { return s.made[x] }

// Observed are the sessions that a watch ever observed as a whole, as a parent or a delegate.
func (s *State) Observed() []id.Session { return s.observed }

// Active lists the active watches, the oldest first.
func (s *State) Active() []*Watch { return s.active }

// Recent lists those that have ended in this process, the latest first.
func (s *State) Recent() []Past { return s.recent }

// Untold are the watches that a stop of the session ended since it was last told so.
func (s *State) Untold() []*Watch { return s.untold }

// Told: the session is told of the end of a watch.
func (s *State) Told(x id.Watch) {
	s.untold = slices.DeleteFunc(s.untold, func(w *Watch) bool { return w.Watch == x })
}

// Get finds an active watch; nil for none.
func (s *State) Get(x id.Watch) *Watch {
	for _, w := range s.active {
		if w.Watch == x {
			return w
		}
	}
	return nil
}

// Like finds the active watch of the same source, which a new one replaces; nil
// for none, and for a timer, which replaces nothing.
func (s *State) Like(c Config) *Watch {
	for _, w := range s.active {
		if w.Config.Source == c.Source && !w.Config.Timer() && !c.Timer() {
			return w
		}
	}
	return nil
}

// Timers counts the active timers.
func (s *State) Timers() int {
	n := 0
	for _, w := range s.active {
		if w.Config.Timer() {
			n++
		}
	}
	return n
}

// HeldOn counts the active watches on sources of a session.
func (s *State) HeldOn(manager id.Session) int {
	n := 0
	for _, w := range s.active {
		if w.Manager == manager {
			n++
		}
	}
	return n
}

// Owes is the latest frame of a class.
func (w *Watch) Owes(c Class) Owed { return w.owed[c] }

// Interval is the time between two fires of a timer or of progress; 0 for neither.
func (w *Watch) Interval() time.Duration {
	c := w.Config
	return time.Duration(c.AfterS+c.RepeatS)*time.Second + time.Duration(c.ProgressMS)*time.Millisecond
}

// Left is the time until the next fire, never more than the interval: where more seems to be
// left, the clock was set back, and the watch must not stay silent for as long.
func (w *Watch) Left(now time.Time) time.Duration { return min(w.Due.Sub(now), w.Interval()) }

// Ticks counts the intervals that have ended since the last fire: one, and those
// that were missed.
func (w *Watch) Ticks(now time.Time) int64 {
	every := w.Interval()
	if every == 0 {
		return 1
	}
	return 1 + int64(max(0, now.Sub(w.Due)/every))
}

// NextDelivery is the identity of the next frame.
func (w *Watch) NextDelivery() string { return fmt.Sprintf("%s/%d", w.Watch, w.Frames+1) }

// Apply folds one event at its line's time. It fails on an event that cannot follow.
func (s *State) Apply(at time.Time, e Event) error {
	switch e := e.(type) {
	case Created:
		if s.made[e.Watch] {
			return fmt.Errorf("watch %s: created twice", e.Watch)
		}
		w := &Watch{Created: e, At: at, owed: map[Class]Owed{}}
		if every := w.Interval(); every > 0 {
			w.Due = at.Add(every)
		}
		s.made[e.Watch] = true
		s.active = append(s.active, w)
		whole := e.Config.Source == Parent || strings.HasPrefix(e.Config.Source, "dlg_")
		if whole && !slices.Contains(s.observed, e.Manager) {
			s.observed = append(s.observed, e.Manager)
		}
		return nil
	case RecentCleared:
		s.recent = nil
		return nil
	}
	w := s.Get(e.WatchID())
	if w == nil {
		return fmt.Errorf("watch %s: %s of a watch that is not active", e.WatchID(), e.Kind())
	}
	switch e := e.(type) {
	case Fired:
		w.fired(at, e)
	case Counted:
		w.Seen++
	case Dropped:
		w.Frames++
		w.Runaway = true
	case Rearmed:
		w.Rearmed = w.NextDelivery()
		w.Frames++
	case Ended:
		s.active = slices.DeleteFunc(s.active, func(x *Watch) bool { return x == w })
		if e.Reason == ManagerClosed {
			s.untold = append(s.untold, w)
		}
		if e.Reason != RuntimeLost {
			s.recent = append([]Past{{*w, e.Reason, at}}, s.recent...)
			s.recent = s.recent[:min(len(s.recent), MaxRecent)]
		}
	default:
		return fmt.Errorf("watch: unknown event %T", e)
	}
	return nil
}

func (w *Watch) fired(at time.Time, e Fired) {
	w.Frames++
	before := int64(0)
	if e.Replaces == "" {
		w.Deliveries++
	} else {
		before = w.owed[e.Class].Count
	}
	switch e.Class {
	case Match:
		w.Fires += e.Count - before
	case Happened:
		w.Fires += e.Count - before
		w.Seen, w.Runaway = 0, false
	default: // the ticks that were missed are in the count
		w.Due = w.Due.Add(w.Interval() * time.Duration(w.Ticks(at)))
	}
	w.owed[e.Class] = Owed{e.Delivery, e.Count, e.Excerpts}
}

// Row is an active watch in a listing.
type Row struct {
	ID         id.Watch `json:"id"`
	Source     string   `json:"source"`
	Condition  string   `json:"condition"`
	Deliveries int64    `json:"deliveries"`
	CreatedAt  string   `json:"created_at"`
}

// PastRow is a watch that has ended.
type PastRow struct {
	ID         id.Watch `json:"id"`
	Source     string   `json:"source"`
	Condition  string   `json:"condition"`
	Deliveries int64    `json:"deliveries"`
	EndReason  string   `json:"end_reason"`
	EndedAt    string   `json:"ended_at"`
}

// Row lists the watch.
func (w *Watch) Row() Row {
	return Row{w.Watch, w.Config.Source, w.Config.Condition(), w.Deliveries, stamp(w.At)}
}

// Row lists the watch.
func (p *Past) Row() PastRow {
	return PastRow{p.Watch.Watch, p.Config.Source, p.Config.Condition(), p.Deliveries, p.Reason, stamp(p.Ended)}
}

// Rows are all active watches, the oldest first; nil for none.
func (s *State) Rows() []Row {
	var out []Row
	for _, w := range s.active {
		out = append(out, w.Row())
	}
	return out
}

// PastRows are up to n of those that have ended, the latest first; nil for none.
func (s *State) PastRows(n int64) []PastRow {
	var out []PastRow
	for i := range s.recent[:min(int64(len(s.recent)), n)] {
		out = append(out, s.recent[i].Row())
	}
	return out
}

// stamp writes a time as results show it: UTC, RFC 3339, microseconds.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

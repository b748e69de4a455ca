package tree

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"evener/internal/delegate"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/text"
	"evener/internal/watch"
)

// The activity of a session is what clients are shown of it: its delegates, its
// shell jobs and its watches, page by page, as job_list would show them at that
// moment. A read changes nothing. Whatever offers it takes it from here.

// Kinds of activity.
const (
	Delegates = "delegates"
	Jobs      = "jobs"
	Watches   = "watches"
)

// ActivityQuery asks for one page of one kind of what a session has.
type ActivityQuery struct {
	Session id.Session
	Kind    string
	Cursor  string // next_cursor of the page before; empty: the first page
	Limit   *int64 // as job_list has it
}

// ActivityPage is a page. Rows come in the order in which they were made, the latest
// first, which no activity changes; so a walk by cursors shows each once that is there
// from its beginning to its end, however much goes on meanwhile.
type ActivityPage struct {
	Session id.Session `json:"session_id"`
	Kind    string     `json:"kind"`
	Items   []any      `json:"items"`
	Count   int        `json:"count"`
	Total   int        `json:"total_count"`
	Next    string     `json:"next_cursor,omitempty"` // none: this is the last page
}

// DelegateActivity is a delegate's row, with what its latest report began with.
type DelegateActivity struct {
	Row
	Preview string `json:"report_preview,omitempty"`
}

// WatchActivity is the row of a watch.
type WatchActivity struct {
	ID         id.Watch `json:"id"`
	Status     string   `json:"status"` // active or ended
	Source     string   `json:"source"`
	Condition  string   `json:"condition"`
	Deliveries int64    `json:"deliveries"`
	CreatedAt  string   `json:"created_at"`
	EndReason  string   `json:"end_reason,omitempty"`
	EndedAt    string   `json:"ended_at,omitempty"`
}

// made is a row on its way to a page, with its place in the order.
type made struct {
	at  time.Time
	id  string
	row func() any
}

// before orders rows: the latest first, of the same moment by id.
func (m made) before(x made) int { return cmp.Or(x.at.Compare(m.at), cmp.Compare(m.id, x.id)) }

// Activity reads a page. live is what is known of jobs that run.
func (t *State) Activity(q ActivityQuery, live func(*job.State) job.Live) (ActivityPage, *fault.Error) {
	p := ActivityPage{Session: q.Session, Kind: q.Kind, Items: []any{}}
	w, err := job.Page("activity", q.Limit, nil)
	if err != nil {
		return p, err
	}
	all, err := t.activityOf(q, live)
	if err != nil {
		return p, err
	}
	slices.SortFunc(all, made.before)
	from := 0
	if q.Cursor != "" {
		last, err := q.position()
		if err != nil {
			return p, err
		}
		from, _ = slices.BinarySearchFunc(all, last, func(m, last made) int { return cmp.Or(m.before(last), -1) })
	}
	to := min(from+w.Limit, len(all))
	for _, m := range all[from:to] {
		p.Items = append(p.Items, m.row())
	}
	p.Count, p.Total = len(p.Items), len(all)
	if to < len(all) {
		p.Next = q.next(all[to-1])
	}
	return p, nil
}

// next is the cursor that stands behind a row.
func (q ActivityQuery) next(m made) string {
	return fmt.Sprintf("%s.%s.%d.%s", q.Kind, q.Session, m.at.UnixMicro(), m.id)
}

// position is the row that a cursor stands behind. It need not be there any more.
func (q ActivityQuery) position() (made, *fault.Error) {
	parts := strings.Split(q.Cursor, ".")
	if len(parts) == 4 && (parts[0] != q.Kind || parts[1] != string(q.Session)) {
		return made{}, fault.Invalid("activity: the cursor is one of the %s of session %s; it goes on with those alone", text.Preview(parts[0], 20), text.Preview(parts[1], 40))
	}
	if len(parts) == 4 {
		if micros, err := strconv.ParseInt(parts[2], 10, 64); err == nil && parts[3] != "" {
			return made{at: time.UnixMicro(micros), id: parts[3]}, nil
		}
	}
	return made{}, fault.Invalid("activity: %s is no cursor; give back next_cursor of the page before, or none for the first page", text.Quote(q.Cursor, 80))
}

func (t *State) activityOf(q ActivityQuery, live liveJob) ([]made, *fault.Error) {
	s := t.Sessions[q.Session]
	if s == nil {
		return nil, fault.New(fault.TargetNotFound, "activity: session %s is not in this tree", text.Preview(string(q.Session), 80))
	}
	var all []made
	switch q.Kind {
	case Delegates:
		for d := range t.Delegates.OwnedBy(q.Session) {
			all = append(all, made{d.CreatedAt, string(d.ID), func() any { return t.delegateActivity(d, live) }})
		}
	case Jobs:
		p := &job.Place{ParentDelegate: s.Delegate}
		for _, x := range s.Jobs() {
			all = append(all, made{x.IntendedAt, string(x.ID), func() any { return x.Item(live(x), p).Row() }})
		}
	case Watches:
		for _, x := range s.Watches.Active() {
			all = append(all, watchActivity(x, "active", "", time.Time{}))
		}
		for _, x := range s.Watches.Recent() {
			all = append(all, watchActivity(&x.Watch, "ended", x.Reason, x.Ended))
		}
	default:
		return nil, fault.Invalid("activity: kind is %s; it is delegates, jobs or watches", text.Quote(q.Kind, 40))
	}
	return all, nil
}

func (t *State) delegateActivity(d *delegate.State, live liveJob) DelegateActivity {
	return DelegateActivity{t.rowOf(d, t.activity(d, live)), d.Report}
}

func watchActivity(x *watch.Watch, status, reason string, ended time.Time) made {
	return made{x.At, string(x.Watch), func() any {
		r := x.Row()
		a := WatchActivity{ID: r.ID, Status: status, Source: r.Source, Condition: r.Condition, Deliveries: r.Deliveries, CreatedAt: r.CreatedAt, EndReason: reason}
		if !ended.IsZero() {
			a.EndedAt = job.Stamp(ended)
		}
		return a
	}}
}

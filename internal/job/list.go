package job

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/text"
)

// Bounds of a listing.
const (
	defaultLimit = 50
	maxLimit     = 100
	previewLen   = 200 // code points of a name or description, its omission indicator included
)

// Window is a checked page of a listing.
type Window struct{ Limit, Offset int }

// Page checks the limit and offset of a read by its name: nil is the default, a limit above the maximum
// is clamped, and a limit of 0 or less or a negative offset is refused.
func Page(read string, limit, offset *int64) (Window, *fault.Error) {
	w := Window{Limit: defaultLimit}
	if limit != nil {
		if *limit <= 0 {
			return w, fault.Invalid("%s: limit must be at least 1 (got %d); the default is %d, the maximum %d", read, *limit, defaultLimit, maxLimit)
		}
		w.Limit = int(min(*limit, maxLimit))
	}
	if offset != nil {
		if *offset < 0 {
			return w, fault.Invalid("%s: offset must not be negative (got %d)", read, *offset)
		}
		w.Offset = int(min(*offset, 1<<31))
	}
	return w, nil
}

// Item is what a listing shows, on its way there: row and line are made only of
// what the page shows, since there may be ten thousand of them.
type Item struct {
	at  int64 // of the latest activity, in microseconds
	id  string
	row func() any // nil for a job

	line  func(preview int) string
	job   *State
	live  *Live // nil where the record tells all
	place *Place
}

// ItemOf takes what is no job into a listing.
func ItemOf(at time.Time, id string, row func() any, line func(preview int) string) Item {
	return Item{at: at.UnixMicro(), id: id, row: row, line: line}
}

// Place is where a row stands in a listing that shows more than the caller's own.
// Depth is how far down the tree the session is that the walk read it from; none
// where the listing does not walk. Nested: another session's than the caller's.
type Place struct {
	ParentDelegate id.Delegate `json:"parent_delegate_id,omitempty"` // whose session owns the row; none at the root
	Depth          *int        `json:"depth,omitempty"`
	Nested         bool        `json:"-"`
}

// Words are the place in the text of a listing: nothing for a row of the caller's
// where the listing does not walk.
func (p Place) Words() string {
	var b strings.Builder
	if p.Nested {
		fmt.Fprintf(&b, " parent_delegate_id=%s", p.ParentDelegate)
	}
	if p.Depth != nil {
		fmt.Fprintf(&b, " depth=%d", *p.Depth)
	}
	return b.String()
}

// Item takes a job into a listing, at a place that it shares with others.
func (s *State) Item(l Live, p *Place) Item {
	x := Item{at: s.LastActivity(l).UnixMicro(), id: string(s.ID), job: s, place: p}
	if !s.Terminal() {
		running := l // most have ended, and then nothing is kept
		x.live = &running
	}
	return x
}

func (x Item) jobRow() Row {
	var l Live
	if x.live != nil {
		l = *x.live
	}
	r := RowOf(x.job, l)
	r.Place = *x.place
	return r
}

// Row is the item as programs read it.
func (x Item) Row() any {
	if x.row != nil {
		return x.row()
	}
	return x.jobRow()
}

// Line is the item in the text of a listing.
func (x Item) Line(preview int) string {
	if x.row != nil {
		return x.line(preview)
	}
	return line(x.jobRow(), preview)
}

// Of returns what the page shows of all: by latest activity, newest first, then by id.
func (w Window) Of(all []Item) []Item {
	type key struct {
		at int64
		i  int
	}
	keys := make([]key, len(all))
	for i := range all {
		keys[i] = key{all[i].at, i}
	}
	slices.SortFunc(keys, func(a, b key) int { return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(all[a.i].id, all[b.i].id)) })
	from := min(w.Offset, len(all))
	var page []Item
	for _, k := range keys[from:min(from+w.Limit, len(all))] {
		page = append(page, all[k.i])
	}
	return page
}

// ListText renders a page for the model: one line an item, in order, and the
// window where the page is not the whole. Names and descriptions are previews,
// shrunk further until the text fits into budget characters; when even the
// fixed content does not fit they are left out and the middle is elided. A
// budget of 0 or less removes the page cap. The text has at most so many lines, where
// there is a bound of them.
func ListText(page []Item, total int, w Window, budget, lines int) string {
	return cutLines(fitted(page, total, w, budget), lines)
}

// cutLines leaves the middle of a text out where it has more than n lines, which
// count the one that says so.
func cutLines(s string, n int) string {
	all := strings.Split(s, "\n")
	if n <= 0 || len(all) <= n {
		return s
	}
	head := n / 2
	tail := n - 1 - head
	kept := append([]string{}, all[:head]...)
	kept = append(kept, fmt.Sprintf("… %d lines cut; read the listing in smaller pages with limit and offset …", len(all)-head-tail))
	return strings.Join(append(kept, all[len(all)-tail:]...), "\n")
}

func fitted(page []Item, total int, w Window, budget int) string {
	var b strings.Builder
	for _, n := range []int{previewLen, 120, 80, 50, 30, 15, 0} {
		b.Reset()
		b.WriteString(windowLine(len(page), total, w))
		for _, x := range page {
			b.WriteString("\n" + x.Line(n))
		}
		if budget <= 0 || utf8.RuneCountInString(b.String()) <= budget {
			return b.String()
		}
	}
	shown, _ := text.Elide(b.String(), budget, func(n int) string {
		return fmt.Sprintf("\n… %d characters cut; read the listing in smaller pages with limit and offset …\n", n)
	})
	return shown
}

func windowLine(shown, total int, w Window) string {
	switch {
	case total == 0:
		return "no jobs"
	case shown == 0:
		return fmt.Sprintf("no jobs from offset %d on; there are %d jobs.", w.Offset, total)
	case shown < total:
		return fmt.Sprintf("showing %d-%d of %d jobs.", w.Offset+1, w.Offset+shown, total)
	}
	return fmt.Sprintf("%d jobs.", total)
}

// line is a job's line in the text of a listing.
func line(r Row, preview int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s", r.ID, r.Type, r.Status)
	if r.Reason != nil {
		fmt.Fprintf(&b, " (%s)", *r.Reason)
	}
	if r.ExitCode != nil {
		fmt.Fprintf(&b, " exit_code=%d", *r.ExitCode)
	}
	fmt.Fprintf(&b, " total_bytes=%d last_activity=%s%s", r.TotalBytes, r.LastActivity, r.Words())
	if r.ParentJob != "" {
		fmt.Fprintf(&b, " parent_job_id=%s", r.ParentJob)
	}
	what := r.Description
	if what == "" {
		what = r.Command
	}
	if p := text.Preview(what, preview); p != "" {
		b.WriteString(" " + p)
	}
	return b.String()
}

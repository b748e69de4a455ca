package job

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"evener/internal/fault"
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

// Page checks limit and offset: nil is the default, a limit above the maximum
// is clamped, and a limit of 0 or less or a negative offset is refused.
func Page(limit, offset *int64) (Window, *fault.Error) {
	w := Window{Limit: defaultLimit}
	if limit != nil {
		if *limit <= 0 {
			return w, fault.Invalid("job_list: limit must be at least 1 (got %d); the default is %d, the maximum %d", *limit, defaultLimit, maxLimit)
		}
		w.Limit = int(min(*limit, maxLimit))
	}
	if offset != nil {
		if *offset < 0 {
			return w, fault.Invalid("job_list: offset must not be negative (got %d)", *offset)
		}
		w.Offset = int(min(*offset, 1<<31))
	}
	return w, nil
}

// Listed is a job on its way into a listing: a row is made only of those that
// the page shows.
type Listed struct {
	State *State
	Live  Live
	at    time.Time
}

// List takes a job into a listing.
func List(s *State, l Live) Listed { return Listed{s, l, s.LastActivity(l)} }

// At is the latest activity of the job.
func (l Listed) At() time.Time { return l.at }

// Sort orders jobs by latest activity, newest first, then by id.
func Sort(jobs []Listed) {
	slices.SortFunc(jobs, func(a, b Listed) int {
		return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.State.ID, b.State.ID))
	})
}

// Cut returns the rows of the page.
func (w Window) Cut(jobs []Listed) []Row {
	from := min(w.Offset, len(jobs))
	rows := []Row{}
	for _, x := range jobs[from:min(from+w.Limit, len(jobs))] {
		rows = append(rows, RowOf(x.State, x.Live))
	}
	return rows
}

// ListText renders a page for the model: one line a row, in order, and the
// window where the page is not the whole. Names and descriptions are previews,
// shrunk further until the text fits into budget characters; when even the
// fixed content does not fit they are left out, and cutting is the caller's.
// A budget of 0 or less removes the page cap.
func ListText(page []Row, total int, w Window, budget int) string {
	lines := make([]func(int) string, len(page))
	for i, r := range page {
		lines[i] = func(preview int) string { return Line(r, preview) }
	}
	return ListLines(lines, total, w, budget)
}

// ListLines is ListText over any rows: each gives its line for a length of preview.
func ListLines(page []func(preview int) string, total int, w Window, budget int) string {
	var b strings.Builder
	for _, n := range []int{previewLen, 120, 80, 50, 30, 15, 0} {
		b.Reset()
		b.WriteString(windowLine(len(page), total, w))
		for _, line := range page {
			b.WriteString("\n" + line(n))
		}
		if budget <= 0 || len([]rune(b.String())) <= budget {
			break
		}
	}
	return b.String()
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

// Line is a job's line in the text of a listing.
func Line(r Row, preview int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s %s", r.ID, r.Type, r.Status)
	if r.Reason != nil {
		fmt.Fprintf(&b, " (%s)", *r.Reason)
	}
	if r.ExitCode != nil {
		fmt.Fprintf(&b, " exit_code=%d", *r.ExitCode)
	}
	fmt.Fprintf(&b, " total_bytes=%d last_activity=%s", r.TotalBytes, r.LastActivity)
	what := r.Description
	if what == "" {
		what = r.Command
	}
	if p := text.Preview(what, preview); p != "" {
		b.WriteString(" " + p)
	}
	return b.String()
}

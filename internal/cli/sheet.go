package cli

import (
	"cmp"
	"fmt"
	"strings"

	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/term"
	"evener/internal/text"
	"evener/internal/watch"
)

// sheetWidth is what a line of a listing has at most, so that none wraps on a
// common terminal.
const sheetWidth = 80

// sheet is a listing for people: cells in columns, none of them cut, and what a row
// is about, cut to the room that is left.
type sheet struct {
	rows []sheetRow
}

type sheetRow struct {
	cells []string
	about string
	below string // a line of its own, or none
}

// add adds a row; otherwise stands for about where there is none.
func (s *sheet) add(about, otherwise string, cells ...string) {
	s.rows = append(s.rows, sheetRow{cells: cells, about: cmp.Or(about, otherwise)})
}

// addWatch adds a watch: what it waits for, and below that the source where it is
// another than the session itself, whose id would leave the condition no room.
func (s *sheet) addWatch(x id.Watch, source, condition, state string, told int64) {
	s.add(condition, "", string(x), state, fmt.Sprintf("%d told", told))
	if source != watch.Self {
		s.rows[len(s.rows)-1].below = "  of " + source + "\n"
	}
}

// print writes the lines.
func (e *env) print(s *sheet) int {
	var widths []int
	for _, r := range s.rows {
		for i, c := range r.cells {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], term.Width(c))
		}
	}
	var b strings.Builder
	for _, r := range s.rows {
		line := ""
		for i, c := range r.cells {
			line += c + strings.Repeat(" ", widths[i]-term.Width(c)+2)
		}
		b.WriteString(withAbout(line, r.about) + "\n" + r.below)
	}
	fmt.Fprint(e.out, b.String())
	return exitOK
}

// withAbout is a line with as much behind it as there is room for.
func withAbout(line, about string) string {
	if room := sheetWidth - term.Width(line); room > 3 {
		line += term.Short(text.Preview(strings.TrimRight(about, " \n"), 4*sheetWidth), room)
	}
	return strings.TrimRight(line, " ")
}

// howJob says in few words how a job is or ended. What is said to run where no
// process holds the session was lost.
func howJob(r job.Row, held bool) string {
	reason := ""
	if r.Reason != nil {
		reason = *r.Reason
	}
	switch r.Status {
	case job.Running:
		if !held {
			return "lost"
		}
		if reason == job.StopPending {
			return "stopping"
		}
		return "running"
	case job.Completed, job.Cancelled:
		return string(r.Status)
	case job.ExitedNonzero:
		return fmt.Sprintf("exit %d", *r.ExitCode)
	case job.Killed:
		return "killed " + text.Preview(strings.TrimPrefix(reason, job.KilledBySignal), 16)
	}
	return string(r.Status) + " " + text.Preview(reason, 16)
}

// bytesOf is a count of bytes that need not be exact.
func bytesOf(n int64) string {
	if n < 10_000 {
		return fmt.Sprintf("%d B", n)
	}
	x, unit := float64(n)/1024, "KiB"
	for _, next := range []string{"MiB", "GiB", "TiB"} {
		if x < 1024 {
			break
		}
		x, unit = x/1024, next
	}
	if x < 10 {
		return fmt.Sprintf("%.1f %s", x, unit)
	}
	return fmt.Sprintf("%.0f %s", x, unit)
}

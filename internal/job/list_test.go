package job

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"evener/internal/id"
)

func num(n int64) *int64 { return &n }

// clause: JC-370 JC-371 JC-668
func TestPage(t *testing.T) {
	for _, c := range []struct {
		limit, offset *int64
		want          Window
		text          string
	}{
		{nil, nil, Window{50, 0}, ""},
		{num(1), num(0), Window{1, 0}, ""},
		{num(100), num(7), Window{100, 7}, ""},
		{num(101), nil, Window{100, 0}, ""},
		{num(math.MaxInt64), num(math.MaxInt64), Window{100, 1 << 31}, ""},
		{num(0), nil, Window{}, "invalid_request: job_list: limit must be at least 1 (got 0); the default is 50, the maximum 100"},
		{num(-3), nil, Window{}, "invalid_request: job_list: limit must be at least 1 (got -3); the default is 50, the maximum 100"},
		{nil, num(-1), Window{}, "invalid_request: job_list: offset must not be negative (got -1)"},
	} {
		got, err := Page("job_list", c.limit, c.offset)
		if c.text == "" && (err != nil || got != c.want) || c.text != "" && (err == nil || err.Error() != c.text) {
			t.Errorf("got %+v, %v; want %+v, %q", got, err, c.want, c.text)
		}
	}
}

// clause: JC-372
func TestWindowOf(t *testing.T) {
	at := time.Date(2024, 12, 1, 10, 0, 0, 0, time.UTC)
	listed := func(j id.Job, last time.Time) Item {
		return (&State{ID: j, Status: Running, StartedAt: at.Add(-time.Hour)}).Item(Live{Job: j, LastAt: last}, &Place{})
	}
	all := []Item{listed("job_B", at), listed("job_A", at), listed("job_C", at.Add(time.Microsecond)), listed("job_0", at.Add(-time.Microsecond))}
	const order = "job_C job_A job_B job_0"
	for _, c := range []struct {
		w        Window
		from, to int
	}{{Window{50, 0}, 0, 4}, {Window{2, 0}, 0, 2}, {Window{2, 1}, 1, 3}, {Window{2, 3}, 3, 4}, {Window{2, 4}, 4, 4}, {Window{2, 1 << 31}, 4, 4}} {
		same(t, fmt.Sprint(c.w), ids(c.w.Of(all)), strings.Join(strings.Fields(order)[c.from:c.to], " "))
	}
}

func ids(all []Item) string {
	var out []string
	for _, x := range all {
		out = append(out, x.id)
	}
	return strings.Join(out, " ")
}

func items(rows []Row) []Item {
	var out []Item
	for _, r := range rows {
		out = append(out, ItemOf(time.Time{}, string(r.ID), func() any { return r }, func(n int) string { return line(r, n) }))
	}
	return out
}

func manyRows(n int, what string) []Row {
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = Row{ID: id.Job(fmt.Sprintf("job_%03d", i)), Type: "shell", Status: Running, Command: what, LastActivity: "2024-12-01T10:00:00.000000Z"}
	}
	return rows
}

// clause: JC-380 JC-669
func TestListText(t *testing.T) {
	reason := "exit_nonzero"
	rows := []Row{
		{ID: "job_1", Type: "shell", Status: Running, Command: "make\n  test", LastActivity: "T1"},
		{ID: "job_2", Type: "shell", Status: ExitedNonzero, Reason: &reason, ExitCode: code(2), Description: "lint  it", Command: "make lint", TotalBytes: 7, LastActivity: "T0"},
	}
	const lines = "\njob_1 shell running total_bytes=0 last_activity=T1 make test" +
		"\njob_2 shell command_exited_nonzero (exit_nonzero) exit_code=2 total_bytes=7 last_activity=T0 lint it"
	for _, c := range []struct {
		what  string
		page  []Row
		total int
		w     Window
		want  string
	}{
		{"none", nil, 0, Window{50, 0}, "no jobs"},
		{"none, paged", nil, 0, Window{50, 10}, "no jobs"},
		{"all", rows, 2, Window{50, 0}, "2 jobs." + lines},
		{"cut", rows, 257, Window{2, 50}, "showing 51-52 of 257 jobs." + lines},
		{"last page", rows, 4, Window{50, 2}, "showing 3-4 of 4 jobs." + lines},
		{"behind the end", nil, 257, Window{50, 300}, "no jobs from offset 300 on; there are 257 jobs."},
	} {
		if got := ListText(items(c.page), c.total, c.w, 0, 0); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.what, got, c.want)
		}
	}
}

// Previews shrink until the page fits; what identifies a row stays.
//
// clause: JC-381 JC-383 JC-384 JC-385 JC-386 JC-388
func TestListBudget(t *testing.T) {
	what := strings.Repeat("é", 500)
	rows := manyRows(100, what)
	fixed := utf8.RuneCountInString(ListText(items(manyRows(100, "")), 257, Window{100, 0}, 0, 0))
	for _, c := range []struct{ budget, preview int }{
		{0, 200}, {-1, 200}, {1 << 20, 200}, {20_000, 120}, {fixed + 100*51, 50}, {fixed + 100*16, 15}, {fixed + 100, 0},
	} {
		got := ListText(items(rows), 257, Window{100, 0}, c.budget, 0)
		lines := strings.Split(got, "\n")
		if lines[0] != "showing 1-100 of 257 jobs." || len(lines) != 101 {
			t.Fatalf("budget %d: %d lines, first %q", c.budget, len(lines), lines[0])
		}
		for i, l := range lines[1:] {
			want := fmt.Sprintf("job_%03d shell running total_bytes=0 last_activity=2024-12-01T10:00:00.000000Z", i)
			if c.preview > 0 {
				want += " " + strings.Repeat("é", c.preview-1) + "…"
			}
			if l != want {
				t.Fatalf("budget %d: line %q, want %q", c.budget, l, want)
			}
		}
		if n := utf8.RuneCountInString(got); c.budget > fixed && n > c.budget {
			t.Errorf("budget %d: %d characters", c.budget, n)
		}
		if rows[0].Command != what {
			t.Fatal("a row was changed")
		}
	}
}

// A bound of lines holds beside that of characters: what is in the middle is left
// out, and the text says so.
//
// clause: JC-387
func TestListLines(t *testing.T) {
	whole := strings.Split(ListText(items(manyRows(10, "make")), 10, Window{50, 0}, 0, 0), "\n")
	for lines, want := range map[int]string{0: "0-10", 11: "0-10", 12: "0-10", 10: "0-4 2 7-10", 5: "0-1 7 9-10", 2: "0-0 10", 1: "11"} {
		got := ListText(items(manyRows(10, "make")), 10, Window{50, 0}, 0, lines)
		var parts []string
		for _, p := range strings.Fields(want) {
			var from, to, cut int
			if n, _ := fmt.Sscanf(p, "%d-%d", &from, &to); n == 2 {
				parts = append(parts, whole[from:to+1]...)
				continue
			}
			fmt.Sscan(p, &cut)
			parts = append(parts, fmt.Sprintf("… %d lines cut; read the listing in smaller pages with limit and offset …", cut))
		}
		if got != strings.Join(parts, "\n") || lines > 0 && strings.Count(got, "\n") >= lines {
			t.Errorf("%d lines:\n%s\nwant\n%s", lines, got, strings.Join(parts, "\n"))
		}
	}
}

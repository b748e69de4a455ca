package term

import "strings"

// Mark is how a piece of text stands out.
type Mark string

// Marks are used sparingly; a terminal without colours shows none.
const (
	Plain Mark = ""
	Bold  Mark = "1"
	Dim   Mark = "2"
	Bad   Mark = "31"
)

// Span is a piece of a row. Its text may come from anywhere.
type Span struct {
	Text string
	Mark Mark
	// Whole: never cut. A row that has no room left goes on below.
	Whole bool
}

// Row is what is printed as one line: cut to the width, but for whole spans.
// With Wrap it takes as many lines as its words need.
type Row struct {
	Spans []Span
	Wrap  bool
}

// Line makes a row of one plain text.
func Line(s string) Row { return Row{Spans: []Span{{Text: s}}} }

// indent stands before each line of a row but the first.
const indent = "  "

// Render gives the lines of a row, each of at most width columns but for a
// whole span that is longer than a line.
func (r Row) Render(width int, color bool) []string {
	if r.Wrap {
		return r.wrapped(width, color)
	}
	var out []string
	var b strings.Builder
	used, full := 0, false
	for _, s := range r.Spans {
		t := clean(s.Text)
		w := Width(t)
		if s.Whole && (full || used+w > width) && used > len(indent) {
			out, full = append(out, strings.TrimRight(b.String(), " ")), false
			b.Reset()
			b.WriteString(indent)
			used, t = len(indent), strings.TrimLeft(t, " ")
			w = Width(t)
		}
		if full {
			continue
		}
		if !s.Whole {
			t, full = Cut(t, width-used)
			if full && width > used {
				t += "…"
			}
			w = Width(t)
		}
		b.WriteString(paint(t, s.Mark, color))
		used += w
	}
	return append(out, b.String())
}

// wrapped breaks the last span between its words; those before it lead the
// first line.
func (r Row) wrapped(width int, color bool) []string {
	last := len(r.Spans) - 1
	lead, used := "", 0
	for _, s := range r.Spans[:last] {
		t := clean(s.Text)
		lead += paint(t, s.Mark, color)
		used += Width(t)
	}
	var out []string
	for i, line := range Wrap(r.Spans[last].Text, max(1, width-max(used, len(indent)))) {
		line = paint(line, r.Spans[last].Mark, color)
		if i == 0 {
			out = append(out, lead+line)
		} else {
			out = append(out, strings.TrimRight(indent+line, " "))
		}
	}
	return out
}

func paint(s string, m Mark, color bool) string {
	if !color || m == Plain || s == "" {
		return s
	}
	return "\x1b[" + string(m) + "m" + s + "\x1b[0m"
}

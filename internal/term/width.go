package term

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"evener/internal/pattern"
	"evener/internal/text"
)

// Width is how many columns s takes at most. Where terminals differ (emoji,
// sequences joined to one picture) it is the larger number: a line that ends
// early does no harm, one that wraps cannot be erased.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

func runeWidth(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case r == 0xfe0f: // makes a picture of what stands before it, which then takes one more
		return 1
	case r >= 0x200b && r <= 0x200f, r >= 0x2060 && r <= 0x2064, r == 0xfeff, r >= 0xe0000 && r <= 0xe007f, unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	}
	for _, w := range wide {
		if r < w[0] {
			return 1
		}
		if r <= w[1] {
			return 2
		}
	}
	return 1
}

// wide are the ranges of characters that take two columns, in order. Ranges of
// mostly wide ones are taken whole.
var wide = [][2]rune{
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x2329, 0x232a}, {0x23e9, 0x23f3}, {0x25fd, 0x25fe}, {0x2600, 0x27bf}, {0x2b1b, 0x2b1c},
	{0x2b50, 0x2b55}, {0x2e80, 0x303e}, {0x3041, 0xa4cf}, {0xa960, 0xa97f}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe10, 0xfe19},
	{0xfe30, 0xfe6f}, {0xff01, 0xff60}, {0xffe0, 0xffe6}, {0x16fe0, 0x1b2ff}, {0x1d300, 0x1d376}, {0x1f000, 0x1faff}, {0x20000, 0x3fffd},
}

// clean makes text from outside one line that a terminal shows and does not obey.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '\n', '\t', 0x2028, 0x2029:
			return ' '
		}
		return r
	}, text.Printable(s))
}

var identifier = pattern.New(`\b(?:[a-z]+_[0-7][0-9A-HJKMNP-TV-Z]{25,40}|[0-7][0-9A-HJKMNP-TV-Z]{25})\b`)

// Cut keeps of s what fits into width columns; more is set when that is less
// than all, and then a column is left for the mark of it. An id is kept whole or
// not at all: half of one looks like another one.
func Cut(s string, width int) (kept string, more bool) {
	// A run of characters without a width may not make a line of any length.
	longest := 4 * max(width, 1)
	runes, used, room := 0, 0, -1
	for i, r := range s {
		w := runeWidth(r)
		if room < 0 && used+w > width-1 {
			room = i
		}
		if used+w > width || runes >= longest {
			if room < 0 {
				room = i
			}
			return strings.TrimRight(beforeID(s, room), " "), true
		}
		used += w
		runes++
	}
	return s, false
}

// beforeID moves a cut at i to the start of the id that it would cut.
func beforeID(s string, i int) string {
	from := max(0, i-64)
	for from > 0 && !utf8.RuneStart(s[from]) {
		from--
	}
	for _, m := range identifier().FindAllStringIndex(s[from:min(len(s), i+64)], -1) {
		if from+m[0] < i && i < from+m[1] {
			return s[:from+m[0]]
		}
	}
	return s[:i]
}

// Wrap breaks a text into lines of at most width columns, between words where
// it can. Words are broken only where they are longer than a line, ids never.
// Line breaks of the text stay, and so does the indentation of its lines.
func Wrap(s string, width int) []string {
	var out []string
	for _, line := range strings.Split(strings.ReplaceAll(text.Printable(s), "\t", "    "), "\n") {
		out = append(out, wrapLine(strings.TrimRight(clean(line), " "), max(width, 1))...)
	}
	return out
}

func wrapLine(s string, width int) []string {
	words := strings.Fields(s)
	if len(words) == 0 {
		return []string{""}
	}
	indent := s[:len(s)-len(strings.TrimLeft(s, " "))]
	if len(indent) > width/2 {
		indent = ""
	}
	var out []string
	line := indent + words[0]
	for _, w := range words[1:] {
		if joined := line + " " + w; Width(joined) <= width {
			line = joined
			continue
		}
		out = append(out, broken(line, width)...)
		line = indent + w
	}
	return append(out, broken(line, width)...)
}

// broken breaks a line that holds one word which is too long.
func broken(line string, width int) []string {
	if Width(line) <= width || identifier().MatchString(line) {
		return []string{line}
	}
	var out []string
	used, from := 0, 0
	for i, r := range line {
		w := runeWidth(r)
		if used+w > width && i > from {
			out, from, used = append(out, line[from:i]), i, 0
		}
		used += w
	}
	return append(out, line[from:])
}

// Short is s cut to width columns, with the mark of a cut.
func Short(s string, width int) string {
	kept, more := Cut(clean(s), width)
	if more && width > 0 {
		kept += "…"
	}
	return kept
}

// Package text makes bytes fit to be shown: valid UTF-8 with control
// characters visible, bounded in code points. Stored bytes stay as they came;
// whatever goes to a model, into JSON or to a terminal passes through here.
package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Printable returns s as valid UTF-8: invalid bytes become U+FFFD, control
// characters other than newline and tab are written as \xNN (or \r), those
// beyond ASCII and those that turn the direction of writing as \u{NNNN}, since
// \x85 would name a byte that is not there; \r\n reads as \n.
func Printable(s string) string {
	if plain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteRune(utf8.RuneError)
		case r == '\r' && i+1 < len(s) && s[i+1] == '\n':
		case r == '\r':
			b.WriteString(`\r`)
		case r >= 0x80 && control(r), bidi(r):
			fmt.Fprintf(&b, `\u{%04x}`, r)
		case control(r):
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

func plain(s string) bool {
	for _, r := range s {
		if r == utf8.RuneError || control(r) || bidi(r) {
			return false
		}
	}
	return true
}

// control: C0 but \n and \t, DEL, and C1, which terminals obey too.
func control(r rune) bool {
	return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0
}

// bidi: characters that are not seen and let a command be read in another order
// than it runs in.
func bidi(r rune) bool {
	return r == 0x061c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// Tail returns the last n code points of s and whether that is less than all.
func Tail(s string, n int) (string, bool) {
	i := len(s)
	for ; n > 0 && i > 0; n-- {
		_, w := utf8.DecodeLastRuneInString(s[:i])
		i -= w
	}
	return s[i:], i > 0
}

// Head returns the first n code points of s and whether that is less than all.
func Head(s string, n int) (string, bool) {
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, w := utf8.DecodeRuneInString(s[i:])
		i += w
	}
	return s[:i], i < len(s)
}

// Preview is a single line of at most n code points with its omission
// indicator included. White space is collapsed only after the bounded prefix
// was taken, so that the cost does not grow with s. n below 1 gives "".
func Preview(s string, n int) string {
	if n < 1 {
		return ""
	}
	p, cut := Head(s, n)
	p = strings.Join(strings.Fields(Printable(p)), " ")
	// Making control characters visible may have lengthened the prefix, and the
	// indicator takes a place too.
	if _, more := Head(p, n); cut || more {
		p, _ = Head(p, n-1)
		p += "…"
	}
	return p
}

// Quote is a bounded prefix of s, of at most n code points, in quotes, for messages
// that repeat what came. Quoting alone makes it fit to be shown: a text that went
// through Printable before would have each \ of that doubled.
func Quote(s string, n int) string {
	p, cut := Head(s, n)
	if cut {
		p += "…"
	}
	return strconv.Quote(p)
}

// Elide keeps the head and the tail of s so that the whole, marker included,
// has at most max code points, and reports whether anything was left out.
// marker is given the number of code points elided. A marker that does not fit
// itself is cut.
func Elide(s string, max int, marker func(elided int) string) (string, bool) {
	return ElideOf(s, 0, max, marker)
}

// ElideOf is Elide of a text from whose middle gap code points are missing in s
// already. Both of its halves must be at least as long as max.
func ElideOf(s string, gap, max int, marker func(elided int) string) (string, bool) {
	total := utf8.RuneCountInString(s) + gap
	if total <= max {
		return s, false
	}
	room := max - utf8.RuneCountInString(marker(total))
	if room < 0 {
		m, _ := Head(marker(total), max)
		return m, true
	}
	headLen := room / 3
	head, _ := Head(s, headLen)
	tail, _ := Tail(s, room-headLen)
	return head + marker(total-room) + tail, true
}

// Thousands writes n with commas.
func Thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Escape makes text harmless inside the frame of a notice. Only < is escaped:
// clients decode the entities of a body once, so a literal entity reads as what
// it names.
func Escape(s string) string { return strings.ReplaceAll(s, "<", "&lt;") }

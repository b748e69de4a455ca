package text

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPrintable(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"plain\ttext\n", "plain\ttext\n"},
		{"ünïcode 日本", "ünïcode 日本"},
		{"a\r\nb\r\n", "a\nb\n"},
		{"50%\r100%\n", `50%\r100%` + "\n"},
		{"end\r", `end\r`},
		{"\x1b[31mred\x00", `\x1b[31mred\x00`},
		{"del\x7f", `del\x7f`},
		{"c1\u0085\u009b", `c1\u{0085}\u{009b}`}, // terminals obey these too
		{"rm \u202e#\u2066x\u2069\u200e\u200f\u061c", `rm \u{202e}#\u{2066}x\u{2069}\u{200e}\u{200f}\u{061c}`},
		{"\u202a\u202d", `\u{202a}\u{202d}`},
		{"joined \u200d, spaced \u2029\u2065", "joined \u200d, spaced \u2029\u2065"},
		{"bad\xff\xfeend", "bad\ufffd\ufffdend"},
		{"half \xe6\x97", "half \ufffd\ufffd"},
		{"real \ufffd", "real \ufffd"},
	} {
		got := Printable(c.in)
		if got != c.want {
			t.Errorf("Printable(%q) = %q, want %q", c.in, got, c.want)
		}
		if again := Printable(got); again != got {
			t.Errorf("Printable is not settled on %q: %q", got, again)
		}
	}
}

func TestHeadAndTail(t *testing.T) {
	for _, c := range []struct {
		in         string
		n          int
		head, tail string
		cut        bool
	}{
		{"", 3, "", "", false},
		{"abc", 3, "abc", "abc", false},
		{"abcd", 3, "abc", "bcd", true},
		{"äöü€", 2, "äö", "ü€", true},
		{"abc", 0, "", "", true},
		{"a\xffb", 2, "a\xff", "\xffb", true},
	} {
		if got, cut := Head(c.in, c.n); got != c.head || cut != c.cut {
			t.Errorf("Head(%q, %d) = %q, %v", c.in, c.n, got, cut)
		}
		if got, cut := Tail(c.in, c.n); got != c.tail || cut != c.cut {
			t.Errorf("Tail(%q, %d) = %q, %v", c.in, c.n, got, cut)
		}
	}
}

// clause: JC-381 JC-382
func TestPreview(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"run tests", 200, "run tests"},
		{"a\n  b\t c ", 200, "a b c"},
		{long, 200, long[:199] + "…"},
		{strings.Repeat("é", 201), 200, strings.Repeat("é", 199) + "…"},
		{strings.Repeat("é", 200), 200, strings.Repeat("é", 200)},
		// The prefix is taken first: white space of it is not refilled from behind.
		{"a" + strings.Repeat(" ", 198) + "bcdef", 200, "a b…"},
		{strings.Repeat(" ", 300) + "late", 200, "…"},
		{"\x1b\x1b\x1b", 5, `\x1b…`},
		// Making a character visible lengthens a prefix that is cut as well.
		{"ab\rcdefgh", 5, `ab\r…`},
		{"abcdef", 1, "…"},
		{"abc", 0, ""},
		{"abc", -1, ""},
	} {
		got := Preview(c.in, c.n)
		if got != c.want {
			t.Errorf("Preview(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
		if n := utf8.RuneCountInString(got); n > max(c.n, 0) {
			t.Errorf("Preview(%q, %d) has %d code points", c.in, c.n, n)
		}
	}
}

func TestElide(t *testing.T) {
	marker := func(n int) string { return fmt.Sprintf("[%d cut]", n) }
	s := strings.Repeat("h", 50) + strings.Repeat("t", 50)
	for _, c := range []struct {
		max  int
		want string
		cut  bool
	}{
		{100, s, false},
		{99, s[:30] + "[10 cut]" + s[40:], true}, // a third is head, the rest is tail
		{39, strings.Repeat("h", 10) + "[70 cut]" + strings.Repeat("t", 20), true},
		{9, "[100 cut]", true},
		{4, "[100", true}, // the marker itself does not fit
		{0, "", true},
	} {
		got, cut := Elide(s, c.max, marker)
		if got != c.want || cut != c.cut {
			t.Errorf("Elide(%d) = %q, %v, want %q", c.max, got, cut, c.want)
		}
		if n := utf8.RuneCountInString(got); n > c.max {
			t.Errorf("Elide(%d) has %d code points", c.max, n)
		}
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := Thousands(n); got != want {
			t.Errorf("Thousands(%d) = %q, want %q", n, got, want)
		}
	}
}

func FuzzBounds(f *testing.F) {
	f.Add("ab\rcdefgh\x1b\xff", 5)
	f.Fuzz(func(t *testing.T, s string, n int) {
		if n > 1<<16 {
			n %= 1 << 16
		}
		p := Preview(s, n)
		if utf8.RuneCountInString(p) > max(n, 0) || strings.ContainsAny(p, "\n\t\r") || !utf8.ValidString(p) {
			t.Errorf("Preview(%q, %d) = %q", s, n, p)
		}
		if q := Printable(s); !utf8.ValidString(q) || Printable(q) != q {
			t.Errorf("Printable(%q) = %q", s, q)
		}
		e, _ := Elide(s, max(n, 0), func(k int) string { return fmt.Sprintf("<%d>", k) })
		if utf8.RuneCountInString(e) > max(n, 0) {
			t.Errorf("Elide(%q, %d) = %q", s, n, e)
		}
	})
}

// Text is escaped once, however much of it wants that, and nothing is collapsed.
func TestQuote(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"plain", 5, `"plain"`},
		{"longer", 5, `"longe…"`},
		{"a\x1b[2J  \n\\", 80, `"a\x1b[2J  \n\\"`},
		{"\u0085\u202e", 80, `"\u0085\u202e"`},
		{"ü\xffü", 2, `"ü\xff…"`},
		{"", 0, `""`},
	} {
		if got := Quote(c.in, c.n); got != c.want {
			t.Errorf("Quote(%q, %d) = %s, want %s", c.in, c.n, got, c.want)
		}
	}
}

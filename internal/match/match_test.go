package match

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// run gives what a pattern finds in an output whose pieces are each scanned, as
// "offset:text", and the lines.
func run(t *testing.T, pattern string, pieces ...string) (got, lines []string) {
	t.Helper()
	m := compiled(t, pattern).From(0, func(o Occurrence) bool {
		got = append(got, fmt.Sprintf("%d:%s", o.From, o.Text))
		lines = append(lines, string(o.Line))
		return true
	})
	at := 0
	for _, p := range pieces {
		m.Add(int64(at), []byte(p))
		m.Flush()
		at += len(p)
	}
	m.Finish()
	return got, lines
}

// clause: JC-291 JC-294 JC-295 JC-296 JC-297 JC-298 JC-300 JC-301
func TestOccurrences(t *testing.T) {
	for _, c := range []struct {
		name, pattern string
		pieces        []string
		want          []string
	}{
		{"no newline needed", "READY", []string{"x READY"}, []string{"2:READY"}},
		{"across pieces", "READY", []string{"xRE", "A", "DYx"}, []string{"1:READY"}},
		{"every one", "READY", []string{"READYREADY", " READY"}, []string{"0:READY", "5:READY", "11:READY"}},
		{"not overlapping", "aa", []string{"a", "a", "a", "a", "a"}, []string{"0:aa", "2:aa"}},
		{"open-ended is one", ".*READY.*", []string{"a READY b READY c\n"}, []string{"0:a READY b READY c"}},
		{"open-ended grows", ".*READY.*", []string{"a READY b", " READY", " c\nREADY"}, []string{"0:a READY b", "18:READY"}},
		{"a number grows", `\d+%`, []string{"10%\r20", "%\r30%"}, []string{"0:10%", "4:20%", "8:30%"}},
		{"a span that grows is one", `\d+`, []string{"1", "2", "3 4"}, []string{"0:1", "4:4"}},
		{"case", "ready", []string{"Ready ready"}, []string{"6:ready"}},
		{"case folded", "(?i)ready", []string{"Ready READY"}, []string{"0:Ready", "6:READY"}},
		{"case folded in a part", "x(?i:plugh)", []string{"xPLUGH XPLUGH"}, []string{"0:xPLUGH"}},
		{"leftmost first", "foo|foobar", []string{"foobar"}, []string{"0:foo"}},
		{"a dot is no newline", "a.b", []string{"a\nb a.b"}, []string{"4:a.b"}},
		{"but with (?s)", "(?s)a.b", []string{"a\nb"}, []string{"0:a\nb"}},
		{"anchors at newlines", "^b$", []string{"ab\nb\nbc\n"}, []string{"3:b"}},
		{"a prompt", "^ready$", []string{"ready"}, []string{"0:ready"}},
		{"a prompt that was none", "^ready$", []string{"ready", "set\n"}, []string{"0:ready"}},
		{"a whole line at once", "^ready$", []string{"readyset\n"}, nil},
		{"$ before \\r\\n", "ready$", []string{"not ready\r\n"}, []string{"4:ready"}},
		{"$ before \\r\\n in pieces", "^ready$", []string{"\r", "\nready\r", "\n"}, []string{"2:ready"}},
		{"an empty line in each \\r\\n", "^$", []string{"a\r\nb\r", "\n"}, []string{"2:", "5:"}},
		{"literal \\r\\n", `a\r\n`, []string{"a\r\n", "a\r", "\n"}, nil},
		{"a lone \\r is a byte", "a.b", []string{"a\r", "b"}, []string{"0:a\rb"}},
		{"escapes are bytes", "ready", []string{"re\x1b[1mady \x1b[32mready\x1b[0m"}, []string{"15:ready"}},
		{"empty lines", "^$", []string{"a\n", "\nb\n"}, []string{"2:"}},
		{"broken bytes", "x.y", []string{"x\xffy x\xc3", "\xa9y"}, []string{"0:x\xffy", "4:xéy"}},
		{"the rest of a quote", `\QA.B`, []string{"AxB A.B"}, []string{"4:A.B"}},
		{"no edge inside a line", "^b$", []string{strings.Repeat("a\n", 2047) + "bx\nb\n"}, []string{"4097:b"}},
		{"beyond the Window it is still one", "x+", []string{strings.Repeat("x", 5000), strings.Repeat("x", 9000) + "-x"}, []string{"0:" + strings.Repeat("x", 4096), "14001:x"}},
		{"what goes on behind the Window is the same", "x+E.*", []string{strings.Repeat("x", 4096), strings.Repeat("x", 10) + "ExExE"}, []string{"11:" + strings.Repeat("x", 4095) + "E"}},
		{"alternatives stay inside", "a|b$", []string{"ab\n"}, []string{"0:a", "1:b"}},
	} {
		if got, _ := run(t, c.pattern, c.pieces...); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q in %q: got %q, want %q", c.name, c.pattern, c.pieces, got, c.want)
		}
	}
}

// A match may have the Window's length, at any place; a longer one is cut, or not
// there at all.
//
// clause: JC-292
func TestWindow(t *testing.T) {
	for _, lead := range []int{0, 1, 100, 4095, 4096, 5000} {
		for _, n := range []int{4095, 4096, 4097} {
			output := strings.Repeat("-", lead) + "A" + strings.Repeat("x", n-2) + "B" + strings.Repeat("-", 5000)
			for _, size := range []int{1, 4096, 1 << 20} {
				p := compiled(t, "A[^B]*B")
				if got := collect(p, 0, []byte(output), []piece{{n: size}}); (len(got) == 1) != (n <= Window) {
					t.Errorf("%d bytes from %d in pieces of %d: %d occurrences", n, lead, size, len(got))
				}
			}
		}
	}
	long := "x" + strings.Repeat("é", 50_000) + "\n" + "last"
	for _, c := range []struct {
		pattern string
		want    int
	}{{".+", 2}, {"é+", 1}, {".*é", 1}, {"x.*$", 1}, {"^é", 0}} {
		if got := collect(compiled(t, c.pattern), 0, []byte(long), []piece{{n: 1000, flush: true}}); len(got) != c.want {
			t.Errorf("%s: %d occurrences, want %d: %s", c.pattern, len(got), c.want, show(got))
		}
	}
}

// The excerpt is the line where the match begins, around the match when the line
// is long.
//
// clause: JC-293
func TestLine(t *testing.T) {
	long := strings.Repeat("x", 6000)
	for _, c := range []struct{ name, pattern, output, want string }{
		{"whole", "b", "a\nabc\nc", "abc"},
		{"crlf", "b", "a\r\nabc\r\nc", "abc"},
		{"of many, the first", `b\nc`, "a\nab\ncd\n", "ab"},
		{"empty", "^$", "a\n\nb", ""},
		{"match at the beginning", "needle", "needle" + long, "needle" + long[:4090]},
		{"match further on", "needle", long[:4000] + "needle" + long, long[:4000] + "needle" + long[:90]},
		{"match that would not fit", "needle", long[:4093] + "needle" + long, long[:4090] + "needle"},
		{"match far on", "needle", long + "needle" + long, long[:4090] + "needle"},
	} {
		if _, lines := run(t, c.pattern, c.output); len(lines) == 0 || lines[0] != c.want {
			t.Errorf("%s: got %q, want %q", c.name, lines, c.want)
		}
	}
}

// A line of megabytes, in one piece or many, is one occurrence of what it
// begins with, in bounded memory.
func TestHugeLine(t *testing.T) {
	output := []byte("needle" + strings.Repeat("x", 5<<20) + "\n")
	for _, size := range []int{1000, 64 << 10, 8 << 20} {
		for _, pattern := range []string{"needle", "needle.*", ".*needle.*", "^[a-z]+$", "(?s).*"} {
			m := compiled(t, pattern).From(0, func(o Occurrence) bool { return true })
			for at := 0; at < len(output); at += size {
				m.Add(int64(at), output[at:min(at+size, len(output))])
			}
			m.Finish()
			if m.Count != 1 {
				t.Errorf("%s in pieces of %d: %d occurrences", pattern, size, m.Count)
			}
			if c := cap(m.buf); c > 9<<10 {
				t.Errorf("%s: a buffer of %d bytes", pattern, c)
			}
		}
	}
}

// Where bytes are missing, the text ends and another begins.
func TestGap(t *testing.T) {
	var got []Span
	m := compiled(t, "^AB|B$").From(10, func(o Occurrence) bool {
		got = append(got, Span{o.From, o.To})
		return true
	})
	m.Add(10, []byte("AB-A"))
	m.Add(12, []byte("-A")) // it has these
	m.Add(20, []byte("B-AB\r"))
	m.Add(40, []byte("AB"))
	m.Finish()
	if want := []Span{{10, 12}, {40, 42}}; !slices.Equal(got, want) || m.Next() != 42 || m.Count != 2 {
		t.Errorf("got %v, want %v; next %d", got, want, m.Next())
	}
}

// A matcher that was told to stop wants nothing any more, resumed or not.
func TestStop(t *testing.T) {
	p, n := compiled(t, "x"), 0
	report := func(Occurrence) bool { n++; return n < 3 }
	m := p.From(0, report)
	m.Add(0, []byte("xxxxxx"))
	m.Flush()
	m.Add(6, []byte("xxx"))
	m.Finish()
	p.Resume(m.State, report).Finish()
	if n != 3 || m.Count != 3 || !m.Stopped {
		t.Errorf("%d reported, %+v", n, m.State)
	}
}

// clause: JC-297
func TestCompileRefuses(t *testing.T) {
	for _, c := range []struct{ pattern, want string }{
		{"(", "not a valid regular expression: missing closing ): \"(\""},
		{"a)(b", "not a valid regular expression: unexpected ): \"a)(b\""},
		{`(a)\1`, `not a valid regular expression: invalid escape sequence: "\\1"`},
		{"a(?=b)", `not a valid regular expression: invalid or unsupported Perl syntax: "(?="`},
		{"x{1001}", `not a valid regular expression: invalid repeat count: "{1001}"`},
		{strings.Repeat("x", 4097), "pattern has 4097 bytes; at most 4096"},
		{strings.Repeat(".{500}", 9), "pattern compiles to 4502 steps; at most 4000: use smaller or fewer counted repetitions"},
	} {
		if _, err := Compile(c.pattern); err == nil || err.Error() != c.want {
			t.Errorf("%.20q: %v, want %s", c.pattern, err, c.want)
		}
	}
	for _, pattern := range []string{"", "x{1000}", ".{0,1000}", `\Q(`} {
		compiled(t, pattern)
	}
}

// What is looked for in place of an expression is in every match.
func TestNeed(t *testing.T) {
	for _, c := range []struct {
		pattern string
		before  int
		want    string
	}{
		{"READY", 0, "READY"},
		{"(?i)(ready|blocked|needs input)", 6, "ready~|bloc~| input~"},
		{"error: .* failed", 0, "error: "},
		{"[0-9]+ failed", 4096, " failed"},
		{"(?:ab|cd)+x", 0, "ab|cd"},
		{"re(ady|load)", 2, "ady|load"},
		{"a?b*", 0, ""},
		{"(foo)?bar", 3, "bar"},
		{"(?i)kiss", 3, "i~"},
		{"(?i)ks", 0, ""},
		{"done\nnext", 0, "done"},
		{`\x{FFFD}abc`, 3, "abc"},
		{"abc|x*", 0, ""},
		{"a*[!#]", 4096, "!|#"},
		{"[!#](yes|no)", 1, "yes|no"},
		{"[^a]", 0, ""},
	} {
		var got []string
		n := compiled(t, c.pattern).need
		if n == nil {
			n = &need{}
		}
		for _, l := range n.texts {
			got = append(got, l.text+map[bool]string{true: "~"}[l.fold])
		}
		if got := strings.Join(got, "|"); got != c.want || n.before != c.before {
			t.Errorf("%s: got %q after %d, want %q after %d", c.pattern, got, n.before, c.want, c.before)
		}
	}
}

package match

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// piece is a part of a plan: how many bytes come next, and what happens then.
type piece struct {
	n     int
	flush bool // else more is coming
	again bool // the matcher is thrown away and resumed from its state
}

// collect runs a pattern over an output that is cut as planned.
func collect(p *Pattern, start int, output []byte, plan []piece) []found {
	var got []found
	report := func(o Occurrence) bool {
		got = append(got, found{o.From, o.To, string(o.Text), string(o.Line)})
		return true
	}
	m := p.From(int64(start), report)
	at := 0
	for i := 0; at < len(output); i++ {
		c := plan[i%len(plan)]
		n := min(max(c.n, 1), len(output)-at)
		m.Add(int64(start+at), output[at:at+n])
		if at += n; c.flush {
			m.Flush()
		}
		if c.again {
			m = p.Resume(m.State, report)
			m.Add(m.Next(), output[m.Next()-int64(start):at])
		}
	}
	m.Finish()
	return got
}

func collectPlain(pattern string, start int, output []byte, plan []piece) []found {
	m := newPlain(pattern, start)
	at := 0
	for i := 0; at < len(output); i++ {
		c := plan[i%len(plan)]
		n := min(max(c.n, 1), len(output)-at)
		m.add(output[at : at+n])
		if at += n; c.flush {
			m.flush()
		}
	}
	m.finish()
	return m.found
}

func compare(t interface{ Fatalf(string, ...any) }, p *Pattern, start int, output []byte, plan []piece) []found {
	want := collectPlain(p.text, start, output, plan)
	got := collect(p, start, output, plan)
	if !slices.Equal(got, want) {
		for len(got) > 1 && len(want) > 1 && got[0] == want[0] {
			got, want = got[1:], want[1:]
		}
		t.Fatalf("pattern %q, %d bytes from %d, plan %v:\n got %s\nwant %s", p, len(output), start, plan, show(got), show(want))
	}
	return got
}

func show(fs []found) string {
	var b strings.Builder
	for i, f := range fs {
		if i == 4 {
			return b.String() + " …"
		}
		fmt.Fprintf(&b, " [%d,%d) %.30q in %.30q (%d)", f.From, f.To, f.Text, f.Line, len(f.Line))
	}
	return b.String()
}

// planOf reads a plan from bytes: each is a length up to 1024, and two marks.
func planOf(b []byte, n int) []piece {
	plan := []piece{{n: 4096, flush: true}}
	for i, c := range b {
		if i == 0 {
			plan = plan[:0]
		}
		plan = append(plan, piece{n: max(1<<(c&15), n/20), flush: c&16 != 0, again: c&32 != 0})
		if c&64 != 0 {
			plan[i].n += int(c & 7)
		}
	}
	return plan
}

// The fast matcher answers as the plain one, whatever the pattern, the bytes and
// the cuts.
func FuzzMatcher(f *testing.F) {
	for _, s := range []struct {
		pattern, output string
		repeat          int
		plan            string
	}{
		{"READY", "xREADY", 3, "\x10\x11\x12"},
		{".*READY.*", "a READY b READY\nc", 2, "\x12"},
		{"^ready$", "ready\nreadyset ready", 2, "\x11\x13"},
		{"^$", "a\r\n\r\nb\n\n", 2, "\x10\x30"},
		{"a.$", "ab\r\nac\ra\r\n", 3, "\x10"},
		{"é.", "é日本\xff\xfeé\xc3", 4, "\x10\x11"},
		{"(?i)(ready|blocked|needs input)", "ReAdY BLOC\u212aED needs  INPUT needs input ", 2, "\x12\x30"},
		{"A[^B]*B|C", "A x C y B", 2, "\x12"},
		{"(?s).*x", "yyyyx\n", 2000, "\x1b\x0c"},
		{`\bfoo\b`, "foo foob foo", 2, "\x11\x32"},
		{"x*", "xxyxxé", 3, "\x11"},
		{".+", "0123456789", 1300, "\x1d\x19"},
		{"A[^B]*B", "A0123456789A", 900, "\x1d"},
	} {
		f.Add(s.pattern, []byte(s.output), uint16(s.repeat), uint16(0), []byte(s.plan))
	}
	f.Fuzz(func(t *testing.T, pattern string, output []byte, repeat, start uint16, plan []byte) {
		p, err := Compile(pattern)
		if err != nil || len(pattern) > 60 || len(output) == 0 || len(plan) > 50 {
			return
		}
		if _, err := regexp.Compile("(?m:" + pattern + ")"); err != nil {
			return // a \Q without its \E
		}
		if prog, err := syntax.Compile(must(syntax.Parse("(?m:"+pattern+")", syntax.Perl)).Simplify()); err != nil || len(prog.Inst) > 60 {
			return // the plain matcher would take minutes
		}
		output = slices.Repeat(output[:min(len(output), 12_000)], 1+min(int(repeat), 12_000/len(output)))
		compare(t, p, int(start)%5000, output, planOf(plan, len(output)))
	})
}

var patterns = []string{
	"READY", "(?i)ready", "READY|abc", "(READY|done)+", "R.*Y", "^READY$", "^R", "Y$", "^$", `^\s*$`, "[ab]+", "a*", "a*?", "(ab)*", ".+", ".*", "(?s).+",
	`\bab\b`, `\Bb`, `b\B`, `a\b`, "A[^B]*B", "A[^B]*B|C", "A.*B", "(?s)A.*?B", "é+", "[^a]b", "(?i)k+s", `\x{FFFD}`, `a\r`, `\n`, "a\nb", `\z`, `\A.`, "a{3,7}b",
	"(?-m)^a", "(?-m)b$", "READY.{0,30}done", ".{5}READY", "(?U)A.*B", `(a|ab)(c|bcd)?`, "$", "^", "[0-9]{3}", "(?i)É|ſ", "C.*$", "[^B]*$",
}

// text draws output in which the patterns have something to find: words, line
// ends, broken runes, and runs longer than a window.
func text(t *rapid.T) []byte {
	words := []string{"READY", "REA", "DY", "ready", "done", "a", "b", "ab", "abc", "A", "B", "C", "é", "日", "\xc3", "\xa9", "\xff", "\n", "\r\n", "\r", " ", "K", "k", "\u212a", "ſ", "s", "E", "É", "\x1b[1m", "123", "\x00"}
	var b []byte
	for range rapid.IntRange(1, 60).Draw(t, "words") {
		w := rapid.SampledFrom(words).Draw(t, "word")
		n := 1
		if rapid.IntRange(0, 9).Draw(t, "long") == 0 {
			n = rapid.IntRange(1, 5000).Draw(t, "times")
		}
		if b = append(b, strings.Repeat(w, n)...); len(b) > 20_000 {
			break
		}
	}
	return b
}

// plan draws a way to cut n bytes, into about forty pieces at most: the plain
// matcher looks at a whole window for each.
func plan(t *rapid.T, n int) []piece {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) piece {
		size := rapid.SampledFrom([]int{1, 2, 3, 7, 50, 500, 4090, 4096, 5000, 30_000}).Draw(t, "n")
		size += rapid.IntRange(0, 3).Draw(t, "more")
		return piece{n: max(size, n/40), flush: rapid.Bool().Draw(t, "flush"), again: rapid.IntRange(0, 3).Draw(t, "again") == 0}
	}), 1, 8).Draw(t, "plan")
}

// The same, of outputs that have something in them, with bounds that must hold.
func TestFastIsPlain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := compiled(t, rapid.SampledFrom(patterns).Draw(t, "pattern"))
		output := text(t)
		for _, f := range compare(t, p, rapid.SampledFrom([]int{0, 0, 17, 4099}).Draw(t, "start"), output, plan(t, len(output))) {
			if f.To-f.From > Window || len(f.Line) > Window || strings.Contains(f.Line, "\n") {
				t.Fatalf("%s: a match of %d bytes, a line of %d", p, f.To-f.From, len(f.Line))
			}
		}
	})
}

// A pattern whose matches all have one length finds the same, however the output
// is cut.
//
// clause: JC-291
func TestCutsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := compiled(t, rapid.SampledFrom([]string{"READY", "(?i:ready|abc..)", "^READY", "[ab]{3}", "a.c", `\Aab`, `^\nb`, "日", "REA(DY|\n\n)"}).Draw(t, "pattern"))
		output := text(t)
		spans := func(fs []found) (out []Span) {
			for _, f := range fs {
				out = append(out, Span{f.From, f.To})
			}
			return out
		}
		one := spans(collect(p, 0, output, []piece{{n: len(output)}}))
		cut := plan(t, len(output))
		if got := spans(collect(p, 0, output, cut)); !slices.Equal(got, one) {
			t.Fatalf("%s: in pieces %v, in one %v", p, got, one)
		}
	})
}

// Without an assertion that a cut makes true, no match is lost: what is found
// in one piece shares bytes with what is found in pieces.
//
// clause: JC-291
func TestCutsLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := compiled(t, rapid.SampledFrom([]string{"READY.*", ".*READY.*", "A[^B]*B|C", "A.*B", "^R.*Y", "(?s)A.*?B", "[ab]+", "(?i)k+s", "é+", "(a|ab)(c|bcd)?"}).Draw(t, "pattern"))
		output := text(t)
		var spans []Span // what was reported, with what it took in later
		m := p.From(0, func(o Occurrence) bool {
			spans = append(spans, Span{o.From, o.To})
			return true
		})
		note := func() {
			if m.Count > 0 {
				spans = append(spans, m.Last)
			}
		}
		parts := plan(t, len(output))
		for at, i := 0, 0; at < len(output); i++ {
			c := parts[i%len(parts)]
			n := min(c.n, len(output)-at)
			for k := range n { // one by one, so that no state of the last occurrence goes unseen
				m.Add(int64(at+k), output[at+k:at+k+1])
				note()
			}
			if at += n; c.flush {
				m.Flush()
				note()
			}
		}
		m.Finish()
		note()
		for _, f := range collect(p, 0, output, []piece{{n: len(output)}}) {
			if !slices.ContainsFunc(spans, func(s Span) bool { return s.From < f.To && f.From < s.To }) {
				t.Fatalf("%s: lost [%d,%d)", p, f.From, f.To)
			}
		}
	})
}

func compiled(t interface{ Fatalf(string, ...any) }, pattern string) *Pattern {
	p, err := Compile(pattern)
	if err != nil {
		t.Fatalf("%s: %v", pattern, err)
	}
	return p
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

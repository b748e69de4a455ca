package joblog

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func search1(t testing.TB, path, re string, from int64, o ...SearchOptions) Found {
	t.Helper()
	var opt SearchOptions
	if len(o) > 0 {
		opt = o[0]
	}
	f, err := Search(path, regexp.MustCompile(re), from, opt)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func write(t testing.TB, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "j.log")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// clause: JC-347
func TestSearchTable(t *testing.T) {
	for _, c := range []struct {
		name, text, re string
		from           int64
		o              SearchOptions
		want           string // "offset:text" of each line, matches marked
		next           int64
		more           bool
	}{
		{"plain", "a\nneedle 1\nb\nneedle 2\n", "needle", 0, SearchOptions{}, "2:needle 1* 13:needle 2*", 22, false},
		{"line ends are anchors", "xa\na\nax\n", "^a$", 0, SearchOptions{}, "3:a*", 8, false},
		{"crlf", "one\r\ntwo\r\n", "^two$", 0, SearchOptions{}, "5:two*", 10, false},
		{"no newline yet", "done\npart", "part|done", 0, SearchOptions{}, "0:done*", 5, false},
		{"last line of an ended job", "done\npart", "part", 0, SearchOptions{Final: true}, "5:part*", 9, false},
		{"from inside a line", "needle\nneedle\n", "needle", 3, SearchOptions{}, "7:needle*", 14, false},
		{"from a line's beginning", "needle\nneedle\n", "needle", 7, SearchOptions{}, "7:needle*", 14, false},
		{"from the end", "needle\n", "needle", 7, SearchOptions{}, "", 7, false},
		{"context", "1\n2\n3\nx\n5\n6\n7\n", "x", 0, SearchOptions{Context: 2}, "2:2 4:3 6:x* 8:5 10:6", 14, false},
		{"contexts meet once", "1\nx\n3\nx\n5\n", "x", 0, SearchOptions{Context: 1}, "0:1 2:x* 4:3 6:x* 8:5", 10, false},
		{"most matches", "x1\nx2\nx3\n", "x", 0, SearchOptions{MaxMatches: 2}, "0:x1* 3:x2*", 6, true},
		{"most matches, all there are", "x1\nx2\n", "x", 0, SearchOptions{MaxMatches: 2}, "0:x1* 3:x2*", 6, false},
		{"most matches, context runs on", "x1\nb\nx3\n", "x", 0, SearchOptions{MaxMatches: 1, Context: 3}, "0:x1* 3:b", 3, true},
		{"most bytes", "x12345678\nx12345678\nx12345678\n", "x", 0, SearchOptions{MaxBytes: 25}, "0:x12345678* 10:x12345678*", 20, true},
		{"one match always fits", "x12345678\nx\n", "x", 0, SearchOptions{MaxBytes: 2}, "0:x12345678*", 10, true},
		{"binary", "\xff\xfe\x00x\n\x80\n", "x", 0, SearchOptions{}, "0:\xff\xfe\x00x*", 7, false},
		{"empty lines", "\n\nx\n", "^$", 0, SearchOptions{}, "0:* 1:*", 4, false},
		{"empty log", "", "x", 0, SearchOptions{}, "", 0, false},
	} {
		f := search1(t, write(t, c.text), c.re, c.from, c.o)
		var got []string
		for _, l := range f.Lines {
			mark := ""
			if l.Match {
				mark = "*"
			}
			got = append(got, fmt.Sprintf("%d:%s%s", l.Offset, l.Text, mark))
		}
		if strings.Join(got, " ") != c.want || f.Next != c.next || f.More != c.more {
			t.Errorf("%s: %q next %d more %v, want %q %d %v", c.name, strings.Join(got, " "), f.Next, f.More, c.want, c.next, c.more)
		}
	}
}

// Lines longer than any buffer: matched to their ends, shown as an excerpt around
// the match, in memory that does not depend on their length.
func TestSearchHugeLines(t *testing.T) {
	const huge = 5 << 20
	text := "first\n" + strings.Repeat("x", huge) + "needle" + strings.Repeat("é", huge/2) + "end\r\nlast needle\n"
	path := write(t, text)
	f := search1(t, path, "needle", 0, SearchOptions{Context: 1})
	if f.Matches != 2 || len(f.Lines) != 3 {
		t.Fatalf("%d matches, %d lines", f.Matches, len(f.Lines))
	}
	l := f.Lines[1]
	if !l.Cut || len(l.Text) != 1<<10 || l.From != 6+huge || l.To != l.From+6 || l.Offset != 6 {
		t.Fatalf("%+v", l)
	}
	if at := bytes.Index(l.Text, []byte("needle")); int64(at)+l.TextAt != l.From {
		t.Fatalf("excerpt does not show the match: %d + %d != %d", at, l.TextAt, l.From)
	}
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	search1(t, path, "needle", 0)
	runtime.ReadMemStats(&m1)
	if used := m1.TotalAlloc - m0.TotalAlloc; used > 1<<20 {
		t.Errorf("%d bytes allocated for a search", used)
	}
	path = write(t, strings.Repeat("x", 2*searchBuf)+"needle"+strings.Repeat("é", searchBuf)+"end\r\n")
	for re, want := range map[string]int{`^x+needleé+end$`: 1, `^needle`: 0, `needleé+end$`: 1, `end$`: 1, `(?i)NEEDLEé`: 1, `x{3}needle`: 1} {
		if f := search1(t, path, re, 0); f.Matches != want {
			t.Errorf("%s: %d matches, want %d", re, f.Matches, want)
		}
	}
}

// A long line that begins in the middle of a rune's bytes at a buffer's border
// is matched as if it were in memory.
func TestSearchRuneAtBufferBorder(t *testing.T) {
	for shift := range 4 {
		text := strings.Repeat("x", searchBuf-shift) + "日本" + strings.Repeat("y", searchBuf) + "\n"
		f := search1(t, write(t, text), "x日本y", 0)
		if f.Matches != 1 || f.Lines[0].From != int64(searchBuf-shift-1) {
			t.Errorf("shift %d: %+v", shift, f.Matches)
		}
	}
}

// However a search is bounded, its continuations give every matching line once, in
// order, as a plain split does.
//
// clause: JC-348
func TestSearchContinuations(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	for round := range 40 {
		var text strings.Builder
		for range rnd.IntN(200) {
			line := strings.Repeat("ab", rnd.IntN(20))
			switch rnd.IntN(40) {
			case 0, 1, 3, 4:
				line += "needle"
			case 2:
				line = strings.Repeat("z", 1000+rnd.IntN(searchBuf+searchBuf/8)) + "needle"
			}
			text.WriteString(line + "\n")
		}
		body := text.String()
		var want []int64
		at := int64(0)
		for l := range strings.Lines(body) {
			if strings.Contains(l, "needle") {
				want = append(want, at)
			}
			at += int64(len(l))
		}
		path := write(t, body)
		o := SearchOptions{Context: rnd.IntN(4), MaxMatches: 1 + rnd.IntN(5), MaxBytes: 1 + rnd.IntN(3000)}
		var got []int64
		for from := int64(0); ; {
			f := search1(t, path, "needle", from, o)
			shown := 0
			for _, l := range f.Lines {
				shown += len(l.Text)
				if l.Match {
					got = append(got, l.Offset)
				}
			}
			if shown > max(o.MaxBytes, 1<<10) {
				t.Fatalf("%d bytes shown, bound %d", shown, o.MaxBytes)
			}
			if !f.More {
				break
			}
			if f.Next <= from && from > 0 {
				t.Fatalf("no progress at %d", from)
			}
			from = f.Next
		}
		if !slices.Equal(got, want) {
			t.Fatalf("round %d %+v: got %v want %v", round, o, got, want)
		}
	}
}

// The first retained line is searched only when it is whole.
func TestSearchAfterEviction(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.log")
	l := Create(path, MinCap)
	for i := range 20_000 {
		put(t, l, fmt.Appendf(nil, "line %06d\n", i))
	}
	f := search1(t, path, `^line`, 0, SearchOptions{MaxMatches: 1})
	first := f.Lines[0].Offset
	if l.Start() == 0 || first < l.Start() || first%12 != 0 || first-l.Start() > 12 {
		t.Fatalf("start %d, first line at %d", l.Start(), first)
	}
	if _, err := Search(path, regexp.MustCompile("x"), l.End()+1, SearchOptions{}); err == nil {
		t.Fatal("a search past the end is accepted")
	}
}

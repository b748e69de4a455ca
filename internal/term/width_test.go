package term

import (
	"strings"
	"testing"
)

const jobID = "job_01M8P6PFRVMHB8HE1JXQJ4XGFYDE7EES"

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{
		"":               0,
		"plain · …":      9,
		"日本語":            6,
		"한글 ｶﾅ Ａ":        10,
		"e\u0301a\u0300": 2,
		"👍🏽":             4, // at most
		"❤\ufe0f":        3, // at most
		"a\u200db":       2,
	} {
		if got := Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
		more  bool
	}{
		{"abc", 3, "abc", false},
		{"abcd", 3, "ab", true},
		{"ab cd", 4, "ab", true},
		{"日本語", 6, "日本語", false},
		{"日本語", 5, "日本", true},
		{"日本語", 4, "日", true},
		{"ae\u0301\u0301b", 3, "ae\u0301\u0301b", false},
		{"see " + jobID + " now", 30, "see", true},
		{"see " + jobID + " now", 41, "see " + jobID, true},
		{"see " + jobID + " now", 44, "see " + jobID + " now", false},
		{"ü" + strings.Repeat("x", 70) + " job:" + jobID, 100, "ü" + strings.Repeat("x", 70) + " job:", true},
		{"a", 0, "", true},
		{"", 0, "", false},
		{"a" + strings.Repeat("\u0301", 100), 4, "a" + strings.Repeat("\u0301", 15), true},
	} {
		got, more := Cut(c.in, c.width)
		if got != c.want || more != c.more {
			t.Errorf("Cut(%q, %d) = %q, %v; want %q, %v", c.in, c.width, got, more, c.want, c.more)
		}
		if Width(got) > c.width {
			t.Errorf("Cut(%q, %d) is %d wide", c.in, c.width, Width(got))
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"one two three", 7, "one two|three"},
		{"one\n\n  two three four", 11, "one||  two three|  four"},
		{"ab\tc", 20, "ab c"},
		{"\tcode", 20, "    code"},
		{"abcdefgh ij", 3, "abc|def|gh|ij"},
		{"日本語 x", 4, "日本|語|x"},
		{"of " + jobID + ", yes", 20, "of|" + jobID + ",|yes"},
		{"a\x1b[2Jb", 20, `a\x1b[2Jb`},
		{"", 5, ""},
		{"ab", 0, "a|b"},
	} {
		if got := strings.Join(Wrap(c.in, c.width), "|"); got != c.want {
			t.Errorf("Wrap(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func TestRender(t *testing.T) {
	job := Row{Spans: []Span{{Text: "job "}, {Text: jobID, Whole: true}, {Text: " started"}, {Text: " · the long build", Mark: Dim}}}
	for _, c := range []struct {
		row   Row
		width int
		color bool
		want  string
	}{
		{Line("a\x1b[31mb\nc\td\u202e"), 40, true, `a\x1b[31mb c d\u{202e}`},
		{job, 79, false, "job " + jobID + " started · the long build"},
		{job, 60, false, "job " + jobID + " started · the long…"},
		{job, 60, true, "job " + jobID + " started\x1b[2m · the long…\x1b[0m"},
		{job, 39, false, "job|  " + jobID + "…"},
		{job, 20, false, "job|  " + jobID},
		{Row{Spans: []Span{{Text: "a long beginning of "}, {Text: jobID, Whole: true}, {Text: " it"}}}, 50, false, "a long beginning of|  " + jobID + " it"},
		{Row{Wrap: true, Spans: []Span{{Text: "• "}, {Text: "one two\n\nthree"}}}, 7, false, "• one|  two||  three"},
	} {
		if got := strings.Join(c.row.Render(c.width, c.color), "|"); got != c.want {
			t.Errorf("%v in %d columns: %q, want %q", c.row, c.width, got, c.want)
		}
	}
}

// FuzzRender: whatever comes, no line is too long, no control character is in
// it, and no id is cut.
func FuzzRender(f *testing.F) {
	f.Add("a\x1b]0;x\x07日本語 e\u0301 "+jobID+" and more", 20)
	f.Add(strings.Repeat(jobID, 3), 79)
	f.Fuzz(func(t *testing.T, s string, width int) {
		if width < 1 || width > 200 {
			return
		}
		for _, r := range []Row{Line(s), {Spans: []Span{{Text: s}, {Text: "x", Whole: true}, {Text: s}}}, {Wrap: true, Spans: []Span{{Text: "• "}, {Text: s}}}} {
			for _, line := range r.Render(width, false) {
				if strings.ContainsFunc(line, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }) {
					t.Errorf("%q has a control character", line)
				}
				if w := Width(line); w > max(width, len(indent)+2) && !identifier().MatchString(line) {
					t.Errorf("%q is %d wide, want %d", line, w, width)
				}
			}
		}
	})
}

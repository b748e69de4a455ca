package files

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"evener/internal/session"
)

// edited makes an edit of a file's content and gives the result and the new content.
func edited(t testing.TB, content string, c session.EditFileCall) (Result, string) {
	t.Helper()
	dir := tempDir(t)
	path := filepath.Join(dir, "f")
	if err := os.WriteFile(path, []byte(content), 0o640); err != nil {
		t.Fatal(err)
	}
	c.Path = "f"
	r := Do(t.Context(), Place{Dir: dir}, c, nil)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o640 {
		t.Errorf("the mode is %v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".f*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	return r, string(b)
}

func TestEdit(t *testing.T) {
	for _, c := range []struct {
		name, content, old, new string
		all                     bool
		want, refusal           string
	}{
		{name: "once", content: "a\nb\nc\n", old: "b", new: "x", want: "a\nx\nc\n"},
		{name: "away", content: "a\nb\nc\n", old: "b\n", new: "", want: "a\nc\n"},
		{name: "without a last newline", content: "a\nb", old: "b", new: "c", want: "a\nc"},
		{name: "all", content: "b a b", old: "b", new: "bb", all: true, want: "bb a bb"},
		{name: "overlapping", content: "aaaa", old: "aa", new: "b", all: true, want: "bb"},
		{name: "crlf", content: "a\r\nb\r\nc\r\n", old: "a\nb", new: "x\ny\nz", want: "x\r\ny\r\nz\r\nc\r\n"},
		{name: "crlf as given", content: "a\r\nb\r\n", old: "a\r\nb", new: "x\r\ny", want: "x\r\ny\r\n"},
		{name: "mixed, lf", content: "a\nb\r\nc\n", old: "c\n", new: "d\n", want: "a\nb\r\nd\n"},
		{name: "mixed, crlf", content: "a\nb\r\nc\r\nd\n", old: "b\nc", new: "x\ny", want: "a\nx\r\ny\r\nd\n"},
		{name: "byte order mark", content: bom + "a\nb\n", old: "a\nb", new: "c", want: bom + "c\n"},
		{name: "byte order mark given", content: "a\n", old: bom + "a", new: "c", want: "c\n"},
		{name: "other bytes stay", content: "\xff a \xed\xa0\x80\x1b\n", old: "a", new: "b", want: "\xff b \xed\xa0\x80\x1b\n"},
		{name: "more than once", content: "x\nx\n", old: "x", new: "y", refusal: "found 2 times in f, at lines 1 and 2"},
		{name: "many times", content: strings.Repeat("x\n", 50), old: "x", new: "y", refusal: "found 50 times in f, at lines 1, 2, 3, 4, 5, 6, …;"},
		{name: "only line ends", content: "a\r\nb\r\n", old: "a\nb", new: "a\r\nb", refusal: "differ only in their line ends"},
		{name: "binary", content: "a\x00b", old: "a", new: "b", refusal: "is no text but binary data"},
		{name: "missing", content: "func a() {\n\treturn 1\n}\n", old: "return 2", new: "b", refusal: `the nearest line is 2: "\treturn 1"`},
		{name: "missing, far", content: "hello\n", old: "completely else", new: "b", refusal: "nothing in it is like that"},
		{name: "missing, empty file", content: "", old: "x", new: "b", refusal: "nothing in it is like that"},
		{name: "white space", content: "a:\n\tb\n", old: "a:\n  b", new: "x", refusal: `lines 1-2 differ in white space only: line 2 of the file is "\tb", old_string has "  b"`},
		{name: "white space inside", content: "if  a {\n", old: "if a {", new: "x", refusal: `line 1 differs in white space only`},
		{name: "trailing newline", content: "a\nb", old: "a\nb\n", new: "x", refusal: "lines 1-2 are the same, but the file goes on otherwise"},
		{name: "second line differs", content: "one\ntwo\nthree\n", old: "one\nzwei\n", new: "x", refusal: `line 1 of the file is its line 1, but line 2 is "two" where old_string has "zwei"`},
		{name: "the file ends", content: "one\n", old: "one\ntwo\n", new: "x", refusal: "the file ends before its line 2"},
		{name: "line numbers", content: "one\ntwo\n", old: "1\tone\n2\ttwo", new: "x", refusal: "line numbers of read_file"},
		{name: "replacement character", content: "a\xffb\n", old: "a\uFFFDb", new: "x", refusal: "bytes that are not UTF-8"},
		{name: "grows too large", content: strings.Repeat("a", 100_000), old: "a", new: strings.Repeat("b", 100_000), all: true, refusal: "would have 10,000,000,000 bytes after 100000 replacements; above 32 MiB"},
		{name: "blank", content: "a\n", old: "   ", new: "x", refusal: "white space alone"},
		{name: "long lines", content: strings.Repeat("y", 100_000) + "\n", old: strings.Repeat("z", 100_000), new: "x", refusal: "nothing in it is like that"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, got := edited(t, c.content, session.EditFileCall{OldString: c.old, NewString: c.new, ReplaceAll: c.all})
			switch {
			case c.refusal == "" && (r.Err != nil || got != c.want):
				t.Errorf("%v, %q; want %q", r.Err, got, c.want)
			case c.refusal != "" && (r.Err == nil || !strings.Contains(r.Err.Text, c.refusal) || strings.Contains(r.Err.Text, "\n")):
				t.Errorf("%v, want %s", r.Err, c.refusal)
			case c.refusal != "" && got != c.content:
				t.Errorf("refused, and the file is %q", got)
			}
		})
	}
}

func TestDiffIsBounded(t *testing.T) {
	content := strings.Repeat(strings.Repeat("nothing\n", 10)+"here\n", 1000)
	r, _ := edited(t, content, session.EditFileCall{OldString: "here", NewString: "there", ReplaceAll: true})
	if n := strings.Count(r.Text, "\n"); n > diffLines+30 || !strings.HasPrefix(r.Text, "edited f: 1000 replacements\n@@ -8,7 +8,7 @@\n nothing\n nothing\n nothing\n-here\n+there\n nothing\n") {
		t.Errorf("%d lines: %.300s", n, r.Text)
	}
	if !strings.Contains(r.Text, "more changed places not shown)") {
		t.Errorf("it does not say that there is more: %s", r.Text[len(r.Text)-200:])
	}
	long := strings.Repeat("x", 1<<20)
	r, _ = edited(t, long+"a\n"+long, session.EditFileCall{OldString: "a", NewString: "b"})
	if len(r.Text) > 4000 || !strings.Contains(r.Text, "of this line not shown") {
		t.Errorf("%d bytes for long lines", len(r.Text))
	}
	r, _ = edited(t, "a", session.EditFileCall{OldString: "a", NewString: strings.Repeat("b\n", 5000)})
	if n := strings.Count(r.Text, "\n"); n > diffLines+10 || !strings.Contains(r.Text, "more lines of this place not shown)") {
		t.Errorf("%d lines for one large place: %s", n, r.Text[len(r.Text)-200:])
	}
}

// patched applies a unified diff.
func patched(t *testing.T, content, diff string) string {
	have := keepEnds([]byte(content))
	var out []byte
	at := 0
	lines := strings.SplitAfter(diff, "\n")
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		switch {
		case l == "":
		case strings.HasPrefix(l, "@@ "):
			var line, n int
			if _, err := fmt.Sscanf(l, "@@ -%d,%d ", &line, &n); err != nil {
				if _, err := fmt.Sscanf(l, "@@ -%d ", &line); err != nil {
					t.Fatalf("no header: %q", l)
				}
				n = 1
			}
			if n == 0 {
				line++
			}
			for ; at < line-1; at++ {
				out = append(out, have[at]...)
			}
		default:
			text := l[1:]
			if i+1 < len(lines) && strings.HasPrefix(lines[i+1], `\ No newline`) {
				text = strings.TrimSuffix(text, "\n")
				i++
			}
			if l[0] != '+' {
				if at >= len(have) || string(have[at]) != text {
					t.Fatalf("%q does not apply to line %d of %q:\n%s", l, at+1, content, diff)
				}
				at++
			}
			if l[0] != '-' {
				out = append(out, text...)
			}
		}
	}
	return string(out) + string(bytes.Join(have[min(at, len(have)):], nil))
}

// FuzzEdit: the content is what a replacement gives, and the diff makes the new
// content of the old one.
func FuzzEdit(f *testing.F) {
	f.Add("a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nb\n", "b\n", "x\ny\n")
	f.Add("a", "a", "")
	f.Add("aXbXc\nX\nd", "X", "\n\n")
	f.Add("one\ntwo\nthree", "two\nthree", "two\n3\n")
	f.Fuzz(func(t *testing.T, content, old, new string) {
		if old == "" || old == new || len(content) > 5000 || len(new) > 500 || strings.ContainsFunc(content+old+new, func(r rune) bool { return r != '\n' && (r < ' ' || r > '~') }) {
			return
		}
		e, bad := findEdit([]byte(content), session.EditFileCall{OldString: old, NewString: new, ReplaceAll: true}, name{})
		if bad != nil {
			if strings.Contains(content, old) {
				t.Errorf("%q is not found in %q: %v", old, content, bad)
			}
			return
		}
		want := strings.ReplaceAll(content, old, new)
		if got := string(e.apply()); got != want {
			t.Errorf("%q by %q in %q: %q, want %q", old, new, content, got, want)
		}
		diff := e.diff()
		if strings.Contains(diff, "not shown") {
			return
		}
		if got := patched(t, content, diff); got != want {
			t.Errorf("the diff of %q makes %q, want %q\n%s", content, got, want, diff)
		}
	})
}

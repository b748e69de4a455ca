package files

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"

	"evener/internal/session"
)

func TestNeeded(t *testing.T) {
	for pattern, want := range map[string]string{
		`needle`: "[needle] false", `.*needle.*`: "[needle] false", `func (\w+)Name\(`: "[func ] false", `foo|barbaz`: "[foo barbaz] false",
		`(no|yes)where\b`: "[where] false", `(?i)find me`: "[find me] true", `(?i)task`: "[ta] true", `(?i)k`: "[] false", `a*`: "[] false",
		`(ab)+c?`: "[ab] false", `(abc){2,3}`: "[abc] false", `(abc){0,3}`: "[] false", `x|y*`: "[] false", `[ab]c`: "[c] false", `(?i:abc)|D`: "[abc D] true",
		`^\s*$`: "[] false", `ä+`: "[ä] false", `(?i)ä`: "[] false",
	} {
		re, err := syntax.Parse(pattern, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		texts, fold := needed(re)
		for i, x := range texts {
			if fold {
				texts[i] = string(lower(nil, []byte(x)))
				want = strings.ToLower(want)
			}
		}
		if got := fmt.Sprint(texts, fold); got != want {
			t.Errorf("%s needs %s, want %s", pattern, got, want)
		}
	}
}

// numbers of the lines that a search of one file shows as matches.
func found(t testing.TB, dir, pattern string, more session.SearchFilesCall) string {
	more.Path, more.Pattern, more.Limit = "f", pattern, 1000
	r := Do(t.Context(), Place{Dir: dir}, more, nil)
	if r.Err != nil {
		return "refused: " + r.Err.Error()
	}
	var out []string
	for l := range strings.SplitSeq(r.Text, "\n") {
		if n, _, ok := strings.Cut(l, ":"); ok && strings.Trim(n, "0123456789") == "" {
			out = append(out, n)
		}
	}
	return strings.Join(out, " ")
}

// byLine is what must be found.
func byLine(content []byte, re *regexp.Regexp) string {
	var out []string
	lines := bytes.Split(content, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	for i, l := range lines {
		if i < len(lines)-1 || bytes.HasSuffix(content, []byte("\n")) {
			l = bytes.TrimSuffix(l, []byte("\r"))
		}
		if re.Match(l) {
			out = append(out, fmt.Sprint(i+1))
		}
	}
	return strings.Join(out, " ")
}

// What a search finds is what the lines say one by one, wherever blocks end.
func TestSearchFindsAll(t *testing.T) {
	dir := tempDir(t)
	long := strings.Repeat("x", lineBuf-5)
	for i, content := range []string{
		"", "\n", "a", "a\n", "b\na\r\nab\n", "\r\n", "a\r",
		strings.Repeat(strings.Repeat("nothing here\n", 150)+"word one\nWord two\n", 100),
		strings.Repeat("z", lineBuf) + "a\nb\na\n", strings.Repeat("z", 3*lineBuf) + "a\r\nb\r\na",
		long + "\nword\n" + long + "\r\nword\n" + long + "aword\n" + long + "\n" + strings.Repeat("q\n", 100) + "word",
		strings.Repeat("x", lineBuf*2-2) + "wOrd two and so on" + long + "\nnothing\n" + long + long + "WOR" + long,
		strings.Repeat("k", lineBuf*2) + "\nkK\u212a\nS\u017f\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, "f"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, pattern := range []string{"a", "word", "(?i)word (one|two)", "a$", "^a", `\bw`, "z|word t", "(?i)k+", "^$", "x{5}a", `(?i)\x{17f}`, `\r`} {
			re := regexp.MustCompile(pattern)
			want := byLine([]byte(content), re)
			for _, c := range []session.SearchFilesCall{{}, {ContextLines: 2}} {
				if got := found(t, dir, pattern, c); got != want {
					t.Errorf("content %d, %s, context %d: found %.200s, want %.200s", i, pattern, c.ContextLines, got, want)
				}
			}
		}
	}
}

func FuzzSearch(f *testing.F) {
	f.Add([]byte("one\ntwo\r\nthree"), "t[wh]|E", int64(1))
	f.Add([]byte("one\n\n\ntwo"), "(?i)O", int64(0))
	dir := tempDir(f)
	f.Fuzz(func(t *testing.T, content []byte, pattern string, context int64) {
		re, err := regexp.Compile(pattern)
		if err != nil || pattern == "" || len(content) > 20_000 || binary(content) != "" || bytes.Count(content, []byte("\n")) > 500 {
			return
		}
		if err := os.WriteFile(filepath.Join(dir, "f"), content, 0o644); err != nil {
			t.Fatal(err)
		}
		got := found(t, dir, pattern, session.SearchFilesCall{ContextLines: max(0, context%21)})
		if want := byLine(content, re); got != want && !strings.HasPrefix(got, "refused") {
			t.Errorf("%q in %q: found %s, want %s", pattern, content, got, want)
		}
	})
}

// Context is shown once, in order and without gaps inside a group.
func TestSearchContext(t *testing.T) {
	dir := tempDir(t)
	var b strings.Builder
	for i := 1; i <= 30000; i++ {
		if i%7000 < 3 {
			b.WriteString("needle\n")
		} else {
			fmt.Fprintf(&b, "line %d\n", i)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	r := Do(t.Context(), Place{Dir: dir}, session.SearchFilesCall{Path: "f", Pattern: "needle", ContextLines: 2}, nil)
	want := "f\n1:needle\n2:needle\n3-line 3\n4-line 4\n"
	for i := 7000; i < 30000; i += 7000 {
		want += fmt.Sprintf("--\n%d-line %d\n%d-line %d\n%d:needle\n%d:needle\n%d:needle\n%d-line %d\n%d-line %d\n", i-2, i-2, i-1, i-1, i, i+1, i+2, i+3, i+3, i+4, i+4)
	}
	if want += "(14 matches in 1 file)\n"; r.Text != want {
		t.Errorf("got\n%s\nwant\n%s", r.Text, want)
	}
}

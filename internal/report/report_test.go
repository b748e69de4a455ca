package report

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"evener/internal/id"
	"evener/internal/store"
)

var update = flag.Bool("update", false, "rewrite the golden file")

func pageOf(t *testing.T, h store.Home, root, of id.Session) (*Page, string) {
	t.Helper()
	p, err := Of(h, root, of)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return p, b.String()
}

// The whole page of the story, but for its style and its script: items, their order,
// nesting, times, states, causes and texts.
func TestPage(t *testing.T) {
	h, s := tell(t, story)
	_, page := pageOf(t, h, s, s)
	got := strings.NewReplacer(style, "(style)", script, "(script)", policy(), "(policy)").Replace(page)
	path := filepath.Join("testdata", "story.html")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		a, b := strings.Split(got, "\n"), strings.Split(string(want), "\n")
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				t.Fatalf("line %d of the page is not as in %s:\n%s\nwant\n%s", i+1, path, a[i], b[i])
			}
		}
		t.Fatalf("the page has %d lines, %s %d", len(a), path, len(b))
	}
	if _, again := pageOf(t, h, s, s); again != page {
		t.Error("the same journals gave another page")
	}
}

// Whatever a session says, the page has no markup but its own, no character that is not
// seen, and policy and addresses of its own alone.
func TestHostileText(t *testing.T) {
	h, s := tell(t, story)
	_, page := pageOf(t, h, s, s)
	for _, c := range []struct {
		what string
		n    int
	}{{"<script", 2}, {"</script", 2}, {"<style", 1}, {"</style", 1}, {"<!--", 0}, {"<img", 0}, {"javascript:", 0}, {"http:", 0}, {"https:", 0}, {"//# source", 0}, {"<link", 0}, {"<iframe", 0}} {
		if n := strings.Count(strings.ToLower(page), c.what); n != c.n {
			t.Errorf("%q stands %d times in the page, want %d", c.what, n, c.n)
		}
	}
	if n := strings.Count(page, "window.pwned"); n < 20 {
		t.Errorf("the hostile text stands only %d times in the page", n)
	}
	for i, r := range page {
		if r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			t.Fatalf("a character that is not seen, %U, in %q", r, page[max(0, i-20):i])
		}
	}
	if !strings.Contains(page, `\u{202e}gnp.exe`) || !strings.Contains(page, `\x1b[31mred\x00`) {
		t.Error("what is not seen is not shown")
	}
	// Within tags there are constants and numbers alone.
	body := page[strings.Index(page, `<div id="list">`):]
	for _, tag := range regexp.MustCompile(`<[^>]*>`).FindAllString(body, -1) {
		if !regexp.MustCompile(`^</?[a-z0-9]+( class="[a-z0-9 ]+"| id="[a-z]+[0-9]*"| href="#[is][0-9]+"| tabindex="-1")*>$`).MatchString(tag) {
			t.Errorf("a tag that nobody meant: %s", tag)
		}
	}
}

// Each bar has one place in the text, and each link leads to one.
func TestLinks(t *testing.T) {
	for name, hold := range map[string]func(*teller){"story": story, "many": many(200)} {
		h, s := tell(t, hold)
		p, page := pageOf(t, h, s, s)
		there := map[string]int{}
		for _, m := range regexp.MustCompile(` id="([is][0-9]+)"`).FindAllStringSubmatch(page, -1) {
			there[m[1]]++
		}
		for _, x := range p.items {
			if n := there[fmt.Sprint("i", x.n)]; n != 1 {
				t.Errorf("%s: %s %s stands %d times in the text", name, kindNames[x.kind], x.name, n)
			}
		}
		for _, m := range regexp.MustCompile(`href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
			if there[m[1]] != 1 {
				t.Errorf("%s: a link to %s, which is there %d times", name, m[1], there[m[1]])
			}
		}
		for _, g := range p.groups {
			if g.session != nil && len(g.talk.times) != len(g.session.Transcript.Entries) {
				t.Errorf("%s: %s has %d entries and %d times of them", name, g.id, len(g.session.Transcript.Entries), len(g.talk.times))
			}
		}
	}
}

// A notice leads to the job, the watch or the run of a delegate that caused it; those
// lead to the call that began them.
func TestCauses(t *testing.T) {
	h, s := tell(t, story)
	p, _ := pageOf(t, h, s, s)
	var got []string
	for _, x := range p.items {
		if x.kind == kindNotice || x.kind == kindJob || x.kind == kindWatch || x.kind == kindDelegate {
			cause := "nothing"
			if x.cause != nil {
				cause = kindNames[x.cause.kind] + " " + firstWord(x.cause.label)
			}
			got = append(got, fmt.Sprintf("%s %s < %s, %s", kindNames[x.kind], firstWord(x.label), cause, x.how))
		}
	}
	want := []string{
		"job make < call shell, exit 1", "job sleep < call shell, has not ended", "watch job_01M8NM1PC00410600000000000100000: < call job_watch, auto_removed_terminal",
		"notice of < watch job_01M8NM1PC00410600000000000100000:, told in turn 2", "notice end < job make, told in turn 2", "notice report < delegate Look, told in turn 3",
		"delegate Look < call delegate, failed, missing_terminal", "job grep < call shell, exit 2", "notice end < job grep, told in turn 2",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func firstWord(s string) string {
	first, _, _ := strings.Cut(s, " ")
	return first
}

// A delegate has a page of its own; a look at the past shows what was there by then.
func TestDelegateAndPast(t *testing.T) {
	h, s := tell(t, story)
	whole, _ := pageOf(t, h, s, s)
	child := whole.groups[1].id
	p, page := pageOf(t, h, s, child)
	if len(p.groups) != 1 || p.groups[0].delegate == nil || strings.Contains(page, "It failed.") || !strings.Contains(page, "looked, nothing there") {
		t.Errorf("the page of a delegate has %d sessions", len(p.groups))
	}
	h.At = 6
	p, page = pageOf(t, h, s, s)
	if c := p.counts(); c.jobs != 1 || c.notices != 0 || c.sessions != 1 || !strings.Contains(page, "as it was after decision 6") {
		t.Errorf("after decision 6 there are %+v", c)
	}
	if x := p.items[len(p.items)-1]; x.kind != kindCall && x.state != stateOpen {
		t.Errorf("the last item is %+v", x)
	}
	if _, err := Of(h, s, child); err != ErrNotBegun {
		t.Errorf("a delegate before it began: %v", err)
	}
}

// In a lane nothing stands at the same time as anything else, and there are no more
// lanes than things at one time.
func TestLanes(t *testing.T) {
	var all []*item
	at := func(n int) time.Time { return begun.Add(time.Duration(n) * time.Second) }
	for i := range 300 {
		from := i * 7 % 100
		all = append(all, &item{start: at(from), end: at(from + 1 + i*13%37)})
	}
	sortByStart(all)
	lanes, most := pack(all), 0
	for i, x := range all {
		n := 0
		for j, y := range all {
			both := x.start.Before(y.end) && y.start.Before(x.end)
			if i != j && both && x.lane == y.lane {
				t.Fatalf("two items share lane %d: %v to %v and %v to %v", x.lane, x.start, x.end, y.start, y.end)
			}
			if !x.start.Before(y.start) && x.start.Before(y.end) {
				n++
			}
		}
		most = max(most, n)
	}
	if lanes != most {
		t.Errorf("%d lanes for %d items at one time", lanes, most)
	}
}

func TestFields(t *testing.T) {
	for _, c := range []struct{ in, want, brief string }{
		{`{"command":"make all","mode":"background"}`, "command: make all\nmode: background", "make all mode=background"},
		{`{"output":"a\nb\n","exit_code":0,"deep":{"x":[1]}}`, "output: \n  a\n  b\nexit_code: 0\ndeep: {\"x\":[1]}", "a\nb\n exit_code=0 deep={\"x\":[1]}"},
		{`{}`, "", ""},
		{`{"cut":`, `{"cut":`, `{"cut":`},
		{`[1]`, `[1]`, `[1]`},
		{`words`, `words`, `words`},
		{`{"a":1} {"b":2}`, `{"a":1} {"b":2}`, `{"a":1} {"b":2}`},
	} {
		if got := fields(c.in); got != c.want {
			t.Errorf("fields(%s) = %q, want %q", c.in, got, c.want)
		}
		if got := brief(c.in); got != c.brief {
			t.Errorf("brief(%s) = %q, want %q", c.in, got, c.brief)
		}
	}
}

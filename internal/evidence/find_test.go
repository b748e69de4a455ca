package evidence

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/store"
)

var begin = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// numbered is the id of the n-th session that was made.
func numbered(n int) id.Session {
	return id.MintSession(begin.Add(time.Duration(n)*time.Hour), id.Entropy{})
}

// summarised makes a session that has a summary and, in the place of a journal,
// something that nobody could read.
func summarised(t *testing.T, sessions string, n int, parent id.Session, root id.Session) id.Session {
	t.Helper()
	const journal = "no journal"
	s := numbered(n)
	if root == "" {
		root = s
	}
	m := store.Meta{Session: s, Root: root, Created: begin.Add(time.Duration(n) * time.Hour), Last: begin.Add(time.Duration(n+1) * time.Hour),
		Title: fmt.Sprintf("number %d", n), Turns: 1, Outcome: "reported", JournalSize: int64(len(journal))}
	m.Parent = parent
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(sessions, string(s))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"session.jsonl": []byte(journal), "meta.json": b} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func find(t *testing.T, r Reader, a session.FindCall) (findView, *fault.Error) {
	t.Helper()
	want, refusal := session.ParseFind(a)
	if refusal != nil {
		t.Fatal(refusal)
	}
	b, refusal := r.Find(t.Context(), want)
	var v findView
	if refusal == nil {
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatal(err)
		}
		if v.Count != len(v.Items) {
			t.Errorf("count %d of %d items", v.Count, len(v.Items))
		}
	}
	return v, refusal
}

func titles(v findView) (out []string) {
	for _, x := range v.Items {
		out = append(out, strings.TrimPrefix(x.Title, "number "))
	}
	return out
}

// Listing many sessions reads no journal, and pages over them give each once, the
// newest first, however many have room in one.
//
// clause: RC-142 RC-147 RC-148
func TestFindReadsSummaries(t *testing.T) {
	const sessions = 300
	dir := t.TempDir()
	parent := numbered(7)
	for n := range sessions {
		switch {
		case n%100 == 8:
			summarised(t, dir, n, parent, numbered(0))
		case n%100 == 9:
			summarised(t, dir, n, parent, "")
		default:
			summarised(t, dir, n, "", "")
		}
	}
	for _, r := range []Reader{{Home: store.Home{Sessions: dir}, MaxChars: 24_000}, {Home: store.Home{Sessions: dir}, MaxChars: 1000}} {
		var all []string
		a := session.FindCall{Limit: ptr[int64](77)}
		for range sessions {
			v, refusal := find(t, r, a)
			if refusal != nil || len(v.Items) > 77 || len(v.Diagnostics) > 0 {
				t.Fatalf("%+v, %v", v, refusal)
			}
			all = append(all, titles(v)...)
			if a.Cursor = v.Next; v.Next == "" {
				break
			}
		}
		want := make([]string, sessions)
		for n := range sessions {
			want[n] = fmt.Sprint(sessions - 1 - n)
		}
		if !slices.Equal(all, want) {
			t.Errorf("%d characters: %v", r.MaxChars, all)
		}
	}
	r := Reader{Home: store.Home{Sessions: dir}, MaxChars: 24_000}
	v, _ := find(t, r, session.FindCall{ChildrenOf: "local:" + string(parent)})
	if got := strings.Join(titles(v), " "); got != "209 208 109 108 9 8" || v.Next != "" {
		t.Errorf("children: %s, %q", got, v.Next)
	}
	for i, x := range v.Items {
		if fork := i%2 == 0; x.Kind != map[bool]string{true: "fork", false: "subagent"}[fork] || x.Parent != "local:"+string(parent) || (x.Delegate == "") != fork {
			t.Errorf("%+v", x)
		}
	}
	for _, x := range []struct{ since, until, want string }{
		{"", "2026-03-01T13:59:59Z", "1 0"},
		{"", "2026-03-01T15:00:00+01:00", "2 1 0"},
		{"", "2026-03-01", "11 10 9 8 7 6 5 4 3 2 1 0"},
		{"2026-03-14T00:00:00Z", "", "299"},
		{"2026-03-02T00:00:00Z", "2026-03-02T00:30:00Z", "12 11"},
	} {
		v, _ := find(t, r, session.FindCall{Since: x.since, Until: x.until})
		if got := strings.Join(titles(v), " "); got != x.want {
			t.Errorf("%s to %s: %s", x.since, x.until, got)
		}
	}
	v, _ = find(t, r, session.FindCall{Text: "number"})
	if len(v.Items) != 0 || len(v.Diagnostics) != maxDiagnostics+1 || v.Diagnostics[maxDiagnostics] != "290 more" {
		t.Errorf("what cannot be read: %+v", v)
	}
}

// Children are those of the parent's project, which an exact ref finds; nothing
// else leaves the project.
//
// clause: RC-149 RC-150
func TestFindInProjects(t *testing.T) {
	projects := t.TempDir()
	in := func(project string) store.Home {
		return store.Home{Sessions: filepath.Join(projects, project, "sessions"), Projects: projects}
	}
	there := summarised(t, in("there").Sessions, 1, "", "")
	summarised(t, in("there").Sessions, 2, there, "")
	summarised(t, in("here").Sessions, 3, there, "")
	summarised(t, in("here").Sessions, 4, "", "")
	r := Reader{Home: in("here"), MaxChars: 24_000}
	v, _ := find(t, r, session.FindCall{})
	if got := strings.Join(titles(v), " "); got != "4 3" || len(v.Diagnostics) != 1 || !strings.HasSuffix(v.Diagnostics[0], "its parent local:"+string(there)+" is not there any more") {
		t.Errorf("%s, %q", got, v.Diagnostics)
	}
	children := session.FindCall{ChildrenOf: "local:" + string(there)}
	v, _ = find(t, r, children)
	if got := strings.Join(titles(v), " "); got != "2" {
		t.Errorf("children there: %s", got)
	}
	summarised(t, in("copy").Sessions, 1, "", "")
	if _, refusal := find(t, r, children); refusal == nil || refusal.Code != fault.InvalidRequest || !strings.Contains(refusal.Text, "is ambiguous: its session stands in ") {
		t.Errorf("two of them: %v", refusal)
	}
	if v, refusal := find(t, r, session.FindCall{ChildrenOf: "local:" + string(numbered(9))}); refusal != nil || len(v.Items) != 0 || len(v.Diagnostics) != 1 {
		t.Errorf("none: %+v, %v", v, refusal)
	}
}

func TestAround(t *testing.T) {
	long := strings.Repeat("é ", 300)
	for _, x := range []struct {
		in, want, out string
	}{
		{"a Zebra", "ZEBRA", "a Zebra"},
		{"İZEBRA", "zebra", "İZEBRA"},
		{"İstanbul", "istanbul", ""}, // another letter
		{"ÉCLAIR\n  \x1b[31m", "éclair", `ÉCLAIR \x1b[31m`},
		{"", "x", ""},
		{long + "here" + long, "here", "…" + strings.TrimSpace(strings.Repeat("é ", 39)) + " here" + strings.TrimSuffix(strings.Repeat("é ", 39), " ") + "…"},
		{"\xffzebra", "zebra", "\uFFFDzebra"},
	} {
		got, ok := around(x.in, fold(x.want))
		if want := x.out; ok != (want != "") || got != want {
			t.Errorf("%q in %q: %q", x.want, x.in, got)
		}
	}
}

// What mayHold passes over does not hold the text.
func FuzzMayHold(f *testing.F) {
	for _, s := range []string{"a", `"quoted" \ text`, "É\u2028K", "<&>", "tab\there", "\x00"} {
		f.Add("before "+s+" behind", s)
	}
	f.Fuzz(func(t *testing.T, body, want string) {
		_, found := around(body, fold(want))
		b, err := json.Marshal(struct{ Text string }{body})
		if err != nil {
			t.Fatal(err)
		}
		if holds := mayHold(fold(want)); found && holds != nil && !holds(store.Words{JSON: b}) {
			t.Errorf("%q holds %q", b, want)
		}
	})
}

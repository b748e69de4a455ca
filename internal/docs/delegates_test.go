package docs

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"evener/journal"
)

// delegateAnswers are what each recipe of docs/delegates.md must say of the recorded tree.
var delegateAnswers = []answer{
	{`"delegate.generation_started" or`, `(?m)^\S+Z timer 1 begins: Time the tests\.\n(?s:.*)timer 1 ends: completed\n(?s:.*)timer 2 ends: failed runtime_lost\n(?s:.*)timer 3 ends: cancelled stopped_by_parent$`},
	{`.packet | select(. != null)`, `(?m)^completed: They take a minute\. \{"seconds":61\}\nfailed: The delegate's run was lost(?s:.*)^cancelled: `},
	{`map(.delivery_id)`, `^\[\]\n$`},
	{`"attention.delegate_armed"`, `(?m)^dlg_\w+/1/update/1 request \d+ turn\ndlg_\w+/1 request \d+ turn\ndlg_\w+/2 request \d+ turn\ndlg_\w+/3 request \d+ turn$`},
	{`"delegate.stop_requested"`, `(?m)^\S+Z root session \w{26} stops dlg_\w+ and 0 below it$`},
	{`.descriptor`, `(?m)^timer script/m\.json 1 shell read_file`},
	{`child=`, `(?m)^1 user: Time the tests\.\n2 user: And the linter\?\n3 user: Once more\.$`},
}

// TestDelegatesDocument: docs/delegates.md shows the journal of a tree as it is
// recorded, and its recipes answer.
func TestDelegatesDocument(t *testing.T) {
	needsJq(t)
	bin, session := playDelegates(t)
	part := regexp.MustCompile("(?s)<!-- recorded by internal/docs -->\n```text\n.*?```")
	text := read(t, "docs/delegates.md")
	if !part.MatchString(text) {
		t.Fatal("docs/delegates.md has no place for what is recorded")
	}
	want := "<!-- recorded by internal/docs -->\n```text\n" + recorded(t, session) + "```"
	same(t, "docs/delegates.md", part.ReplaceAllLiteralString(text, want))
	answered(t, bin, session, delegateAnswers, recipes(t, "docs/delegates.md"))
}

// recorded is the journal of a tree, line by line, without what fills pages and
// without marks: whether the journal has been quiet for long enough to write one
// is a matter of the machine's load.
func recorded(t *testing.T, session string) string {
	t.Helper()
	var b strings.Builder
	ids := map[string]string{filepath.Base(session): "01ROOT"}
	var marks int64
	for e, err := range journal.Read(filepath.Join(session, "delegates.jsonl"), journal.Pos{}) {
		if err != nil {
			t.Fatal(err)
		}
		for kind, data := range e.Events() {
			if kind == "journal.marked" {
				marks++
				continue
			}
			var fields map[string]any
			if err := json.Unmarshal(data, &fields); err != nil {
				t.Fatal(err)
			}
			if e.Own() {
				fields = map[string]any{}
			}
			if d, ok := fields["descriptor"].(map[string]any); ok {
				d["system"], d["tools"], d["dir"] = "…", "…", "…"
			}
			if child, ok := fields["child_session_id"].(string); ok {
				ids[child] = "01TIMER"
			}
			line, err := json.Marshal(fields)
			if err != nil {
				t.Fatal(err)
			}
			text := string(line)
			for id, name := range ids {
				text = strings.ReplaceAll(text, id, name)
			}
			fmt.Fprintf(&b, "%2d %s %s\n", e.Seq-marks, kind, text)
		}
	}
	return b.String()
}

// playDelegates records a tree with a delegate that updates, reports, is lost
// with the process, goes on and is stopped. It returns the folder of the binary
// and that of the root's session.
func playDelegates(t *testing.T) (bin, session string) {
	t.Helper()
	bin, dir := t.TempDir(), t.TempDir()
	evener := filepath.Join(bin, "evener")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", evener, "evener").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	script, err := os.ReadFile("testdata/delegates.json")
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "m.json"), script, 0o644)
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, ".evener"), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) *exec.Cmd {
		cmd := exec.Command(evener, append([]string{"--model", "script/m.json"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+dir, "EVENER_STATE_DIR=", "EVENER_STATE_HOME=")
		return cmd
	}
	first := run("How long do the tests and the linter take?")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(3 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "second")); err == nil {
			break
		}
		if time.Now().After(end) {
			_ = first.Process.Kill()
			t.Fatal("the delegate did not begin its second run")
		}
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // it was killed
	found, err := filepath.Glob(filepath.Join(dir, ".evener", "sessions", "*", "delegates.jsonl"))
	if err != nil || len(found) != 1 {
		t.Fatalf("want one tree, got %v %v", found, err)
	}
	session = filepath.Dir(found[0])
	if out, err := run("--resume", filepath.Base(session), "go on").CombinedOutput(); err != nil {
		t.Fatalf("the resume failed: %v\n%s", err, out)
	}
	return bin, session
}

package main

import (
	"encoding/json"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"evener/internal/id"
)

// mutants are rules of decisions, each with a way to break it. The text of the rule
// must stand in its file exactly once. ON is whether this mutant was asked for.
var mutants = []struct{ name, file, rule, broken string }{
	{"a failed command counts as completed", "internal/job/exit.go",
		`case x.Code != 0:`, `case x.Code != 0 && !ON:`},
	{"a job that was stopped ended on its own", "internal/job/exit.go",
		`f.OnItsOwn = s.StopBy != "" && !x.Signalled`, `f.OnItsOwn = s.StopBy != "" && (ON || !x.Signalled)`},
	{"a lost job never started", "internal/job/lost.go",
		`if s.Status == Intent {`, `if s.Status == Intent || ON {`},
	{"a stop that was waited for is only requested", "internal/job/stop.go",
		`case s.Status == Cancelled:`, `case s.Status == Cancelled && !ON:`},
	{"the end of a kept job is not told in its result", "internal/session/settle.go",
		`if x.End.Kept {`, `if x.End.Kept != ON {`},
	{"a reported turn settles no notice", "internal/session/turn.go",
		`well := o == TurnReported ||`, `well := o == TurnReported && !ON ||`},
	{"a request carries no notice", "internal/session/turn.go",
		`Attention: s.Attention.Unshown()})`, `Attention: unless(ON, s.Attention.Unshown())})`},
	{"a report on an announcement replaces the answer", "internal/session/turn.go",
		`return o == TurnReported && !(have.Reported && have.fits())`, `return o == TurnReported && (ON || !(have.Reported && have.fits()))`},
	{"a watch ends when it has fired once", "internal/session/watch_fire.go",
		`x.Fires >= watch.Budget {`, `(ON || x.Fires >= watch.Budget) {`},
	{"the excerpt of a notice is never complete", "internal/attention/frame.go",
		`if e.Known && !cut {`, `if e.Known && !cut && !ON {`},
	{"a report has the identity of the next one", "internal/delegate/packet.go",
		`return fmt.Sprintf("%s/%d", s.ID, s.Generation)`, `return fmt.Sprintf("%s/%d", s.ID, s.Generation+int64(len(unless(!ON, "x"))))`},
	{"the report of a delegate is told to nobody", "internal/tree/settle.go",
		`if e.Packet != nil && w.ownerStops(d) {`, `if e.Packet != nil && (ON || w.ownerStops(d)) {`},
}

// switches is put into each package that has a mutant.
const switches = `package %s

import "os"

var mutant = os.Getenv("EVENER_MUTANT")

func unless[T any](on bool, v T) (out T) {
	if !on {
		out = v
	}
	return out
}
`

// overlay makes the files that stand for others in one build of all mutants.
func overlay(t *testing.T) (path string) {
	t.Helper()
	dir, replace, text := t.TempDir(), map[string]string{}, map[string]string{}
	for i, m := range mutants {
		file, err := filepath.Abs(m.file)
		if err != nil {
			t.Fatal(err)
		}
		if text[file] == "" {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text[file] = string(b)
		}
		if n := strings.Count(text[file], m.rule); n != 1 {
			t.Fatalf("%s: the rule that %q breaks stands there %d times: %s", m.file, m.name, n, m.rule)
		}
		text[file] = strings.Replace(text[file], m.rule, strings.ReplaceAll(m.broken, "ON", fmt.Sprintf(`(mutant == "%d")`, i)), 1)
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		text[filepath.Join(filepath.Dir(file), "mutant.go")] = fmt.Sprintf(switches, parsed.Name.Name)
	}
	for file, s := range text {
		other := filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		if err := os.WriteFile(other, []byte(s), 0o600); err != nil {
			t.Fatal(err)
		}
		replace[file] = other
	}
	b, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// recorded makes a session that has jobs which end well, fail, are stopped and are
// lost, a watch that fires, a delegate that reports, a kill and a resume.
func recorded(t *testing.T, dir, evener string) id.Session {
	t.Helper()
	run := func(args ...string) *exec.Cmd {
		c := exec.Command(evener, append([]string{"--model", "script/m.json"}, args...)...)
		c.Dir = dir
		return c
	}
	if out, err := run("Work.").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	trees, err := filepath.Glob(filepath.Join(dir, ".evener", "sessions", "*", "delegates.jsonl"))
	if err != nil || len(trees) != 1 {
		t.Fatal(trees, err)
	}
	root := filepath.Base(filepath.Dir(trees[0]))
	c := run("--resume", root, "Soak it.")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "soaking")); err == nil || time.Now().After(end) {
			break
		}
	}
	c.Process.Kill()
	c.Wait() // it was killed
	if out, err := run("--resume", root, "What is left?").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return id.Session(root)
}

// Whatever rule of a decision is broken, the replay of a session that was recorded
// before notices it.
func TestReplayCatchesMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program twice")
	}
	until := func(what string) string {
		return `until grep -q '"kind":"` + what + `"' .evener/sessions/$EVENER_SESSION_ID/session.jsonl; do sleep 0.02; done`
	}
	shell := func(command, mode string) scripted {
		return scriptedCall("shell", scripted{"command": command, "mode": mode})
	}
	keeps := func(name string, reply scripted) scripted {
		reply["capture"] = []string{`"job_id": ?"(?P<` + name + `>job_\w+)"`}
		return reply
	}
	dir, evener := built(t, []any{
		keeps("test", shell("until [ -e watched ]; do sleep 0.02; done; echo FAIL; exit 1", "background")),
		scriptedCall("job_watch", scripted{"operation": "create", "source": "${test}", "output_match": "FAIL"}),
		shell("touch watched; "+until("attention.armed"), "foreground"),
		scriptedCall("delegate", scripted{"prompt": "Child."}),
		shell(until("attention.delegate_armed"), "foreground"),
		scriptedReport("one"),
		shell("echo soaking; sleep 3600", "background"),
		shell("touch soaking; sleep 3600", "foreground"),
		keeps("second", shell("sleep 3600", "background")),
		scriptedCall("job_stop", scripted{"target": "${second}", "max_wait_ms": 60000}),
		shell("sleep 3600", "background"),
		scriptedReport("two"), scriptedReport("three"),
	}, []any{shell("echo looked", "foreground"), scriptedReport("looked")})
	s := recorded(t, dir, evener)
	mutated := filepath.Join(dir, "mutated")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-overlay", overlay(t), "-o", mutated, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	replay := func(mutant string) (string, int) {
		c := exec.Command(mutated, "replay", string(s))
		c.Dir, c.Env = dir, append(os.Environ(), "EVENER_MUTANT="+mutant)
		out, err := c.CombinedOutput()
		if err != nil && c.ProcessState == nil {
			t.Fatal(err)
		}
		return string(out), c.ProcessState.ExitCode()
	}
	if out, status := replay("none"); status != 0 {
		t.Fatalf("without a mutant: status %d\n%s", status, out)
	}
	for i, m := range mutants {
		if out, status := replay(fmt.Sprint(i)); status != 1 || !strings.Contains(out, "comes out otherwise") {
			t.Errorf("%s: status %d\n%s", m.name, status, out)
		}
	}
}

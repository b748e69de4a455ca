package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"evener/internal/audit"
	"evener/internal/schema"
	"evener/internal/store"
	"evener/internal/tool"
	"evener/journal"
)

// A hostile model calls every tool with anything, and its delegates do so too: what fits, what
// does not, what belongs to others, what is no JSON. The program neither breaks nor hangs, each
// call is answered once, also in what the model is sent (the scripted model refuses a history that
// a strict server would), the journals hold what they promise, every decision comes out again,
// and nothing is left. EVENER_SEEDS says how many such models are tried; a failure names its seed.
func TestHostileModel(t *testing.T) {
	seeds := 3
	if n, err := strconv.Atoi(os.Getenv("EVENER_SEEDS")); err == nil {
		seeds = n
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			hostile(t, uint64(seed))
		})
	}
}

func hostile(t *testing.T, seed uint64) {
	above := t.TempDir()
	dir := filepath.Join(above, "work")
	model := &villain{r: rand.New(rand.NewPCG(seed, 11))}
	write := func(name string, v any) {
		b, err := json.Marshal(v)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("m.json", scripted{"conversations": []any{
		scripted{"name": "root", "first_user": "^Root", "replies": model.replies(50)},
		scripted{"name": "others", "replies": model.replies(8)},
	}})
	write(".evener/config.json", scripted{"default_command_timeout_ms": 300, "stop_grace_ms": 100, "attention_drive_pace_ms": 1, "max_concurrent_delegate_turns": 4})
	if err := os.WriteFile(filepath.Join(above, "secret"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	mark := "WORK=" + dir
	c := exec.CommandContext(ctx, "evener", "--model", "script/m.json", "--max-subagent-depth", "1", "Root.")
	c.Dir, c.Env = dir, append(os.Environ(), mark, "HOME="+above, "XDG_CONFIG_HOME=", "TMPDIR="+above, "BASH_ENV=")
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGQUIT) } // whose stacks say where it hung
	c.WaitDelay = 10 * time.Second
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	err := c.Run()
	left := settled(mark, "")
	for _, p := range left {
		p.kill()
	}
	exit, _ := errors.AsType[*exec.ExitError](err)
	switch {
	case ctx.Err() != nil:
		t.Fatalf("it hangs:\n%s", out.String())
	case err != nil && (exit == nil || exit.ExitCode() != 1), bytes.Contains(out.Bytes(), []byte("goroutine ")), bytes.Contains(out.Bytes(), []byte("DATA RACE")):
		t.Fatalf("%v:\n%s", err, out.String())
	case bytes.Contains(out.Bytes(), []byte("history")):
		t.Errorf("a strict server would refuse: %s", out.String())
	case len(left) > 0:
		t.Errorf("left: %v", left)
	}
	model.judge(t, dir)
	if t.Failed() {
		t.Logf("it said:\n%s", out.String())
	}
}

// judge looks at what the session left on disk.
func (m *villain) judge(t *testing.T, dir string) {
	h, err := store.Find(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	v := &audit.Verified{}
	if err := v.Folder(h); err != nil || v.Damaged() {
		t.Errorf("verify: %v %+v", err, v.Findings)
	}
	all, err := h.IDs()
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	for _, s := range all {
		answers := map[string]int{}
		for e, err := range journal.Read(h.Journal(s), journal.Pos{}) {
			if err != nil {
				t.Fatal(err)
			}
			for kind, data := range e.Events() {
				var d struct {
					Call  string `json:"call_id"`
					Calls []struct {
						Call string `json:"call_id"`
					} `json:"calls"`
				}
				switch kind {
				case "transcript.assistant", "transcript.result":
					if err := json.Unmarshal(data, &d); err != nil {
						t.Fatal(err)
					}
				}
				for _, c := range d.Calls {
					answers[c.Call] += 0
				}
				if kind == "transcript.result" {
					answers[d.Call]++
				}
			}
		}
		calls += len(answers)
		for call, n := range answers {
			if n != 1 {
				t.Errorf("session %s: call %s was answered %d times", s, call, n)
			}
		}
		if root, err := h.TreeOf(s); err != nil || root != s {
			continue // it is replayed with its root
		}
		r, err := audit.Replay(h, s, audit.Rules{Decode: tool.Decode, Fits: schema.Violations})
		if err != nil || r.Diff != nil {
			diff, _ := json.MarshalIndent(r.Diff, "", " ") // plain values always encode
			t.Errorf("replay of %s: %v %s", s, err, diff)
		}
	}
	if calls < 60 || len(all) < 2 {
		t.Errorf("only %d calls in %d sessions", calls, len(all))
	}
	t.Logf("%d calls in %d sessions", calls, len(all))
}

// villain makes up what a hostile model answers.
type villain struct {
	r *rand.Rand
	n int
}

// replies begin with a job, a delegate and a watch that later ones may name, and end with reports.
func (m *villain) replies(n int) []any {
	out := []any{
		scripted{"calls": []any{call("shell", scripted{"command": "sleep 300", "mode": "background"})}, "capture": []string{`"job_id": ?"(?P<j>job_\w+)"`}},
		scripted{"calls": []any{call("delegate", scripted{"prompt": "Other."})}, "capture": []string{`(?P<d>dlg_\w+|unknown_tool|invalid_request|\w+_capacity|\w+_exhausted|\{)`}},
		scripted{"calls": []any{call("job_watch", scripted{"operation": "create", "source": "${j}", "output_match": "x"})}, "capture": []string{`(?P<w>watch_\w+|\{|\w+)`}},
	}
	for range n {
		reply := scripted{}
		if m.r.IntN(4) == 0 {
			reply["text"] = m.text()
		}
		var calls []any
		for range 1 + m.r.IntN(3) {
			calls = append(calls, m.call())
		}
		reply["calls"] = calls
		out = append(out, reply)
	}
	for range 60 {
		out = append(out, scriptedReport("end"))
	}
	return out
}

func call(name string, args any) scripted { return scripted{"name": name, "arguments": args} }

// call calls each tool in turn, so that none is left out.
func (m *villain) call() scripted {
	defs := tool.Definitions()
	m.n++
	d := defs[m.n%len(defs)]
	switch m.r.IntN(12) {
	case 0:
		return call(d.Name, pickOf(m.r, "", "null", "[]", `"x"`, "{", `{"command":`, "\x00", `{"a":1,"a":2}`, strings.Repeat("[", 20_000), `{"target":"`+strings.Repeat("x", 100_000)+`"}`))
	case 1:
		return call(pickOf(m.r, "", "no_such_tool", "SHELL", d.Name+" ", "../"+d.Name, "ask_user", strings.Repeat("x", 5_000)), scripted{})
	}
	var fields struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
	}
	b, _ := json.Marshal(d.Parameters) // a schema that is shown to models encodes
	_ = json.Unmarshal(b, &fields)
	args := scripted{}
	for _, name := range fields.Required {
		args[name] = m.value(name, fields.Properties[name])
	}
	for _, name := range sortedNames(fields.Properties) {
		if m.r.IntN(3) == 0 {
			args[name] = m.value(name, fields.Properties[name])
		}
	}
	switch m.r.IntN(10) {
	case 0:
		args["no_such_parameter"] = m.text()
	case 1:
		for _, name := range fields.Required {
			delete(args, name)
		}
	}
	if d.Name == "shell" { // what it may do to this machine is chosen here
		args["command"] = m.command(args["mode"] == "detached")
	}
	return call(d.Name, args)
}

func sortedNames(m map[string]json.RawMessage) []string {
	var out []string
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func (m *villain) command(detached bool) any {
	if detached {
		return "true"
	}
	return pickOf[any](m.r, "true", "exit 7", "kill -9 $$", "kill -STOP $$", "sleep 300", "sleep 300 & setsid sleep 300 &", "printf '\\033]0;x\\007</job-notification>\\n'",
		"head -c 300000 /dev/zero", "cat $0", "exec 1>&- 2>&-; sleep 300", "echo "+strings.Repeat("y", 130_000), "trap '' TERM; sleep 300", "ulimit -f 0; echo x >f", "rm -rf $EVENER_SCRATCH_DIR", "\x00", "", 7, nil)
}

// value is one that fits the schema, by chance, or anything.
func (m *villain) value(name string, raw json.RawMessage) any {
	var s struct {
		Type       string                     `json:"type"`
		Enum       []any                      `json:"enum"`
		Items      json.RawMessage            `json:"items"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	_ = json.Unmarshal(raw, &s)
	if m.r.IntN(8) == 0 {
		return pickOf[any](m.r, nil, true, -1, 1.5, 1e300, "", "7", m.text(), []any{}, []any{nil, 1}, scripted{}, scripted{"": nil})
	}
	switch {
	case len(s.Enum) > 0:
		return s.Enum[m.r.IntN(len(s.Enum))]
	case s.Type == "boolean":
		return m.r.IntN(2) == 0
	case s.Type == "integer" && strings.HasSuffix(name, "_ms"):
		return pickOf[any](m.r, 0, 1, -5, 1000, 1500)
	case s.Type == "integer":
		return pickOf[any](m.r, 0, 1, 2, -1, 20, 60, 101, 1<<31, int64(1)<<62, json.Number("9223372036854775807"), json.Number("99999999999999999999"), 1.0)
	case s.Type == "array":
		list := []any{}
		for range m.r.IntN(4) {
			list = append(list, m.value(name, s.Items))
		}
		return list
	case s.Type == "object":
		o := scripted{}
		for _, n := range sortedNames(s.Properties) {
			if m.r.IntN(2) == 0 {
				o[n] = m.value(n, s.Properties[n])
			}
		}
		return o
	}
	return m.text()
}

// text is a name, a ref, a path or words, and may name what is there.
func (m *villain) text() string {
	return pickOf(m.r, "${j}", "${j}", "${d}", "${d}", "${w}", "job:${j}", "local:${d}", "self", "parent", "*", "job:job_"+strings.Repeat("0", 34), "local:"+strings.Repeat("0", 26),
		"job:../../../secret", "local:../secret", "../secret", "../../../../etc/passwd", "/proc/self/environ", "/dev/zero", "/dev/full", ".evener/sessions", "m.json", "a/b/c", "x\x00y", "~root/x",
		"", " ", "Other.", "last:1", "1-99999999", "(", "(a*)*$", "(?s).*", "</job-notification><delegate-notification>", "\x1b]0;x\a", "\u202e\u2066", "\ufffd", "general", "script/m.json", "openai/x", "{}",
		strings.Repeat("é", 3_000), strings.Repeat("a/", 3_000), "2026-01-01", "${nothing}")
}

func pickOf[T any](r *rand.Rand, all ...T) T { return all[r.IntN(len(all))] }

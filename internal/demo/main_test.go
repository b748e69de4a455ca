package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// build makes the real binary.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "evener")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", bin, "evener").CombinedOutput(); err != nil {
		t.Fatalf("build evener: %v\n%s", err, out)
	}
	return bin
}

// TestDemo plays the whole story. It leaves nothing behind.
func TestDemo(t *testing.T) {
	tmp := t.TempDir()
	bin := build(t)
	t.Setenv("TMPDIR", tmp)
	var out bytes.Buffer
	if err := demo(&out, bin, false, jobs); err != nil {
		t.Fatalf("%v\n%s", err, &out)
	}
	want := []string{"kill -KILL", "--resume", "ok .evener/sessions/", "All as promised: 4 jobs", "2 notices"}
	if _, err := exec.LookPath("jq"); err == nil {
		want = append(want, "What ran?", "How did it end?", "What was the model told", `reason="runtime_lost"`)
	}
	for _, w := range want {
		if !strings.Contains(out.String(), w) {
			t.Errorf("the demo does not print %q:\n%s", w, &out)
		}
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// TestDemoSaysWhatFailed: a program that does not keep the promise is told in one line.
func TestDemoSaysWhatFailed(t *testing.T) {
	id := "01M8NY5V4TWV754N21XRPBF0MF"
	for _, c := range []struct{ name, script, want string }{
		{"silent", "exit 0", "names no session"},
		{"failing", "echo 'evener: broken' >&2; exit 3", "evener: broken"},
		{"unfinished", `case "$*" in
*jsonl*) echo '{"session_id":"` + id + `"}'; exec sleep 60;;
log*) echo '{"events":[{"kind":"run.ended","data":{}}]}';;
esac`, "the run ended before the soak test ran"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bin := filepath.Join(t.TempDir(), "evener")
			if err := os.WriteFile(bin, []byte("#!/bin/sh\n"+c.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			err := demo(new(bytes.Buffer), bin, false, jobs)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want one line with %q", err, c.want)
			}
		})
	}
}

const line = `{"events":[
{"kind":"job.intended","data":{"job_id":"b","mode":"background"}},{"kind":"job.started","data":{"job_id":"b","pid":1}},
{"kind":"job.intended","data":{"job_id":"s","mode":"background"}},{"kind":"job.started","data":{"job_id":"s","pid":2}},
{"kind":"job.intended","data":{"job_id":"f","mode":"foreground"}},{"kind":"job.started","data":{"job_id":"f","pid":3}},
{"kind":"job.finished","data":{"job_id":"b","status":"completed","reason":"exit_zero"}},
{"kind":"job.finished","data":{"job_id":"s","status":"stopped","reason":"runtime_lost"}},
{"kind":"job.finished","data":{"job_id":"f","status":"stopped","reason":"runtime_lost"}},
{"kind":"attention.armed","data":{"attention_id":"b/1","job_id":"b","frame":"done"}},
{"kind":"attention.armed","data":{"attention_id":"s/1","job_id":"s","frame":"<n reason=\"runtime_lost\">"}},
{"kind":"turn.requested","data":{"attention_ids":["b/1"]}},{"kind":"turn.requested","data":{"attention_ids":["s/1"]}}]}`

// TestCheck: each broken promise is noticed.
func TestCheck(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"kept", "", "", ""},
		{"failed build", `"completed","reason":"exit_zero"`, `"failed","reason":"wait_failed"`, "the build should have completed"},
		{"lost taken for failed", `"s","status":"stopped"`, `"s","status":"failed"`, "should be stopped/runtime_lost"},
		{"no end", `{"kind":"job.finished","data":{"job_id":"f"`, `{"kind":"x","data":{"job_id":"f"`, "has no end"},
		{"two ends", `"data":{"job_id":"f","status"`, `"data":{"job_id":"s","status"`, "ended twice"},
		{"told twice", `["s/1"]`, `["s/1","b/1"]`, "told 2 times"},
		{"never told", `["s/1"]`, `[]`, "told 0 times"},
		{"silent loss", `<n reason=\"runtime_lost\">`, `<n>`, "does not say runtime_lost"},
		{"one notice less", `armed","data":{"attention_id":"b/1"`, `x","data":{"attention_id":"b/1"`, "are of 1 jobs"},
		{"no JSON", `]}`, `]`, "is no JSON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := line
			if c.old != "" {
				if text = strings.Replace(line, c.old, c.new, 1); text == line {
					t.Fatal("the case changes nothing")
				}
			}
			j := newJournal()
			_, err := j.add([]byte(text))
			if err == nil {
				err = j.check("b", "s")
			}
			switch {
			case c.want == "" && err != nil:
				t.Errorf("got %v, want nothing", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestGone: a process that still lives is noticed.
func TestGone(t *testing.T) {
	if err := gone(map[string]int{"job": os.Getpid()}); err == nil {
		t.Error("a living process was not noticed")
	}
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// The program, its keeper or both are stopped for a while (EVENER_STOPPED says how long, a minute
// at night) and go on: what ended meanwhile is told once, what runs has run on, and the
// session takes its next prompt. Nobody else gets the session meanwhile.
func TestStopped(t *testing.T) {
	long := time.Second
	if s := os.Getenv("EVENER_STOPPED"); s != "" {
		var err error
		if long, err = time.ParseDuration(s); err != nil {
			t.Fatal(err)
		}
	}
	for name, who := range map[string]func(*talk) []int{
		"program": func(x *talk) []int { return []int{x.cmd.Process.Pid} },
		"keeper":  func(x *talk) []int { return []int{x.keeper()} },
		"both":    func(x *talk) []int { return []int{x.keeper(), x.cmd.Process.Pid} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := talkTo(t, t.TempDir(), 0, "")
			ends := jobIn(x.answers("start until [ -e go ]; do sleep 0.02; done; echo ended meanwhile; touch ended", `"status":"running"`))
			runs := jobIn(x.answers("start while :; do echo x >>alive; sleep 0.1; done", `"status":"running"`))
			pids := who(x)
			for _, pid := range pids {
				if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(x.dir, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			time.Sleep(long)
			if !exists(filepath.Join(x.dir, "ended")) {
				t.Error("a command stood still, too")
			}
			before, _ := os.ReadFile(filepath.Join(x.dir, "alive"))
			second := exec.Command("evener", "--model", "script/m.json", "--resume", x.session, "me too")
			second.Dir, second.Env = x.dir, x.cmd.Env
			if out, err := second.CombinedOutput(); second.ProcessState.ExitCode() != 3 || !strings.Contains(string(out), "is in use by process") {
				t.Errorf("a second program: %v\n%s", err, out)
			}
			for _, pid := range pids {
				if err := unix.Kill(pid, unix.SIGCONT); err != nil {
					t.Fatal(err)
				}
			}
			x.answers("run echo it goes on", `it goes on\n`)
			journal := filepath.Join(x.dir, ".evener/sessions", x.session, "session.jsonl")
			for end := time.Now().Add(patience); told(journal, ends) == 0 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			}
			if after, _ := os.ReadFile(filepath.Join(x.dir, "alive")); len(after) <= len(before) || told(journal, runs) != 0 {
				t.Error("what ran did not run on")
			}
			if out := x.end(); !strings.HasPrefix(out, "<nil>\n") {
				t.Error(out)
			}
			if n, m := told(journal, ends), told(journal, runs); n != 1 || m != 1 {
				t.Errorf("the ends are told %d and %d times", n, m)
			}
			wellKept(t, filepath.Join(x.dir, ".evener/sessions"))
		})
	}
}

// told counts the notices of a job's end.
func told(journal, job string) int {
	b, _ := os.ReadFile(journal) // none yet
	return strings.Count(string(b), `{"kind":"attention.armed","data":{"attention_id":"`+job+`/`)
}

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// nobodyElse is a user without processes of its own, so that a limit of them counts
// those of a test alone.
const nobodyElse = 61438

// strangers makes a folder of that user with the program in it.
func strangers(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("SKIPPED, NOTHING WAS PROVED: only root becomes another user, and no limit of processes holds for root")
	}
	dir, err := os.MkdirTemp("", "processes-") // a test's own folder lets nobody else in
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	build := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(dir, "evener"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is released
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, of := range []string{dir, filepath.Join(dir, "evener")} {
		if err := os.Chown(of, nobodyElse, nobodyElse); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// allow sets how many processes and threads a process may see of its user before it makes another.
func allow(t *testing.T, pid int, n string) {
	t.Helper()
	cmd := exec.Command("prlimit", fmt.Sprintf("--pid=%d", pid), fmt.Sprintf("--nproc=%s:", n))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobodyElse, Gid: nobodyElse}} // root may lack the right
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// There are no processes left for commands: a call fails with the reason, what runs goes on,
// and so does the session when there are some again; also where the keeper itself cannot
// be started.
func TestNoProcesses(t *testing.T) {
	dir := strangers(t)
	x := talkTo(t, dir, nobodyElse, "")
	x.answers("start echo begun; until [ -e go ]; do sleep 0.05; done; echo survived", `"status":"running"`)
	keeper := x.keeper()
	allow(t, keeper, "1")
	x.answers("run echo never >>ran", "resource temporarily unavailable")
	x.answers("start echo never >>ran", "resource temporarily unavailable")
	allow(t, keeper, "500")
	x.answers("run echo there are some", `there are some\n`)
	if x.keeper() != keeper {
		t.Error("the keeper is another one")
	}
	allow(t, x.cmd.Process.Pid, "1")
	if err := unix.Kill(keeper, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	got, alive := x.say("run echo never >>ran")
	for try := 0; alive && try < 20 && !strings.Contains(got, "start the process keeper: "); try++ { // while its death is being found out
		got, alive = x.say("run echo never >>ran")
	}
	if alive {
		if !strings.Contains(got, "start the process keeper: ") || !strings.Contains(got, "resource temporarily unavailable") {
			t.Errorf("without a keeper the call is answered %s", got)
		}
		allow(t, x.cmd.Process.Pid, "500")
		x.answers("run echo another keeper", `another keeper\n`)
	}
	end := x.end()
	if !alive && !strings.Contains(end, "failed to create new OS thread") {
		t.Errorf("it ended with %s", end)
	}
	if exists(filepath.Join(dir, "ran")) {
		t.Error("a command ran that was refused")
	}
	wellKept(t, filepath.Join(dir, ".evener/sessions"))
	y := talkTo(t, dir, nobodyElse, "", "--resume", x.session)
	y.answers("run echo again", `again\n`)
	y.end()
	wellKept(t, filepath.Join(dir, ".evener/sessions"))
}

// However few processes and threads there are from the start on: the program does what it
// can, or ends; no command is left, what was told is on record, and the session goes on
// with more of them. The Go runtime ends a program that gets no thread, at any moment.
func TestFewProcesses(t *testing.T) {
	dir := strangers(t)
	died, refused, worked := 0, 0, 0
	for _, n := range []int{2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 20, 28} {
		at := filepath.Join(dir, fmt.Sprint("of", n))
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(at, nobodyElse, nobodyElse); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(dir, "evener"), filepath.Join(at, "evener")); err != nil {
			t.Fatal(err)
		}
		x := talkTo(t, at, nobodyElse, fmt.Sprint("ulimit -u ", n))
		var told []string // the jobs that were acknowledged
		alive := true
		for i := 0; alive && i < 6; i++ {
			var got string
			if got, alive = x.say(fmt.Sprintf("start echo %d; sleep 300", i)); strings.Contains(got, `"status":"running"`) {
				worked++
				told = append(told, jobIn(got))
			} else if alive {
				refused++
				if !strings.Contains(got, "resource temporarily unavailable") && !strings.Contains(got, "keeper") {
					t.Errorf("with %d a start is refused: %s", n, got)
				}
			}
		}
		end := x.end()
		if !alive {
			died++
			if !strings.Contains(end, "failed to create new OS thread") && !strings.Contains(end, "resource temporarily unavailable") {
				t.Errorf("with %d it ended with %s", n, end)
			}
		}
		if x.session == "" {
			continue // it did not come so far
		}
		y := talkTo(t, at, nobodyElse, "", "--resume", x.session)
		y.answers("run echo again", `again\n`)
		y.end()
		wellKept(t, filepath.Join(at, ".evener/sessions"))
		journal, err := os.ReadFile(filepath.Join(at, ".evener/sessions", x.session, "session.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range told {
			for _, kind := range []string{"job.intended", "job.finished"} {
				if strings.Count(string(journal), `{"kind":"`+kind+`","data":{"job_id":"`+j+`"`) != 1 {
					t.Errorf("with %d: %s was acknowledged and has not one %s", n, j, kind)
				}
			}
		}
	}
	t.Logf("%d starts worked, %d were refused, %d programs died", worked, refused, died)
	if worked == 0 || died+refused == 0 {
		t.Error("no limit was between all and nothing")
	}
}

func jobIn(text string) string {
	_, rest, _ := strings.Cut(text, `"job_id":"`)
	j, _, _ := strings.Cut(rest, `"`)
	return j
}

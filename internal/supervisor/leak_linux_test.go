package supervisor

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"evener/internal/model"
	"evener/internal/session"
)

// held counts what this process holds and what its keeper has left unreaped.
type held struct{ descriptors, goroutines, timers, zombies int }

func holding(t *testing.T) held {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	h := held{descriptors: len(fds), goroutines: runtime.NumGoroutine()}
	family := map[int]bool{os.Getpid(): true}
	for again := true; again; {
		again = false
		for pid, p := range table(t) {
			if family[p.parent] && !family[pid] {
				family[pid], again = true, true
			}
		}
	}
	for pid, p := range table(t) {
		if family[pid] && p.state == "Z" {
			h.zombies++
		}
	}
	return h
}

type process struct {
	parent int
	state  string
}

func table(t *testing.T) map[int]process {
	t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	out := map[int]process{}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		b, err := os.ReadFile("/proc/" + e.Name() + "/stat")
		if err != nil {
			continue // it has ended
		}
		f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
		parent, _ := strconv.Atoi(f[1])
		out[pid] = process{parent, f[0]}
	}
	return out
}

// children counts this process's own living children.
func children(t *testing.T) int {
	n := 0
	for _, p := range table(t) {
		if p.parent == os.Getpid() && p.state != "Z" {
			n++
		}
	}
	return n
}

// spoil appends to a journal behind its writer's back.
func spoil(t *testing.T, path string) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.WriteString("not a line\n")
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Error(err)
	}
}

// Ended jobs hold nothing: no descriptor, no goroutine, no timer, no zombie.
func TestEndedJobsHoldNothing(t *testing.T) {
	const jobs = 200
	background := shell("background", "echo x", jobs)
	for i := range background {
		background[i].Arguments = `{"command":"echo x","mode":"background","max_runtime_ms":600000}`
	}
	var before, after held
	var h *harness
	h = newHarness(t, func(_ context.Context, n int, _ model.Request) (model.Reply, error) {
		switch n {
		case 1: // the keeper comes with the first command and stays
			return model.Reply{Calls: shell("foreground", "true", 1)}, nil
		case 2:
			before = holding(t)
			before.timers = h.armed(t)
			return model.Reply{Calls: append(background, shell("foreground", "echo y", 20)...)}, nil
		case 3:
			h.await("job.finished", 1+jobs+20)
			after = holding(t)
			after.timers = h.armed(t)
		}
		return report("done"), nil
	})
	h.Start()
	p := h.prompt(t.TempDir())
	if err := h.Ask(p); err != nil {
		t.Fatal(err)
	}
	if err := h.Wait(); err != nil {
		t.Fatal(err)
	}
	if after.descriptors > before.descriptors+5 || after.goroutines > before.goroutines+10 || after.timers > before.timers || after.zombies > 0 {
		t.Errorf("before %+v, after %d jobs %+v", before, jobs, after)
	}
	if n := children(t); n > 0 {
		t.Errorf("%d processes are left after the end", n)
	}
	s := h.store.State.Session()
	if got := len(s.Jobs()); got != jobs || s.Run.Outcome != session.RunReported {
		t.Errorf("%d records, outcome %s", got, s.Run.Outcome)
	}
	for _, x := range s.Jobs() {
		if got := s.Attention.Of(x.ID); got != "consumed" {
			t.Fatalf("job %s: notice %s", x.ID, got)
		}
	}
}

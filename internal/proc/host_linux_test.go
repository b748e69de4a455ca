package proc

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

// A job id means one job on the whole machine.
var lastJob atomic.Int64

// rig is a Host whose events arrive in a channel.
type rig struct {
	*Host
	t      testing.TB
	dir    string
	events chan Event
}

func newRig(t testing.TB, change ...func(*Options)) *rig {
	t.Helper()
	r := &rig{t: t, dir: t.TempDir(), events: make(chan Event, 4096)}
	o := Options{Env: os.Environ(), Post: func(e Event) { r.events <- e }}
	for _, c := range change {
		c(&o)
	}
	h, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = h
	t.Cleanup(r.close)
	return r
}

func (r *rig) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := r.Close(ctx); err != nil {
		r.t.Error(err)
	}
}

func (r *rig) command(line string) Command {
	job := "job_" + strconv.Itoa(os.Getpid()) + "_" + strconv.Itoa(int(lastJob.Add(1)))
	return Command{Job: job, Line: line, Dir: r.dir, LogPath: r.log(job), Scratch: r.dir}
}

func (r *rig) log(job string) string { return filepath.Join(r.dir, "jobs", job+".log") }

// hold starts a command and leaves it at its gate.
func (r *rig) hold(c Command) string {
	r.t.Helper()
	s, err := r.Start(c)
	if err != nil {
		r.t.Fatal(err)
	}
	if s.PID <= 0 || s.StartTicks == 0 || s.BootID == "" {
		r.t.Fatalf("started %+v", s)
	}
	return c.Job
}

// run starts and releases.
func (r *rig) run(line string) string {
	r.t.Helper()
	job := r.hold(r.command(line))
	if err := r.Release(job); err != nil {
		r.t.Fatal(err)
	}
	return job
}

// exit waits for the next Exited.
func (r *rig) exit() Exited {
	r.t.Helper()
	for {
		select {
		case e := <-r.events:
			if x, ok := e.(Exited); ok {
				return x
			}
		case <-time.After(60 * time.Second):
			r.t.Fatal("no exit came")
		}
	}
}

// once runs a command to its end.
func (r *rig) once(line string) Exited {
	r.t.Helper()
	job := r.run(line)
	x := r.exit()
	if x.Job != job || x.Err != nil || x.LogErr != nil {
		r.t.Fatalf("%s: %+v", line, x)
	}
	return x
}

// living are the processes that carry a job's id, in any place.
func living(t testing.TB, jobs ...string) []process {
	t.Helper()
	tab, err := scan()
	if err != nil {
		t.Fatal(err)
	}
	return tab.belonging(func(p process) bool { return !p.dead && slices.Contains(jobs, jobOf(p.pid)) })
}

// gone waits until nothing of the jobs is left.
func gone(t testing.TB, within time.Duration, jobs ...string) {
	t.Helper()
	set := living(t, jobs...)
	if !awaitGone(set, time.Now().Add(within)) || len(living(t, jobs...)) > 0 {
		t.Fatalf("still there: %+v", living(t, jobs...))
	}
}

// waitFile waits for a file that a command makes, in the test's own folder.
func waitFile(t testing.TB, path string) string {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if b, err := os.ReadFile(path); err == nil && len(b) > 0 {
			return string(bytes.TrimSpace(b))
		}
	}
	t.Fatalf("%s was not made", path)
	return ""
}

func TestStartReleaseExit(t *testing.T) {
	r := newRig(t)
	job := r.run("echo out; echo err >&2; exit 3")
	x := r.exit()
	if x.Job != job || x.Code != 3 || x.Signal != "" || x.Err != nil || x.LogErr != nil || x.LeftBehind != 0 {
		t.Fatalf("%+v", x)
	}
	if string(x.Tail) != "out\nerr\n" || x.Total != 8 || x.Start != 0 || x.Dropped != 0 {
		t.Fatalf("%+v", x)
	}
	b, err := os.ReadFile(r.log(job))
	if err != nil || !bytes.Equal(b, x.Tail) {
		t.Fatalf("%q %v", b, err)
	}
}

package proc

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// rig is a Host whose events arrive in a channel.
type rig struct {
	*Host
	t      testing.TB
	dir    string
	events chan Event
	next   int
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
	r.next++
	job := "job_" + strconv.Itoa(os.Getpid()) + "_" + strconv.Itoa(r.next)
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
		case <-time.After(15 * time.Second):
			r.t.Fatal("no exit came")
		}
	}
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

func TestStop(t *testing.T) {
	r := newRig(t)
	job := r.run("sleep 1000")
	if err := r.Stop(job, 0); err != nil {
		t.Fatal(err)
	}
	if x := r.exit(); x.Signal != "SIGTERM" || x.Code != -1 || !x.Stopped || len(x.Survivors) != 0 {
		t.Fatalf("%+v", x)
	}
}

package proc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestRun(t *testing.T) {
	r := newRig(t)
	for _, c := range []struct {
		s    Short
		want Result
	}{
		{Short{Argv: []string{"sh", "-c", "cat; echo err >&2; exit 3"}, Stdin: []byte("in")}, Result{Stdout: []byte("in"), Stderr: []byte("err\n"), Code: 3}},
		{Short{Argv: []string{"sh", "-c", "echo $A"}, Env: []string{"A=1"}}, Result{Stdout: []byte("1\n")}},
		{Short{Argv: []string{"sh", "-c", "echo ${HOME-none} $A"}, Env: []string{"A=1"}, Drop: []string{"HOME", "A"}}, Result{Stdout: []byte("none 1\n")}},
		{Short{Argv: []string{"sh", "-c", "kill -9 $$"}}, Result{Code: -1, Signal: "SIGKILL"}},
		{Short{Argv: []string{"head", "-c", "100000", "/dev/zero"}, Limit: 3}, Result{Stdout: []byte{0, 0, 0}, Cut: true}},
		{Short{Argv: []string{"cat"}}, Result{}},
		{Short{Argv: []string{"sh", "-c", "yes err | head -c 100000 >&2; echo last >&2"}, Last: 5}, Result{Stderr: []byte("last\n")}},
		{Short{Argv: []string{"sh", "-c", "printf abc >&2; printf de >&2"}, Last: 4}, Result{Stderr: []byte("bcde")}},
		{Short{Argv: []string{"true"}, Stdin: make([]byte, 1<<20)}, Result{}},
		{Short{Argv: []string{"sh", "-c", "exec <&-; echo out"}, Stdin: make([]byte, 1<<20)}, Result{Stdout: []byte("out\n")}},
	} {
		got, err := r.Run(t.Context(), c.s)
		if err != nil || string(got.Stdout) != string(c.want.Stdout) || string(got.Stderr) != string(c.want.Stderr) ||
			got.Code != c.want.Code || got.Signal != c.want.Signal || got.Cut != c.want.Cut {
			t.Errorf("%v: %+v %v", c.s.Argv, got, err)
		}
	}
	if got, err := r.Run(t.Context(), Short{Argv: []string{"sh", "-c", "yes; sleep 964"}, Limit: 4, Strict: true}); err != nil || !got.Cut || string(got.Stdout) != "y\ny\n" {
		t.Errorf("endless output: %+v %v", got, err)
	}
	ctx, cancel := context.WithTimeoutCause(t.Context(), 500*time.Millisecond, errTooLate)
	defer cancel()
	if got, err := r.Run(ctx, Short{Argv: []string{"sh", "-c", "echo so far >&2; exec sleep 965"}}); !errors.Is(err, errTooLate) || string(got.Stderr) != "so far\n" {
		t.Errorf("too late: %+v %v", got, err)
	}
	if _, err := r.Run(t.Context(), Short{Argv: []string{"no-such-command-anywhere"}}); !errors.Is(err, ErrNoProgram) {
		t.Errorf("a missing command: %v", err)
	}
}

var errTooLate = errors.New("too late")

// A cancelled command ends with its group, and a leftover that holds the output
// does not hold the call.
func TestRunEndsItsGroup(t *testing.T) {
	r := newRig(t)
	ctx, cancel := context.WithCancel(t.Context())
	mark := filepath.Join(r.dir, "mark")
	done := make(chan error, 1)
	go func() {
		_, err := r.Run(ctx, Short{Argv: []string{"bash", "-c", "trap '' TERM; sleep 960 & echo $! > " + mark + "; wait; sleep 961"}})
		done <- err
	}()
	pid, _ := strconv.Atoi(waitFile(t, mark))
	p, ok := look(pid)
	if !ok {
		t.Fatal("no child")
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if !awaitGone([]process{p}, time.Now().Add(time.Second)) {
		t.Error("the group lives")
	}
	begin := time.Now()
	if got, err := r.Run(t.Context(), Short{Argv: []string{"sh", "-c", "sleep 962 & echo out"}}); err != nil || string(got.Stdout) != "out\n" {
		t.Errorf("%+v %v", got, err)
	}
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	// Close ends what still runs.
	go func() {
		_, err := r.Run(context.Background(), Short{Argv: []string{"sh", "-c", "echo x > " + mark + "2; sleep 963"}})
		done <- err
	}()
	waitFile(t, mark+"2")
	r.close()
	if err := <-done; !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// A detached command is in its own session, carries no job and no scratch, reads
// and writes nothing of ours, is not our child, and outlives the host.
//
// clause: JC-002 JC-131
func TestDetach(t *testing.T) {
	r := newRig(t, func(o *Options) { o.Env = append(o.Env, "EVENER_JOB_ID=job_outer", "EVENER_SCRATCH_DIR=/s") })
	r.once("true")
	out := filepath.Join(r.dir, "out")
	pid, err := r.Detach(Command{Dir: r.dir, Env: []string{"A=b"},
		Line: `(cd /proc/$$/fd; for f in *; do readlink $f; done; echo $A ${EVENER_JOB_ID-none} ${EVENER_SCRATCH_DIR-none} $BASH_ENV) > tmp; mv tmp out; exec sleep 959`})
	if err != nil {
		t.Fatal(err)
	}
	p, ok := look(pid)
	t.Cleanup(func() { _ = unix.Kill(pid, unix.SIGKILL) })
	if !ok || p.session != pid || p.ppid == os.Getpid() || p.ppid == r.link.cmd.Process.Pid {
		t.Fatalf("%+v", p)
	}
	if got, want := waitFile(t, out), "/dev/null\n/dev/null\n/dev/null\nb none none"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	r.close()
	if now, ok := look(pid); !ok || now.dead || now.ticks != p.ticks {
		t.Fatal("it did not outlive the host")
	}
	if len(r.events) != 0 {
		t.Fatalf("%+v", <-r.events)
	}
}

// It also outlives an evener and a keeper that are killed, with all of its own.
func TestDetachOutlivesTheKeeper(t *testing.T) {
	r := newRig(t)
	r.run("sleep 958")
	mark := filepath.Join(r.dir, "mark")
	pid, err := r.Detach(Command{Dir: r.dir, Line: "(setsid sleep 957 & echo $! > " + mark + "); exec sleep 956"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Kill(pid, unix.SIGKILL) })
	child, _ := strconv.Atoi(waitFile(t, mark))
	t.Cleanup(func() { _ = unix.Kill(child, unix.SIGKILL) })
	if err := r.link.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if x := r.exit(); !errors.Is(x.Err, ErrWaitFailed) {
		t.Fatalf("%+v", x)
	}
	for _, pid := range []int{pid, child} {
		if now, ok := look(pid); !ok || now.dead {
			t.Errorf("%d ended with the keeper", pid)
		}
	}
}

func TestDetachRefusals(t *testing.T) {
	r := newRig(t)
	r.shell = "/no/such/shell"
	if _, err := r.Detach(Command{Line: "true", Dir: r.dir}); err == nil || !strings.Contains(err.Error(), "/no/such/shell") {
		t.Error(err)
	}
	if _, err := r.Start(r.command("true")); err == nil || !strings.Contains(err.Error(), "/no/such/shell") {
		t.Error(err)
	}
	if _, err := r.Start(Command{Line: "true", Dir: "relative"}); err == nil {
		t.Error("a relative directory is accepted")
	}
}

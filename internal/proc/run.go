package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Short is a short command of evener's own, such as git: no job, no record.
type Short struct {
	Argv  []string
	Dir   string
	Env   []string // "KEY=value", in addition to Options.Env and stronger
	Drop  []string // names of Options.Env that the command does not get
	Stdin []byte
	Limit int // bytes kept of each output stream, the first; 0: 1 MiB
	// Strict ends the command, with its group, when its standard output is longer
	// than Limit; that is no error, and Cut is set.
	Strict bool
	// Last keeps that many bytes of standard error, the last, in place of the first Limit.
	Last int
}

// Result is how a short command ended.
type Result struct {
	Stdout, Stderr []byte
	Code           int    // -1 when Signal is set
	Signal         string // "SIGKILL", …
	Cut            bool   // a stream was longer than Limit; Last is no such limit
}

// ErrNoProgram is in the error of a command whose program is not on the PATH.
var ErrNoProgram = exec.ErrNotFound

// runDelay is what a cancelled command gets between SIGTERM and SIGKILL, and how
// long an ended command's output is awaited while a leftover holds it.
const runDelay = time.Second

// Run runs a short command to its end. When ctx ends, or the Host closes, its
// process group is signalled and the error is that of ctx; the Result then has what
// came until then. A command that ran and failed is no error, and neither is one
// that does not read its input. Nothing of its group is left behind.
func (h *Host) Run(ctx context.Context, s Short) (Result, error) {
	if err := h.begin(); err != nil {
		return Result{}, err
	}
	defer h.calls.Done()
	if len(s.Argv) == 0 {
		return Result{}, errors.New("run: no command")
	}
	if s.Limit <= 0 {
		s.Limit = 1 << 20
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(h.closing, func() { cancel(ErrClosed) })()
	out, errs := &bounded{limit: s.Limit}, &bounded{limit: s.Limit}
	if s.Strict {
		out.over = func() { cancel(errTooLong) }
	}
	if s.Last > 0 {
		errs.limit, errs.last = s.Last, true
	}
	cmd := exec.CommandContext(ctx, s.Argv[0], s.Argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.Dir, merge(without(h.o.Env, s.Drop...), s.Env...), out, errs
	if s.Stdin != nil {
		cmd.Stdin = bytes.NewReader(s.Stdin)
	}
	cmd.SysProcAttr = jobAttr() // here: death with this process
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGTERM) }
	cmd.WaitDelay = runDelay
	if err := family.start(cmd); err != nil {
		return Result{}, fmt.Errorf("run %s: %w", s.Argv[0], err)
	}
	family.wait(cmd)
	// What stayed in the group has no owner any more.
	_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
	r := Result{Stdout: out.b, Stderr: errs.kept(), Cut: out.cut || errs.cut && !errs.last}
	if err := context.Cause(ctx); err != nil && err != errTooLong {
		return r, fmt.Errorf("run %s: %w", s.Argv[0], err)
	}
	r.Code, r.Signal = exitOf(unix.WaitStatus(cmd.ProcessState.Sys().(syscall.WaitStatus)))
	return r, nil
}

var errTooLong = errors.New("the output is too long")

// bounded keeps the first bytes, or the last, and takes the rest, so that a
// command is not ended by a full pipe.
type bounded struct {
	b     []byte
	limit int
	last  bool
	cut   bool
	over  func() // told once when bytes were dropped; may be nil
}

func (w *bounded) Write(p []byte) (int, error) {
	n := len(p)
	if w.last {
		w.b = append(w.b, p[max(n-w.limit, 0):]...)
		w.cut = w.cut || len(w.b) > w.limit || n > w.limit
		if len(w.b) > 2*w.limit { // moved seldom
			w.b = append(w.b[:0], w.kept()...)
		}
		return n, nil
	}
	room := min(w.limit-len(w.b), n)
	w.b = append(w.b, p[:room]...)
	if room < n && !w.cut {
		w.cut = true
		if w.over != nil {
			w.over()
		}
	}
	return n, nil
}

func (w *bounded) kept() []byte { return w.b[max(len(w.b)-w.limit, 0):] }

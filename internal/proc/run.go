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
	Stdin []byte
	Limit int // bytes kept of each output stream; 0: 1 MiB
}

// Result is how a short command ended.
type Result struct {
	Stdout, Stderr []byte
	Code           int    // -1 when Signal is set
	Signal         string // "SIGKILL", …
	Cut            bool   // a stream was longer than the limit
}

// runDelay is what a cancelled command gets between SIGTERM and SIGKILL, and how
// long an ended command's output is awaited while a leftover holds it.
const runDelay = time.Second

// Run runs a short command to its end. When ctx ends, or the Host closes, its
// process group is signalled and the error is that of ctx. A command that ran and
// failed is no error. Nothing of its group is left behind.
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
	cmd := exec.CommandContext(ctx, s.Argv[0], s.Argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.Dir, merge(h.o.Env, s.Env...), out, errs
	if s.Stdin != nil {
		cmd.Stdin = bytes.NewReader(s.Stdin)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGTERM) }
	cmd.WaitDelay = runDelay
	if err := family.start(cmd); err != nil {
		return Result{}, fmt.Errorf("run %s: %w", s.Argv[0], err)
	}
	family.wait(cmd)
	// What stayed in the group has no owner any more.
	_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
	if err := context.Cause(ctx); err != nil {
		return Result{}, fmt.Errorf("run %s: %w", s.Argv[0], err)
	}
	r := Result{Stdout: out.b, Stderr: errs.b, Cut: out.cut || errs.cut}
	r.Code, r.Signal = exitOf(unix.WaitStatus(cmd.ProcessState.Sys().(syscall.WaitStatus)))
	return r, nil
}

// bounded keeps the first bytes and takes the rest, so that a command is not
// ended by a full pipe.
type bounded struct {
	b     []byte
	limit int
	cut   bool
}

func (w *bounded) Write(p []byte) (int, error) {
	room := min(w.limit-len(w.b), len(p))
	w.b = append(w.b, p[:room]...)
	w.cut = w.cut || room < len(p)
	return len(p), nil
}

package proc

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
)

const (
	detachArg  = "detach" // argument of this binary as the step in between
	detachPipe = 3        // where the step writes its answer
)

// Detach starts a command that belongs to nobody here: in its own session,
// outside the keeper, with input and output at /dev/null unless it redirects them,
// without the job's variables. It outlives evener, keeper and Close.
//
// A short step between evener and the command (this binary, started again) ends
// at once, so that the command falls to the system's first process like any
// daemon: evener neither has to reap it nor can take it for something a keeper left.
func (h *Host) Detach(c Command) (pid int, err error) {
	if err := h.begin(); err != nil {
		return 0, err
	}
	defer h.calls.Done()
	env := without(merge(h.o.Env, c.Env...), jobVariable, scratchVariable)
	c.Job = ""
	p, err := h.prepare(c, env, free)
	if err != nil {
		return 0, err
	}
	answer, err := h.detach(p, c.Dir)
	if err != nil {
		return 0, fmt.Errorf("start a detached command: %w", err)
	}
	pid, errno := parseAnswer(answer)
	if errno != 0 {
		return 0, fmt.Errorf("start a detached command: %w", os.NewSyscallError("run "+p.path, errno))
	}
	return pid, nil
}

// detach runs the step and returns its answer.
func (h *Host) detach(p shellPlan, dir string) (string, error) {
	exe, err := selfExe()
	if err != nil {
		return "", err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer func() { _ = r.Close() }()
	cmd := &exec.Cmd{
		Path: exe, Args: append([]string{keeperName, detachArg, p.path}, p.argv...),
		Env: p.env, Dir: dir, ExtraFiles: []*os.File{w},
	}
	err = family.runDetached(cmd)
	_ = w.Close()
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(r)
	return string(b), err
}

// detachMain is the step: path, then the arguments. It answers "PID ERRNO".
func detachMain(args []string) int {
	if len(args) < 2 {
		return 1
	}
	syscall.CloseOnExec(detachPipe)
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return 1
	}
	fd := null.Fd()
	pid, err := syscall.ForkExec(args[0], args[1:], &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{fd, fd, fd}, Sys: &syscall.SysProcAttr{Setsid: true},
	})
	errno := syscall.Errno(0)
	if err != nil {
		errno = asErrno(err)
	}
	_, _ = fmt.Fprintf(os.NewFile(detachPipe, "answer"), "%d %d", pid, int(errno))
	return 0
}

func parseAnswer(s string) (pid int, errno syscall.Errno) {
	a, b, ok := strings.Cut(s, " ")
	pid, err := strconv.Atoi(a)
	n, err2 := strconv.Atoi(b)
	if !ok || err != nil || err2 != nil {
		return 0, syscall.EIO
	}
	return pid, syscall.Errno(n)
}

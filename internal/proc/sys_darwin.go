package proc

import (
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

func selfExe() (string, error) { return os.Executable() }

// jobAttr: a session of its own. There is no death with the parent here.
func jobAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// keeperAttr: a session of its own.
func keeperAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// becomeKeeper: orphans cannot be made to fall to this process here.
func becomeKeeper() error { return nil }

// markCloseOnExec keeps inherited descriptors from everything started later.
func markCloseOnExec() {
	names, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for fd := 3; fd < 3+len(names)+64; fd++ {
		unix.CloseOnExec(fd) // of a number that is not open: no effect
	}
}

// scriptFile hands the gate's text to one shell through a pipe of its own.
type scriptFile struct{}

func (scriptFile) open(text string) (int, error) {
	r, w, err := pipe()
	if err != nil {
		return -1, err
	}
	_ = unix.SetNonblock(w, true) // too long a text is an error, not a deadlock
	_, err = io.WriteString(fdWriter(w), text)
	_ = unix.Close(w)
	if err != nil {
		_ = unix.Close(r)
		return -1, err
	}
	return r, nil
}

func (scriptFile) release(fd int) { _ = unix.Close(fd) }

// pipe gives both ends, closed on exec, blocking.
func pipe() (r, w int, err error) {
	var p [2]int
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err = unix.Pipe(p[:]); err != nil {
		return 0, 0, os.NewSyscallError("pipe", err)
	}
	unix.CloseOnExec(p[0])
	unix.CloseOnExec(p[1])
	return p[0], p[1], nil
}

func socketPair() (a, b int, err error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		return 0, 0, os.NewSyscallError("socketpair", err)
	}
	unix.CloseOnExec(p[0])
	unix.CloseOnExec(p[1])
	return p[0], p[1], nil
}

const recvFlags = 0

func kill(p process, sigs ...unix.Signal) error { return killByNumber(p, sigs...) }

func awaitGone(set []process, deadline time.Time) bool { return awaitByNumber(set, deadline) }

// Nothing falls to this process here: orphans go to the system's first process.

type adoption struct{}

func (k *kin) enter() error { return nil }

func (k *kin) leave() {}

func (k *kin) endAdopted() []int { return nil }

func (k *kin) runDetached(cmd *exec.Cmd) error { return cmd.Run() }

// widen: pipes grow by themselves here.
func (h *Host) widen(int) { h.wide.Add(1) }

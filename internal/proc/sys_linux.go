package proc

import (
	"errors"
	"io"
	"math"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// selfExe starts this very binary, also when its file was replaced meanwhile.
func selfExe() (string, error) { return "/proc/self/exe", nil }

// jobAttr: a session of its own, and death with the keeper.
func jobAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGKILL}
}

// keeperAttr: a session of its own. A keeper that was stopped wakes when evener
// dies, and ends what it keeps.
func keeperAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: unix.SIGCONT}
}

// becomeKeeper makes orphans of jobs fall to this process.
func becomeKeeper() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return os.NewSyscallError("prctl", err)
	}
	// The name is for people who look at ps. Jobs may not look into the keeper
	// any more than into evener. Failing at either changes nothing else.
	_ = os.WriteFile("/proc/self/comm", []byte(keeperName), 0)
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	return nil
}

// markCloseOnExec keeps inherited descriptors from everything started later.
func markCloseOnExec() {
	if unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return
	}
	for _, n := range names {
		if fd, err := strconv.Atoi(n.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// scriptFile keeps the last gate script in memory: all jobs share it.
type scriptFile struct {
	text string
	fd   int
}

// open gives a descriptor whose file is opened afresh by whoever reads /dev/fd.
func (s *scriptFile) open(text string) (int, error) {
	if s.text == text {
		return s.fd, nil
	}
	fd, err := memfd()
	if err != nil {
		return -1, err
	}
	if _, err := io.WriteString(fdWriter(fd), text); err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	if s.text != "" {
		_ = unix.Close(s.fd)
	}
	s.text, s.fd = text, fd
	return fd, nil
}

func (s *scriptFile) release(int) {}

func memfd() (int, error) {
	fd, err := unix.MemfdCreate("evener-gate", unix.MFD_CLOEXEC|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3
		fd, err = unix.MemfdCreate("evener-gate", unix.MFD_CLOEXEC)
	}
	return fd, os.NewSyscallError("memfd_create", err)
}

// pipe gives both ends, closed on exec, blocking.
func pipe() (r, w int, err error) {
	var p [2]int
	err = unix.Pipe2(p[:], unix.O_CLOEXEC)
	return p[0], p[1], os.NewSyscallError("pipe2", err)
}

func socketPair() (a, b int, err error) {
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	return p[0], p[1], os.NewSyscallError("socketpair", err)
}

const recvFlags = unix.MSG_CMSG_CLOEXEC

// widen lets a command that floods run on while its pump writes. What a user may
// hold in pipes is limited, and other programs of the user need it too: so only a
// few pipes, and a refusal changes nothing.
func (h *Host) widen(fd int) {
	if h.wide.Add(1) <= maxWide {
		_, _ = unix.FcntlInt(uintptr(fd), unix.F_SETPIPE_SZ, pipeWide)
	}
}

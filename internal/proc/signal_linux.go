package proc

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// pollBatch bounds the descriptors held while waiting for processes to go.
const pollBatch = 128

// hold opens a descriptor of exactly this process: a number that was given to
// another process meanwhile shows in the start time.
func hold(p process) (fd int, err error) {
	fd, err = unix.PidfdOpen(p.pid, 0)
	if err != nil {
		return -1, err
	}
	if now, ok := look(p.pid); !ok || now.ticks != p.ticks {
		_ = unix.Close(fd)
		return -1, unix.ESRCH
	}
	return fd, nil
}

// kill signals exactly this process. A process that is gone is no error.
func kill(p process, sigs ...unix.Signal) error {
	fd, err := hold(p)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) {
		return killByNumber(p, sigs...)
	}
	if err == nil {
		for _, s := range sigs {
			if err == nil {
				err = unix.PidfdSendSignal(fd, s, nil, 0)
			}
		}
		_ = unix.Close(fd)
	}
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// awaitGone waits until all of set are gone or dead, at most until deadline
// (zero: for ever), and tells whether they are.
func awaitGone(set []process, deadline time.Time) bool {
	for len(set) > 0 {
		n := min(len(set), pollBatch)
		if !awaitBatch(set[:n], deadline) {
			return false
		}
		set = set[n:]
	}
	return true
}

func awaitBatch(set []process, deadline time.Time) bool {
	var fds []unix.PollFd
	defer func() {
		for _, f := range fds {
			_ = unix.Close(int(f.Fd))
		}
	}()
	for _, p := range set {
		fd, err := hold(p)
		switch {
		case err == nil:
			fds = append(fds, unix.PollFd{Fd: int32(fd), Events: unix.POLLIN})
		case !errors.Is(err, unix.ESRCH):
			return awaitByNumber(set, deadline)
		}
	}
	waiting := append([]unix.PollFd(nil), fds...)
	for len(waiting) > 0 {
		ms := -1
		if !deadline.IsZero() {
			left := time.Until(deadline)
			if left <= 0 {
				return false
			}
			ms = int(left/time.Millisecond) + 1
		}
		if _, err := unix.Poll(waiting, ms); err != nil && err != unix.EINTR {
			return awaitByNumber(set, deadline)
		}
		kept := waiting[:0]
		for _, f := range waiting {
			if f.Revents == 0 {
				kept = append(kept, f)
			}
		}
		waiting = kept
	}
	return true
}

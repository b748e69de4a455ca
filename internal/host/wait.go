package host

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

var errStopped = errors.New("the wait was ended")

// A pipeEnd ends waits for files. A close of the file would not: a read or a
// write that waits goes on in spite of it.
type pipeEnd struct {
	quit    *os.File // readable once its other end is closed
	quitter *os.File
}

func newPipeEnd() (p pipeEnd, err error) {
	if p.quit, p.quitter, err = os.Pipe(); err != nil {
		return p, fmt.Errorf("make a pipe to end waits by: %w", err)
	}
	return p, nil
}

// wait returns when the file is ready or broken, so that the next read or write
// of it does not wait; errStopped when waits were ended.
func (p pipeEnd) wait(f *os.File, events int16) error {
	c, err := f.SyscallConn() // Fd would change the mode of a file that others have too
	if err != nil {
		return err
	}
	var waited error
	err = c.Control(func(fd uintptr) { waited = p.poll(int32(fd), events) })
	return errors.Join(err, waited)
}

func (p pipeEnd) poll(fd int32, events int16) error {
	for {
		fds := []unix.PollFd{{Fd: fd, Events: events}, {Fd: int32(p.quit.Fd()), Events: unix.POLLIN}}
		switch _, err := unix.Poll(fds, -1); {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return fmt.Errorf("wait for a file: %w", err)
		case fds[1].Revents != 0:
			return errStopped
		default:
			return nil
		}
	}
}

// end ends every wait, the one that is going on and all later ones.
func (p pipeEnd) end() { p.quitter.Close() } // of a pipe that nothing was written to: cannot fail

// close frees it once nothing waits any more.
func (p pipeEnd) close() {
	if p.quit != nil {
		p.quitter.Close() // ended already, mostly
		p.quit.Close()
	}
}

package journal

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// watch waits for changes of a file.
type watch struct{ f *os.File }

// newWatch must come before the first reading, so that no change is missed
// between the two. Where no watch is to be had, wait looks at intervals.
func newWatch(path string) watch {
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return watch{}
	}
	f := os.NewFile(uintptr(fd), "inotify")
	const changes = syscall.IN_MODIFY | syscall.IN_ATTRIB | syscall.IN_MOVE_SELF | syscall.IN_DELETE_SELF
	if _, err := syscall.InotifyAddWatch(fd, path, changes); err != nil {
		f.Close() // nothing was written to it
		return watch{}
	}
	return watch{f}
}

// wait returns when the file may have changed, or with the error of the context.
func (w watch) wait(ctx context.Context) error {
	if w.f == nil {
		return pause(ctx)
	}
	stop := context.AfterFunc(ctx, func() { w.f.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	var events [4096]byte
	_, err := w.f.Read(events[:])
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return nil
}

func (w watch) close() error {
	if w.f == nil {
		return nil
	}
	return w.f.Close()
}

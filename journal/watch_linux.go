package journal

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// Watch waits for changes of files, and for names that appear in folders. Where the
// system cannot tell of one of them, it looks at intervals.
type Watch struct {
	f      *os.File
	fd     int
	known  map[string]bool
	looks  bool // something is not told of
	events [4096]byte
}

// NewWatch makes one that waits for nothing yet.
func NewWatch() *Watch {
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		return &Watch{looks: true}
	}
	return &Watch{f: os.NewFile(uintptr(fd), "inotify"), fd: fd, known: map[string]bool{}}
}

// File adds a file. It must come before the first reading, so that no change is
// missed between the two. One that is not there is not added.
func (w *Watch) File(path string) {
	w.add(path, syscall.IN_MODIFY|syscall.IN_ATTRIB|syscall.IN_MOVE_SELF|syscall.IN_DELETE_SELF)
}

// Folder adds a folder, for the names that appear there.
func (w *Watch) Folder(path string) {
	w.add(path, syscall.IN_CREATE|syscall.IN_MOVED_TO|syscall.IN_ONLYDIR)
}

func (w *Watch) add(path string, changes uint32) {
	if w.f == nil || w.known[path] {
		return
	}
	_, err := syscall.InotifyAddWatch(w.fd, path, changes)
	w.known[path] = err == nil
	w.looks = w.looks || err != nil && !errors.Is(err, syscall.ENOENT)
}

// Wait returns when something may have changed, or with the error of the context.
func (w *Watch) Wait(ctx context.Context) error {
	if w.looks {
		return pause(ctx)
	}
	stop := context.AfterFunc(ctx, func() { w.f.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	_, err := w.f.Read(w.events[:])
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	}
	return nil
}

// Close ends it.
func (w *Watch) Close() error {
	if w.f == nil {
		return nil
	}
	return w.f.Close()
}

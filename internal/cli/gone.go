package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// untilGone is a context that ends when nobody reads the output any more: one that
// writes seldom would learn of it late. stop must be called.
func untilGone(parent context.Context, out io.Writer) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	f := fileOf(out)
	if f == nil {
		return ctx, cancel
	}
	woken, wake, err := os.Pipe()
	if err != nil {
		return ctx, cancel
	}
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		const lost = unix.POLLERR | unix.POLLHUP | unix.POLLNVAL // asked for or not
		fds := []unix.PollFd{{Fd: int32(f.Fd())}, {Fd: int32(woken.Fd()), Events: unix.POLLIN}}
		for {
			_, err := unix.Poll(fds, -1)
			if err != nil && !errors.Is(err, unix.EINTR) || fds[1].Revents != 0 {
				return
			}
			if fds[0].Revents&lost != 0 {
				cancel()
				return
			}
		}
	}()
	return ctx, func() {
		cancel()
		wake.Close()
		wg.Wait()
		woken.Close()
	}
}

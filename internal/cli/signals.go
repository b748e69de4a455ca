package cli

import (
	"os"
	"os/signal"
	"sync"
	"syscall"

	"evener/internal/session"
	"evener/internal/supervisor"
)

// onSignals ends the run in order at the first signal and at once at the
// second: what still runs is then ended by the keeper.
func (r *runner) onSignals(t *supervisor.Tree) (stop func()) {
	got := make(chan os.Signal, 2)
	signal.Notify(got, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	// With a receiver a broken pipe is an error of the write and no death. Ignoring
	// the signal would do that too, but what is started from here would inherit it.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)
	quit := make(chan struct{})
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			select {
			case s := <-got:
				if r.stdout != nil {
					r.stdout.Hurry()
				}
				r.mu.Lock()
				again, fed := r.signal != nil, r.fed
				if !again {
					r.signal = s
				}
				r.mu.Unlock()
				switch {
				case again:
					r.live.leave()
					os.Exit(signalStatus(s))
				case fed:
					t.Post(session.Close{Why: signalName(s)})
					fallthrough
				default:
					r.live.signalled(s)
				}
			case <-quit:
				return
			}
		}
	}()
	return func() {
		signal.Stop(got)
		signal.Stop(pipe)
		close(quit)
		wg.Wait()
	}
}

// signalled is the first signal that came, or nil.
func (r *runner) signalled() os.Signal {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.signal
}

func signalName(s os.Signal) string {
	switch s {
	case syscall.SIGTERM:
		return "SIGTERM"
	case syscall.SIGHUP:
		return "SIGHUP"
	}
	return "SIGINT"
}

func signalStatus(s os.Signal) int {
	switch s {
	case syscall.SIGTERM:
		return exitTerminated
	case syscall.SIGHUP:
		return 129
	}
	return exitInterrupted
}

package cli

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

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
		var first blow
		for {
			select {
			case s := <-got:
				if r.stdout != nil {
					r.stdout.Hurry()
				}
				r.mu.Lock()
				count, fed := first.count(s, time.Now()), r.fed
				if count == begun {
					r.signal = s
				}
				r.mu.Unlock()
				switch {
				case count == echoed:
				case count == again:
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

// blow is the first signal of a run.
type blow struct {
	os.Signal
	at time.Time
}

// What a signal means.
const (
	begun  = iota // the first: end in order
	echoed        // the first once more
	again         // a second one: end at once
)

// echo is how soon behind the first the same signal counts as that one. timeout(1) and
// some supervisors send theirs to the process and then to its group.
const echo = 100 * time.Millisecond

func (b *blow) count(s os.Signal, now time.Time) int {
	switch {
	case b.Signal == nil:
		*b = blow{s, now}
		return begun
	case s == b.Signal && now.Sub(b.at) < echo:
		return echoed
	}
	return again
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

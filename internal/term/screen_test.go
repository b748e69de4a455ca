package term

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// recorder takes what is written, and may be held up as a terminal is.
type recorder struct {
	mu     sync.Mutex
	writes []string
	hold   chan struct{}
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.hold != nil {
		<-r.hold
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes = append(r.writes, string(p))
	return len(p), nil
}

// took gives the writes since the last time.
func (r *recorder) took() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := strings.Join(r.writes, "|")
	r.writes = nil
	return s
}

func wide80() int { return 81 }

func TestScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out recorder
		var mu sync.Mutex
		status := ""
		set := func(s string) { mu.Lock(); status = s; mu.Unlock() }
		var hidden atomic.Bool
		s := Open(Options{Out: &out, Width: wide80, Hidden: hidden.Load, Status: func(time.Time, int) string {
			mu.Lock()
			defer mu.Unlock()
			return status
		}})
		step := func(wait time.Duration, want string) {
			t.Helper()
			time.Sleep(wait)
			synctest.Wait()
			if got := out.took(); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		step(time.Hour, "")
		set("one")
		step(time.Hour, "") // nothing wakes it
		s.Print()
		step(0, "one\x1b[J\r")
		step(time.Minute, "") // it did not change
		set("two")
		step(Tick, "\rtwo\x1b[J\r")
		s.Print(Line("row"), Line("row 2"))
		step(0, "\r\x1b[Jrow\nrow 2\ntwo\x1b[J\r")
		set("")
		step(Tick, "\r\x1b[J")
		set("three")
		step(time.Hour, "") // a screen that shows nothing has no ticks
		s.Print(Line("row 3"))
		step(0, "row 3\nthree\x1b[J\r")
		hidden.Store(true)
		step(Tick, "\r\x1b[J")
		s.Print(Line("row 4"))
		step(time.Hour, "row 4\n")
		hidden.Store(false)
		step(Tick, "three\x1b[J\r")
		s.Close()
		step(0, "\r\x1b[J")
		s.Print(Line("late"))
		s.Close()
		step(time.Hour, "")

		s = Open(Options{Out: &out, Width: wide80})
		s.Print(Line("what is queued at the end is written"))
		s.Close()
		step(0, "what is queued at the end is written\n")
	})
}

// TestHeldUp: whoever prints does not wait for a terminal that takes nothing,
// and an exit at once waits no longer than it says.
func TestHeldUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := recorder{hold: make(chan struct{})}
		s := Open(Options{Out: &out, Width: wide80, Status: func(time.Time, int) string { return "status" }})
		begun := time.Now()
		for range 1000 {
			s.Print(Line("row"))
		}
		s.Leave(time.Second)
		if took := time.Since(begun); took != time.Second {
			t.Errorf("took %v", took)
		}
		close(out.hold)
		s.Close()
		if got := out.took(); strings.Count(got, "row\n") != 1000 || !strings.HasSuffix(got, "row\n") && !strings.HasSuffix(got, erase) {
			t.Errorf("in the end: %q", got)
		}
	})
}

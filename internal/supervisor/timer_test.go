package supervisor

import (
	"testing"
	"testing/synctest"
	"time"

	"evener/internal/effect"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/tree"
)

// bare is a tree without a process host: only what time does to the loop's inputs.
func bare() *Tree {
	return &Tree{o: Options{Store: &store.Tree{}}, in: make(chan posted, 64), done: make(chan struct{}), timers: map[timerKey]*timer{}}
}

// A timer posts its key once its time has come, and never before.
func TestTimerPosts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := bare()
		tr.perform([]tree.Effect{{Effect: effect.SetTimer{Key: "wait:a", After: 10 * time.Minute}}, {Effect: effect.SetTimer{Key: "runtime:a", After: time.Hour}}})
		time.Sleep(10*time.Minute - time.Nanosecond)
		synctest.Wait()
		if len(tr.in) != 0 {
			t.Fatal("fired early")
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if len(tr.in) != 1 {
			t.Fatalf("%d inputs", len(tr.in))
		}
		if got := (<-tr.in).input.In; got != (session.TimerFired{Key: "wait:a"}) {
			t.Fatalf("posted %#v", got)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if got := (<-tr.in).input.In; got != (session.TimerFired{Key: "runtime:a"}) {
			t.Fatalf("posted %#v", got)
		}
	})
}

// A timer that is set again fires once, at the later time.
func TestTimerSetAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := bare()
		tr.setTimer("", effect.SetTimer{Key: "wait:a", After: time.Second})
		tr.setTimer("", effect.SetTimer{Key: "wait:a", After: time.Minute})
		time.Sleep(59 * time.Second)
		synctest.Wait()
		if len(tr.in) != 0 {
			t.Fatal("the first setting fired")
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if len(tr.in) != 1 {
			t.Fatalf("fired %d times", len(tr.in))
		}
	})
}

// A timer that fired is forgotten, unless it was set again before its input was taken.
func TestTimerForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := bare()
		for _, again := range []bool{true, false} {
			tr.setTimer("", effect.SetTimer{Key: "wait:a", After: time.Second})
			time.Sleep(time.Second)
			synctest.Wait()
			if again {
				tr.setTimer("", effect.SetTimer{Key: "wait:a", After: time.Hour})
			}
			tr.timed(<-tr.in)
			if known := len(tr.timers) == 1; known != again {
				t.Errorf("set again: %v; %d timers are known", again, len(tr.timers))
			}
		}
	})
}

// A timer that fires after the end does not wait for anybody.
func TestTimerAfterTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := bare()
		tr.in = make(chan posted) // nobody takes it
		tr.setTimer("", effect.SetTimer{Key: "close", After: time.Second})
		close(tr.done)
		time.Sleep(time.Minute)
		synctest.Wait() // a goroutine that still waits would fail the bubble
	})
}

// Inputs that come while a full disk is waited for are kept, in order.
func TestGather(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tr := bare()
		begun := time.Now()
		go func() {
			time.Sleep(300 * time.Millisecond)
			tr.Post(session.TimerFired{Key: "1"})
			time.Sleep(300 * time.Millisecond)
			tr.Post(session.TimerFired{Key: "2"})
			time.Sleep(time.Hour)
			tr.Post(session.TimerFired{Key: "3"})
		}()
		got := tr.gather(fullPause)
		if took := time.Since(begun); took != fullPause {
			t.Errorf("took %v", took)
		}
		if len(got) != 2 || got[0].input.In != (session.TimerFired{Key: "1"}) || got[1].input.In != (session.TimerFired{Key: "2"}) {
			t.Errorf("gathered %v", got)
		}
		time.Sleep(2 * time.Hour) // the sender ends
	})
}

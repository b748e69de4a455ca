package supervisor

import (
	"strings"
	"time"

	"evener/internal/effect"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
	"evener/internal/transcript"
	"evener/internal/tree"
)

// timer is one that was set and is not known to be over.
type timer struct {
	timerKey
	clock *time.Timer
}

type timerKey struct {
	session id.Session
	key     string
}

// setTimer arms a timer; an earlier one of its key does not fire any more.
func (t *Tree) setTimer(s id.Session, e effect.SetTimer) {
	x := &timer{timerKey: timerKey{s, e.Key}}
	t.dropTimer(x.timerKey)
	var fired session.Input = session.TimerFired{Key: e.Key}
	if strings.HasPrefix(e.Key, "tree:") {
		fired = tree.TimerFired{Key: e.Key}
	}
	x.clock = time.AfterFunc(e.After, func() { t.post(posted{input: tree.Input{Session: s, In: fired}, timer: x}) })
	t.timers[x.timerKey] = x
}

func (t *Tree) dropTimer(k timerKey) {
	if x := t.timers[k]; x != nil {
		x.clock.Stop()
		delete(t.timers, k)
	}
}

// timed forgets the timers that an input has done with, so that a session which lives
// for long holds none of what is over: the one that fired, unless it was set again
// meanwhile, and those of a command that has ended.
func (t *Tree) timed(p posted) {
	if x := p.timer; x != nil && t.timers[x.timerKey] == x {
		delete(t.timers, x.timerKey)
	}
	if x, ok := p.input.In.(session.Exited); ok {
		t.dropTimer(timerKey{p.input.Session, job.WaitTimer(x.Job)})
		t.dropTimer(timerKey{p.input.Session, job.RuntimeTimer(x.Job)})
	}
}

// callsOver forgets what calls waited with that a line answers.
func (t *Tree) callsOver(w tree.Write) {
	for _, e := range w.Events {
		if x, ok := e.(transcript.Answered); ok {
			for _, key := range session.CallTimers(x.Call) {
				t.dropTimer(timerKey{w.Session, key})
			}
		}
	}
}

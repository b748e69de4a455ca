package job

import (
	"math"
	"testing"
	"time"

	"evener/internal/effect"
)

// clause: JC-429 JC-430
func TestStopWait(t *testing.T) {
	for ms, want := range map[int64]time.Duration{
		0: 0, 1: time.Second, 999: time.Second, 1000: time.Second, 5000: 5 * time.Second, 60000: time.Minute, 60001: time.Minute, math.MaxInt64: time.Minute,
	} {
		if got, err := StopWait(ms); got != want || err != nil {
			t.Errorf("StopWait(%d) = %v, %v", ms, got, err)
		}
	}
	if _, err := StopWait(-1); err == nil || err.Error() != "invalid_request: job_stop: max_wait_ms must not be negative (got -1)" {
		t.Errorf("StopWait(-1): %v", err)
	}
}

// The ladder begins once; a terminal job is left alone.
//
// clause: JC-438
func TestStop(t *testing.T) {
	ladder := effects(effect.StopProcess{Job: j1, Grace: grace})
	for name, want := range map[string]struct {
		ok bool
		fx []effect.Effect
	}{
		"intended fg": {}, "intended bg": {}, "ended": {},
		"running fg": {true, ladder}, "running bg": {true, ladder}, "promoted": {true, ladder},
		"stopping fg": {true, nil}, "stopping bg": {true, nil},
	} {
		e, fx, ok := Stop(states(t)[name], ByJobStop, "c2", grace)
		if ok != want.ok {
			t.Errorf("%s: stop %v", name, ok)
			continue
		}
		same(t, name, fx, want.fx)
		if ok {
			same(t, name, e, StopRequested{Job: j1, By: ByJobStop, Call: "c2"})
		}
	}
}

// clause: JC-135 JC-146
func TestRuntimeExpired(t *testing.T) {
	for name, s := range states(t) {
		e, fx, ok := RuntimeExpired(s, grace)
		if want := name == "running fg" || name == "running bg" || name == "promoted"; ok != want {
			t.Errorf("%s: stopped %v", name, ok)
		} else if ok {
			same(t, name, e, StopRequested{Job: j1, By: ByTimeout})
			same(t, name, fx, effects(effect.StopProcess{Job: j1, Grace: grace}))
		}
	}
	if _, _, ok := RuntimeExpired(nil, grace); ok {
		t.Error("a job that is gone was stopped")
	}
}

// clause: JC-439 JC-440 JC-443 JC-444 JC-445 JC-446 JC-447 JC-463
func TestResultOfStop(t *testing.T) {
	by := func(who StopBy, x Exit) *State {
		s := folded(t, intended(Background), started, StopRequested{Job: j1, By: who})
		if err := s.Apply(at(9), Exited(s, x, 100)); err != nil {
			t.Fatal(err)
		}
		return s
	}
	const head = `{"id":"` + string(j1) + `","type":"shell","status":`
	for _, c := range []struct {
		what   string
		s      *State
		before Status
		want   string
	}{
		{"terminal before", states(t)["ended"], Completed, `"completed","reason":"exit_zero","previous_status":"completed","outcome":"already_terminal"}`},
		{"signalled", states(t)["stopping bg"], Running, `"running","reason":"stop_pending","previous_status":"running","outcome":"stop_requested"}`},
		{"confirmed", by(ByJobStop, Exit{Signal: "SIGTERM", Signalled: true}), Running, `"cancelled","reason":"stopped_by_parent","previous_status":"running","outcome":"cancelled_by_request"}`},
		{"on its own", by(ByJobStop, Exit{}), Running, `"completed","reason":"exit_zero","previous_status":"running","outcome":"completed_during_stop"}`},
		{"on its own, badly", by(ByJobStop, Exit{Code: 4}), Running, `"command_exited_nonzero","reason":"exit_nonzero","previous_status":"running","outcome":"completed_during_stop"}`},
		{"unconfirmed", by(ByJobStop, Exit{Err: "lost"}), Running, `"stopped","reason":"cancelled","previous_status":"running","outcome":"stop_requested"}`},
		{"survivors", by(ByJobStop, Exit{Signalled: true, Survivors: []int{8}}), Running, `"stopped","reason":"cancelled","previous_status":"running","outcome":"stop_requested","survivors":[8]}`},
		{"the limit came first", by(ByTimeout, Exit{Signalled: true}), Running, `"stopped","reason":"run_timeout","previous_status":"running","outcome":"stop_requested"}`},
	} {
		shape(t, c.what, ResultOfStop(c.s, c.before), head+c.want)
	}
}

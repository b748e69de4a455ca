package job

import (
	"strings"
	"testing"
)

// clause: JC-105 JC-110 JC-112 JC-113 JC-115 JC-116 JC-118 JC-135 JC-423 JC-424 JC-440
func TestExited(t *testing.T) {
	stopping := func(by StopBy) []Event {
		return []Event{intended(Background), started, StopRequested{Job: j1, By: by}}
	}
	fg := []Event{intended(Foreground), started}
	bg := []Event{intended(Background), started}
	for _, c := range []struct {
		what   string
		events []Event
		exit   Exit
		status Status
		reason string
		code   *int
		kept   bool
		alone  bool
	}{
		{"exit 0", fg, Exit{}, Completed, "exit_zero", code(0), false, false},
		{"exit 3", fg, Exit{Code: 3}, ExitedNonzero, "exit_nonzero", code(3), false, false},
		{"signal", fg, Exit{Code: -1, Signal: "SIGSEGV"}, Killed, "killed_by_signal: SIGSEGV", code(-1), false, false},
		{"wait failed", fg, Exit{Code: -1, Err: "the keeper died"}, Failed, "wait_failed", code(-1), false, false},
		{"kept for its size", fg, Exit{Total: 101, Tail: strings.Repeat("x", 101)}, Completed, "exit_zero", code(0), true, false},
		{"fits exactly", fg, Exit{Total: 100, Tail: strings.Repeat("x", 100)}, Completed, "exit_zero", code(0), false, false},
		{"fits, ends overlap", fg, Exit{Total: 90, Head: strings.Repeat("x", 40), Tail: strings.Repeat("x", 60)}, Completed, "exit_zero", code(0), false, false},
		{"within the bound, but not at hand", fg, Exit{Total: 90, Tail: strings.Repeat("x", 60)}, Completed, "exit_zero", code(0), true, false},
		{"background", bg, Exit{}, Completed, "exit_zero", code(0), true, false},
		{"promoted", []Event{intended(Foreground), started, promoted}, Exit{Code: 1}, ExitedNonzero, "exit_nonzero", code(1), true, false},

		{"job_stop reached it", stopping(ByJobStop), Exit{Code: -1, Signal: "SIGTERM", Signalled: true}, Cancelled, "stopped_by_parent", code(-1), true, false},
		{"it ended on SIGTERM by itself", stopping(ByJobStop), Exit{Code: 0, Signalled: true}, Cancelled, "stopped_by_parent", code(-1), true, false},
		{"close reached it", stopping(ByClose), Exit{Code: -1, Signal: "SIGKILL", Signalled: true}, Cancelled, "stopped_by_parent", code(-1), true, false},
		{"runtime limit", stopping(ByTimeout), Exit{Code: -1, Signal: "SIGTERM", Signalled: true}, Stopped, "run_timeout", code(-1), true, false},
		{"done before the stop landed", stopping(ByJobStop), Exit{}, Completed, "exit_zero", code(0), true, true},
		{"failed before the stop landed", stopping(ByJobStop), Exit{Code: 2}, ExitedNonzero, "exit_nonzero", code(2), true, true},
		{"killed before the stop landed", stopping(ByJobStop), Exit{Code: -1, Signal: "SIGKILL"}, Killed, "killed_by_signal: SIGKILL", code(-1), true, true},
		{"done before the limit landed", stopping(ByTimeout), Exit{}, Completed, "exit_zero", code(0), true, true},
		{"survivors", stopping(ByJobStop), Exit{Code: -1, Signalled: true, Survivors: []int{7, 8}}, Stopped, "cancelled", code(-1), true, false},
		{"stop not confirmed", stopping(ByJobStop), Exit{Code: -1, Err: "lost"}, Stopped, "cancelled", code(-1), true, false},

		{"at its gate", []Event{intended(Foreground)}, Exit{Code: 125}, Failed, "start_failed", nil, false, false},
		{"background, at its gate", []Event{intended(Background)}, Exit{Code: -1, Signal: "SIGKILL"}, Failed, "start_failed", nil, true, false},
	} {
		s := folded(t, c.events...)
		f := Exited(s, c.exit, 100)
		want := Finished{Job: j1, Status: c.status, Reason: c.reason, ExitCode: c.code, Generation: 1, Kept: c.kept, TotalBytes: c.exit.Total,
			Survivors: c.exit.Survivors, OnItsOwn: c.alone, Error: c.exit.Err}
		if s.Status == Intent {
			want.Error = "the shell ended before its command was released"
		}
		same(t, c.what, f, want)
		if err := s.Apply(at(9), f); err != nil || !s.Terminal() || s.Public() != c.status {
			t.Errorf("%s: folds to %s, %v", c.what, s.Status, err)
		}
	}
}

func TestExitedCarriesTheNumbers(t *testing.T) {
	f := Exited(states(t)["running bg"], Exit{LeftBehind: 2, Total: 500, Start: 100, Lost: 30}, 100)
	same(t, "finished", f, Finished{Job: j1, Status: Completed, Reason: ExitZero, ExitCode: code(0), Generation: 1, Kept: true, TotalBytes: 500, RetainedStart: 100, LostBytes: 30, LeftBehind: 2})
}

// clause: JC-441 JC-596
func TestLost(t *testing.T) {
	for name, s := range states(t) {
		if s.Terminal() {
			continue
		}
		want := Finished{Job: j1, Status: Stopped, Reason: RuntimeLost, ExitCode: code(-1), Generation: 1, Kept: true, TotalBytes: 50, RetainedStart: 10}
		if s.Status == Intent {
			want.Error = "never started: evener ended before the command was released"
		}
		same(t, name, Lost(s, Found{50, 10}), want)
	}
}

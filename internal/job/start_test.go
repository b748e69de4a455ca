package job

import (
	"math"
	"testing"
	"time"

	"evener/internal/effect"
	"evener/internal/fault"
)

// clause: JC-125 JC-136 JC-147 JC-148 JC-149
func TestCheck(t *testing.T) {
	const most = math.MaxInt64 / int64(time.Millisecond)
	for _, c := range []struct {
		in   Request
		mode Mode
		ms   int64
		text string
	}{
		{Request{Command: "ls"}, Foreground, 0, ""},
		{Request{Command: "ls", Mode: Background}, Background, 0, ""},
		{Request{Command: "ls", Mode: Detached}, Detached, 0, ""},
		{Request{Command: "ls", MaxRuntimeMS: 1}, Foreground, 1000, ""},
		{Request{Command: "ls", MaxRuntimeMS: 999}, Foreground, 1000, ""},
		{Request{Command: "ls", MaxRuntimeMS: 1000}, Foreground, 1000, ""},
		{Request{Command: "ls", MaxRuntimeMS: 900_000_000}, Foreground, 900_000_000, ""},
		{Request{Command: "ls", MaxRuntimeMS: most}, Foreground, most, ""},
		{Request{Command: "ls", MaxRuntimeMS: math.MaxInt64}, Foreground, most, ""}, // 292 years; no wrap to the past
		{Request{Command: "ls", MaxRuntimeMS: -1}, "", 0, "invalid_request: shell: max_runtime_ms must not be negative (got -1)"},
		{Request{Command: "ls", Mode: Detached, MaxRuntimeMS: -1}, "", 0, "invalid_request: shell: max_runtime_ms must not be negative (got -1)"},
		{Request{}, "", 0, "invalid_request: shell: command is empty; give the command line to run"},
		{Request{Command: " \n\t"}, "", 0, "invalid_request: shell: command is empty; give the command line to run"},
	} {
		got, err := Check(c.in)
		if c.text != "" {
			if err == nil || err.Error() != c.text || err.Code != fault.InvalidRequest {
				t.Errorf("Check(%+v): %v", c.in, err)
			}
			continue
		}
		if err != nil || got.Mode != c.mode || got.MaxRuntimeMS != c.ms || got.Command != c.in.Command {
			t.Errorf("Check(%+v) = %+v, %v", c.in, got, err)
		}
	}
}

func TestStart(t *testing.T) {
	e, fx := Start(Request{"ls", "list", Background, 1000}, Origin{j1, 3, "c1", "/w", j2})
	same(t, "event", e, Intended{Job: j1, Command: "ls", Description: "list", Mode: Background, Dir: "/w", Turn: 3, Call: "c1", ParentJob: j2, MaxRuntimeMS: 1000})
	same(t, "effect", fx, effect.StartProcess{Job: j1, Command: "ls", Dir: "/w"})
}

// clause: JC-136
func TestLaunched(t *testing.T) {
	limited := intended(Background)
	limited.MaxRuntimeMS = 5000
	l := Launch{PID: 77, StartTicks: 5, BootID: "b"}
	for _, c := range []struct {
		what string
		in   Intended
		want []effect.Effect
	}{
		{"foreground", intended(Foreground), effects(effect.ReleaseProcess{Job: j1}, effect.SetTimer{Key: "wait:" + string(j1), After: time.Minute})},
		{"background", intended(Background), effects(effect.ReleaseProcess{Job: j1}, effect.KeepOutput{Job: j1})},
		{"limited", limited, effects(effect.ReleaseProcess{Job: j1}, effect.KeepOutput{Job: j1}, effect.SetTimer{Key: "runtime:" + string(j1), After: 5 * time.Second})},
	} {
		e, fx := Launched(folded(t, c.in), l, time.Minute)
		same(t, c.what, e, started)
		same(t, c.what, fx, c.want)
	}
}

// clause: JC-112 JC-113
func TestLaunchFailed(t *testing.T) {
	for mode, kept := range map[Mode]bool{Foreground: false, Background: true} {
		e := LaunchFailed(folded(t, intended(mode)), "no such directory")
		same(t, string(mode), e, Finished{Job: j1, Status: Failed, Reason: StartFailed, Generation: 1, Kept: kept, Error: "no such directory"})
	}
}

func TestNeverReleased(t *testing.T) {
	for mode, kept := range map[Mode]bool{Foreground: false, Background: true} {
		e, fx := NeverReleased(folded(t, intended(mode)), "the session closed")
		same(t, string(mode), e, Finished{Job: j1, Status: Cancelled, Reason: StoppedByParent, ExitCode: code(-1), Generation: 1, Kept: kept,
			Error: "never started: the session closed before the command was released"})
		same(t, string(mode), fx, effect.StopProcess{Job: j1})
	}
}

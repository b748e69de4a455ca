package job

import (
	"math"
	"strings"
	"time"

	"evener/internal/effect"
	"evener/internal/fault"
	"evener/internal/id"
)

// Request is what a shell call asks for, checked by Check.
type Request struct {
	Command      string
	Description  string
	Mode         Mode
	MaxRuntimeMS int64
}

// minRuntimeMS is the least process runtime limit; a smaller positive one is raised to it.
const minRuntimeMS = 1000

// maxRuntimeMS is the longest time that a timer holds, nearly 300 years: no
// bound, only what keeps a larger number from turning negative.
const maxRuntimeMS = math.MaxInt64 / int64(time.Millisecond)

// Check applies the rules that need no state: they refuse before anything starts.
func Check(r Request) (Request, *fault.Error) {
	if r.Mode == "" {
		r.Mode = Foreground
	}
	switch {
	case strings.TrimSpace(r.Command) == "":
		return r, fault.Invalid("shell: command is empty; give the command line to run")
	case r.MaxRuntimeMS < 0:
		return r, fault.Invalid("shell: max_runtime_ms must not be negative (got %d)", r.MaxRuntimeMS)
	case r.MaxRuntimeMS > 0 && r.MaxRuntimeMS < minRuntimeMS:
		r.MaxRuntimeMS = minRuntimeMS
	case r.MaxRuntimeMS > maxRuntimeMS:
		r.MaxRuntimeMS = maxRuntimeMS
	}
	return r, nil
}

// Origin is where a job comes from.
type Origin struct {
	Job       id.Job
	Turn      int64
	Call      string
	Dir       string
	ParentJob id.Job
}

// Start records the intent and asks for the held shell.
func Start(r Request, o Origin) (Intended, effect.Effect) {
	return Intended{
		Job: o.Job, Command: r.Command, Description: r.Description, Mode: r.Mode, Dir: o.Dir,
		Turn: o.Turn, Call: o.Call, ParentJob: o.ParentJob, MaxRuntimeMS: r.MaxRuntimeMS,
	}, effect.StartProcess{Job: o.Job, Command: r.Command, Dir: o.Dir}
}

// Launch is what is known of a shell that was made.
type Launch struct {
	PID        int    `json:"pid"`
	StartTicks uint64 `json:"start_ticks"`
	BootID     string `json:"boot_id"`
}

// Launched records the held shell and opens its gate. wait is the foreground
// wait, after which the call is promoted.
func Launched(s *State, l Launch, wait time.Duration) (Started, []effect.Effect) {
	fx := []effect.Effect{effect.ReleaseProcess{Job: s.ID}}
	if s.Mode == Foreground {
		fx = append(fx, effect.SetTimer{Key: WaitTimer(s.ID), After: wait})
	} else {
		fx = append(fx, effect.KeepOutput{Job: s.ID})
	}
	if s.MaxRuntime > 0 {
		fx = append(fx, effect.SetTimer{Key: RuntimeTimer(s.ID), After: s.MaxRuntime})
	}
	return Started{Job: s.ID, PID: l.PID, StartTicks: l.StartTicks, BootID: l.BootID}, fx
}

// LaunchFailed ends a job whose shell could not be made: the job system
// failed, not the command.
func LaunchFailed(s *State, why string) Finished {
	return Finished{
		Job: s.ID, Status: Failed, Reason: StartFailed, Generation: 1,
		Kept: s.Mode == Background, Error: why,
	}
}

// WaitTimer and RuntimeTimer name the timers of a job.
func WaitTimer(j id.Job) string    { return "wait:" + string(j) }
func RuntimeTimer(j id.Job) string { return "runtime:" + string(j) }

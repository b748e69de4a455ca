package job

import (
	"time"

	"evener/internal/effect"
	"evener/internal/fault"
	"evener/internal/id"
)

// Bounds of a stop's wait in milliseconds: a positive wait is clamped to them.
const (
	minStopWaitMS = 1000
	maxStopWaitMS = 60000
)

// StopWait checks and clamps max_wait_ms. Zero returns at once.
func StopWait(ms int64) (time.Duration, *fault.Error) {
	switch {
	case ms < 0:
		return 0, fault.Invalid("job_stop: max_wait_ms must not be negative (got %d)", ms)
	case ms == 0:
		return 0, nil
	}
	return time.Duration(min(max(ms, minStopWaitMS), maxStopWaitMS)) * time.Millisecond, nil
}

// Stop asks a running job to end. call waits for it, or is empty. Stopping a
// job that is stopping already adds only the waiting call; a terminal job is
// left alone (ok false). So is an intended one, which has no process yet: only
// a close can meet it, and the launch that follows ends it, see NeverReleased.
func Stop(s *State, by StopBy, call string, grace time.Duration) (StopRequested, []effect.Effect, bool) {
	if s.Status != Running {
		return StopRequested{}, nil, false
	}
	var fx []effect.Effect
	if s.StopBy == "" {
		fx = append(fx, effect.StopProcess{Job: s.ID, Grace: grace})
	}
	return StopRequested{Job: s.ID, By: by, Call: call}, fx, true
}

// RuntimeExpired stops a job that ran past max_runtime_ms.
func RuntimeExpired(s *State, grace time.Duration) (StopRequested, []effect.Effect, bool) {
	if s == nil || s.StopBy != "" {
		return StopRequested{}, nil, false
	}
	return Stop(s, ByTimeout, "", grace)
}

// NeverReleased ends a job whose held shell came about when nothing new was to
// begin any more: the shell is ended and its command does not run. why says what
// came before.
func NeverReleased(s *State, why string) (Finished, effect.Effect) {
	none := noExitCode
	return Finished{
		Job: s.ID, Status: Cancelled, Reason: StoppedByParent, ExitCode: &none, Generation: 1, Kept: s.Mode == Background,
		Error: "never started: " + why + " before the command was released",
	}, effect.StopProcess{Job: s.ID}
}

// Outcome classifies what a job_stop call found or did.
type Outcome string

const (
	CancelledByRequest  Outcome = "cancelled_by_request"
	AlreadyTerminal     Outcome = "already_terminal"
	CompletedDuringStop Outcome = "completed_during_stop"
	StopRequestedOnly   Outcome = "stop_requested"
)

// StopResult is the answer of job_stop for a shell job.
type StopResult struct {
	ID             id.Job  `json:"id"`
	Type           string  `json:"type"`
	Status         Status  `json:"status"`
	Reason         *string `json:"reason"`
	PreviousStatus Status  `json:"previous_status"`
	Outcome        Outcome `json:"outcome"`
	Survivors      []int   `json:"survivors,omitempty"`
}

// ResultOfStop builds the answer. before is the status just before the
// signal. A cancellation is never claimed without its confirmation.
func ResultOfStop(s *State, before Status) StopResult {
	r := StopResult{ID: s.ID, Type: "shell", Status: s.Status, PreviousStatus: before, Reason: s.reason(), Survivors: s.End.Survivors}
	switch {
	case before != Running:
		r.Outcome = AlreadyTerminal
	case !s.Terminal():
		r.Outcome = StopRequestedOnly
	case s.End.OnItsOwn:
		r.Outcome = CompletedDuringStop
	case s.Status == Cancelled:
		r.Outcome = CancelledByRequest
	default:
		r.Outcome = StopRequestedOnly
	}
	return r
}

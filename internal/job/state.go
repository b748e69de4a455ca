package job

import (
	"fmt"
	"time"

	"evener/internal/id"
)

// Mode is how a command was asked to run.
type Mode string

const (
	Foreground Mode = "foreground"
	Background Mode = "background"
	Detached   Mode = "detached" // never a job
)

// Status is a shell's lifecycle status.
type Status string

const (
	Intent        Status = "intended" // internal: the shell does not exist yet
	Running       Status = "running"
	Completed     Status = "completed"
	Failed        Status = "failed"
	ExitedNonzero Status = "command_exited_nonzero"
	Killed        Status = "command_killed"
	Cancelled     Status = "cancelled"
	Stopped       Status = "stopped"
)

// Reasons of the contract.
const (
	ExitZero          = "exit_zero"
	ExitNonzero       = "exit_nonzero"
	KilledBySignal    = "killed_by_signal: " // followed by the signal's name
	StoppedByParent   = "stopped_by_parent"
	RunTimeout        = "run_timeout"
	RuntimeLost       = "runtime_lost"
	CancelUnconfirmed = "cancelled"
	StartFailed       = "start_failed"
	WaitFailed        = "wait_failed"
	StopPending       = "stop_pending"
	ForegroundTimeout = "foreground_timeout"
)

// StopBy is who asked for a stop.
type StopBy string

const (
	ByJobStop StopBy = "job_stop"
	ByTimeout StopBy = "run_timeout"
	ByClose   StopBy = "session_close"
	ByUser    StopBy = "interrupt"
)

// State is one job, folded.
type State struct {
	ID          id.Job
	Command     string
	Description string
	Mode        Mode
	Dir         string
	Turn        int64
	Call        string
	ParentJob   id.Job
	MaxRuntime  time.Duration

	Status     Status
	IntendedAt time.Time
	StartedAt  time.Time
	PID        int
	StartTicks uint64
	BootID     string

	Promoted      bool
	WaitElapsedMS int64

	StopBy StopBy // who asked first; empty while nobody did

	End   Finished // set when Status is terminal
	Ended time.Time
	// Pruned: the output went, the record stays.
	Pruned bool
}

// Terminal reports whether the job has its terminal record.
func (s *State) Terminal() bool { return s.Status != "" && s.Status != Intent && s.Status != Running }

// BackgroundEvidence reports whether the job was handed off: an explicit
// background launch or a promotion, never a kept foreground completion.
func (s *State) BackgroundEvidence() bool { return s.Mode == Background || s.Promoted }

// Durable reports whether the job has a record that listings show.
func (s *State) Durable() bool {
	return s.BackgroundEvidence() || s.Terminal() && s.End.Kept
}

// Apply folds one event. It fails on an event that cannot follow.
func (s *State) Apply(at time.Time, e Event) error {
	switch e := e.(type) {
	case Intended:
		if s.Status != "" {
			return fmt.Errorf("job %s: intended twice", e.Job)
		}
		*s = State{
			ID: e.Job, Command: e.Command, Description: e.Description, Mode: e.Mode, Dir: e.Dir,
			Turn: e.Turn, Call: e.Call, ParentJob: e.ParentJob,
			MaxRuntime: time.Duration(e.MaxRuntimeMS) * time.Millisecond,
			Status:     Intent, IntendedAt: at,
		}
	case Started:
		if s.Status != Intent {
			return fmt.Errorf("job %s: started while %s", e.Job, s.Status)
		}
		s.Status, s.StartedAt = Running, at
		s.PID, s.StartTicks, s.BootID = e.PID, e.StartTicks, e.BootID
	case Promoted:
		if s.Status != Running || s.Mode != Foreground || s.Promoted {
			return fmt.Errorf("job %s: promoted while %s", e.Job, s.Status)
		}
		s.Promoted, s.WaitElapsedMS = true, e.WaitElapsedMS
	case StopRequested:
		if s.Status != Running {
			return fmt.Errorf("job %s: stop requested while %s", e.Job, s.Status)
		}
		if s.StopBy == "" {
			s.StopBy = e.By
		}
	case Finished:
		if s.Terminal() || s.Status == "" {
			return fmt.Errorf("job %s: finished while %s", e.Job, s.Status)
		}
		s.Status, s.End, s.Ended = e.Status, e, at
	case OutputPruned:
		if !s.Terminal() || s.Pruned {
			return fmt.Errorf("job %s: output pruned while %s", e.Job, s.Status)
		}
		s.Pruned = true
	default:
		return fmt.Errorf("job: unknown event %T", e)
	}
	return nil
}

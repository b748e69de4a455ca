// Package effect holds everything that the core may ask of the world, one
// struct each: to know all side effects of evener, read this file. An effect
// is performed only after the journal line that justifies it is on disk.
package effect

import (
	"time"

	"evener/internal/delegate"
	"evener/internal/id"
)

// Effect is an order to the shell of the program.
type Effect interface{ effect() }

// StartProcess makes the shell of a job, held at its gate. Answered by a
// Launched or LaunchFailed input.
type StartProcess struct {
	Job     id.Job
	Command string
	Dir     string
}

// ReleaseProcess opens the gate: the command begins.
type ReleaseProcess struct{ Job id.Job }

// StopProcess begins the ladder: SIGTERM and SIGCONT to the group, the grace,
// then SIGKILL to everything that belongs to the job. Answered by Exited.
type StopProcess struct {
	Job   id.Job
	Grace time.Duration
}

// KeepOutput says that the job's log outlives the call: it is synced before
// the exit is reported.
type KeepOutput struct{ Job id.Job }

// DropOutput removes a job's log: an inline result has all of it, or the
// retention bound has passed it.
type DropOutput struct{ Job id.Job }

// DropScratch removes the scratch folder of the tree.
type DropScratch struct{}

// Detach starts a command that nobody manages. Answered by Detached.
type Detach struct {
	Call    string // call id
	Command string
	Dir     string
}

// CallModel sends the session's context and transcript, as they stand, to its
// model. Answered by Replied or ModelFailed with the same request number.
type CallModel struct{ Request int64 }

// Summarise asks the session's model, without tools, for a summary of so many
// entries of its conversation, made of at most so many bytes. Answered by
// Summarised or ModelFailed with the same request number.
type Summarise struct {
	Request int64
	Upto    int64
	Bytes   int
}

// NameSession asks the session's model, without tools, for a name of the session,
// unless that is being asked. Answered by NameFound.
type NameSession struct{}

// CancelModel abandons a request in flight.
type CancelModel struct{ Request int64 }

// ReadOutput reads the retained output of a job, or the conversation of a
// session, for a read_transcript call. Answered by ReadDone.
type ReadOutput struct {
	Call    string // call id
	Job     id.Job
	Session id.Session // in place of a job
}

// FindSessions looks for sessions of the project, for a find_session_transcripts
// call. Answered by ReadDone.
type FindSessions struct{ Call string } // call id

// LookWorktree reads what the worktree of a stopped delegate holds, for the
// job_stop call that waits for it. Answered by WorktreeLooked.
type LookWorktree struct {
	Call     string // call id
	Delegate id.Delegate
}

// DropWorktree removes the worktree of a delegate that did not come to be.
type DropWorktree struct{ Worktree delegate.Worktree }

// WatchOutput searches what is kept of a job's output, and while the job runs
// what it prints from there on. Answered by WatchScanned, then by WatchMatched
// with each match and before the job's Exited.
type WatchOutput struct {
	Watch   id.Watch
	Call    string // call id
	Job     id.Job
	Pattern string
}

// UnwatchOutput ends that.
type UnwatchOutput struct{ Watch id.Watch }

// UseFiles carries out a call of a file tool, with what the session has seen of
// files. Paths are relative to Dir. Answered by FilesDone.
type UseFiles struct {
	Call string // call id
	Dir  string
}

// PrepareDelegate looks up what a delegate call names: its role, model and
// schema. Answered by Prepared.
type PrepareDelegate struct {
	Call      string // call id
	Allowance int64  // granted
}

// CancelPrepare gives up what a PrepareDelegate still makes, with what there is of
// it. Prepared comes all the same.
type CancelPrepare struct {
	Call string // call id
}

// RestoreSession folds the conversation of a delegate that was let go again from
// its journal, before anything that follows is decided.
type RestoreSession struct{}

// SetTimer posts a TimerFired input with this key after the time has passed
// on the monotonic clock. A timer that comes too late is ignored by its rule.
type SetTimer struct {
	Key   string
	After time.Duration
}

// EndRun tells the host that the session's run is over and the tree may close.
type EndRun struct{}

func (StartProcess) effect()    {}
func (ReleaseProcess) effect()  {}
func (StopProcess) effect()     {}
func (KeepOutput) effect()      {}
func (DropOutput) effect()      {}
func (DropScratch) effect()     {}
func (Detach) effect()          {}
func (CallModel) effect()       {}
func (NameSession) effect()     {}
func (Summarise) effect()       {}
func (CancelModel) effect()     {}
func (ReadOutput) effect()      {}
func (FindSessions) effect()    {}
func (PrepareDelegate) effect() {}
func (CancelPrepare) effect()   {}
func (LookWorktree) effect()    {}
func (DropWorktree) effect()    {}
func (WatchOutput) effect()     {}
func (UnwatchOutput) effect()   {}
func (UseFiles) effect()        {}
func (RestoreSession) effect()  {}
func (SetTimer) effect()        {}
func (EndRun) effect()          {}

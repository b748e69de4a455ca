package session

import (
	"evener/internal/id"
	"evener/internal/watch"
)

// Signal is what a decision of a session tells its tree. The tree takes it as
// an input of its own once the decision is on disk.
type Signal interface{ signal() }

// CallTree: the first open call is the tree's to answer, with CallDone or one
// of the waits.
type CallTree struct {
	Call string `json:"call_id"`
}

// CallExpired: the time that such a call may wait is over.
type CallExpired struct {
	Call string `json:"call_id"`
}

// RunBegan: a run of the root has begun.
type RunBegan struct{}

// RunOver: the run of a generation has ended.
type RunOver struct{}

// Owed: notices wait, and no run is open to carry them.
type Owed struct{}

// Received: a delivery stands in this session's journal.
type Received struct {
	Notice string `json:"attention_id"`
}

// Taken: a message of the owner stands in this session's journal, or could
// not be taken because no run is open (Missed).
type Taken struct {
	Message string `json:"message_id"`
	Missed  bool   `json:"missed,omitempty"`
}

// StopOver: nothing of the session runs any more.
type StopOver struct {
	Stop string `json:"stop_id"`
}

// ShellStopped: a stop of one of its jobs was signalled or had nothing to do.
type ShellStopped struct {
	Job id.Job `json:"job_id"`
}

// JobEnded: a job of the session has its terminal record.
type JobEnded struct {
	Job id.Job `json:"job_id"`
}

// CloseBelow: the root closes.
type CloseBelow struct{}

// Happened: something happened that another session may watch.
type Happened struct {
	What watch.Occurrence `json:"what"`
}

func (Happened) signal()     {}
func (CallTree) signal()     {}
func (CallExpired) signal()  {}
func (RunBegan) signal()     {}
func (RunOver) signal()      {}
func (Owed) signal()         {}
func (Received) signal()     {}
func (Taken) signal()        {}
func (StopOver) signal()     {}
func (ShellStopped) signal() {}
func (JobEnded) signal()     {}
func (CloseBelow) signal()   {}

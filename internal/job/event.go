package job

import "evener/internal/id"

// Event is a fact about one job.
type Event interface {
	Kind() string
	JobID() id.Job
}

// Intended: the command is about to be started. Durable before the process exists.
type Intended struct {
	Job          id.Job `json:"job_id"`
	Command      string `json:"command"`
	Description  string `json:"description,omitempty"`
	Mode         Mode   `json:"mode"`
	Dir          string `json:"dir"`
	Turn         int64  `json:"origin_turn_id"`
	Call         string `json:"origin_tool_call_id"`
	ParentJob    id.Job `json:"parent_job_id,omitempty"`
	MaxRuntimeMS int64  `json:"max_runtime_ms,omitempty"`
}

// Started: the shell exists and is held; its command runs once this is durable.
type Started struct {
	Job        id.Job `json:"job_id"`
	PID        int    `json:"pid"`
	StartTicks uint64 `json:"start_ticks"`
	BootID     string `json:"boot_id"`
}

// Promoted: the foreground wait expired and the job goes on in the background.
type Promoted struct {
	Job           id.Job `json:"job_id"`
	WaitElapsedMS int64  `json:"wait_elapsed_ms"`
}

// StopRequested: somebody wants the job to end. Call is the tool call that
// waits for it, if one does.
type StopRequested struct {
	Job  id.Job `json:"job_id"`
	By   StopBy `json:"by"`
	Call string `json:"call_id,omitempty"`
}

// Finished: the one terminal record.
type Finished struct {
	Job           id.Job `json:"job_id"`
	Status        Status `json:"status"`
	Reason        string `json:"reason"`
	ExitCode      *int   `json:"exit_code"`
	Generation    int    `json:"terminal_generation"`
	Kept          bool   `json:"kept"` // the record and its output outlive the call
	TotalBytes    int64  `json:"output_bytes"`
	RetainedStart int64  `json:"retained_start_bytes,omitempty"`
	LostBytes     int64  `json:"lost_bytes,omitempty"`  // output that the disk did not take: it counts, but is not in the log
	LeftBehind    int    `json:"left_behind,omitempty"` // living processes when the command ended
	Survivors     []int  `json:"survivors,omitempty"`   // processes that a stop could not end
	OnItsOwn      bool   `json:"on_its_own,omitempty"`  // ended before the requested stop reached it
	Error         string `json:"error,omitempty"`
}

// Retained is how many bytes of the output were kept at the end.
func (e Finished) Retained() int64 { return e.TotalBytes - e.RetainedStart }

// OutputPruned: retention removed the output; the record stays.
type OutputPruned struct {
	Job id.Job `json:"job_id"`
}

func (Intended) Kind() string      { return "job.intended" }
func (Started) Kind() string       { return "job.started" }
func (Promoted) Kind() string      { return "job.promoted" }
func (StopRequested) Kind() string { return "job.stop_requested" }
func (Finished) Kind() string      { return "job.finished" }
func (OutputPruned) Kind() string  { return "job.output_pruned" }

func (e Intended) JobID() id.Job      { return e.Job }
func (e Started) JobID() id.Job       { return e.Job }
func (e Promoted) JobID() id.Job      { return e.Job }
func (e StopRequested) JobID() id.Job { return e.Job }
func (e Finished) JobID() id.Job      { return e.Job }
func (e OutputPruned) JobID() id.Job  { return e.Job }

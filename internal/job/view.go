package job

import (
	"fmt"
	"time"

	"evener/internal/id"
	"evener/internal/text"
)

// Live is what only the running process knows of a job: numbers that no
// journal line holds yet.
type Live struct {
	Job    id.Job    `json:"job_id"`
	Total  int64     `json:"total_bytes"`
	LastAt time.Time `json:"last_output_at,omitzero"` // zero: nothing printed yet
}

// Output is the two ends of what a job printed, as the bytes came.
type Output struct {
	Total int64
	Start int64  // first byte that is still kept
	Head  string // the first bytes
	Tail  string // the newest bytes
	// Shown is how a result shows it, where that is known and the bytes are not: in a
	// decision that is made again.
	Shown *Shown
}

// Shown is output as a result has it.
type Shown struct {
	Text string
	Cut  bool // it is not all
}

// all is the whole output, if the two ends cover it.
func (o Output) all() (string, bool) {
	switch missing := o.Total - int64(len(o.Tail)); {
	case missing <= 0:
		return o.Tail, true
	case missing <= int64(len(o.Head)):
		return o.Head[:missing] + o.Tail, true
	}
	return "", false
}

// fits reports whether a result of inline bytes can carry all of it.
func (o Output) fits(inline int64) bool {
	_, whole := o.all()
	if o.Shown != nil {
		whole = !o.Shown.Cut
	}
	return whole && o.Total <= inline
}

// phases of a shell, a small fixed set.
const (
	PhaseStarting   = "starting"
	PhaseRunning    = "process_running"
	PhaseStopping   = "stopping"
	PhaseFinalizing = "finalizing"
	PhaseEnded      = "ended"
)

// Phase is the observable process phase.
func (s *State) Phase() string {
	switch {
	case s.Status == Intent:
		return PhaseStarting
	case s.Terminal():
		return PhaseEnded
	case s.StopBy != "":
		return PhaseStopping
	}
	return PhaseRunning
}

// Public is the status that callers see: an intended job counts as running.
func (s *State) Public() Status {
	if s.Status == Intent {
		return Running
	}
	return s.Status
}

func (s *State) reason() *string {
	r := s.End.Reason
	if !s.Terminal() {
		switch {
		case s.StopBy != "":
			r = StopPending
		case s.Promoted:
			r = ForegroundTimeout
		}
	}
	if r == "" {
		return nil
	}
	return &r
}

// began is when the job started, or was about to.
func (s *State) began() time.Time {
	if s.StartedAt.IsZero() {
		return s.IntendedAt
	}
	return s.StartedAt
}

// LastActivity is the latest moment at which something of the job was seen.
func (s *State) LastActivity(l Live) time.Time {
	at := s.began()
	if s.Terminal() {
		return s.Ended
	}
	if l.LastAt.After(at) {
		at = l.LastAt
	}
	return at
}

// TotalBytes is the lifetime output count: live while running, final after.
func (s *State) TotalBytes(l Live) int64 {
	if s.Terminal() {
		return s.End.TotalBytes
	}
	return l.Total
}

// StatusView is the answer of job_status for a shell.
type StatusView struct {
	JobID        id.Job  `json:"job_id"`
	ID           id.Job  `json:"id"`
	Type         string  `json:"type"`
	Kind         string  `json:"kind"`
	Status       Status  `json:"status"`
	Phase        string  `json:"phase"`
	Reason       *string `json:"reason"`
	Resumable    *bool   `json:"resumable"` // always null for a shell
	RunningForMS int64   `json:"running_for_ms"`
	QuietForMS   int64   `json:"quiet_for_ms"`
	StartedAt    string  `json:"started_at"`
	EndedAt      *string `json:"ended_at"`
	LastEventAt  string  `json:"last_event_at"`
	Ref          string  `json:"transcript_ref"`
	ExitCode     *int    `json:"exit_code"`
	TotalBytes   int64   `json:"total_bytes"`
	Description  string  `json:"description,omitempty"`
	Command      string  `json:"command"`
	Background   bool    `json:"background,omitempty"`
	ParentJob    id.Job  `json:"parent_job_id,omitempty"`
	// ParentDelegate is whose session owns the job; none at the root.
	ParentDelegate id.Delegate `json:"parent_delegate_id,omitempty"`
	Dropped        int64       `json:"dropped_bytes,omitempty"`
	Pruned         bool        `json:"output_pruned,omitempty"`
	LostBytes      int64       `json:"lost_bytes,omitempty"`
	LeftBehind     int         `json:"left_behind,omitempty"`
	Survivors      []int       `json:"survivors,omitempty"`
	Error          string      `json:"error,omitempty"`
}

// View builds the status at a given time.
func View(s *State, l Live, now time.Time) StatusView {
	v := StatusView{
		JobID: s.ID, ID: s.ID, Type: "shell", Kind: "shell", Status: s.Public(), Phase: s.Phase(), Reason: s.reason(),
		StartedAt: Stamp(s.began()), LastEventAt: Stamp(s.LastActivity(l)), Ref: Ref(s.ID),
		TotalBytes: s.TotalBytes(l), Description: s.Description, Command: s.Command,
		Background: s.BackgroundEvidence(), ParentJob: s.ParentJob,
		LostBytes: s.End.LostBytes, LeftBehind: s.End.LeftBehind, Survivors: s.End.Survivors, Error: s.End.Error, Pruned: s.Pruned,
	}
	end := now
	if s.Terminal() {
		t := Stamp(s.Ended)
		v.EndedAt, v.ExitCode, v.Dropped = &t, s.End.ExitCode, s.End.RetainedStart
		end = s.Ended
	}
	v.RunningForMS = max(0, end.Sub(s.began()).Milliseconds())
	v.QuietForMS = max(0, end.Sub(s.LastActivity(l)).Milliseconds())
	return v
}

// Row is a job_list item: lean, inapplicable fields are omitted.
type Row struct {
	ID           id.Job     `json:"id"`
	JobID        id.Job     `json:"job_id"`
	Type         string     `json:"type"`
	Status       Status     `json:"status"`
	Reason       *string    `json:"reason,omitempty"`
	Description  string     `json:"description,omitempty"`
	Command      string     `json:"command"`
	Owner        id.Session `json:"owner_session_id"`
	ParentJob    id.Job     `json:"parent_job_id,omitempty"`
	Background   bool       `json:"background,omitempty"`
	StartedAt    string     `json:"started_at"`
	EndedAt      string     `json:"ended_at,omitempty"`
	LastActivity string     `json:"last_activity"`
	ExitCode     *int       `json:"exit_code,omitempty"`
	TotalBytes   int64      `json:"total_bytes"`
	Pruned       bool       `json:"output_pruned,omitempty"`
	Place
}

// RowOf builds the item of a job.
func RowOf(s *State, l Live) Row {
	r := Row{
		ID: s.ID, JobID: s.ID, Type: "shell", Status: s.Public(), Reason: s.reason(),
		Description: s.Description, Command: s.Command, Owner: s.ID.Owner(), ParentJob: s.ParentJob,
		Background: s.BackgroundEvidence(), StartedAt: Stamp(s.began()), LastActivity: Stamp(s.LastActivity(l)),
		TotalBytes: s.TotalBytes(l), Pruned: s.Pruned,
	}
	if s.Terminal() {
		r.EndedAt, r.ExitCode = Stamp(s.Ended), s.End.ExitCode
	}
	return r
}

// Ref is the transcript ref of a job's output.
func Ref(j id.Job) string { return "job:" + string(j) }

// Stamp writes a time as results show it: UTC, RFC 3339, microseconds.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000Z") }

// OutputStatus is the inline output signal of a shell result.
const (
	OutputComplete  = "complete"
	OutputTruncated = "truncated"
)

// Done is the result of a shell call whose command ended within the call.
type Done struct {
	JobID        id.Job  `json:"job_id,omitempty"` // only when the record is kept
	Type         string  `json:"type"`
	Mode         Mode    `json:"mode"`
	Status       Status  `json:"status"`
	Reason       *string `json:"reason"`
	TimedOut     bool    `json:"timed_out"`
	ExitCode     *int    `json:"exit_code"`
	Output       string  `json:"output"`
	Truncated    bool    `json:"truncated"`
	TotalBytes   int64   `json:"total_bytes"`
	OutputStatus string  `json:"output_status"`
	LostBytes    int64   `json:"lost_bytes,omitempty"`
	LeftBehind   int     `json:"left_behind,omitempty"`
	Survivors    []int   `json:"survivors,omitempty"`
	Error        string  `json:"error,omitempty"`
}

// Handoff is the result of a shell call whose command goes on as a job.
type Handoff struct {
	JobID         id.Job  `json:"job_id"`
	Type          string  `json:"type"`
	Mode          Mode    `json:"mode"`
	Status        Status  `json:"status"`
	Reason        *string `json:"reason"`
	TimedOut      bool    `json:"timed_out"`
	WaitElapsedMS *int64  `json:"wait_elapsed_ms,omitempty"`
	Output        *string `json:"output,omitempty"`
	Truncated     *bool   `json:"truncated,omitempty"`
	TotalBytes    int64   `json:"total_bytes"`
}

// DetachedResult is the result of a detached launch: a PID and nothing else to hold it by.
type DetachedResult struct {
	Type string `json:"type"`
	Mode Mode   `json:"mode"`
	PID  int    `json:"pid"`
}

// ResultOfExit is the result of a foreground call that saw its command end.
func ResultOfExit(s *State, o Output, inline int64) Done {
	d := Done{
		Type: "shell", Mode: s.Mode, Status: s.Status, Reason: s.reason(), ExitCode: s.End.ExitCode,
		TotalBytes: s.End.TotalBytes, LostBytes: s.End.LostBytes, LeftBehind: s.End.LeftBehind, Survivors: s.End.Survivors, Error: s.End.Error,
		OutputStatus: OutputComplete,
	}
	d.Output, d.Truncated = inlineOutput(s, o, inline)
	if d.Truncated {
		d.OutputStatus = OutputTruncated
	}
	if s.End.Kept {
		d.JobID = s.ID
	}
	return d
}

// ResultOfBackground is the result of an explicit background launch.
func ResultOfBackground(s *State) Handoff {
	return Handoff{JobID: s.ID, Type: "shell", Mode: Background, Status: Running}
}

// ResultOfPromotion is the result of a foreground call whose wait expired.
func ResultOfPromotion(s *State, o Output, inline int64) Handoff {
	out, cut := inlineOutput(s, o, inline)
	reason, wait := ForegroundTimeout, s.WaitElapsedMS
	return Handoff{
		JobID: s.ID, Type: "shell", Mode: Background, Status: Running, Reason: &reason, TimedOut: true,
		WaitElapsedMS: &wait, Output: &out, Truncated: &cut, TotalBytes: o.Total,
	}
}

// inlineOutput is the output that a result carries: all of it while it fits,
// else its head and its tail around a line that says how to get the rest.
func inlineOutput(s *State, o Output, inline int64) (string, bool) {
	if o.Shown != nil {
		return o.Shown.Text, o.Shown.Cut
	}
	if o.fits(inline) {
		all, _ := o.all()
		return text.Printable(all), false
	}
	h := o.Head[:min(int64(len(o.Head)), inline/4)]
	t := o.Tail[max(0, int64(len(o.Tail))-(inline-inline/4)):]
	rest := fmt.Sprintf("\n[%s bytes left out; all retained output: read_transcript(transcript_ref=%q, offset_bytes=%d)]\n",
		text.Thousands(int(o.Total)-len(h)-len(t)), Ref(s.ID), max(o.Start, int64(len(h))))
	return text.Printable(h) + rest + text.Printable(t), true
}

package tree

import (
	"fmt"
	"strings"
	"time"

	"evener/internal/delegate"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
	"evener/internal/text"
	"evener/internal/transcript"
)

// Row is a delegate's item of job_list.
type Row struct {
	ID           id.Delegate `json:"id"`
	Type         string      `json:"type"`
	Status       string      `json:"status"`
	Name         string      `json:"name,omitempty"`
	Description  string      `json:"description"`
	AgentType    string      `json:"agent_type,omitempty"`
	Model        string      `json:"model"`
	Owner        id.Session  `json:"owner_session_id"`
	Parent       id.Delegate `json:"parent_delegate_id,omitempty"`
	Child        id.Session  `json:"child_session_id"`
	Ref          string      `json:"transcript_ref"`
	Resumable    bool        `json:"resumable"`
	Outcome      *Outcome    `json:"last_outcome,omitempty"`
	StartedAt    string      `json:"started_at"`
	LastActivity string      `json:"last_activity"`
	Depth        *int        `json:"depth,omitempty"` // as job.Place has it
}

// StatusView is the answer of job_status for a delegate: metadata only.
type StatusView struct {
	ID             id.Delegate `json:"id"`
	Type           string      `json:"type"`
	Status         string      `json:"status"`
	Reason         string      `json:"reason,omitempty"`
	Name           string      `json:"name,omitempty"`
	Task           string      `json:"task"`
	AgentType      string      `json:"agent_type"`
	Model          string      `json:"model"`
	Allowance      int64       `json:"delegation_allowance"`
	Owner          id.Session  `json:"owner_session_id"`
	Parent         id.Delegate `json:"parent_delegate_id,omitempty"`
	Child          id.Session  `json:"child_session_id"`
	Ref            string      `json:"transcript_ref"`
	Resumable      bool        `json:"resumable"`
	Outcome        *Outcome    `json:"last_outcome,omitempty"`
	CreatedAt      string      `json:"created_at"`
	RunStartedAt   string      `json:"run_started_at"`
	LatestActivity string      `json:"latest_activity_at"`
	RunningForMS   int64       `json:"running_for_ms"`
	QuietForMS     int64       `json:"quiet_for_ms"`
	Occupancy      *Occupancy  `json:"occupancy,omitempty"`
}

// Occupancy is how many places of the tree are taken.
type Occupancy struct {
	Running    int64 `json:"running_delegates"`
	RunningCap int64 `json:"running_delegates_cap"`
	Drives     int64 `json:"attention_drives"`
	DrivesCap  int64 `json:"attention_drives_cap"`
	// Retained are the idle delegates that are in memory.
	Retained    int64 `json:"retained_terminal"`
	RetainedCap int64 `json:"retained_terminal_cap"`
}

func (t *State) occupancy() *Occupancy {
	l := t.Session().Run.Limits
	return &Occupancy{t.Delegates.Running, l.MaxConcurrentDelegates, t.Delegates.Driving, l.AttentionDriveLimit, t.retained(nil), l.MaxRetainedTerminal}
}

// liveJob tells what only the process knows of a job that runs.
type liveJob func(*job.State) job.Live

// activity is the latest moment at which something of the delegate was seen: what
// its journal says behind the beginning of the run, or output of what it runs. It
// is what listings show and what the quiet watchdog looks at.
func (t *State) activity(d *delegate.State, live liveJob) time.Time {
	at := d.StartedAt
	if d.Last != nil && d.Last.EndedAt.After(at) {
		at = d.Last.EndedAt
	}
	s := t.Sessions[d.Session]
	if s == nil {
		return at
	}
	if s.LastAt.After(at) && !s.LastAt.Equal(s.Run.At) {
		at = s.LastAt
	}
	for _, x := range s.Live() {
		if out := live(x).LastAt; out.After(at) {
			at = out
		}
	}
	return at
}

// unseen knows of no job what it printed last.
func unseen(*job.State) job.Live { return job.Live{} }

func outcome(d *delegate.State) *Outcome {
	if d.Last == nil {
		return nil
	}
	return &Outcome{d.Last.Status, d.Last.Reason, d.Last.Error, job.Stamp(d.Last.EndedAt)}
}

// StatusOf is a delegate as job_status shows it.
func (t *State) StatusOf(d *delegate.State, live liveJob, now time.Time) StatusView {
	at := t.activity(d, live)
	v := StatusView{
		ID: d.ID, Type: "delegate", Status: d.Status(), Name: d.Descriptor.Name, Task: d.Task, AgentType: d.Descriptor.AgentType,
		Model: d.Descriptor.Model, Allowance: d.Descriptor.Allowance, Owner: d.Owner, Parent: d.Parent, Child: d.Session, Ref: d.Ref(), Resumable: true,
		Outcome: outcome(d), CreatedAt: job.Stamp(d.CreatedAt), RunStartedAt: job.Stamp(d.StartedAt), LatestActivity: job.Stamp(at),
		Occupancy: t.occupancy(),
	}
	end := now
	if !d.Open && d.Last != nil {
		end = d.Last.EndedAt
	}
	if d.Open && d.Stops > 0 {
		v.Reason = delegate.StopPending
	}
	v.RunningForMS = max(0, end.Sub(d.StartedAt).Milliseconds())
	v.QuietForMS = max(0, now.Sub(at).Milliseconds())
	return v
}

// RowOf is a delegate as job_list shows it, to one who does not run it.
func (t *State) RowOf(d *delegate.State) Row { return t.rowOf(d, t.activity(d, unseen)) }

func (t *State) rowOf(d *delegate.State, activity time.Time) Row {
	return Row{
		ID: d.ID, Type: "delegate", Status: d.Status(), Name: d.Descriptor.Name, Description: text.Preview(d.Task, 400), AgentType: d.Descriptor.AgentType,
		Model: d.Descriptor.Model, Owner: d.Owner, Parent: d.Parent, Child: d.Session, Ref: d.Ref(), Resumable: true, Outcome: outcome(d),
		StartedAt: job.Stamp(d.StartedAt), LastActivity: job.Stamp(activity),
	}
}

// status answers for a delegate, or for a shell job of one, that the caller can
// list. It consumes nothing: what is owed is owed to the owner.
func (w *work) status(s id.Session, c transcript.Call, a session.JobStatusCall) {
	if j, ok := id.ParseJob(a.Target); ok {
		x := w.t.nestedJob(j)
		if x == nil || !w.t.sees(s, j.Owner()) {
			w.refuse(s, c.ID, fault.New(fault.TargetNotFound, "job_status: no job %s that you can see; job_list shows the jobs there are", j))
			return
		}
		v := job.View(x, w.liveOf(x), w.f.Now)
		v.ParentDelegate = w.t.Sessions[j.Owner()].Delegate
		w.answerRead(s, c, v)
		return
	}
	d := w.t.Delegates.Get(id.Delegate(a.Target))
	if d == nil || !w.t.reaches(s, d.Owner) {
		w.refuse(s, c.ID, fault.New(fault.TargetNotFound, "job_status: no delegate %s that you can see; job_list shows those there are", text.Quote(a.Target, 80)))
		return
	}
	w.answerRead(s, c, w.t.StatusOf(d, w.liveOf, w.f.Now))
}

// answerRead is answer, with the remark on what is read over and over.
func (w *work) answerRead(s id.Session, c transcript.Call, v any) {
	in := session.CallDone{Call: c.ID, Data: text.Encode(v)}
	if note := w.t.Sessions[s].PollNote(c); note != "" {
		in.Text = string(in.Data) + "\n" + note
	}
	w.tell(s, in)
}

func (w *work) liveOf(x *job.State) job.Live {
	if x.Terminal() {
		return job.Live{Job: x.ID}
	}
	return w.f.Live(x.ID)
}

// ListResult is the answer of job_list in a tree with delegates.
type ListResult struct {
	session.ListResult
	Occupancy *Occupancy `json:"occupancy"`
}

// list answers with one page of what the caller can see, newest activity first.
func (w *work) list(s id.Session, c transcript.Call, a session.JobListCall) {
	page, err := job.Page("job_list", a.Limit, a.Offset)
	if err != nil {
		w.refuse(s, c.ID, err)
		return
	}
	r := ListResult{Occupancy: w.t.occupancy()}
	var shown string
	o := r.Occupancy
	r.ListResult, shown = w.t.Sessions[s].List(w.t.rows(s, a, w.liveOf), page, w.allowance(s), w.limits(),
		fmt.Sprintf("\ndelegate jobs running: %d of %d; attention drives: %d of %d", o.Running, o.RunningCap, o.Drives, o.DrivesCap))
	if note := w.t.Sessions[s].PollNote(c); note != "" {
		shown += "\n" + note
	}
	w.tell(s, session.CallDone{Call: c.ID, Text: shown, Data: text.Encode(r)})
}

// lineOf is a delegate's line in the text of job_list.
func (t *State) lineOf(d *delegate.State, activity time.Time, p job.Place, preview int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s delegate %s", d.ID, d.Status())
	if d.Last != nil && !d.Open {
		fmt.Fprintf(&b, " (last: %s", d.Last.Status)
		if d.Last.Reason != "" {
			b.WriteString("/" + d.Last.Reason)
		}
		b.WriteString(")")
	}
	fmt.Fprintf(&b, " %s last_activity=%s%s", d.Ref(), job.Stamp(activity), p.Words())
	if what := text.Preview(strings.TrimSpace(d.Descriptor.Name+" "+d.Task), preview); what != "" {
		b.WriteString(" " + what)
	}
	return b.String()
}

// delegateLines says in a line each which delegates a session has.
func (t *State) delegateLines(s id.Session) []string {
	var out []string
	for d := range t.Delegates.OwnedBy(s) {
		name := d.Descriptor.Name
		if name == "" {
			name = d.Task
		}
		out = append(out, fmt.Sprintf("%s %s: %s", d.ID, d.Status(), text.Preview(name, 80)))
	}
	return out
}

package tree

import (
	"fmt"
	"slices"
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
	Depth        *int        `json:"depth,omitempty"`
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

// activity is the latest moment at which something of the delegate was seen.
func (t *State) activity(d *delegate.State) time.Time {
	at := d.StartedAt
	if s := t.Sessions[d.Session]; s != nil && s.LastAt.After(at) {
		at = s.LastAt
	}
	if d.Last != nil && d.Last.EndedAt.After(at) {
		at = d.Last.EndedAt
	}
	return at
}

func outcome(d *delegate.State) *Outcome {
	if d.Last == nil {
		return nil
	}
	return &Outcome{d.Last.Status, d.Last.Reason, d.Last.Error, job.Stamp(d.Last.EndedAt)}
}

// StatusOf is a delegate as job_status shows it.
func (t *State) StatusOf(d *delegate.State, now time.Time) StatusView {
	v := StatusView{
		ID: d.ID, Type: "delegate", Status: d.Status(), Name: d.Descriptor.Name, Task: d.Task, AgentType: d.Descriptor.AgentType,
		Model: d.Descriptor.Model, Allowance: d.Descriptor.Allowance, Owner: d.Owner, Parent: d.Parent, Child: d.Session, Ref: d.Ref(), Resumable: true,
		Outcome: outcome(d), CreatedAt: job.Stamp(d.CreatedAt), RunStartedAt: job.Stamp(d.StartedAt), LatestActivity: job.Stamp(t.activity(d)),
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
	v.QuietForMS = max(0, now.Sub(t.activity(d)).Milliseconds())
	return v
}

// RowOf is a delegate as job_list shows it.
func (t *State) RowOf(d *delegate.State) Row {
	return Row{
		ID: d.ID, Type: "delegate", Status: d.Status(), Name: d.Descriptor.Name, Description: text.Preview(d.Task, 400), AgentType: d.Descriptor.AgentType,
		Model: d.Descriptor.Model, Owner: d.Owner, Parent: d.Parent, Child: d.Session, Ref: d.Ref(), Resumable: true, Outcome: outcome(d),
		StartedAt: job.Stamp(d.StartedAt), LastActivity: job.Stamp(t.activity(d)),
	}
}

// status answers for a delegate, or for a shell job of one, that the caller can
// list. It consumes nothing: what is owed is owed to the owner.
func (w *work) status(s id.Session, c transcript.Call, a session.JobStatusCall) {
	if j, ok := id.ParseJob(a.Target); ok {
		x := w.t.nestedJob(j)
		if x == nil || w.t.directAbove(s, j.Owner()) == "" {
			w.refuse(s, c.ID, fault.New(fault.TargetNotFound, "job_status: no job %s that you can see; job_list shows the jobs there are", j))
			return
		}
		v := job.View(x, w.liveOf(x), w.f.Now)
		v.ParentDelegate = w.t.Sessions[j.Owner()].Delegate
		w.answerRead(s, c, v)
		return
	}
	d := w.t.Delegates.Get(id.Delegate(a.Target))
	if d == nil || d.Owner != s && w.t.directAbove(s, d.Owner) == "" {
		w.refuse(s, c.ID, fault.New(fault.TargetNotFound, "job_status: no delegate %q that you can see; job_list shows those there are", text.Preview(a.Target, 80)))
		return
	}
	w.answerRead(s, c, w.t.StatusOf(d, w.f.Now))
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
	page, err := job.Page(a.Limit, a.Offset)
	if err != nil {
		w.refuse(s, c.ID, err)
		return
	}
	r := ListResult{Occupancy: w.t.occupancy()}
	var shown string
	r.ListResult, shown = w.t.Sessions[s].List(w.rows(s, a), page, w.allowance(s), w.limits())
	o := r.Occupancy
	shown += fmt.Sprintf("\ndelegate jobs running: %d of %d; attention drives: %d of %d", o.Running, o.RunningCap, o.Drives, o.DrivesCap)
	if note := w.t.Sessions[s].PollNote(c); note != "" {
		shown += "\n" + note
	}
	w.tell(s, session.CallDone{Call: c.ID, Text: shown, Data: text.Encode(r)})
}

func (w *work) rows(s id.Session, a session.JobListCall) []job.Item {
	all := w.rowsOf(s, a, nil)
	if !a.IncludeNested && !a.IncludeDescendants {
		return all
	}
	below := map[id.Session]int{s: 0}
	if a.IncludeDescendants {
		zero := 0
		all = w.rowsOf(s, a, &zero)
	}
	for d := range w.t.Delegates.All {
		up, ok := below[d.Owner]
		if !ok || up > 0 && !a.IncludeDescendants {
			continue
		}
		depth := up + 1
		below[d.Session] = depth
		if a.IncludeDescendants {
			all = append(all, w.rowsOf(d.Session, a, &depth)...)
		} else {
			all = append(all, w.shells(d.Session, a, nil)...)
		}
	}
	return all
}

// rowsOf lists what a session owns: shell jobs and direct delegates.
func (w *work) rowsOf(s id.Session, a session.JobListCall, depth *int) []job.Item {
	out := w.shells(s, a, depth)
	if len(a.Type) > 0 && !slices.Contains(a.Type, "delegate") {
		return out
	}
	for d := range w.t.Delegates.OwnedBy(s) {
		if len(a.Status) > 0 && !slices.Contains(a.Status, d.Status()) &&
			(d.Open || d.Last == nil || !slices.Contains(a.Status, string(d.Last.Status))) {
			continue
		}
		out = append(out, job.Item{At: w.t.activity(d), ID: string(d.ID),
			Row:  func() any { r := w.t.RowOf(d); r.Depth = depth; return r },
			Line: func(n int) string { return w.t.lineOf(d, n) }})
	}
	return out
}

func (w *work) shells(s id.Session, a session.JobListCall, depth *int) []job.Item {
	x := w.t.Sessions[s]
	if x == nil {
		return nil
	}
	return x.Items(a, func(j id.Job) job.Live { return w.liveOf(x.Job(j)) }, depth)
}

// lineOf is a delegate's line in the text of job_list.
func (t *State) lineOf(d *delegate.State, preview int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s delegate %s", d.ID, d.Status())
	if d.Last != nil && !d.Open {
		fmt.Fprintf(&b, " (last: %s", d.Last.Status)
		if d.Last.Reason != "" {
			b.WriteString("/" + d.Last.Reason)
		}
		b.WriteString(")")
	}
	fmt.Fprintf(&b, " %s last_activity=%s", d.Ref(), job.Stamp(t.activity(d)))
	if p := text.Preview(strings.TrimSpace(d.Descriptor.Name+" "+d.Task), preview); p != "" {
		b.WriteString(" " + p)
	}
	return b.String()
}

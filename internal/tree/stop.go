package tree

import (
	"fmt"
	"slices"

	"evener/internal/delegate"
	"evener/internal/effect"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
	"evener/internal/text"
	"evener/internal/transcript"
)

// StopResult is the answer of job_stop for a delegate. What is read of the
// settled delegate is absent until the stop has finished.
type StopResult struct {
	ID          id.Delegate `json:"id"`
	Type        string      `json:"type"`
	Status      string      `json:"status"`
	Reason      *string     `json:"reason"`
	Previous    string      `json:"previous_status,omitempty"`
	Outcome     string      `json:"outcome"`
	RequestedBy string      `json:"requested_by"`
	Resumable   *bool       `json:"resumable,omitempty"`
	Scratch     string      `json:"scratch_path,omitempty"`
	// Worktree is there for a delegate that has one.
	Worktree *delegate.Evidence `json:"worktree,omitempty"`
}

// stop stops a delegate of the caller with everything below it, or a shell job
// of one of its delegates.
func (w *work) stop(s id.Session, c transcript.Call, a session.JobStopCall) {
	wait, err := job.StopWait(a.MaxWaitMS)
	if err != nil {
		w.refuse(s, c.ID, err)
		return
	}
	if j, ok := id.ParseJob(a.Target); ok {
		w.stopNested(s, c, a, j)
		return
	}
	x, _ := id.ParseDelegate(a.Target)
	d := w.t.Delegates.Get(x)
	if err := w.controllable(s, "job_stop", a.Target, d); err != nil {
		w.refuse(s, c.ID, err)
		return
	}
	if w.t.Delegates.StopOf(d.ID) == nil {
		w.fence(s, d)
	}
	if w.err != nil {
		return
	}
	if wait > 0 {
		w.tell(s, session.WaitStop{Call: c.ID, MaxWaitMS: wait.Milliseconds()})
		return
	}
	w.answer(s, c.ID, pendingStop(d, w.t.Delegates.StopOf(d.ID)))
}

// fence is the durable request; from here on nothing new is admitted below it.
func (w *work) fence(s id.Session, d *delegate.State) {
	role := "root"
	if s != w.t.Root {
		role = "delegate"
	}
	stop := fmt.Sprintf("%s/stop/%d", d.ID, d.Revision)
	w.emit(delegate.StopRequested{
		Stop: stop, Delegate: d.ID, Members: w.t.Delegates.Subtree(d.ID), RequestedBy: fmt.Sprintf("%s session %s", role, s), Previous: d.Status(),
	})
	w.tellFence(w.t.Delegates.StopOf(d.ID))
}

// tellFence stops the members that have given no receipt, what is owned before
// its owner.
func (w *work) tellFence(stop *delegate.Stop) {
	if w.err != nil || stop == nil {
		return
	}
	for _, m := range slices.Backward(stop.Members) {
		if !stop.Receipts[m] {
			w.tell(w.t.Delegates.Get(m).Session, session.Fence{Stop: stop.StopRequested.Stop, Close: stop.Delegate == ""})
		}
	}
}

// controllable says whether a session may stop a delegate: its own ones only.
func (w *work) controllable(s id.Session, tool, target string, d *delegate.State) *fault.Error {
	switch {
	case d == nil:
		return fault.New(fault.TargetNotFound, "%s: no target %s; job_list shows the targets there are", tool, text.Quote(target, 80))
	case d.Owner == s:
		return nil
	}
	if via := w.t.directAbove(s, d.Owner); via != "" {
		return fault.New(fault.NotControllable, "%s: %s belongs to session %s below your delegate %s; stop %s to stop that subtree", tool, target, d.Owner, via, via)
	}
	return fault.New(fault.TargetNotFound, "%s: no target %s of yours; job_list shows the targets there are", tool, text.Quote(target, 80))
}

// directAbove is the caller's direct delegate in whose subtree a session lies;
// empty if it lies in none.
func (t *State) directAbove(caller, s id.Session) id.Delegate {
	for x := t.Sessions[s]; x != nil && x.Delegate != ""; x = t.Sessions[x.Parent] {
		if x.Parent == caller {
			return x.Delegate
		}
	}
	return ""
}

func pendingStop(d *delegate.State, stop *delegate.Stop) StopResult {
	reason := delegate.StopPending
	return StopResult{ID: d.ID, Type: "delegate", Status: "running", Reason: &reason, Previous: stop.Previous, Outcome: "stop_requested", RequestedBy: stop.RequestedBy}
}

// stopOver takes a member's receipt. The last one finishes the stop.
func (w *work) stopOver(s id.Session, name string) {
	d := w.of(s)
	var stop *delegate.Stop
	for _, x := range w.t.Delegates.Stops() {
		if x.StopRequested.Stop == name {
			stop = x
		}
	}
	if d == nil || stop == nil || !slices.Contains(stop.Members, d.ID) || stop.Receipts[d.ID] {
		return
	}
	w.emit(delegate.StopReceipt{Stop: name, Delegate: d.ID})
	if len(stop.Receipts) < len(stop.Members) || w.err != nil {
		return
	}
	w.finishStop(stop)
}

func (w *work) finishStop(stop *delegate.Stop) {
	if stop.Delegate != "" {
		w.discardWithin(stop)
	}
	w.emit(delegate.StopFinished{Stop: stop.StopRequested.Stop, Delegate: stop.Delegate})
	if w.err != nil {
		return
	}
	if d := w.t.Delegates.Get(stop.Delegate); d != nil {
		if c, a, ok := w.open(d.Owner, ""); ok {
			if call, is := a.(session.JobStopCall); is && call.Target == string(d.ID) {
				w.answerStopped(d, c.ID)
			}
		}
		if d.Owner != w.t.Root {
			w.tell(d.Owner, session.Settle{})
		}
	}
	w.driveWaiting()
	w.rest()
}

// discardWithin drops what members owe to members.
func (w *work) discardWithin(stop *delegate.Stop) {
	for _, m := range stop.Members {
		d := w.t.Delegates.Get(m)
		if m == stop.Delegate || len(d.Owed) == 0 {
			continue
		}
		var ids []string
		for _, x := range d.Owed {
			ids = append(ids, x.ID)
		}
		w.emit(delegate.Discarded{Delegate: m, Deliveries: ids})
	}
}

// answerStopped answers the call whose stop has finished; of a delegate with a
// worktree once that was looked at.
func (w *work) answerStopped(d *delegate.State, call string) {
	if d.Descriptor.Worktree != nil {
		w.order(d.Owner, effect.LookWorktree{Call: call, Delegate: d.ID})
		return
	}
	w.answer(d.Owner, call, w.stopResult(d))
}

func (w *work) looked(s id.Session, in WorktreeLooked) {
	c, _, ok := w.open(s, in.Call)
	d := w.t.Delegates.Get(in.Delegate)
	if !ok || d == nil {
		return
	}
	r := w.stopResult(d)
	r.Worktree = &in.Evidence
	w.answer(s, c.ID, r)
}

func (w *work) stopResult(d *delegate.State) StopResult {
	reason, resumable, stop := delegate.StoppedByParent, true, d.Stopped
	r := StopResult{ID: d.ID, Type: "delegate", Status: "idle", Reason: &reason, Previous: stop.Previous, Outcome: "cancelled_by_request",
		RequestedBy: stop.RequestedBy, Resumable: &resumable, Scratch: w.f.Scratch}
	if stop.Previous == "idle" {
		r.Reason, r.Outcome = nil, "already_idle"
	}
	return r
}

// answerStopNow answers a stop whose wait is over: the stop goes on.
func (w *work) answerStopNow(s id.Session, c transcript.Call, a session.JobStopCall) {
	if j, ok := id.ParseJob(a.Target); ok {
		if x := w.t.nestedJob(j); x != nil {
			w.answer(s, c.ID, job.ResultOfStop(x, job.Running))
		}
		return
	}
	d := w.t.Delegates.Get(id.Delegate(a.Target))
	if stop := w.t.Delegates.StopOf(d.ID); stop != nil {
		w.answer(s, c.ID, pendingStop(d, stop))
	}
}

func (t *State) nestedJob(j id.Job) *job.State {
	if s := t.Sessions[j.Owner()]; s != nil {
		return s.Job(j)
	}
	return nil
}

// stopNested stops a job of a direct delegate.
func (w *work) stopNested(s id.Session, c transcript.Call, a session.JobStopCall, j id.Job) {
	x := w.t.nestedJob(j)
	via := w.t.directAbove(s, j.Owner())
	switch {
	case x == nil || via == "":
		w.refuse(s, c.ID, fault.New(fault.TargetNotFound, "job_stop: no job %s that you can see; job_list shows the jobs there are", j))
	case via.Session() != j.Owner():
		w.refuse(s, c.ID, fault.New(fault.NotControllable, "job_stop: %s belongs to session %s below your delegate %s; stop %s to stop that subtree", j, j.Owner(), via, via))
	case x.Terminal():
		w.answer(s, c.ID, job.ResultOfStop(x, x.Public()))
	default:
		w.tell(j.Owner(), session.StopShell{Job: j, Children: a.IncludeChildren})
	}
}

// answerShellStop answers the call above that asked for the stop of a job:
// once it is signalled, or when the job has ended.
func (w *work) answerShellStop(j id.Job, signalled bool) {
	owner := w.t.Sessions[j.Owner()]
	x := w.t.nestedJob(j)
	if owner == nil || x == nil || owner.Parent == "" {
		return
	}
	c, a, ok := w.open(owner.Parent, "")
	call, isStop := a.(session.JobStopCall)
	if !ok || !isStop || call.Target != string(j) {
		return
	}
	if wait, _ := job.StopWait(call.MaxWaitMS); signalled && wait > 0 && !x.Terminal() {
		w.tell(owner.Parent, session.WaitStop{Call: c.ID, MaxWaitMS: wait.Milliseconds()})
		return
	}
	w.answer(owner.Parent, c.ID, job.ResultOfStop(x, job.Running))
}

// closeBelow fences the whole tree when its root closes. What does not run
// needs no stop.
func (w *work) closeBelow() {
	var members []id.Delegate
	for d := range w.t.Delegates.All {
		if s := w.t.Sessions[d.Session]; d.Open || s != nil && len(s.Live()) > 0 {
			members = append(members, d.ID)
		}
	}
	if len(members) == 0 || w.t.Delegates.Closing() {
		w.rest()
		return
	}
	w.emit(delegate.StopRequested{Stop: fmt.Sprintf("close/%d", w.t.Session().Run.N), Members: members, RequestedBy: "close of the root session " + string(w.t.Root)})
	w.tellFence(w.t.Delegates.StopOf(""))
}

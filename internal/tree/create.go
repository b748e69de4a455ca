package tree

import (
	"strings"

	"evener/internal/delegate"
	"evener/internal/effect"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/policy"
	"evener/internal/session"
	"evener/internal/task"
	"evener/internal/transcript"
)

// nameLen bounds a delegate's name, in code points.
const nameLen = 80

// prepare checks what needs no look outside, and asks for the rest: the role,
// the model, the schema. Nothing is minted before all of it is known.
func (w *work) prepare(s id.Session, c transcript.Call, a session.DelegateCall) {
	err := checkDelegate(a)
	var allowance int64
	if err == nil {
		allowance, err = policy.Allowance(w.allowance(s), a.Allowance)
	}
	if err == nil {
		err = w.admits(s, "delegate")
	}
	if err != nil {
		w.refuse(s, c.ID, err)
		return
	}
	w.order(s, effect.PrepareDelegate{Call: c.ID, Allowance: allowance})
}

func checkDelegate(a session.DelegateCall) *fault.Error {
	switch {
	case a.MaxWaitMS != nil:
		return fault.Invalid("delegate creation does not accept max_wait_ms")
	case strings.TrimSpace(a.Prompt) == "":
		return fault.Invalid("delegate: prompt is empty; give the brief")
	case len(a.Prompt) > maxBrief:
		return tooLong("delegate: prompt", a.Prompt)
	case strings.ContainsAny(a.Name, "\n\r"):
		return fault.Invalid("delegate: name must be one line")
	case len([]rune(a.Name)) > nameLen:
		return fault.Invalid("delegate: name is longer than %d characters", nameLen)
	}
	return nil
}

// allowance is how deep a session may delegate.
func (w *work) allowance(s id.Session) int64 {
	if d := w.of(s); d != nil {
		return d.Descriptor.Allowance
	}
	return w.t.Session().Run.Limits.MaxSubagentDepth
}

// admits refuses new work in a subtree that stops, while the root closes, and
// where it could not be made durable.
func (w *work) admits(s id.Session, tool string) *fault.Error {
	switch d := w.of(s); {
	case w.t.Session().Run.Ending != "" || w.t.Delegates.Closing():
		return fault.New(fault.Closing, "%s: the session is closing; nothing new is admitted", tool)
	case d != nil && d.Stops > 0:
		return fault.New(fault.Closing, "%s: this delegate is being stopped; nothing new is admitted", tool)
	case w.f.Full != "":
		return fault.New(fault.StateFull, "%s: the filesystem of %s is full, so the start could not be recorded; free space there", tool, w.f.Full)
	}
	return nil
}

// slot refuses a generation that the tree has no room for.
func (w *work) slot(tool string) *fault.Error {
	n, limit := w.t.Delegates.Running, w.t.Session().Run.Limits.MaxConcurrentDelegates
	if limit > 0 && n >= limit {
		return fault.New(fault.TreeAtCapacity, "%s: %d of %d delegate jobs are running in this tree (%d attention drives beside them); wait for a report or stop one", tool, n, limit, w.t.Delegates.Driving)
	}
	return nil
}

// create mints the delegate and starts its first generation. The result of the
// call and the first line of the delegate's own journal follow this one.
func (w *work) create(s id.Session, in Prepared) {
	c, call, ok := w.open(s, in.Call)
	a, isDelegate := call.(session.DelegateCall)
	if !ok || !isDelegate {
		w.dropUnused(s, in)
		return
	}
	err := in.Refused
	if err == nil {
		err = w.admits(s, "delegate")
	}
	if err == nil {
		err = w.slot("delegate")
	}
	if err == nil {
		err = w.forks(s, a, in.Descriptor)
	}
	if err == nil {
		err = w.retain("delegate", nil)
	}
	if err != nil {
		w.dropUnused(s, in)
		w.refuse(s, c.ID, err)
		return
	}
	d := id.DelegateOf(in.Child)
	tasks, brief, warning := seed(a)
	w.emit(delegate.Created{
		Delegate: d, Session: in.Child, Owner: s, Parent: w.t.Sessions[s].Delegate, Call: c.ID, Descriptor: in.Descriptor, Tasks: tasks, Fork: w.forkOf(s, a),
	})
	w.emit(delegate.GenerationStarted{Delegate: d, Generation: 1, Purpose: delegate.ForOwner, Text: brief, Call: c.ID})
	if w.err != nil {
		return
	}
	x := w.t.Delegates.Get(d)
	w.begin(x, false)
	w.answer(s, c.ID, CreateResult{
		Delegate: d, Session: in.Child, Type: "delegate", Status: "running", Resumable: true, Ref: x.Ref(), Model: in.Descriptor.Model, Name: a.Name, Warning: warning,
	})
}

// dropUnused removes the worktree that was made for a delegate that does not
// come to be.
func (w *work) dropUnused(s id.Session, in Prepared) {
	if x := in.Descriptor.Worktree; x != nil {
		w.order(s, effect.DropWorktree{Worktree: *x})
	}
}

// CreateResult is the answer of delegate.
type CreateResult struct {
	Delegate  id.Delegate `json:"delegate_id"`
	Session   id.Session  `json:"child_session_id"`
	Type      string      `json:"type"`
	Status    string      `json:"status"`
	Resumable bool        `json:"resumable"`
	Ref       string      `json:"transcript_ref"`
	Model     string      `json:"model"`
	Name      string      `json:"name,omitempty"`
	Warning   string      `json:"warning,omitempty"`
}

// begin hands the open generation of a delegate to its session.
func (w *work) begin(d *delegate.State, lost bool) {
	w.inherit(d)
	if s := w.t.Sessions[d.Session]; s != nil && s.Transcript.Released() {
		w.order(d.Session, effect.RestoreSession{})
	}
	w.tell(d.Session, w.t.beginOf(d, lost))
	if lost {
		return
	}
	if ms := w.limits().QuietWatchdogMS; ms > 0 {
		w.order(w.t.Root, effect.SetTimer{Key: quietTimer(d), After: millis(ms)})
	}
}

// beginOf is the input that starts the open generation of a delegate.
func (t *State) beginOf(d *delegate.State, lost bool) session.Begin {
	limits := t.Session().Run.Limits
	limits.MaxSubagentDepth = d.Descriptor.Allowance
	in := session.Begin{
		Generation: d.Generation, Text: d.Text, Lost: lost, Limits: limits, Exits: t.Session().Run.Mode == session.OneShot, Schema: d.Descriptor.ResultSchema,
		Context: t.contextOf(d),
	}
	if s := t.Sessions[d.Session]; s == nil || s.Run.N == 0 {
		in.Create = t.createdOf(d)
		for _, x := range d.Tasks {
			in.Tasks = append(in.Tasks, task.Step(x))
		}
	}
	return in
}

func (t *State) createdOf(d *delegate.State) *session.Created {
	return &session.Created{Session: d.Session, Root: t.Root, Dir: d.Descriptor.Dir, Parent: d.Owner, Delegate: d.ID}
}

func (w *work) limits() session.Limits { return w.t.Session().Run.Limits }

// seed makes the task list of a new delegate, and its first message: the
// prompt, and the list in order. A list that cannot be made is a warning, no
// failure.
func seed(a session.DelegateCall) (tasks []delegate.Task, brief, warning string) {
	if len(a.TaskList) == 0 {
		return nil, a.Prompt, ""
	}
	items := make([]task.Item, len(a.TaskList))
	for i, x := range a.TaskList {
		items[i] = task.Item(x)
	}
	e, err := task.Seed("task_list", items)
	if err != nil {
		return nil, a.Prompt, "the task list was not made: " + err.Text
	}
	var s task.State
	if s.Apply(e) != nil {
		return nil, a.Prompt, "the task list was not made"
	}
	for _, x := range e.Tasks {
		tasks = append(tasks, delegate.Task(x))
	}
	return tasks, a.Prompt + "\n\n" + task.Brief(s.All()), ""
}

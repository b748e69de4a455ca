package session

import (
	"fmt"
	"strings"

	"evener/internal/attention"
	"evener/internal/effect"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/text"
	"evener/internal/transcript"
)

// launched: the held shell exists. Its line lets the command run; a background
// call has its result with it, so the job id is durable before it is told.
func (w *work) launched(in Launched) {
	s := w.s
	x := s.jobs[in.Job]
	if x == nil || x.Status != job.Intent {
		return
	}
	if s.Run.Ending != "" || s.Turn != nil && s.Turn.Interrupted {
		why := "the session closed"
		if s.Run.Ending == "" {
			why = "the turn was interrupted"
		}
		e, fx := job.NeverReleased(x, why)
		w.emit(e)
		w.order(fx)
		w.settle(x, job.Output{})
		return
	}
	e, fx := job.Launched(x, in.Launch, msDuration(s.Run.Limits.CommandTimeoutMS))
	w.emit(e)
	w.order(fx...)
	if c, ok := w.waiting(x.Call); ok && x.Mode == job.Background {
		w.answer(c, job.ResultOfBackground(x), "")
		w.calls()
	}
}

func (w *work) launchFailed(in LaunchFailed) {
	x := w.s.jobs[in.Job]
	if x == nil || x.Status != job.Intent {
		return
	}
	w.emit(job.LaunchFailed(x, in.Text))
	w.settle(x, job.Output{})
}

// exited ends a job with what is known of its exit.
func (w *work) exited(in Exited) {
	x := w.s.jobs[in.Job]
	if x == nil || x.Terminal() {
		return
	}
	w.emit(job.Exited(x, in.Exit, w.s.Run.Limits.InlineOutputBytes))
	w.settle(x, in.Exit.Output())
}

// settle is what follows a terminal record, in the same line: the result of
// the call that waited for the command, or the notice that is owed; retention;
// the result of a stop; then the next call of the reply, or the wake of an idle
// session. A call that waits for something else stays in progress, also while
// the session closes.
func (w *work) settle(x *job.State, o job.Output) {
	s := w.s
	if w.err != nil {
		return
	}
	excerpt := o.Tail
	if w.facts.Full != "" {
		excerpt = "" // a full disk has room for the end, not for its excerpt; the output can be read
	}
	call, inCall := w.waiting(x.Call)
	stop, stopped := w.stopping(x)
	if x.Durable() {
		w.jobOver(x) // what watches have to say of it comes before its own notice
	}
	switch {
	case inCall:
		w.answer(call, job.ResultOfExit(x, o, s.Run.Limits.InlineOutputBytes), leftBehindNote(x))
		if x.End.Kept {
			w.emit(attention.SettledInline{Source: x.ID})
		}
	case x.Durable() && !s.Attention.Known(x.ID):
		w.arm(x, excerpt, x.End.Status != job.Failed || x.End.Reason != job.StartFailed)
	}
	if !x.Durable() {
		w.order(effect.DropOutput{Job: x.ID})
	}
	w.retain()
	if stopped {
		w.answer(stop, job.ResultOfStop(x, job.Running), "")
	}
	if !s.root() {
		w.signal(JobEnded{Job: x.ID})
	}
	switch {
	case inCall, stopped:
		w.calls()
	case s.Turn == nil && s.Run.Open:
		w.next(true)
	case !s.Run.Open && len(s.Stops) == 0 && len(s.Attention.Unshown()) > 0:
		w.signal(Owed{})
	}
	w.finishClose(false)
}

// arm owes the owner the notice of a job's end. known says that tail and the
// byte count are what the job printed.
func (w *work) arm(x *job.State, tail string, known bool) {
	w.emit(attention.Armed{
		ID: attention.ID(x.ID, x.End.Generation), Source: x.ID, Generation: x.End.Generation,
		Frame: attention.Frame(attention.ShellEnd{
			Job: x.ID, Status: string(x.Status), Reason: x.End.Reason, ExitCode: x.End.ExitCode,
			Total: x.End.TotalBytes, Known: known, Tail: tail,
		}),
	})
}

func leftBehindNote(x *job.State) string {
	if x.End.LeftBehind == 0 {
		return ""
	}
	return fmt.Sprintf("(%d process(es) that the command left behind still run; they end with the session. A server belongs in mode=\"detached\".)", x.End.LeftBehind)
}

// retain prunes the output of the oldest ended jobs once a session's logs
// exceed their bound together. Records stay.
func (w *work) retain() {
	limit := w.s.Run.Limits.OutputKeepTotal
	if limit <= 0 || w.s.kept <= limit {
		return
	}
	var ended []*job.State
	for _, x := range w.s.Jobs() {
		if x.Terminal() && !x.Pruned && x.End.Retained() > 0 {
			ended = append(ended, x)
		}
	}
	byEnd(ended)
	for _, x := range ended {
		if w.s.kept <= limit {
			return
		}
		w.emit(job.OutputPruned{Job: x.ID})
		w.order(effect.DropOutput{Job: x.ID})
	}
}

// timer routes a timer to its rule. A late or stale one does nothing.
func (w *work) timer(key string) {
	kind, arg, _ := strings.Cut(key, ":")
	switch kind {
	case "wait":
		w.waitExpired(id.Job(arg))
	case "runtime":
		if e, fx, ok := job.RuntimeExpired(w.s.jobs[id.Job(arg)], w.grace()); ok {
			w.emit(e)
			w.order(fx...)
		}
	case "stop":
		w.stopWaitExpired(arg)
	case "interrupt":
		w.interruptOverdue(id.Job(arg))
	case jobsTimer:
		w.jobsOverdue()
	case watchTimer:
		w.watchTick(id.Watch(arg))
	case "send":
		w.expired(arg)
	case closeTimer:
		w.finishClose(true)
	}
}

func sendTimer(call string) string { return "send:" + call }
func stopTimer(call string) string { return "stop:" + call }

// CallTimers name the timers that a call may wait with. They are over with its answer.
func CallTimers(call string) [2]string { return [2]string{sendTimer(call), stopTimer(call)} }

// waitExpired promotes a foreground command: its call returns with a job id,
// its end will be announced.
func (w *work) waitExpired(j id.Job) {
	x := w.s.jobs[j]
	e, fx, ok := job.WaitExpired(x, w.facts.Now)
	if !ok {
		return
	}
	if w.facts.Full != "" { // a hand-off could not be made durable: the call waits on
		w.order(effect.SetTimer{Key: job.WaitTimer(j), After: msDuration(w.s.Run.Limits.CommandTimeoutMS)})
		return
	}
	w.emit(e)
	w.order(fx...)
	if c, ok := w.waiting(x.Call); ok {
		w.answer(c, job.ResultOfPromotion(x, w.facts.Output(j), w.s.Run.Limits.InlineOutputBytes), "")
		w.calls()
	}
}

// restarted settles what the lost process left open, each thing once: jobs
// without a terminal record, calls without a result, the turn and the run. It
// decides nothing where there is nothing to say.
func (w *work) restarted(in Restarted) {
	s := w.s
	if s.Run.N == 0 { // nothing has begun: what is open was another's, and the copy of it goes on
		return
	}
	lost := map[string]*job.State{} // by the call that still waits for it
	for _, x := range s.Live() {
		f := in.Jobs[x.ID]
		w.emit(job.Lost(x, f))
		if w.err != nil {
			return
		}
		if c, ok := w.waiting(x.Call); ok {
			lost[c.ID] = x
			w.emit(attention.SettledInline{Source: x.ID})
			continue
		}
		w.arm(x, "", false)
	}
	// A kept completion whose reply never became durable was told to nobody.
	for _, x := range s.Jobs() {
		if lost[x.Call] == nil && x.Terminal() && !s.Attention.Known(x.ID) && s.Transcript.IsOpen(x.Call) {
			w.arm(x, "", false)
		}
	}
	first := true
	for _, c := range append([]transcript.Call(nil), s.Transcript.Open()...) {
		w.interrupted(c, lost[c.ID], first)
		first = false
	}
	if s.Turn != nil {
		w.emit(TurnEnded{Turn: s.Turn.N, Outcome: TurnInterrupted, Reason: "lost"})
	}
	if s.Run.Open {
		w.emit(RunEnded{Run: s.Run.N, Outcome: RunLost})
	}
	if len(s.Stops) > 0 {
		w.stopEnded()
	}
	w.lostWatches()
}

// interrupted answers a call that the lost process left open. It is never run again.
func (w *work) interrupted(c transcript.Call, x *job.State, inProgress bool) {
	type result struct {
		Interrupted bool `json:"interrupted"`
		*job.Done
	}
	a := transcript.Answered{Call: c.ID, Name: c.Name, IsError: true}
	switch {
	case x != nil && x.StartedAt.IsZero():
		a.Text = "interrupted: evener ended before the command was released; it never ran"
	case x != nil:
		d := job.ResultOfExit(x, job.Output{Total: x.End.TotalBytes, Start: x.End.RetainedStart}, 0)
		d.Truncated = d.TotalBytes > 0
		a.Data = text.Encode(result{true, &d})
		a.Text = "interrupted: evener ended while the command ran, and the command was ended with it; its outcome is unknown and it was not run again. " +
			"What it had printed: read_transcript(transcript_ref=\"" + job.Ref(x.ID) + "\")\n" + string(a.Data)
	case inProgress:
		a.Text = "interrupted: evener ended while this call was in progress; whether it took effect is unknown, and it was not run again"
	default:
		a.Text = "interrupted: evener ended before this call began; it was not run"
	}
	w.emit(a)
}

// stopping finds the open job_stop call that waits for this job.
func (w *work) stopping(x *job.State) (transcript.Call, bool) {
	c, ok := w.waiting("")
	if !ok {
		return c, false
	}
	a, err := w.decode(c.Name, c.Arguments)
	stop, ok := a.(JobStopCall)
	return c, err == nil && ok && stop.Target == string(x.ID)
}

// stopWaitExpired returns a bounded stop that has not finished: the escalation goes on.
func (w *work) stopWaitExpired(call string) {
	c, ok := w.waiting(call)
	if !ok {
		return
	}
	a, err := w.decode(c.Name, c.Arguments)
	stop, isStop := a.(JobStopCall)
	if err != nil || !isStop {
		return
	}
	x := w.s.jobs[id.Job(stop.Target)]
	if x == nil { // a delegate, or a job of one
		w.expired(call)
		return
	}
	w.answer(c, job.ResultOfStop(x, job.Running), "")
	w.calls()
}

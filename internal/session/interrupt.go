package session

import (
	"slices"

	"evener/internal/effect"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/transcript"
)

// interruptReason is why a turn ended that the user interrupted.
const interruptReason = "interrupt"

// interruptNote ends an interrupted turn in the conversation: without it the
// model would take the next prompt for more of this one.
const interruptNote = "The user interrupted this turn."

// interrupt ends the turn that is open. A request that is out is abandoned. A
// command that a call waits for is stopped, its call answered with its end. The
// calls behind it are not run, and what was handed off before goes on. A prompt
// that waits for its turn is interrupted by its id: it gets none.
func (w *work) interrupt(in Interrupt) *fault.Error {
	s := w.s
	if i := slices.IndexFunc(s.Queue, func(q Queued) bool { return in.ID != "" && q.ID == in.ID }); i >= 0 && s.Run.Open && s.Run.Ending == "" {
		w.emit(PromptDropped{Prompt: s.Queue[i].N, Input: in.ID, Why: interruptReason})
		return nil
	}
	switch {
	case !s.Run.Open || s.Run.Ending != "":
		return fault.New(fault.Closing, "the session is closing; its turn is being ended already")
	case in.ID != "" && (s.Turn == nil || s.Turn.Input != in.ID):
		return fault.Invalid("no open turn and no waiting prompt has the id %s; it may have ended", quote(in.ID))
	case s.Turn == nil:
		return fault.Invalid("no turn is open; there is nothing to interrupt")
	case s.Turn.Interrupted:
		return fault.Invalid("the turn is being interrupted already")
	}
	w.emit(InterruptRequested{Turn: s.Turn.N})
	if n := s.Turn.Waiting; n != 0 {
		w.order(effect.CancelModel{Request: n})
		w.endInterrupted()
		return nil
	}
	w.interruptCall()
	return nil
}

// endInterrupted ends the turn once nothing of it is in progress any more.
func (w *work) endInterrupted() {
	w.emit(transcript.UserSaid{Turn: w.s.Turn.N, Text: interruptNote, Note: true})
	w.endTurn(TurnInterrupted, interruptReason)
}

// interruptCall ends the call in progress. A wait for a stop or for a delegate's
// reply ends as if its time were over; what is waited for goes on. A call that
// only reads is given up: what it found is dropped. One that has asked for
// something to be done, a launch or a write, is answered when it is; a worktree
// that is made for a delegate is given up.
func (w *work) interruptCall() {
	c := w.s.Transcript.Open()[0]
	for _, x := range w.s.Live() {
		if x.Call != c.ID {
			continue
		}
		if w.stopJob(x, job.ByUser, "") { // else its shell does not exist yet: its launch ends it
			w.order(effect.SetTimer{Key: interruptTimer(x.ID), After: w.grace() + closeSlack})
		}
		return
	}
	if w.s.Wait != nil && w.s.Wait.Call == c.ID {
		w.expired(c.ID)
		return
	}
	if call, err := w.decode(c.Name, c.Arguments); err == nil {
		if a, is := call.(DelegateCall); is && a.Isolation != "" {
			w.order(effect.CancelPrepare{Call: c.ID})
			return
		}
	}
	if w.readsOnly(c) {
		w.refuse(c, fault.New(fault.Interrupted, "%s: the user interrupted the turn; the call was given up", c.Name))
		w.calls()
		return
	}
	w.stopWaitExpired(c.ID)
}

// readsOnly reports whether a call changes nothing.
func (w *work) readsOnly(c transcript.Call) bool {
	call, err := w.decode(c.Name, c.Arguments)
	if err != nil {
		return false
	}
	switch call.(type) {
	case ReadTranscriptCall, FindCall, ReadFileCall, ListFilesCall, SearchFilesCall, WatchCall: // a watch is made with its answer
		return true
	}
	return false
}

func interruptTimer(j id.Job) string { return "interrupt:" + string(j) }

// interruptOverdue gives up the wait for a command that an interrupt could not
// end: it is handed off, so that the turn can end and its own end is announced.
func (w *work) interruptOverdue(j id.Job) {
	x := w.s.jobs[j]
	if x == nil || w.s.Turn == nil || !w.s.Turn.Interrupted {
		return
	}
	c, ok := w.waiting(x.Call)
	if !ok || x.Status != job.Running {
		return
	}
	e, fx := job.HandOff(x, w.facts.Now)
	w.emit(e)
	w.order(fx)
	w.refuse(c, fault.New(fault.Interrupted, "%s: the user interrupted the turn; the command was asked to stop and has not ended yet. "+
		"It is job %s now, and its end will be announced", c.Name, j))
	w.calls()
}

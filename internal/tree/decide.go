package tree

import (
	"fmt"
	"strings"

	"evener/internal/delegate"
	"evener/internal/effect"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/text"
	"evener/internal/transcript"
)

// work is one decision of the tree in the making. emit applies an event and
// records it; the first event that cannot follow stops the decision.
type work struct {
	t      *State
	decode session.Decoder
	f      session.Facts
	events []session.Event
	d      Decision
	live   session.Step // what was read of running jobs
	err    error
}

func (t *State) decideTree(decode session.Decoder, f session.Facts, about id.Session, in treeInput) (Decision, error) {
	w := &work{t: t, decode: decode, f: f}
	switch in := in.(type) {
	case Signalled:
		w.signalled(about, in.Signal)
	case Retry:
		w.route(about, in.Call)
	case Prepared:
		w.create(about, in)
	case WorktreeLooked:
		w.looked(about, in)
	case TimerFired:
		w.timer(in.Key)
	case Restarted:
		w.restarted(in)
	case Reconcile:
		w.reconcile()
	}
	if w.err != nil {
		return Decision{}, w.err
	}
	if len(w.events) > 0 {
		t.Step++
		c := causeOf(about, in, w)
		w.d.Writes = []Write{{Step: t.Step, At: f.Now, Cause: c, Events: w.events}}
	}
	return w.d, nil
}

func causeOf(about id.Session, in treeInput, w *work) []byte {
	c := cause(in, w.live, w.f)
	return append([]byte(fmt.Sprintf(`{"session_id":%q,`, about)), c[1:]...)
}

func (w *work) signalled(s id.Session, x session.Signal) {
	switch x := x.(type) {
	case session.CallTree:
		w.route(s, x.Call)
	case session.CallExpired:
		w.expired(s, x.Call)
	case session.RunBegan:
		w.driveWaiting()
	case session.RunOver:
		w.runOver(s)
	case session.Owed:
		w.drive(w.t.Delegates.Get(w.t.Sessions[s].Delegate))
	case session.Received:
		w.received(s, x.Notice)
	case session.Taken:
		w.taken(x)
	case session.StopOver:
		w.stopOver(s, x.Stop)
	case session.ShellStopped:
		w.answerShellStop(x.Job, true)
	case session.JobEnded:
		w.jobOver(x.Job)
		w.answerShellStop(x.Job, false)
		w.rest()
	case session.Happened:
		w.happened(s, x.What)
	case session.CloseBelow:
		w.closeBelow()
	default:
		w.err = fmt.Errorf("tree: no rule for signal %T", x)
	}
}

func signalName(s session.Signal) string {
	return strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", s), "session."))
}

func (w *work) emit(e delegate.Event) {
	if w.err != nil {
		return
	}
	if w.err = w.t.Delegates.Apply(w.f.Now, e); w.err == nil {
		w.events = append(w.events, e)
	}
}

// tell gives a session an input once this decision is on disk.
func (w *work) tell(s id.Session, in session.Input) {
	w.d.Next = append(w.d.Next, Input{s, in})
}

func (w *work) order(s id.Session, e effect.Effect) {
	w.d.Effects = append(w.d.Effects, Effect{s, e})
}

// open finds the call in progress of a session, if it is this one.
func (w *work) open(s id.Session, call string) (transcript.Call, session.Call, bool) {
	c, ok := w.t.Sessions[s].Transcript.InProgress(call)
	if !ok {
		return c, nil, false
	}
	a, err := w.decode(c.Name, c.Arguments)
	return c, a, err == nil
}

// answer gives a call its result: the text is the JSON of v.
func (w *work) answer(s id.Session, call string, v any) {
	w.tell(s, session.CallDone{Call: call, Data: text.Encode(v)})
}

// refuse gives a call an error result.
func (w *work) refuse(s id.Session, call string, err *fault.Error) {
	w.tell(s, session.CallDone{Call: call, IsError: true, Text: err.Error()})
}

// rest tells whoever waits for it that something came to rest: the owner whose
// delegates have ended, and the root.
func (w *work) rest() {
	w.tell(w.t.Root, session.Settle{})
}

// route decides a call that a session handed to its tree.
func (w *work) route(s id.Session, call string) {
	c, a, ok := w.open(s, call)
	if !ok {
		return
	}
	switch a := a.(type) {
	case session.DelegateCall:
		w.prepare(s, c, a)
	case session.DelegateSendCall:
		w.send(s, c, a)
	case session.CommunicateCall:
		w.update(s, c, a)
	case session.JobStopCall:
		w.stop(s, c, a)
	case session.JobStatusCall:
		w.status(s, c, a)
	case session.JobListCall:
		w.list(s, c, a)
	case session.WatchCall:
		w.grantWatch(s, c, a)
	default:
		w.err = fmt.Errorf("tree: no rule for call %T", a)
	}
}

// of is the delegate whose session this is; nil for the root.
func (w *work) of(s id.Session) *delegate.State {
	x := w.t.Sessions[s]
	if x == nil || x.Delegate == "" {
		return nil
	}
	return w.t.Delegates.Get(x.Delegate)
}

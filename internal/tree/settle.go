package tree

import (
	"fmt"
	"strings"
	"time"

	"evener/internal/attention"
	"evener/internal/delegate"
	"evener/internal/effect"
	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/text"
)

// Bounds of what a delegate tells its owner, in code points: what is longer
// stands in the transcript.
const (
	packetMessageLen = 16_000 // of a report or an update
	lastTextLen      = 2_000
)

func millis(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }

// runOver ends a generation whose run has ended: the packet is made of what
// the delegate's journal holds, once, and never changes from here on.
func (w *work) runOver(s id.Session) {
	d := w.of(s)
	if d == nil || !d.Open {
		return
	}
	child := w.t.Sessions[s]
	if child.Run.Open || child.Run.Generation != d.Generation {
		return
	}
	e := w.t.finished(d, child)
	if e.Packet != nil && w.ownerStops(d) {
		e.Packet, e.Delivery = nil, "" // nobody is left to tell
	}
	w.emit(e)
	if w.err != nil {
		return
	}
	w.generationOver(d)
	if len(d.Owed) == 1 {
		w.hand(d)
	}
	w.idles(d)
	w.drive(d)
	w.driveWaiting()
	if d.Owner != w.t.Root {
		w.tell(d.Owner, session.Settle{})
	}
	w.rest()
}

// ownerStops reports whether the owner is stopped together with the delegate.
func (w *work) ownerStops(d *delegate.State) bool {
	owner := w.of(d.Owner)
	return owner != nil && owner.Stops > 0 && !w.t.Delegates.Closing()
}

// finished is the end of the open generation, by how its run went.
func (t *State) finished(d *delegate.State, child *session.State) delegate.Finished {
	e := delegate.Finished{Delegate: d.ID, Generation: d.Generation, Delivery: delegate.ReportID(d)}
	run := child.Run
	// An attention generation that ended well without a report owes nothing, nor
	// does one that was lost: what it was about is still owed to the delegate.
	quiet := false
	switch run.Outcome {
	case session.RunReported, session.RunOutputUnfit:
		e.Status = delegate.Completed
	case session.RunAnswered, session.RunNoReport:
		e.Status, e.Reason = delegate.Failed, delegate.MissingTerminal
		if d.Purpose == delegate.ForAttention {
			e.Status, e.Reason, quiet = delegate.Completed, "", true
		}
	case session.RunExhausted:
		e.Status, e.Reason = delegate.Exhausted, run.LastReason
	case session.RunInterrupted:
		e.Status, e.Reason = delegate.Cancelled, delegate.StoppedByParent
		if d.Stops == 0 { // halted: a drive that took too long
			e.Status, e.Reason, e.Error = delegate.Failed, delegate.TerminalError, run.Ending
		}
	case session.RunLost:
		e.Status, e.Reason, quiet = delegate.Failed, delegate.RuntimeLost, d.Purpose == delegate.ForAttention
		if d.Stops > 0 { // it was to be stopped, and nothing of it runs
			e.Status, e.Reason = delegate.Cancelled, delegate.StoppedByParent
		}
	default:
		e.Status, e.Reason, e.Error = delegate.Failed, delegate.TerminalError, run.LastReason
	}
	if quiet {
		e.Delivery = ""
		return e
	}
	e.Packet = packet(d, child, e)
	return e
}

func packet(d *delegate.State, child *session.State, e delegate.Finished) *delegate.Packet {
	p := &delegate.Packet{Status: e.Status, Reason: e.Reason, Error: e.Error, Ref: d.Ref()}
	if rows := child.Watches.Rows(); rows != nil {
		p.Watching, p.Watches = true, text.Encode(rows)
	}
	a := child.Run.Answer
	switch {
	case a != nil && a.Reported:
		p.Message = cut(d, a.Text, packetMessageLen)
		p.Result = a.Output
		if len(a.Violations) > 0 { // the message is kept, and why there is no result
			p.Result, p.ResultError = nil, "the structured result does not fit result_schema: "+strings.Join(a.Violations, "; ")
		}
	case a != nil:
		p.LastText = cut(d, a.Text, lastTextLen)
	}
	if p.Message == "" && e.Status != delegate.Completed {
		p.Message = unreported(e)
	}
	return p
}

// cut bounds what a delegate said, and names where all of it stands.
func cut(d *delegate.State, s string, n int) string {
	s, _ = text.Elide(s, n, func(left int) string {
		return fmt.Sprintf("\n… %d characters left out; all of it: read_transcript(transcript_ref=%q) …\n", left, d.Ref())
	})
	return s
}

// unreported says in words for the owner how a generation without a report ended.
func unreported(e delegate.Finished) string {
	switch e.Reason {
	case delegate.MissingTerminal:
		return "The delegate ended its run without a report (missing_terminal)."
	case delegate.RuntimeLost:
		return "The delegate's run was lost with the process (runtime_lost); its conversation is kept and it can go on."
	case delegate.StoppedByParent:
		return "The delegate's run was cancelled."
	}
	if e.Error != "" {
		return "The delegate's run " + string(e.Status) + ": " + text.Preview(e.Error, 400)
	}
	return strings.TrimSpace("The delegate's run " + string(e.Status) + " " + e.Reason)
}

// drivable reports whether an idle delegate is owed something that a run of
// its own must tell it, or has told it in vain: a request that carried a notice
// settles nothing while no turn ends well.
func (t *State) drivable(d *delegate.State) bool {
	s := t.Sessions[d.Session]
	return s != nil && !d.Open && d.Stops == 0 && d.Drives < maxDrives && len(s.Attention.Pending()) > 0
}

// maxDrives bounds the drives in a row that come to nothing; what is owed then
// waits for the delegate's next run.
const maxDrives = 3

// drive starts an attention generation of an idle delegate that is owed
// notices, as far as the budget of drives allows.
func (w *work) drive(d *delegate.State) {
	if d == nil || !w.t.drivable(d) || !w.t.Session().Run.Open || w.admits(d.Session, "") != nil {
		return
	}
	limits := w.limits()
	pace := millis(limits.AttentionDrivePaceMS * d.Drives)
	passed := w.f.Now.Sub(d.Last.EndedAt) // below zero where the clock was set back: how long it is cannot be told
	switch {
	case w.t.Delegates.Driving >= limits.AttentionDriveLimit:
		return // the end of another drive looks again
	case d.Drives > 0 && passed >= 0 && passed < pace:
		w.order(w.t.Root, effect.SetTimer{Key: "tree:drive:" + string(d.ID), After: pace})
		return
	}
	w.room(d) // what is owed is told in any case
	w.emit(delegate.GenerationStarted{Delegate: d.ID, Generation: d.Generation + 1, Purpose: delegate.ForAttention})
	if w.err != nil {
		return
	}
	w.begin(d, false)
	w.order(w.t.Root, effect.SetTimer{Key: fmt.Sprintf("tree:driven:%s/%d", d.ID, d.Generation), After: millis(limits.AttentionDriveTimeoutMS)})
}

// driveWaiting drives whoever waits for a place.
func (w *work) driveWaiting() {
	for d := range w.t.Delegates.All {
		if w.err == nil {
			w.drive(d)
		}
	}
}

// timer routes a timer of the tree. A late or stale one does nothing.
func (w *work) timer(key string) {
	_, key, _ = strings.Cut(key, ":")
	kind, arg, _ := strings.Cut(key, ":")
	name, generation, _ := strings.Cut(arg, "/")
	d := w.t.Delegates.Get(id.Delegate(name))
	if d == nil {
		return
	}
	current := generation == fmt.Sprint(d.Generation) && d.Open
	switch {
	case kind == "drive":
		w.drive(d)
	case kind == "release":
		w.rested(d)
	case kind == "driven" && current:
		w.tell(d.Session, session.Halt{Generation: d.Generation, Why: fmt.Sprintf("the attention drive took longer than %v", millis(w.limits().AttentionDriveTimeoutMS))})
	case kind == "quiet" && current:
		w.quiet(d)
	}
}

func quietTimer(d *delegate.State) string { return fmt.Sprintf("tree:quiet:%s/%d", d.ID, d.Generation) }

// quiet tells the owner of a delegate that has shown no activity for a whole
// window. It only reports. While the delegate waits for its own delegates their
// windows count.
func (w *work) quiet(d *delegate.State) {
	window := millis(w.limits().QuietWatchdogMS)
	child := w.t.Sessions[d.Session]
	silent := max(w.f.Now.Sub(w.t.activity(d, w.liveOf)), 0) // the clock may have been set back
	if child.Turn == nil || silent < window {
		w.order(w.t.Root, effect.SetTimer{Key: quietTimer(d), After: max(window-silent, window/10, time.Millisecond)})
		return
	}
	n := attention.DelegateArmed{
		ID: fmt.Sprintf("%s/%d/quiet/%d", d.ID, d.Generation, w.f.Now.UnixMilli()), Delegate: d.ID, Class: attention.Quiet,
	}
	n.Frame = attention.DelegateFrame(d.ID, "", n.Class, fmt.Sprintf("Delegate %s has shown no activity for %v and is still running. It was neither steered nor stopped.", d.ID, silent.Round(time.Second)))
	w.tell(d.Owner, session.Deliver{Notice: n})
	w.order(w.t.Root, effect.SetTimer{Key: quietTimer(d), After: window})
}

// Outcome is last_outcome in results.
type Outcome struct {
	Status  delegate.Status `json:"status"`
	Reason  string          `json:"reason,omitempty"`
	Error   string          `json:"error,omitempty"`
	EndedAt string          `json:"ended_at,omitempty"`
}

package tree

import (
	"evener/internal/delegate"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/transcript"
)

// A delegate with fork_context begins with a copy of its owner's conversation.
// delegate.created says how much of that it is, and that much never changes; so
// after a crash between any two lines of the copy the rest can be made. The
// role, the tools, the folder and the allowance are the delegate's own, and
// nothing comes along but what was said: no job, no notice that is still owed,
// no task, no file that was read.

// forks refuses a copy for another model: what one said is not for another to
// go on from. The model is the one that came of the role and the call.
func (w *work) forks(owner id.Session, a session.DelegateCall, d delegate.Descriptor) *fault.Error {
	if own := w.t.Sessions[owner].Context.Model; a.ForkContext && d.Model != own {
		return fault.Invalid("delegate: fork_context needs the provider and model of its parent, %s, and this delegate would have %s; leave fork_context out and put into the prompt what it needs", own, d.Model)
	}
	return nil
}

// forkOf is what a delegate that this session is about to have begins with; nil
// where it begins clean.
func (w *work) forkOf(owner id.Session, a session.DelegateCall) *delegate.Fork {
	if !a.ForkContext {
		return nil
	}
	f := w.t.Sessions[owner].ForkPoint(w.t.Step)
	return &delegate.Fork{Divergence: f.Divergence, Step: f.Step, Requests: f.Requests, Entries: f.Entries}
}

// inherit gives the session of a delegate what it lacks of the conversation that
// it begins with, as many lines as that takes. Once its first run has begun it
// lacks nothing.
func (w *work) inherit(d *delegate.State) {
	f, child := d.Fork, w.t.Sessions[d.Session]
	if f == nil || child != nil && child.Run.N > 0 {
		return
	}
	next, have := session.Inherit{}, int64(0)
	if child == nil || child.ID == "" {
		next.Create = w.t.createdOf(d)
		next.Fork = &session.Forked{Parent: d.Owner, Divergence: f.Divergence, How: session.ForkContext, Step: f.Step, Requests: f.Requests, Entries: f.Entries}
	} else {
		have = int64(len(child.Transcript.Entries))
		next.From = have
	}
	bytes := 0
	all := w.t.Sessions[d.Owner].Transcript.Entries
	for i, e := range all[have:max(have, min(f.Entries, int64(len(all))))] { // a repaired journal may have lost some
		x := e.Inherited()
		next.Entries = append(next.Entries, x)
		if bytes += x.Size(); bytes >= transcript.LineBytes {
			w.tell(d.Session, next)
			next, bytes = session.Inherit{From: have + int64(i) + 1}, 0
		}
	}
	if len(next.Entries) > 0 || next.Create != nil {
		w.tell(d.Session, next)
	}
}

package tree

import (
	"strings"

	"evener/internal/delegate"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/text"
	"evener/internal/transcript"
	"evener/internal/watch"
)

// grantWatch says what the source of a watch stands for, and whether the caller
// may observe it. The session that asked makes the watch.
func (w *work) grantWatch(s id.Session, c transcript.Call, a session.WatchCall) {
	g, err := w.t.watchSource(s, a.Source)
	g.Call, g.Refused = c.ID, err
	if err == nil {
		g.Held = w.t.heldBeside(s, g.Manager)
	}
	w.tell(s, g)
}

// heldBeside counts what others than a session watch of a manager's, itself too.
func (t *State) heldBeside(s, manager id.Session) (n int) {
	for x := range t.watchers(manager) {
		if x != s {
			n += t.Sessions[x].Watches.HeldOn(manager)
		}
	}
	if manager != s {
		n += t.Sessions[manager].Watches.HeldOn(manager)
	}
	return n
}

func (t *State) watchSource(s id.Session, source string) (session.WatchGranted, *fault.Error) {
	switch {
	case source == "" || source == watch.Self:
		return session.WatchGranted{Manager: s}, nil
	case source == watch.Parent:
		return t.watchParent(s)
	case strings.HasPrefix(source, "dlg_"):
		return t.watchDelegate(s, id.Delegate(source))
	}
	return t.watchJob(s, id.Job(source))
}

func (t *State) watchParent(s id.Session) (session.WatchGranted, *fault.Error) {
	d := t.Delegates.Get(t.Sessions[s].Delegate)
	if d == nil || !d.Descriptor.WatchParent {
		return session.WatchGranted{}, fault.New(fault.SourceNotWatchable, "job_watch: source parent is granted to a delegate that was created with watch_parent=true, and to no other session")
	}
	return session.WatchGranted{Manager: d.Owner}, nil
}

func (t *State) watchDelegate(s id.Session, name id.Delegate) (session.WatchGranted, *fault.Error) {
	switch d := t.Delegates.Get(name); {
	case d == nil:
		return session.WatchGranted{}, fault.New(fault.TargetNotFound, "job_watch: no delegate %s; job_list shows those there are", text.Preview(string(name), 80))
	case d.Owner != s:
		return session.WatchGranted{}, fault.New(fault.TargetNotWatchable, "job_watch: %s is no direct delegate of yours; only its owner can watch it", name)
	case !d.Open:
		return session.WatchGranted{}, fault.New(fault.TargetTerminal, "job_watch: %s is idle, and a watch is bound to one run; start a run with delegate_send, then create the watch", name)
	default:
		return session.WatchGranted{Manager: d.Session, Generation: d.Generation}, nil
	}
}

func (t *State) watchJob(s id.Session, j id.Job) (session.WatchGranted, *fault.Error) {
	owner := t.Sessions[j.Owner()]
	switch {
	case owner == nil || owner.Job(j) == nil:
		return session.WatchGranted{}, fault.New(fault.TargetNotFound, "job_watch: no job %s; job_list(include_descendants=true) shows those there are", text.Preview(string(j), 80))
	case j.Owner() != s && t.directAbove(s, j.Owner()) == "":
		return session.WatchGranted{}, fault.New(fault.TargetNotWatchable, "job_watch: %s is neither yours nor of a session below you", j)
	}
	return session.WatchGranted{Manager: j.Owner(), Ended: owner.HowEnded(j)}, nil
}

// watchers yields the other sessions that hold watches on what is a session's.
func (t *State) watchers(manager id.Session) func(func(id.Session) bool) {
	return func(yield func(id.Session) bool) {
		if x := t.Session(); manager != t.Root && x.Watches.HeldOn(manager) > 0 && !yield(t.Root) {
			return
		}
		for d := range t.Delegates.All {
			x := t.Sessions[d.Session]
			if x != nil && d.Session != manager && x.Watches.HeldOn(manager) > 0 && !yield(d.Session) {
				return
			}
		}
	}
}

// watched reports whether there are any.
func (t *State) watched(manager id.Session) bool {
	for range t.watchers(manager) {
		return true
	}
	return false
}

// observes reports whether a delegate may watch its owner.
func (t *State) observes(name id.Delegate) bool {
	d := t.Delegates.Get(name)
	return d != nil && d.Descriptor.WatchParent
}

// happened tells the sessions that watch this one. The reports of observers are
// kept from all observers: they would answer themselves, or each other, for ever.
func (w *work) happened(s id.Session, o watch.Occurrence) {
	for other := range w.t.watchers(s) {
		for _, x := range w.t.Sessions[other].Watches.Active() {
			if x.Manager == s && !(x.Config.Source == watch.Parent && w.t.observes(o.Delegate)) && x.Config.Wants(o) {
				w.tell(other, session.Observed{Watch: x.Watch, What: o})
			}
		}
	}
}

// jobOver tells those who watch a job from above that it has ended.
func (w *work) jobOver(j id.Job) { w.sourceEnded(j.Owner(), session.SourceEnded{Source: string(j)}) }

// generationOver does so for the run of a delegate.
func (w *work) generationOver(d *delegate.State) {
	w.sourceEnded(d.Session, session.SourceEnded{Source: string(d.ID), Generation: d.Generation, Status: string(d.Last.Status), Reason: d.Last.Reason})
}

func (w *work) sourceEnded(manager id.Session, in session.SourceEnded) {
	for other := range w.t.watchers(manager) {
		for _, x := range w.t.Sessions[other].Watches.Active() {
			if x.Config.Source == in.Source {
				w.tell(other, in)
				break
			}
		}
	}
}

// ofScan adds to what a search found whether its job has ended on the way: then
// there is nothing to watch.
func (t *State) ofScan(in session.WatchScanned) session.WatchScanned {
	if owner := t.Sessions[in.Job.Owner()]; owner != nil {
		in.Ended = owner.HowEnded(in.Job)
	}
	return in
}

package tree

import (
	"slices"

	"evener/internal/delegate"
	"evener/internal/effect"
	"evener/internal/fault"
	"evener/internal/session"
)

// An idle delegate needs no conversation in memory: all of it stands in its
// journal, and its next run takes it back. What is let go is memory alone, so no
// line says so: identity, outcome, jobs, what is owed and what it was made of stay
// as they are. A delegate is let go together with everything below it, what is
// owned before its owner, and only when nothing there runs, stops or is owed.

// reclaimable reports whether a delegate and all below it are at rest.
func (t *State) reclaimable(top *delegate.State) bool {
	for _, m := range t.Delegates.Subtree(top.ID) {
		d := t.Delegates.Get(m)
		if s := t.Sessions[d.Session]; d.Open || d.Stops > 0 || len(d.Owed) > 0 || s == nil || !s.Quiescent() {
			return false
		}
	}
	return true
}

// release lets a delegate and all below it go.
func (t *State) release(top *delegate.State) {
	members := t.Delegates.Subtree(top.ID)
	for _, m := range slices.Backward(members) {
		d := t.Delegates.Get(m)
		t.Sessions[d.Session].Release(t.contextOf(d))
	}
}

// ReleaseCold lets a delegate go that was just folded and is at rest, but where
// one of its own still has to begin with its conversation.
func (t *State) ReleaseCold(d *delegate.State) {
	for x := range t.Delegates.OwnedBy(d.Session) {
		if x.Fork != nil && x.Open && x.Generation == 1 {
			return
		}
	}
	if s := t.Sessions[d.Session]; !d.Open && d.Stops == 0 && s != nil && s.Quiescent() {
		s.Release(t.contextOf(d))
	}
}

// contextOf is what the model of a delegate is told.
func (t *State) contextOf(d *delegate.State) session.ContextSet {
	return session.ContextSet{Model: d.Descriptor.Model, System: d.Descriptor.System, Tools: d.Descriptor.Tools, Params: d.Descriptor.Params, ContextTokens: d.Descriptor.ContextTokens}
}

// resident reports whether an idle delegate is in memory.
func (t *State) resident(d *delegate.State) bool {
	s := t.Sessions[d.Session]
	return !d.Open && s != nil && s.Run.N > 0 && !s.Transcript.Released()
}

// retained counts the idle delegates that are in memory, but for one.
func (t *State) retained(but *delegate.State) (n int64) {
	for d := range t.Delegates.All {
		if d != but && t.resident(d) {
			n++
		}
	}
	return n
}

// room lets idle delegates go, those first that have rested longest, until one
// more may be in memory, and reports whether it may. The one that is about to
// run needs no other's place.
func (w *work) room(about *delegate.State) bool {
	limit := w.limits().MaxRetainedTerminal
	if limit == 0 || w.t.retained(about) < limit {
		return true
	}
	var idle []*delegate.State
	for d := range w.t.Delegates.All {
		if d != about && w.t.resident(d) {
			idle = append(idle, d)
		}
	}
	slices.SortStableFunc(idle, func(a, b *delegate.State) int { return a.ChangedAt.Compare(b.ChangedAt) })
	for _, d := range idle {
		if !w.t.reclaimable(d) {
			continue
		}
		w.t.release(d)
		if w.t.retained(about) < limit {
			return true
		}
	}
	return false
}

// retain refuses a start for which no idle delegate can be let go.
func (w *work) retain(tool string, about *delegate.State) *fault.Error {
	if w.room(about) {
		return nil
	}
	return fault.New(fault.TreeAtCapacity, "%s: %d idle delegates are in memory, which is max_retained_terminal, and none can be let go: they have commands that run, or reports or notices on their way; wait for those or stop one", tool, w.limits().MaxRetainedTerminal)
}

// idles has a delegate let go when it has rested for some time.
func (w *work) idles(d *delegate.State) {
	if ms := w.limits().IdleReleaseMS; ms > 0 {
		w.order(w.t.Root, effect.SetTimer{Key: "tree:release:" + string(d.ID), After: millis(ms)})
	}
}

// rested lets a delegate go whose rest has lasted. What does not rest all the
// way down is looked at again later.
func (w *work) rested(d *delegate.State) {
	switch {
	case d.Open || !w.t.resident(d):
	case w.t.reclaimable(d):
		w.t.release(d)
	default:
		w.idles(d)
	}
}

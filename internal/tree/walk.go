package tree

import (
	"iter"
	"slices"

	"evener/internal/delegate"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
)

// A session sees its own jobs and delegates and, of its direct delegates, the
// jobs: what these own is passed one level up. A walk sees what every live session
// below it owns, too. A session that is not in memory is not live: the walk goes no
// deeper there, and what it had passed up, its jobs that ended, stands with its owner.

// live reports whether a walk goes into a session.
func (t *State) live(s id.Session) bool {
	x := t.Sessions[s]
	return x != nil && !x.Transcript.Released()
}

// walk yields the delegates that live sessions from a caller on own, owners before
// what they own, each with the depth of its owner.
func (t *State) walk(caller id.Session) iter.Seq2[*delegate.State, int] {
	return func(yield func(*delegate.State, int) bool) {
		reached := map[id.Session]int{caller: 0}
		for d := range t.Delegates.All {
			depth, ok := reached[d.Owner]
			if !ok {
				continue
			}
			if t.live(d.Session) {
				reached[d.Session] = depth + 1
			}
			if !yield(d, depth) {
				return
			}
		}
	}
}

// reaches reports whether a walk from the caller goes into a session.
func (t *State) reaches(caller, s id.Session) bool {
	for ; s != caller; s = t.Sessions[s].Parent {
		if s == "" || !t.live(s) {
			return false
		}
	}
	return true
}

// sees reports whether a listing of the caller's can show the jobs of a session.
func (t *State) sees(caller, s id.Session) bool {
	x := t.Sessions[s]
	return x != nil && (t.reaches(caller, s) || x.Parent != "" && t.reaches(caller, x.Parent))
}

// rows is what a listing shows a caller, before it is sorted and cut.
func (t *State) rows(caller id.Session, a session.JobListCall, live liveJob) []job.Item {
	l := listing{t: t, args: a, live: live}
	l.shells(caller, job.Place{Depth: l.depth(0)})
	if !a.IncludeDescendants {
		for d := range t.Delegates.OwnedBy(caller) {
			l.delegate(d, job.Place{})
			if a.IncludeNested {
				l.shells(d.Session, job.Place{Nested: true})
			}
		}
		return l.items
	}
	for d, depth := range t.walk(caller) {
		l.delegate(d, job.Place{Depth: l.depth(depth), ParentDelegate: d.Parent, Nested: d.Owner != caller})
		if t.live(d.Session) {
			depth++
		}
		l.shells(d.Session, job.Place{Depth: l.depth(depth), Nested: true})
	}
	return l.items
}

// listing gathers the items that a call asks for.
type listing struct {
	t     *State
	args  session.JobListCall
	live  liveJob
	items []job.Item
}

func (l *listing) depth(n int) *int {
	if !l.args.IncludeDescendants {
		return nil
	}
	return &n
}

func (l *listing) shells(s id.Session, p job.Place) {
	if x := l.t.Sessions[s]; x != nil {
		l.items = append(l.items, x.Items(l.args, l.live, p)...)
	}
}

// delegate takes one that has a status which is asked for: while it is idle, the
// outcome of its last run counts as one.
func (l *listing) delegate(d *delegate.State, p job.Place) {
	if len(l.args.Type) > 0 && !slices.Contains(l.args.Type, "delegate") {
		return
	}
	if want := l.args.Status; len(want) > 0 && !slices.Contains(want, d.Status()) &&
		(d.Open || d.Last == nil || !slices.Contains(want, string(d.Last.Status))) {
		return
	}
	t, at := l.t, l.t.activity(d, l.live)
	l.items = append(l.items, job.ItemOf(at, string(d.ID),
		func() any { r := t.rowOf(d, at); r.Depth = p.Depth; return r },
		func(n int) string { return t.lineOf(d, at, p, n) }))
}

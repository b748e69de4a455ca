package supervisor

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"evener/internal/effect"
	"evener/internal/id"
	"evener/internal/joblog"
	"evener/internal/match"
	"evener/internal/session"
	"evener/internal/watch"
)

// searches are the followers of jobs that print, and the ends of jobs that wait
// for them: what a watch has to say of a job comes before its end.
type searches struct {
	mu    sync.Mutex
	byJob map[id.Job][]*follower
	ends  map[id.Job]end
}

// end is that of a job, which waits for the searches of its output.
type end struct {
	session.Exited
	limit *time.Timer // posts it when it has waited long enough
}

// endWait is how long it waits: a pattern may be so slow that the rest of the
// output takes minutes, and a job that was stopped must not seem to run on.
const endWait = 2 * time.Second

// follower searches the output of one job for one watch, at its own pace and
// from the log: the job knows nothing of it.
type follower struct {
	tree    *Tree
	session id.Session
	order   effect.WatchOutput
	cancel  context.CancelFunc
	wake    chan struct{} // holds one: there is more, or it was all
	over    atomic.Bool   // the log is complete

	m        *match.Matcher
	live     bool // past the search of what was there already
	matches  int64
	excerpts []string // of the first of them
}

// chunk is how much of a log a follower reads at a time, in bytes.
const chunk = 64 << 10

// watchOutput begins a search.
func (t *Tree) watchOutput(s id.Session, e effect.WatchOutput) {
	ctx, cancel := context.WithCancel(t.ctx)
	f := &follower{tree: t, session: s, order: e, cancel: cancel, wake: make(chan struct{}, 1)}
	t.searches.mu.Lock()
	t.searches.byJob[e.Job] = append(t.searches.byJob[e.Job], f)
	t.searches.mu.Unlock()
	end, runs := t.procs.Follow(string(e.Job), f.nudge) // after the entry: an end that comes now waits
	if !runs {
		f.over.Store(true)
	}
	t.outside(func() {
		defer cancel()
		f.run(ctx)
		end()
		t.searched(f)
	})
}

// unwatchOutput ends a search.
func (t *Tree) unwatchOutput(x id.Watch) {
	t.searches.mu.Lock()
	defer t.searches.mu.Unlock()
	for _, fs := range t.searches.byJob {
		for _, f := range fs {
			if f.order.Watch == x {
				f.cancel()
			}
		}
	}
}

// exited posts the end of a job, or leaves that to the last of its followers.
func (t *Tree) exited(in session.Exited) {
	t.searches.mu.Lock()
	followers := t.searches.byJob[in.Job]
	if len(followers) > 0 {
		t.searches.ends[in.Job] = end{in, time.AfterFunc(endWait, func() { t.overdue(in) })}
	}
	for _, f := range followers {
		f.over.Store(true)
		f.nudge()
	}
	t.searches.mu.Unlock()
	if len(followers) == 0 {
		t.tell(in.Job.Owner(), in)
	}
}

// overdue posts an end that has waited long enough, and before it to the watches
// that their search was not carried to the end.
func (t *Tree) overdue(in session.Exited) {
	t.searches.mu.Lock()
	_, waits := t.searches.ends[in.Job]
	delete(t.searches.ends, in.Job)
	late := slices.Clone(t.searches.byJob[in.Job])
	t.searches.mu.Unlock()
	if !waits {
		return
	}
	for _, f := range late { // the create of one that is not active yet waits for its answer still
		t.tell(f.session, session.WatchLost{Watch: f.order.Watch})
	}
	t.tell(in.Job.Owner(), in)
}

// searched takes a follower off; the last one posts the end that waits for it.
func (t *Tree) searched(f *follower) {
	j := f.order.Job
	t.searches.mu.Lock()
	left := slices.DeleteFunc(slices.Clone(t.searches.byJob[j]), func(x *follower) bool { return x == f })
	t.searches.byJob[j] = left
	var over *session.Exited
	if len(left) == 0 {
		delete(t.searches.byJob, j)
		if e, waits := t.searches.ends[j]; waits {
			over = &e.Exited
			e.limit.Stop()
			delete(t.searches.ends, j)
		}
	}
	t.searches.mu.Unlock()
	if over != nil {
		t.tell(j.Owner(), *over)
	}
}

func (f *follower) nudge() {
	select {
	case f.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// run searches what is there, answers the create that waits for that, and goes
// on with what comes.
func (f *follower) run(ctx context.Context) {
	in := session.WatchScanned{Call: f.order.Call, Watch: f.order.Watch, Job: f.order.Job}
	p, err := match.Compile(f.order.Pattern)
	var start joblog.Info
	if err == nil {
		start, err = joblog.Stat(f.path())
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a job that has printed nothing has no log
		in.Error = err.Error()
		f.tree.tell(f.session, in)
		return
	}
	f.m = p.From(start.Start, f.found)
	over, err := f.search(ctx)
	if ctx.Err() != nil {
		return
	}
	in.Matches = f.matches
	if len(f.excerpts) > 0 {
		in.Excerpt = f.excerpts[0]
	}
	f.tree.tell(f.session, in)
	f.live, f.matches, f.excerpts = true, 0, nil
	for !over && err == nil {
		select {
		case <-f.wake:
		case <-ctx.Done():
			return
		}
		over, err = f.search(ctx)
		f.post()
	}
	if _, past := errors.AsType[*joblog.EvictedError](err); past {
		f.tree.tell(f.session, session.WatchLost{Watch: f.order.Watch})
	} else if err != nil && ctx.Err() == nil {
		f.tree.o.Warn("a watch of " + string(f.order.Job) + " ended: " + err.Error())
		f.tree.tell(f.session, session.WatchLost{Watch: f.order.Watch})
	}
}

func (f *follower) path() string { return f.tree.o.Store.Home.Log(f.order.Job) }

// search takes all that the log has now, and reports whether that was all of it.
func (f *follower) search(ctx context.Context) (over bool, err error) {
	over = f.over.Load() // before the look: what comes behind it wakes again
	for !f.m.Stopped {
		c, err := joblog.Window(f.path(), f.m.Next(), chunk)
		past, evicted := errors.AsType[*joblog.EvictedError](err)
		switch {
		case ctx.Err() != nil:
			return over, ctx.Err()
		case evicted && !f.live: // what is kept is searched, from where that is now
			c, err = joblog.Window(f.path(), past.Start, chunk)
		case errors.Is(err, fs.ErrNotExist):
			c, err = joblog.Chunk{}, nil
		}
		if err != nil {
			return over, err
		}
		if len(c.Data) == 0 {
			break
		}
		f.m.Add(c.Offset, c.Data)
		if f.live && f.matches > 0 { // a long backlog is told of on the way
			f.post()
		}
	}
	if over {
		f.m.Finish()
	} else {
		f.m.Flush()
	}
	return over || f.m.Stopped, nil
}

// found counts an occurrence. Past what a watch can fire nothing is searched.
func (f *follower) found(o match.Occurrence) bool {
	f.matches++
	if len(f.excerpts) < watch.Budget {
		f.excerpts = append(f.excerpts, string(o.Line))
	}
	return !f.live || f.matches < watch.Budget
}

// post tells what matched since the last time.
func (f *follower) post() {
	if f.matches == 0 {
		return
	}
	f.tree.tell(f.session, session.WatchMatched{Watch: f.order.Watch, Matches: f.matches, Excerpts: f.excerpts})
	f.matches, f.excerpts = 0, nil
}

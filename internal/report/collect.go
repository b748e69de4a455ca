package report

import (
	"fmt"
	"strings"
	"time"

	"evener/internal/attention"
	"evener/internal/delegate"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/text"
	"evener/internal/transcript"
	"evener/internal/tree"
	"evener/internal/watch"
)

// maxLabel bounds what a bar is about, in characters.
const maxLabel = 120

// builder gathers, from the lines of a tree as they are folded, when things
// began and ended. What they are it takes from the same folds.
type builder struct {
	talks map[id.Session]*talk
	keys  map[string]*item // that others name as their cause
	runs  []*item          // of delegates
	last  time.Time
}

// talk is what is gathered of one session.
type talk struct {
	items   []*item
	times   []time.Time      // of the entries of its conversation
	notices map[int][]*item  // carried by an entry
	before  map[int][]*item  // records that stand before an entry
	frames  map[*item]string // what notices say
	turns   map[int64]*item
	spoken  map[*item]bool // turns whose first words are known
	calls   map[string]*item
	pending []*item // calls of the last reply without a result, the first is worked on
	run     *item
	turn    *item
	jobs    []*jobItem
	byJob   map[id.Job]*jobItem
	watches map[id.Watch]*item
	fold    watch.State
	owed    map[string]*item
}

// jobItem is a job with its own fold: a session lets go of foreground commands
// whose output was told in full.
type jobItem struct {
	item
	job.State
	at int // entries before it
}

func (b *builder) talk(s id.Session) *talk {
	t := b.talks[s]
	if t == nil {
		t = &talk{notices: map[int][]*item{}, before: map[int][]*item{}, frames: map[*item]string{}, turns: map[int64]*item{}, spoken: map[*item]bool{}, calls: map[string]*item{},
			byJob: map[id.Job]*jobItem{}, watches: map[id.Watch]*item{}, fold: watch.New(), owed: map[string]*item{}}
		b.talks[s] = t
	}
	return t
}

// line takes one line, which folds.
func (b *builder) line(l store.Line, events []session.Event) {
	at := l.At()
	if len(events) > 0 && at.After(b.last) {
		b.last = at
	}
	for _, e := range events {
		if l.Session == "" {
			b.ofTree(at, e)
		} else {
			b.ofSession(l.Session, b.talk(l.Session), at, e)
		}
	}
}

func (b *builder) key(key string, x *item) { b.keys[key] = x }

func callKey(s id.Session, call string) string { return "call " + string(s) + " " + call }
func runKey(d id.Delegate, generation any) string {
	return fmt.Sprint("delegate ", d, " ", generation)
}

func (t *talk) add(x *item) *item {
	x.n = -1
	t.items = append(t.items, x)
	return x
}

func (b *builder) ofTree(at time.Time, e session.Event) {
	switch e := e.(type) {
	case delegate.GenerationStarted:
		x := b.talk(e.Delegate.Session()).add(&item{kind: kindDelegate, start: at, state: stateOpen, how: "has not ended",
			name: fmt.Sprintf("%s run %d", e.Delegate, e.Generation), label: text.Preview(e.Text, maxLabel), record: e.Delegate})
		x.causeKey = e.Call // its session is known with the tree
		b.key(runKey(e.Delegate, e.Generation), x)
		b.key(runKey(e.Delegate, "last"), x)
		b.runs = append(b.runs, x)
	case delegate.Finished:
		x := b.keys[runKey(e.Delegate, e.Generation)]
		x.end, x.how = at, words(string(e.Status), e.Reason)
		switch {
		case e.Status == delegate.Failed, e.Status == delegate.Exhausted, e.Reason == delegate.RuntimeLost:
			x.state = stateFailed
		case e.Status == delegate.Completed:
			x.state = stateOK
		default:
			x.state = stateStopped
		}
	}
}

func (b *builder) ofSession(s id.Session, t *talk, at time.Time, e session.Event) {
	switch e := e.(type) {
	case job.Event:
		t.ofJob(s, at, e)
	case watch.Event:
		b.ofWatch(t, at, e)
	case attention.Event:
		b.ofNotice(t, at, e)
	case session.RunStarted:
		if e.Mode != session.Delegated {
			t.run = t.add(&item{kind: kindRun, start: at, state: stateOpen, name: fmt.Sprint("run ", e.Run), how: "has not ended"})
		}
	case session.RunEnded:
		if t.run != nil {
			t.run.end, t.run.how, t.run.state = at, string(e.Outcome), stateOfRun(e.Outcome)
		}
	case session.TurnStarted:
		t.turn = t.add(&item{kind: kindTurn, start: at, state: stateOpen, name: fmt.Sprint("turn ", e.Turn), label: string(e.Type), how: "has not ended"})
		t.turns[e.Turn] = t.turn
	case session.TurnEnded:
		t.turn.end, t.turn.how, t.turn.state = at, words(string(e.Outcome), e.Reason), stateOfTurn(e.Outcome)
	case session.Requested:
		t.carried(at, e)
	case transcript.UserSaid, transcript.AssistantSaid, transcript.Answered, transcript.Compacted, transcript.Inherited:
		b.said(s, t, at, e)
	}
}

func stateOfRun(o session.RunOutcome) state {
	switch o {
	case session.RunReported, session.RunAnswered, session.RunClosed:
		return stateOK
	case session.RunInterrupted:
		return stateStopped
	}
	return stateFailed
}

func stateOfTurn(o session.TurnOutcome) state {
	switch o {
	case session.TurnFailed, session.TurnExhausted:
		return stateFailed
	case session.TurnInterrupted:
		return stateStopped
	}
	return stateOK
}

// words joins a status and its reason.
func words(status, reason string) string {
	if reason == "" || reason == status {
		return status
	}
	return status + ", " + text.Preview(reason, maxLabel)
}

// said follows the conversation: each of these facts is one entry of it.
func (b *builder) said(s id.Session, t *talk, at time.Time, e session.Event) {
	switch e := e.(type) {
	case transcript.UserSaid:
		if x := t.turns[e.Turn]; x != nil && !e.Note && !t.spoken[x] { // the first words of it
			t.spoken[x] = true
			x.label = text.Preview(e.Text, maxLabel)
		}
	case transcript.AssistantSaid:
		for _, c := range e.Calls {
			x := t.add(&item{kind: kindCall, start: at, state: stateOpen, how: "has no result",
				name: c.ID, label: text.Preview(c.Name+" "+brief(c.Arguments), maxLabel), record: c})
			t.calls[c.ID], t.pending = x, append(t.pending, x)
			b.key(callKey(s, c.ID), x)
		}
	case transcript.Answered:
		t.answered(at, e)
	}
	t.times = append(t.times, at)
}

// answered ends the call that was worked on; the next one of its reply begins.
func (t *talk) answered(at time.Time, e transcript.Answered) {
	x := t.calls[e.Call]
	x.end = at
	switch {
	case e.IsError:
		x.state, x.how = stateFailed, "error"
	case x.state == stateOpen:
		x.state, x.how = stateOK, "ok"
	}
	if t.pending = t.pending[1:]; len(t.pending) > 0 {
		t.pending[0].start = at
	}
}

// carried: a request tells notices; together they are one entry.
func (t *talk) carried(at time.Time, e session.Requested) {
	if len(e.Attention) == 0 {
		return
	}
	n := len(t.times)
	for _, notice := range e.Attention {
		x := t.owed[notice]
		if x.state == stateOpen || x.told == nil {
			x.end, x.state, x.how, x.told = at, stateOK, fmt.Sprintf("told in turn %d", e.Turn), t.turns[e.Turn]
		}
		t.notices[n] = append(t.notices[n], x)
	}
	t.times = append(t.times, at)
}

func (t *talk) ofJob(s id.Session, at time.Time, e job.Event) {
	x := t.byJob[e.JobID()]
	if x == nil {
		x = &jobItem{at: len(t.times)}
		t.byJob[e.JobID()], t.jobs = x, append(t.jobs, x)
	}
	_ = x.State.Apply(at, e) // it was folded already
	if i, ok := e.(job.Intended); ok {
		x.causeKey = callKey(s, i.Call)
	}
	if _, ok := e.(job.Finished); !ok || x.Durable() {
		return
	}
	if c := t.calls[x.Call]; c != nil && failed(&x.State) { // the call is all that is left of it
		c.state, c.how = stateFailed, howJob(&x.State)
	}
}

func failed(s *job.State) bool {
	switch s.Status {
	case job.Failed, job.ExitedNonzero, job.Killed:
		return true
	}
	return s.End.Reason == job.RuntimeLost || s.End.Reason == job.RunTimeout
}

func howJob(s *job.State) string {
	switch {
	case !s.Terminal():
		return "has not ended"
	case s.Status == job.ExitedNonzero && s.End.ExitCode != nil:
		return fmt.Sprintf("exit %d", *s.End.ExitCode)
	case s.Status == job.Completed:
		return "exit 0"
	}
	return words(string(s.Status), s.End.Reason)
}

func (b *builder) ofWatch(t *talk, at time.Time, e watch.Event) {
	switch e := e.(type) {
	case watch.Created:
		x := t.add(&item{kind: kindWatch, start: at, state: stateOpen, how: "has not ended", name: string(e.Watch), label: text.Preview(e.Config.Source+": "+e.Config.Condition(), maxLabel)})
		if len(t.pending) > 0 {
			x.causeKey = b.keyOf(t.pending[0])
		}
		t.watches[e.Watch] = x
		t.before[len(t.times)] = append(t.before[len(t.times)], x)
		b.key("watch "+string(e.Watch), x)
	case watch.Ended:
		x := t.watches[e.Watch]
		x.end, x.how = at, e.Reason
		switch e.Reason {
		case watch.RuntimeLost, watch.OutputLost, watch.BudgetExhausted:
			x.state = stateFailed
		case watch.Cleared, watch.Replaced, watch.ManagerClosed:
			x.state = stateStopped
		default:
			x.state = stateOK
		}
	}
	_ = t.fold.Apply(at, e) // it was folded already
	if x := t.watches[e.WatchID()]; x != nil {
		if w := t.fold.Get(e.WatchID()); w != nil {
			x.record = *w
		}
	}
}

func (b *builder) keyOf(x *item) string {
	key := fmt.Sprintf("item %p", x)
	b.key(key, x)
	return key
}

func (b *builder) ofNotice(t *talk, at time.Time, e attention.Event) {
	owe := func(id, label, cause, frame string) {
		x := t.add(&item{kind: kindNotice, start: at, state: stateOpen, how: "not told yet", name: id, label: label, causeKey: cause})
		t.owed[id], t.frames[x] = x, frame
		b.key("notice "+id, x)
	}
	switch e := e.(type) {
	case attention.Armed:
		owe(e.ID, "end of a job", "job "+string(e.Source), e.Frame)
	case attention.DelegateArmed:
		generation, _, _ := strings.Cut(strings.TrimPrefix(e.ID, string(e.Delegate)+"/"), "/")
		owe(e.ID, string(e.Class)+" of a delegate", runKey(e.Delegate, generation), e.Frame)
	case attention.WatchArmed:
		owe(e.ID, "of a watch", "watch "+string(e.Watch), e.Frame)
		t.settled(at, "replaced by "+e.ID, stateStopped, e.Replaces)
	case attention.Consumed:
		how := map[attention.ConsumedBy]string{attention.ByStatus: "told by job_status", attention.ByWait: "told by the call that waited"}[e.By]
		t.settled(at, how, stateOK, e.IDs...)
	case attention.Discarded:
		t.settled(at, "discarded", stateStopped, e.IDs...)
	}
}

// settled ends notices that no request carried.
func (t *talk) settled(at time.Time, how string, s state, ids ...string) {
	for _, n := range ids {
		if x := t.owed[n]; x != nil && x.state == stateOpen {
			x.end, x.how, x.state = at, how, s
		}
	}
}

// settle gives what has no end the end of the journals, and makes items of what
// is known whole only now.
func (b *builder) settle(t *tree.State) {
	for _, x := range b.runs {
		if d := t.Delegates.Get(x.record.(id.Delegate)); d != nil {
			x.causeKey, x.record = callKey(d.Owner, x.causeKey), d
			if d.Descriptor.Name != "" {
				x.name = d.Descriptor.Name + " " + x.name
			}
		}
	}
	for _, talk := range b.talks {
		for _, j := range talk.jobs {
			b.ofEnded(talk, j)
		}
		for _, x := range talk.items {
			if x.end.IsZero() {
				x.end = b.last
			}
			if x.end.Before(x.start) { // a clock went back
				x.end = x.start
			}
		}
	}
}

// ofEnded makes the item of a job that listings show.
func (b *builder) ofEnded(t *talk, j *jobItem) {
	if !j.Durable() {
		return
	}
	about := j.Description
	if about == "" {
		about = j.Command
	}
	x := &j.item
	x.kind, x.start, x.end, x.name, x.label, x.record = kindJob, j.IntendedAt, j.Ended, string(j.ID), text.Preview(about, maxLabel), &j.State
	x.how = howJob(&j.State)
	switch {
	case !j.Terminal():
		x.state = stateOpen
	case failed(&j.State):
		x.state = stateFailed
	case j.Status != job.Completed:
		x.state = stateStopped
	}
	t.add(x)
	t.before[j.at] = append(t.before[j.at], x)
	b.key("job "+string(j.ID), x)
}

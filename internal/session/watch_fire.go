package session

import (
	"encoding/json"
	"slices"

	"evener/internal/attention"
	"evener/internal/effect"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/text"
	"evener/internal/transcript"
	"evener/internal/watch"
)

// fire owes the session a frame of a watch, in place of one of the same class
// that no request has carried yet. count is how many conditions were met.
func (w *work) fire(x *watch.Watch, class watch.Class, count int64, excerpts []string, depth int, show func(watch.Owed) watch.What) {
	before := x.Owes(class)
	e := watch.Fired{Watch: x.Watch, Class: class, Delivery: x.NextDelivery(), Count: count, Excerpts: watch.Latest(nil, excerpts)}
	if w.s.Attention.Waits(before.Delivery) {
		e.Replaces = before.Delivery
		e.Count += before.Count
		e.Excerpts = watch.Latest(before.Excerpts, excerpts)
	}
	w.emit(e)
	w.emit(attention.WatchArmed{
		ID: e.Delivery, Watch: x.Watch, Replaces: e.Replaces, Depth: depth,
		Frame: x.Frame(e.Delivery, depth, show(watch.Owed{Delivery: e.Delivery, Count: e.Count, Excerpts: e.Excerpts}), w.s.Run.Limits.WatchFrameChars),
	})
}

// spend fires what the budget of a watch still allows, and ends the watch when
// it is spent.
func (w *work) spend(x *watch.Watch, class watch.Class, count int64, excerpts []string, depth int, show func(watch.Owed) watch.What) {
	if left := watch.Budget - x.Fires; count > left {
		excerpts = excerpts[:min(left, int64(len(excerpts)))]
		count = left
	}
	w.fire(x, class, count, excerpts, depth, show)
	if w.err == nil && x.Fires >= watch.Budget {
		w.endWatch(x, watch.BudgetExhausted)
	}
}

// matched: output of the watched job matched so often.
func (w *work) matched(x *watch.Watch, count int64, excerpts []string) {
	if count > 0 {
		w.spend(x, watch.Match, count, excerpts, 0, func(o watch.Owed) watch.What { return watch.OfMatches(x.Config, o) })
	}
}

// happened: an event that the watch may ask for.
func (w *work) happened(x *watch.Watch, o watch.Occurrence) {
	if !x.Config.Wants(o) || w.err != nil {
		return
	}
	if x.Config.Every > x.Seen+1 {
		w.emit(watch.Counted{Watch: x.Watch})
		return
	}
	depth := 0
	if t := w.s.Turn; t != nil && x.Config.Source == watch.Self {
		if d, echo := t.Influence[x.Watch]; echo {
			depth = d + 1
		}
	}
	if depth > watch.MaxDepth {
		w.runaway(x, depth)
		return
	}
	w.spend(x, watch.Happened, 1, nil, depth, func(owed watch.Owed) watch.What { return watch.OfEvent(o, owed.Count) })
}

// runaway drops a frame that stands too deep in its own influence, and says so
// once a chain.
func (w *work) runaway(x *watch.Watch, depth int) {
	if x.Runaway {
		return
	}
	delivery := x.NextDelivery()
	w.emit(watch.Dropped{Watch: x.Watch, Depth: depth})
	w.emit(attention.WatchArmed{ID: delivery, Watch: x.Watch, Depth: depth, Frame: x.DropFrame(depth)})
}

// observe lets watches see an event of this session that they may ask for.
func (w *work) observe(e Event) {
	switch e.(type) {
	case transcript.Answered, attention.Armed, attention.DelegateArmed:
	default:
		return
	}
	s := w.s
	watched := w.facts.Kin.Watched.yes()
	if len(s.Watches.Active()) == 0 && !watched {
		return
	}
	o, ok := s.occurrence(e)
	if !ok {
		return
	}
	for _, x := range slices.Clone(s.Watches.Active()) {
		if s.Watches.Get(x.Watch) == x && x.Config.Source == watch.Self {
			w.happened(x, o)
		}
	}
	if watched {
		w.signal(Happened{o})
	}
}

// occurrence is what watches see of an event. Notices of watches are none.
func (s *State) occurrence(e Event) (watch.Occurrence, bool) {
	switch e := e.(type) {
	case transcript.Answered:
		c, ok := s.Transcript.CallOf(e.Call)
		if !ok {
			return watch.Occurrence{}, false
		}
		o := watch.Occurrence{Event: watch.Tool, Tool: e.Name, Status: "ok", Arguments: c.Arguments}
		if e.IsError {
			o.Status = "error"
		}
		if e.Name == "communicate" && !e.IsError {
			var a struct {
				Message string `json:"message"`
				EndTurn bool   `json:"end_turn"`
			}
			_ = json.Unmarshal([]byte(c.Arguments), &a) // it was decoded before, and accepted
			return watch.Occurrence{Event: watch.Communicate, Message: a.Message, EndTurn: a.EndTurn}, true
		}
		return o, true
	case attention.Armed:
		x := s.jobs[e.Source]
		if x == nil || !x.Terminal() {
			return watch.Occurrence{}, false
		}
		total := x.End.TotalBytes
		return watch.Occurrence{Event: watch.Notification, Job: x.ID, Status: string(x.Status), Reason: x.End.Reason, ExitCode: x.End.ExitCode, Total: &total}, true
	case attention.DelegateArmed:
		return watch.Occurrence{Event: watch.Notification, Delegate: e.Delegate, Status: string(e.Class)}, e.Class == attention.Report
	}
	return watch.Occurrence{}, false
}

// watchTick fires a timer, or the progress of a job. Ticks that came late are
// counted in one frame.
func (w *work) watchTick(name id.Watch) {
	x := w.s.Watches.Get(name)
	if x == nil || x.Interval() == 0 {
		return
	}
	if left := x.Left(w.facts.Now); left > 0 && x.Due.Sub(w.facts.Now) == left { // of an earlier setting
		w.setWatchTimer(x)
		return
	}
	count := x.Ticks(w.facts.Now)
	c := x.Config
	if c.Timer() {
		w.fire(x, watch.Tick, count, nil, 0, func(o watch.Owed) watch.What { return watch.OfTick(c, o.Count) })
	} else {
		live := w.facts.Live(c.Job())
		w.step.Live = append(w.step.Live, live)
		tail, _ := text.Tail(w.facts.Output(c.Job()).Tail, watch.TailLen)
		w.fire(x, watch.Progress, count, []string{tail}, 0, func(o watch.Owed) watch.What { return watch.OfProgress(c, o.Count, live.Total, tail) })
	}
	if c.AfterS != 0 {
		w.endWatch(x, watch.OneShot)
	} else if w.err == nil {
		w.setWatchTimer(x)
	}
	w.wake()
}

// endWatch ends a watch; where silence would mislead, a notice says why.
func (w *work) endWatch(x *watch.Watch, reason string) {
	if w.err != nil {
		return
	}
	w.emit(watch.Ended{Watch: x.Watch, Reason: reason})
	if x.Config.OutputMatch != "" {
		w.order(effect.UnwatchOutput{Watch: x.Watch})
	}
	if reason != watch.ManagerClosed { // what was stopped is told when it runs again: a notice now would drive it
		w.tellEnd(x, reason)
	}
}

func (w *work) tellEnd(x *watch.Watch, reason string) {
	if frame := x.EndFrame(reason); frame != "" {
		w.emit(attention.WatchArmed{ID: string(x.Watch) + "/end", Watch: x.Watch, Frame: frame})
	}
}

// tellStopped tells a run that begins which watches a stop has ended since the last.
func (w *work) tellStopped() {
	for _, x := range slices.Clone(w.s.Watches.Untold()) {
		w.tellEnd(x, watch.ManagerClosed)
	}
}

// jobOver ends the watches of a job that has its terminal record: nothing of it
// can fire any more but the event of its own notice, which comes with it.
func (w *work) jobOver(j *job.State) {
	for _, x := range slices.Clone(w.s.Watches.Active()) {
		if x.Config.Job() == j.ID {
			if o, ok := w.s.occurrence(attention.Armed{Source: j.ID}); ok {
				w.happened(x, o)
			}
			if w.s.Watches.Get(x.Watch) == x {
				w.endWatch(x, watch.AutoRemoved)
			}
		}
	}
}

// sourceEnded ends the watches of a source in another session.
func (w *work) sourceEnded(in SourceEnded) {
	for _, x := range slices.Clone(w.s.Watches.Active()) {
		if x.Config.Source != in.Source || x.Generation != in.Generation {
			continue
		}
		if in.Status != "" {
			w.fire(x, watch.Happened, 1, nil, 0, func(watch.Owed) watch.What { return watch.OfTerminal(in.Status, in.Reason) })
		}
		w.endWatch(x, watch.AutoRemoved)
	}
}

// lostWatches ends what the lost process watched, and tells it: nothing was
// observed since. Timers and watches of sessions go on where that is wanted.
func (w *work) lostWatches() {
	s := w.s
	if len(s.Watches.Recent()) > 0 {
		w.emit(watch.RecentCleared{})
	}
	for _, x := range slices.Clone(s.Watches.Active()) {
		if s.Run.Limits.RearmWatches && x.Config.Job() == "" && x.Generation == 0 {
			if !s.Attention.Waits(x.Rearmed) { // else nobody has read yet what an earlier process said
				w.emit(watch.Rearmed{Watch: x.Watch})
				w.emit(attention.WatchArmed{ID: x.Rearmed, Watch: x.Watch, Frame: x.RearmedFrame()})
			}
			w.setWatchTimer(x)
			continue
		}
		w.endWatch(x, watch.RuntimeLost)
	}
}

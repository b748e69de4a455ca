package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"evener/internal/attention"
	"evener/internal/effect"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/text"
	"evener/internal/transcript"
	"evener/internal/watch"
)

// jobWatch creates, lists, inspects or clears watches.
func (w *work) jobWatch(c transcript.Call, a WatchCall) bool {
	switch {
	case a.Operation == "create" && a.WatchID != "":
		w.refuse(c, fault.Invalid("job_watch: create takes no watch_id; to change the conditions of a source create again, to add a timer just create it"))
	case a.Operation == "create":
		return w.createWatch(c, a)
	case a.Operation != "list" && a.WatchID == "":
		w.refuse(c, fault.Invalid("job_watch: %s needs watch_id; list shows them", a.Operation))
	case a.Source != "" || a.Operation == "list" && a.WatchID != "":
		w.refuse(c, fault.Invalid("job_watch: %s takes no %s", a.Operation, map[bool]string{true: "source", false: "watch_id"}[a.Source != ""]))
	case a.Operation == "list":
		l := w.s.watchList()
		w.emit(transcript.Answered{Call: c.ID, Name: c.Name, Text: fmt.Sprintf("%d watches", len(l.Watches)) + l.lines(), Data: text.Encode(l)})
	case a.Operation == "inspect":
		w.inspectWatch(c, id.Watch(a.WatchID))
	case a.Operation == "clear":
		w.clearWatch(c, id.Watch(a.WatchID))
	}
	return false
}

// WatchList is the answer of job_watch(operation="list"), and part of job_list's.
type WatchList struct {
	Watches []watch.Row     `json:"watches,omitempty"`
	Recent  []watch.PastRow `json:"recent_watches,omitempty"`
}

func (s *State) watchList() WatchList {
	return WatchList{s.Watches.Rows(), s.Watches.PastRows(s.Run.Limits.RecentWatches)}
}

// conditionLen bounds a condition in a line, in code points: a pattern and a note fit.
const conditionLen = 4096

// lines are the watches in the text of a listing, one a line: a note or a pattern
// with a line end in it makes no row of its own.
func (l WatchList) lines() string {
	var b strings.Builder
	for _, x := range l.Watches {
		fmt.Fprintf(&b, "\n%s watching %s %s deliveries=%d", x.ID, x.Source, text.Preview(x.Condition, conditionLen), x.Deliveries)
	}
	for _, x := range l.Recent {
		fmt.Fprintf(&b, "\n%s ended (%s) %s %s deliveries=%d", x.ID, x.EndReason, x.Source, text.Preview(x.Condition, conditionLen), x.Deliveries)
	}
	return b.String()
}

func (w *work) inspectWatch(c transcript.Call, x id.Watch) {
	if found := w.s.Watches.Get(x); found != nil {
		w.answer(c, found.Row(), "")
		return
	}
	for _, p := range w.s.Watches.Recent() {
		if p.Watch.Watch == x {
			w.answer(c, p.Row(), "")
			return
		}
	}
	w.refuse(c, fault.New(fault.TargetNotFound, "job_watch: no watch %s of this session; list shows them", quote(string(x))))
}

// WatchCleared is the answer of job_watch(operation="clear").
type WatchCleared struct {
	Watch    id.Watch `json:"watch_id"`
	Watching bool     `json:"watching"`
	Dropped  int      `json:"frames_dropped,omitempty"` // that no request had carried yet
}

// clearWatch ends a watch; of one that is not active it does nothing, and says the same.
func (w *work) clearWatch(c transcript.Call, name id.Watch) {
	r := WatchCleared{Watch: name}
	if x := w.s.Watches.Get(name); x != nil {
		owed := w.s.Attention.OfWatch(name)
		if r.Dropped = len(owed); r.Dropped > 0 {
			w.emit(attention.Discarded{IDs: owed})
		}
		w.endWatch(x, watch.Cleared)
	}
	w.answer(c, r, "")
}

func (a WatchCall) request() watch.Request {
	r := watch.Request{
		Source: a.Source, OutputMatch: a.OutputMatch, ProgressMS: a.ProgressMS, Events: a.Events, Every: a.Every,
		After: a.AfterSeconds, Repeat: a.Repeat, Note: a.Note,
	}
	if a.EventFilter != nil {
		r.Filter = watch.Filter{Tool: a.EventFilter.ToolName, Status: a.EventFilter.Status}
	}
	return r
}

// createWatch checks the request. What its source stands for the session knows
// of itself and its own jobs; the tree is asked for the rest, and always where
// others may hold watches on what is this session's.
func (w *work) createWatch(c transcript.Call, a WatchCall) bool {
	config, err := watch.Check(a.request())
	if err != nil {
		w.refuse(c, err)
		return false
	}
	own := config.Source == watch.Self || w.s.Job(config.Job()) != nil
	if !own || w.facts.Kin.Family {
		w.signal(CallTree{Call: c.ID})
		return true
	}
	return w.installWatch(c, config, WatchGranted{Manager: w.s.ID, Ended: w.s.HowEnded(config.Job())})
}

// ofWatch takes what the outside says about watches.
func (w *work) ofWatch(in Input) {
	switch in := in.(type) {
	case WatchGranted:
		w.watchGranted(in)
	case WatchScanned:
		w.watchScanned(in)
	case WatchMatched:
		if x := w.s.Watches.Get(in.Watch); x != nil {
			w.matched(x, in.Matches, in.Excerpts)
			w.wake()
		}
	case WatchLost:
		if x := w.s.Watches.Get(in.Watch); x != nil {
			w.endWatch(x, watch.OutputLost)
			w.wake()
		}
	case Observed:
		if x := w.s.Watches.Get(in.Watch); x != nil {
			w.happened(x, in.What)
			w.wake()
		}
	case SourceEnded:
		w.sourceEnded(in)
		w.wake()
	}
}

// wake lets a new notice begin a turn, or a run, where none is open.
func (w *work) wake() {
	s := w.s
	switch {
	case len(s.Attention.UnshownOf(attention.Watch)) == 0 || w.err != nil || len(s.Stops) > 0:
	case !s.Run.Open:
		w.signal(Owed{})
	case s.Turn == nil && s.Run.Ending == "":
		w.next(true)
	}
}

func (w *work) watchGranted(in WatchGranted) {
	c, config, ok := w.creating(in.Call)
	if !ok {
		return
	}
	waits := false
	if in.Refused != nil {
		w.refuse(c, in.Refused)
	} else {
		waits = w.installWatch(c, config, in)
	}
	if !waits {
		w.calls()
	}
}

// creating finds the create in progress, if it is this call.
func (w *work) creating(call string) (transcript.Call, watch.Config, bool) {
	c, ok := w.waiting(call)
	if !ok {
		return c, watch.Config{}, false
	}
	decoded, err := w.decode(c.Name, c.Arguments)
	a, isWatch := decoded.(WatchCall)
	if err != nil || !isWatch {
		return c, watch.Config{}, false
	}
	config, err := watch.Check(a.request())
	return c, config, err == nil
}

// installWatch answers a granted create, and reports whether the answer waits
// for a search of the output that is there already.
func (w *work) installWatch(c transcript.Call, config watch.Config, g WatchGranted) bool {
	s := w.s
	old := s.Watches.Like(config)
	var err *fault.Error
	switch {
	case g.Ended != "" && !config.OnlyMatches():
		err = ended(config, g.Ended)
	case g.Ended != "":
		return w.scan(c, config)
	case old != nil && old.Config.Same(config) && old.Generation == g.Generation:
		w.answer(c, created(old.Watch, config, false, false), config.Line())
		return false
	case config.Timer() && s.Watches.Timers() >= watch.MaxTimers:
		err = fault.Invalid("job_watch: too many timers (%d live); clear one first", watch.MaxTimers)
	case old == nil && s.Watches.HeldOn(g.Manager)+g.Held >= watch.MaxWatches:
		err = fault.Invalid("job_watch: too many watches (%d live); clear one first", watch.MaxWatches)
	case config.OutputMatch != "":
		return w.scan(c, config)
	}
	if err != nil {
		w.refuse(c, err)
		return false
	}
	w.install(c, config, g, w.mintWatch(), false, "")
	return false
}

func (w *work) mintWatch() id.Watch {
	w.step.UsedRandom = true
	return id.MintWatch(w.s.ID, w.facts.Random, w.s.Watches.Made)
}

func ended(config watch.Config, how job.Status) *fault.Error {
	return fault.New(fault.TargetTerminal, "job_watch: %s has ended (%s), so nothing can fire; its output can still be searched: output_match alone, or read_transcript", config.Source, how)
}

// scan has what the job printed so far searched, and then, while it runs, what
// it prints from there on.
func (w *work) scan(c transcript.Call, config watch.Config) bool {
	w.order(effect.WatchOutput{Watch: w.mintWatch(), Call: c.ID, Job: config.Job(), Pattern: config.OutputMatch})
	return true
}

// install makes the watch active and answers its create. The answer comes
// first: a watch does not see its own creation.
func (w *work) install(c transcript.Call, config watch.Config, g WatchGranted, name id.Watch, fired bool, excerpt string) {
	old := w.s.Watches.Like(config)
	note := config.Line() + w.watchFate(config)
	w.answer(c, created(name, config, old != nil, fired), note)
	e := watch.Created{Watch: name, Config: config, Manager: g.Manager, Generation: g.Generation}
	if old != nil {
		e.Replaces = old.Watch
		w.endWatch(old, watch.Replaced)
	}
	w.emit(e)
	if w.err != nil {
		return
	}
	x := w.s.Watches.Get(name)
	w.setWatchTimer(x)
	if fired {
		w.matched(x, 1, []string{excerpt})
	}
}

// watchFate adds to the answer what the caller may not expect of its watch.
func (w *work) watchFate(config watch.Config) string {
	var note string
	if j := config.Job(); j != "" && len(config.Events) > 0 && !slices.Contains(config.Events, watch.Any) && !slices.Contains(config.Events, watch.Notification) {
		note = "\n(a job has job.notification events only; these kinds never fire for it)"
	}
	if w.s.root() && !w.s.outlives() && !w.s.awaiting() {
		note += "\n(this process exits when the turn ends, and the watch ends with it)"
	}
	return note
}

// WatchMade is the answer of job_watch(operation="create").
type WatchMade struct {
	Watch    id.Watch `json:"watch_id"`
	Watching bool     `json:"watching"`
	watch.Config
	Replaced bool       `json:"replaced_existing"`
	Fired    bool       `json:"fired"` // by output that was there already
	Catchup  bool       `json:"terminal_catchup,omitempty"`
	Status   job.Status `json:"status,omitempty"` // of a job that has ended
}

func created(x id.Watch, config watch.Config, replaced, fired bool) WatchMade {
	return WatchMade{Watch: x, Watching: true, Config: config, Replaced: replaced, Fired: fired}
}

// watchScanned answers a create whose source had output to search.
func (w *work) watchScanned(in WatchScanned) {
	c, config, ok := w.creating(in.Call)
	if !ok { // it was given up
		w.order(effect.UnwatchOutput{Watch: in.Watch})
		return
	}
	switch {
	case in.Error != "":
		w.refuse(c, fault.New(fault.TargetNotFound, "job_watch: %s: %s", config.Source, in.Error))
	case in.Ended == "":
		w.install(c, config, WatchGranted{Manager: config.Job().Owner()}, in.Watch, in.Matches > 0, in.Excerpt)
	case !config.OnlyMatches():
		w.refuse(c, ended(config, in.Ended))
	default:
		w.caughtUp(c, config, in)
	}
	w.calls()
}

// caughtUp answers for a job that has ended: its output was searched once, and
// there is no watch. What matched comes as the one frame of one that never was active.
func (w *work) caughtUp(c transcript.Call, config watch.Config, in WatchScanned) {
	r := created(in.Watch, config, false, in.Matches > 0)
	r.Watching, r.Catchup, r.Status = false, true, in.Ended
	w.answer(c, r, config.Line())
	if in.Matches == 0 {
		return
	}
	x := watch.Watch{Created: watch.Created{Watch: in.Watch, Config: config}}
	what := watch.OfMatches(config, watch.Owed{Count: 1, Excerpts: []string{in.Excerpt}})
	w.emit(attention.WatchArmed{ID: x.NextDelivery(), Watch: in.Watch, Frame: x.Frame(x.NextDelivery(), 0, what, w.s.Run.Limits.WatchFrameChars)})
}

// setWatchTimer starts the time until the next fire of a timer or of progress.
func (w *work) setWatchTimer(x *watch.Watch) {
	if x.Interval() > 0 {
		w.order(effect.SetTimer{Key: watchTimer + ":" + string(x.Watch), After: max(x.Left(w.facts.Now), time.Millisecond)})
	}
}

const watchTimer = "watch"

package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"evener/internal/attention"
	"evener/internal/effect"
	"evener/internal/fault"
	"evener/internal/job"
	"evener/internal/transcript"
	"evener/internal/watch"
)

// Reasons of an exhausted turn.
const (
	turnBudget  = "turn_budget_exhausted"
	roundBudget = "tool_round_budget_exhausted"
)

// startTurn begins a turn; said is what opens it, or zero where the notices do.
func (w *work) startTurn(kind TurnKind, said transcript.UserSaid) {
	w.emit(TurnStarted{Turn: w.s.Turns + 1, Type: kind})
	w.carryMessages() // they are older than what opens the turn
	if said.Text != "" {
		said.Turn = w.s.Turns
		w.emit(said)
	}
	w.request()
}

// request sends the conversation as it stands, with every notice that is owed.
func (w *work) request() {
	if w.err != nil {
		return
	}
	s := w.s
	limits := s.Run.Limits
	switch {
	case limits.MaxTurns > 0 && s.Run.Spent >= limits.MaxTurns:
		w.endTurn(TurnExhausted, turnBudget)
		return
	case limits.MaxToolRounds > 0 && s.Run.Rounds >= limits.MaxToolRounds:
		w.endTurn(TurnExhausted, roundBudget)
		return
	case w.facts.Full != "" && w.facts.Room < roomForRequests:
		w.endTurn(TurnFailed, "the filesystem of "+w.facts.Full+" is full; free space there")
		return
	}
	w.carryMessages()
	if !w.compacts() {
		w.send()
	}
}

// send sends it.
func (w *work) send() {
	w.carryMessages()
	s := w.s
	n := s.Requests + 1
	w.emit(Requested{Turn: s.Turn.N, Request: n, Attention: s.Attention.Unshown()})
	w.order(effect.CallModel{Request: n})
}

// carryMessages brings the owner's words that wait into the conversation.
func (w *work) carryMessages() {
	for _, m := range slices.Clone(w.s.Messages) {
		w.emit(transcript.UserSaid{Turn: w.s.Turn.N, Text: FromParent + m.Text, Message: m.Message})
	}
}

// replied takes a whole reply; half a call in it never runs. A reply to a
// request that is no longer out is dropped.
func (w *work) replied(in Replied) {
	t := w.s.Turn
	if !w.out(in.Request) || t.Compacting != nil {
		return
	}
	said := in.Reply
	said.Turn, said.Request = t.N, in.Request
	said.Calls = w.freshIDs(said.Calls)
	w.emit(said)
	w.calls()
}

// freshIDs gives a call whose id this conversation has seen an id of its own:
// some servers count from zero in every reply, and a result must name one call.
func (w *work) freshIDs(calls []transcript.Call) []transcript.Call {
	calls = slices.Clone(calls) // an input may be decided again
	seen := map[string]bool{}
	for i, c := range calls {
		x := c.ID
		for n := 2; w.s.Transcript.UsedID(x) || seen[x]; n++ {
			x = fmt.Sprintf("%s_%d", c.ID, n)
		}
		if x != c.ID {
			calls[i].ID, calls[i].SentID = x, c.ID
		}
		seen[x] = true
	}
	return calls
}

// calls runs open calls in call order until one must wait for the world. When
// none is left the turn ends or asks again.
func (w *work) calls() {
	s := w.s
	for w.err == nil && len(s.Transcript.Open()) > 0 {
		c := s.Transcript.Open()[0]
		if s.Run.Ending != "" {
			w.refuse(c, notRun(c))
			continue
		}
		if s.Turn.Interrupted {
			w.refuse(c, fault.New(fault.Interrupted, "%s: the user interrupted the turn; the call was not run", c.Name))
			continue
		}
		if w.exec(c) {
			return
		}
	}
	if w.err != nil || s.Turn == nil {
		return
	}
	switch {
	case s.Run.Ending != "":
		w.endTurn(TurnInterrupted, s.Run.Ending)
	case s.Turn.Interrupted:
		w.endInterrupted()
	case s.Turn.Report != nil:
		w.endTurn(TurnReported, "")
	case w.lastReplyHadCalls():
		w.request()
	case w.remind():
	case strings.TrimSpace(s.Turn.Text) != "":
		w.endTurn(TurnAnswered, "")
	default:
		w.endTurn(TurnEmpty, "")
	}
}

func notRun(c transcript.Call) *fault.Error {
	return fault.New(fault.Closing, "%s: the session is closing; the call was not run", c.Name)
}

func (w *work) lastReplyHadCalls() bool {
	e := w.s.Transcript.Entries
	for i := len(e) - 1; i >= 0; i-- {
		if e[i].Role == transcript.Assistant {
			return len(e[i].Assistant.Calls) > 0
		}
	}
	return false
}

func (w *work) modelFailed(in ModelFailed) {
	switch {
	case !w.out(in.Request):
	case w.s.Turn.Compacting != nil:
		w.notSummarised(in.Text)
	case in.Overflow && w.overflowed(in):
	default:
		w.endTurn(TurnFailed, in.Text)
	}
}

// out reports whether this request is the one that the turn waits for. While
// calls run there is none.
func (w *work) out(request int64) bool {
	t := w.s.Turn
	return t != nil && t.Waiting != 0 && t.Waiting == request
}

// endTurn ends the turn. One that ends well consumes the notices that its
// requests carried; after any other they stay pending.
func (w *work) endTurn(o TurnOutcome, reason string) {
	s := w.s
	well := o == TurnReported || o == TurnAnswered || o == TurnEmpty
	if shown := s.Attention.Shown(); well && len(shown) > 0 {
		w.emit(attention.Consumed{IDs: shown, By: attention.ByTurn})
	}
	w.emit(TurnEnded{Turn: s.Turn.N, Outcome: o, Reason: reason, Answer: w.answers(o)})
	if w.err != nil {
		return
	}
	w.next(well)
}

// answers says whether the turn that is ending gives the run's answer. The turn
// of a prompt gives a new one. After it the latest report wins; bare text counts
// only while there was no report. A report made on an announcement turn does not
// replace one, unless a completion arrived during that turn.
func (w *work) answers(o TurnOutcome) bool {
	t, have := w.s.Turn, w.s.Run.Answer
	if t.Kind == UserTurn {
		return o == TurnReported || o == TurnAnswered
	}
	if have.fits() && !t.Report.fits() { // what fits the schema stands
		return false
	}
	if t.Kind == AnnouncementTurn && have != nil && t.Carried == 0 {
		return o == TurnReported && !(have.Reported && have.fits())
	}
	switch o {
	case TurnReported:
		return true
	case TurnAnswered:
		return have == nil || !have.Reported
	}
	return false
}

// close admits nothing more: the request in flight is abandoned and running
// jobs are stopped. The run ends when the last of them has its terminal record.
func (w *work) close(why string) {
	s := w.s
	if !s.Run.Open || s.Run.Ending != "" || w.err != nil {
		return
	}
	if why == "" {
		why = "done"
	}
	w.ending(why)
	for _, q := range slices.Clone(s.Queue) {
		w.emit(PromptDropped{Prompt: q.N, Input: q.ID, Why: why})
	}
	w.stopLive(job.ByClose)
	if w.facts.Kin.Family {
		w.signal(CloseBelow{})
		w.order(effect.SetTimer{Key: closeTimer, After: w.grace() + 2*closeSlack})
		return // the tree comes back when nothing is left below
	}
	w.finishClose(false)
}

// ending admits nothing more to the run and abandons the request in flight.
func (w *work) ending(why string) {
	w.emit(RunEnding{Run: w.s.Run.N, Why: why})
	if t := w.s.Turn; t != nil && t.Waiting != 0 {
		w.order(effect.CancelModel{Request: t.Waiting})
	}
}

// stopLive stops every job that runs and bounds the wait for their ends.
func (w *work) stopLive(by job.StopBy) {
	for _, x := range w.s.Live() {
		w.stopJob(x, by, "")
	}
	if len(w.s.Live()) > 0 {
		w.order(effect.SetTimer{Key: closeTimer, After: w.grace() + closeSlack})
	}
}

const (
	closeTimer = "close"
	// closeSlack is how long past the grace a close waits for terminal records;
	// what has none by then is left to the next restart.
	closeSlack = 8 * time.Second
)

// finishClose ends the run once nothing runs, or when it may wait no longer.
func (w *work) finishClose(force bool) {
	s := w.s
	ending := s.Run.Open && s.Run.Ending != ""
	if w.err != nil || !ending && len(s.Stops) == 0 || !force && w.unclosed() {
		return
	}
	if s.Run.Open && s.Turn != nil {
		// Whatever can run has begun: the first open call is the one in progress.
		for i, c := range slices.Clone(s.Transcript.Open()) {
			if i > 0 {
				w.refuse(c, notRun(c))
				continue
			}
			w.refuse(c, fault.New(fault.Closing, "%s: interrupted: the session closed while the call was in progress%s", c.Name, w.mayHaveDone(c)))
		}
		w.emit(TurnEnded{Turn: s.Turn.N, Outcome: TurnInterrupted, Reason: s.Run.Ending})
	}
	if s.Run.Open {
		w.emit(RunEnded{Run: s.Run.N, Outcome: s.runOutcome()})
		if !s.root() {
			w.signal(RunOver{})
		}
	}
	switch {
	case len(s.Stops) > 0:
		w.stopEnded()
	case s.root():
		w.order(effect.EndRun{})
	}
}

// unclosed reports what a close still waits for: jobs of the session that it
// stops, and at the root everything below. A halt leaves background jobs alone.
func (w *work) unclosed() bool {
	s := w.s
	if s.root() {
		return len(s.Live()) > 0 || w.facts.Kin.Open.yes()
	}
	for _, x := range s.Live() {
		if len(s.Stops) > 0 || !x.BackgroundEvidence() {
			return true
		}
	}
	return false
}

// stopEnded closes the pending stops: what the session was owed is discarded.
func (w *work) stopEnded() {
	s := w.s
	if owed := s.Attention.Pending(); len(owed) > 0 && !s.closes {
		w.emit(attention.Discarded{IDs: owed})
	}
	if !s.closes {
		for _, x := range slices.Clone(s.Watches.Active()) {
			w.endWatch(x, watch.ManagerClosed)
		}
	}
	stops := s.Stops
	w.emit(StopEnded{Stops: stops})
	for _, x := range stops {
		w.signal(StopOver{Stop: x})
	}
}

// runOutcome: an answer that was given stands, whatever a later turn did,
// unless the run was interrupted from outside before it had ended by itself.
func (s *State) runOutcome() RunOutcome {
	byItself := s.Run.Ending == "done" || s.Run.Ending == "" || TurnOutcome(s.Run.Ending).ill()
	switch a := s.Run.Answer; {
	case !byItself:
		return RunInterrupted
	case s.Run.Mode == Living:
		return RunClosed
	case a != nil && len(a.Violations) > 0:
		return RunOutputUnfit
	case a != nil && a.Reported:
		return RunReported
	case a != nil:
		return RunAnswered
	case s.Run.LastTurn == TurnFailed:
		return RunFailed
	case s.Run.LastTurn == TurnExhausted:
		return RunExhausted
	}
	return RunNoReport
}

// ill is the end of a turn that got no further.
func (o TurnOutcome) ill() bool { return o == TurnFailed || o == TurnExhausted }

func (w *work) grace() time.Duration {
	return time.Duration(w.s.Run.Limits.StopGraceMS) * time.Millisecond
}

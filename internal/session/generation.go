package session

import (
	"encoding/json"
	"fmt"
	"slices"

	"evener/internal/attention"
	"evener/internal/effect"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/task"
	"evener/internal/text"
	"evener/internal/transcript"
)

// ofTree takes what the tree tells a session.
func (w *work) ofTree(in Input) {
	switch in := in.(type) {
	case Begin:
		w.generation(in)
	case Message:
		w.message(in)
	case Deliver:
		w.deliver(in)
	case CallDone:
		w.callDone(in)
	case WaitSend:
		w.waitSend(in)
	case WaitStop:
		w.waitStop(in)
	case Fence:
		w.fence(in)
	case StopShell:
		w.stopShell(in)
	case Halt:
		w.halt(in)
	case Settle:
		w.settled()
	case WatchGranted, WatchScanned, WatchMatched, WatchLost, Observed, SourceEnded:
		w.ofWatch(in)
	default:
		w.err = fmt.Errorf("session: no rule for input %T", in)
	}
}

// generation starts a generation: a run of the delegate's session. One that this
// session knows already is not begun again.
func (w *work) generation(in Begin) {
	s := w.s
	if s.Run.Open || s.Run.Generation >= in.Generation {
		return
	}
	if s.ID == "" && in.Create != nil {
		w.emit(*in.Create)
	}
	if s.Run.N == 0 && len(in.Tasks) > 0 {
		w.emit(task.Seeded{Tasks: in.Tasks})
	}
	w.emit(RunStarted{Run: s.Run.N + 1, Mode: Delegated, Limits: in.Limits, Generation: in.Generation, Exits: in.Exits, OutputSchema: in.Schema})
	if !sameContext(s.Context, in.Context) {
		w.emit(in.Context)
	}
	if !in.Lost {
		w.tellStopped()
	}
	switch {
	case in.Lost:
		w.lostGeneration(in)
	case in.Text != "":
		w.startTurn(UserTurn, transcript.UserSaid{Text: s.assignment(in.Text)})
	case len(s.Attention.Pending()) > 0 || len(s.Messages) > 0:
		w.startTurn(NotificationTurn, transcript.UserSaid{})
	default: // it was told in the meantime
		w.endGeneration()
	}
}

// lostGeneration records what was accepted, so that a later request carries it.
func (w *work) lostGeneration(in Begin) {
	if in.Text != "" {
		w.emit(TurnStarted{Turn: w.s.Turns + 1, Type: UserTurn})
		w.carryMessages()
		w.emit(transcript.UserSaid{Turn: w.s.Turns, Text: w.s.assignment(in.Text)})
		w.emit(TurnEnded{Turn: w.s.Turns, Outcome: TurnInterrupted, Reason: "lost"})
	}
	w.emit(RunEnded{Run: w.s.Run.N, Outcome: RunLost})
	w.signal(RunOver{})
}

// FromParent stands before a message that reaches a running delegate.
const FromParent = "Message from your parent agent:\n"

// message takes the owner's word to a running generation. It is on disk before
// the owner hears so, and at least one further request carries it.
func (w *work) message(in Message) {
	s := w.s
	if s.known[in.ID] {
		w.signal(Taken{Message: in.ID})
		return
	}
	if !s.Run.Open || s.Run.Ending != "" || len(s.Stops) > 0 {
		w.signal(Taken{Message: in.ID, Missed: true})
		return
	}
	w.emit(MessageQueued{Message: in.ID, Text: in.Text})
	w.signal(Taken{Message: in.ID})
	if s.Turn == nil {
		w.next(true)
	}
}

// idleDelegate decides what comes after a turn of a delegate. While its own
// delegates work it is parked: an update or a watch wakes it, a report waits for the end
// of the generation. A turn that ended ill ends the generation with it.
func (w *work) idleDelegate(ill bool) {
	s := w.s
	working := w.facts.Kin.Working.yes()
	switch {
	case ill:
		w.endGeneration()
	case len(s.Messages) > 0:
		w.startTurn(MessageTurn, transcript.UserSaid{})
	case working && len(s.Attention.UnshownOf(attention.Update))+len(s.Attention.UnshownOf(attention.Watch)) > 0:
		w.startTurn(NotificationTurn, transcript.UserSaid{})
	case working:
	default:
		w.endGeneration()
	}
}

// endGeneration ends the run. From here on nothing joins this generation.
func (w *work) endGeneration() {
	w.emit(RunEnded{Run: w.s.Run.N, Outcome: w.s.runOutcome()})
	w.signal(RunOver{})
}

// deliver records what a delegate of this session owes it, once.
func (w *work) deliver(in Deliver) {
	s, n := w.s, in.Notice
	if s.Attention.StateOf(n.ID) == attention.NotArmed {
		w.emit(n)
		switch {
		case n.Class == attention.Report && w.awaits(n.Delegate, in.Generation):
			w.answerSend(in)
		case !s.Run.Open:
			w.signal(Owed{})
		case s.Turn == nil && s.Run.Ending == "":
			w.next(true)
		}
	}
	w.signal(Received{Notice: n.ID})
}

// awaits reports whether the call in progress waits for this packet.
func (w *work) awaits(d id.Delegate, generation int64) bool {
	x := w.s.Wait
	return x != nil && x.Delegate == d && x.Generation == generation && w.s.Run.Ending == ""
}

// earlier is an update that a waiting send returns ahead of the report.
type earlier struct {
	Action string `json:"action"`
	Output string `json:"output"`
}

// answerSend gives the packet to the call that waits for it, and with it the
// updates that came before. Neither is told again.
func (w *work) answerSend(in Deliver) {
	c, ok := w.waiting(w.s.Wait.Call)
	if !ok {
		return
	}
	told := []string{}
	var before []earlier
	for _, u := range w.s.Attention.UpdatesOf(in.Notice.Delegate) {
		told = append(told, u.ID)
		before = append(before, earlier{"update", u.Message})
	}
	w.emit(attention.Consumed{IDs: append(told, in.Notice.ID), By: attention.ByWait})
	data := text.Encode(in.Sent)
	if len(before) > 0 {
		list := text.Encode(before)
		data = append(append(data[:len(data)-1], `,"earlier_results":`...), append(list, '}')...)
	}
	w.emit(transcript.Answered{Call: c.ID, Name: c.Name, Data: json.RawMessage(data)})
	w.calls()
}

func (w *work) callDone(in CallDone) {
	c, ok := w.waiting(in.Call)
	if !ok {
		return
	}
	w.emit(transcript.Answered{Call: c.ID, Name: c.Name, IsError: in.IsError, Text: in.Text, Data: json.RawMessage(in.Data)})
	w.calls()
}

func (w *work) waitSend(in WaitSend) {
	if _, ok := w.waiting(in.Call); !ok {
		return
	}
	w.emit(SendWaiting(in))
	if w.s.Turn.Interrupted {
		w.expired(in.Call)
		return
	}
	w.order(effect.SetTimer{Key: sendTimer(in.Call), After: msDuration(in.MaxWaitMS)})
}

func (w *work) waitStop(in WaitStop) {
	_, ok := w.waiting(in.Call)
	switch {
	case ok && w.s.Turn.Interrupted:
		w.expired(in.Call)
	case ok:
		w.order(effect.SetTimer{Key: stopTimer(in.Call), After: msDuration(in.MaxWaitMS)})
	}
}

// expired tells the tree that a call of its own may wait no longer.
func (w *work) expired(call string) {
	if _, ok := w.waiting(call); ok {
		w.signal(CallExpired{Call: call})
	}
}

// fence stops the session with its subtree: the turn, the run and every job.
func (w *work) fence(in Fence) {
	s := w.s
	if slices.Contains(s.Stops, in.Stop) {
		return
	}
	watches := !in.Close && len(s.Watches.Active()) > 0 // would wake what was stopped
	if !s.Run.Open && len(s.Live()) == 0 && len(s.Attention.Pending()) == 0 && len(s.Stops) == 0 && !watches {
		w.signal(StopOver{Stop: in.Stop})
		return
	}
	w.emit(StopBegan(in))
	by, why := job.ByJobStop, "stopped_by_parent"
	if in.Close {
		by, why = job.ByClose, "session_close"
	}
	if s.Run.Open && s.Run.Ending == "" {
		w.ending(why)
	}
	w.stopLive(by)
	w.finishClose(false)
}

// stopShell stops one job of this session for its owner above.
func (w *work) stopShell(in StopShell) {
	if x := w.s.jobs[in.Job]; x != nil {
		if in.Children {
			w.stopChildren(x.ID)
		}
		w.stopJob(x, job.ByJobStop, "")
	}
	w.signal(ShellStopped{Job: in.Job})
}

// halt ends a generation: its turn is interrupted and the command that the turn
// waits for is stopped. Background jobs go on.
func (w *work) halt(in Halt) {
	s := w.s
	if !s.Run.Open || s.Run.Generation != in.Generation || s.Run.Ending != "" {
		return
	}
	w.ending(in.Why)
	for _, x := range s.Live() {
		if !x.BackgroundEvidence() {
			w.stopJob(x, job.ByJobStop, "")
		}
	}
	w.finishClose(false)
}

// settled goes on with what waited for something below this session.
func (w *work) settled() {
	s := w.s
	switch {
	case s.Run.Ending != "" || len(s.Stops) > 0:
		w.finishClose(false)
	case s.Run.Open && s.Turn == nil:
		w.next(true)
	}
}

func (s *State) applyContext(e ContextSet) error {
	tools, err := e.Names()
	if err != nil {
		return err
	}
	s.Context, s.tools = e, tools
	return nil
}

// Names are the tools that the model is told of.
func (e ContextSet) Names() ([]string, error) {
	var tools []struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(e.Tools, &tools); err != nil {
		return nil, fmt.Errorf("context: tools: %w", err)
	}
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return names, nil
}

func (s *State) applyMessage(e transcript.UserSaid) error {
	if len(s.Messages) == 0 || s.Messages[0].Message != e.Message {
		return fmt.Errorf("message %s: shown out of order", e.Message)
	}
	s.Messages = s.Messages[1:]
	return nil
}

func (s *State) applyTree(e Event) error {
	switch e := e.(type) {
	case MessageQueued:
		if s.known[e.Message] {
			return fmt.Errorf("message %s: queued twice", e.Message)
		}
		s.known[e.Message] = true
		s.Messages = append(s.Messages, e)
	case SendWaiting:
		if !s.Transcript.IsOpen(e.Call) {
			return fmt.Errorf("call %s: waits and is not open", e.Call)
		}
		s.Wait = &e
	case StopBegan:
		s.Stops, s.closes = append(s.Stops, e.Stop), s.closes || e.Close
	case StopEnded:
		if len(e.Stops) != len(s.Stops) || s.Run.Open {
			return fmt.Errorf("stops %v: ended while %v are pending (run open: %v)", e.Stops, s.Stops, s.Run.Open)
		}
		s.Stops, s.closes = nil, false
	}
	return nil
}

// Tools are the names of what the session may call, in order.
func (s *State) Tools() []string { return s.tools }

// root reports whether this is the session of the tree's root.
func (s *State) root() bool { return s.Delegate == "" }

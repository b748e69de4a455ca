package tree

import (
	"encoding/json"
	"strings"

	"evener/internal/attention"
	"evener/internal/delegate"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/text"
	"evener/internal/transcript"
)

// maxSendWaitMS caps the wait of delegate_send, silently.
const maxSendWaitMS = 60_000

// SendResult is the answer of delegate_send.
type SendResult struct {
	Delegate    id.Delegate     `json:"delegate_id"`
	Type        string          `json:"type"`
	Status      string          `json:"status"`
	Reason      *string         `json:"reason"`
	Background  bool            `json:"running_in_background"`
	TimedOut    bool            `json:"timed_out"`
	Action      string          `json:"action"` // steered, started or completed
	Ref         string          `json:"transcript_ref,omitempty"`
	WaitIgnored string          `json:"wait_ignored_reason,omitempty"`
	Outcome     *Outcome        `json:"last_outcome,omitempty"`
	Output      *string         `json:"output,omitempty"`
	Result      json.RawMessage `json:"structured_result,omitempty"`
	ResultError string          `json:"structured_result_error,omitempty"`
	Error       string          `json:"error,omitempty"`
}

// maxBrief bounds what an owner tells a delegate at once, in bytes, as the prompts
// of a task list are bounded: more belongs into a file.
const maxBrief = 64 << 10

func tooLong(what, s string) *fault.Error {
	return fault.Invalid("%s has %d bytes; %d at most: put long material into a file and name it", what, len(s), maxBrief)
}

// waitIgnored says why a wait beside a steer has no effect.
const waitIgnored = "live_steer_returns_on_delivery"

// send steers a running delegate or starts the next generation of an idle one.
func (w *work) send(s id.Session, c transcript.Call, a session.DelegateSendCall) {
	d, err := w.sendTarget(s, a)
	if err != nil {
		w.refuse(s, c.ID, err)
		return
	}
	child := w.t.Sessions[d.Session]
	switch {
	case d.Open && child != nil && child.Run.Open && child.Run.Generation == d.Generation:
		w.tell(d.Session, session.Message{ID: string(s) + "/" + c.ID, Text: a.Message})
	case d.Open: // its beginning or its end is on the way
		w.d.Next = append(w.d.Next, Input{s, Retry{c.ID}})
	default:
		w.startIdle(s, c, d, a)
	}
}

func (w *work) sendTarget(s id.Session, a session.DelegateSendCall) (*delegate.State, *fault.Error) {
	switch {
	case a.MaxWaitMS < 0:
		return nil, fault.Invalid("delegate_send: max_wait_ms must not be negative (got %d)", a.MaxWaitMS)
	case strings.TrimSpace(a.Message) == "":
		return nil, fault.Invalid("delegate_send: message is empty")
	case len(a.Message) > maxBrief:
		return nil, tooLong("delegate_send: message", a.Message)
	case a.To == "caller":
		return nil, fault.Invalid("delegate_send: caller is no target; a delegate reaches its parent with communicate: end_turn=false for an update, end_turn=true for its report")
	}
	x, ok := id.ParseDelegate(a.To)
	d := w.t.Delegates.Get(x)
	if !ok || d == nil || d.Owner != s {
		return nil, fault.New(fault.NotControllable, "delegate")
	}
	if d.Stops > 0 {
		return nil, fault.New(fault.TargetNotMessageable, "delegate_send: session_busy: %s is being stopped; send again when its stop has finished", d.ID)
	}
	return d, nil
}

func (w *work) startIdle(s id.Session, c transcript.Call, d *delegate.State, a session.DelegateSendCall) {
	err := w.admits(s, "delegate_send")
	if err == nil {
		err = w.slot("delegate_send")
	}
	if err == nil {
		err = w.retain("delegate_send", d)
	}
	if err != nil {
		w.refuse(s, c.ID, err)
		return
	}
	w.emit(delegate.GenerationStarted{Delegate: d.ID, Generation: d.Generation + 1, Purpose: delegate.ForOwner, Text: a.Message, Call: c.ID})
	if w.err != nil {
		return
	}
	w.begin(d, false)
	if wait := min(a.MaxWaitMS, maxSendWaitMS); wait > 0 {
		w.tell(s, session.WaitSend{Call: c.ID, Delegate: d.ID, Generation: d.Generation, MaxWaitMS: wait})
		return
	}
	w.answer(s, c.ID, started(d, false))
}

func started(d *delegate.State, timedOut bool) SendResult {
	return SendResult{Delegate: d.ID, Type: "delegate", Status: "running", Background: true, TimedOut: timedOut, Action: "started", Ref: d.Ref()}
}

// completed is the answer of a send that waited for the packet. What the wait
// ends with says how the generation went: it need not have gone well.
func completed(d *delegate.State, p *delegate.Packet) SendResult {
	out := p.Message
	return SendResult{
		Delegate: d.ID, Type: "delegate", Status: "idle", Action: "completed", Ref: d.Ref(), Outcome: &Outcome{Status: p.Status, Reason: p.Reason},
		Output: &out, Result: p.Result, ResultError: p.ResultError, Error: p.Error,
	}
}

// taken answers a send whose message the delegate's journal has. One that
// came too late for the generation is decided again.
func (w *work) taken(x session.Taken) {
	owner, call, _ := strings.Cut(x.Message, "/")
	s := id.Session(owner)
	if w.t.Sessions[s] == nil {
		return
	}
	c, a, ok := w.open(s, call)
	send, isSend := a.(session.DelegateSendCall)
	if !ok || !isSend {
		return
	}
	if x.Missed {
		w.send(s, c, send)
		return
	}
	r := SendResult{Delegate: id.Delegate(send.To), Type: "delegate", Status: "running", Background: true, Action: "steered"}
	if send.MaxWaitMS > 0 {
		r.WaitIgnored = waitIgnored
	}
	w.answer(s, c.ID, r)
}

// expired answers a call whose wait is over. What it waited for goes on.
func (w *work) expired(s id.Session, call string) {
	c, a, ok := w.open(s, call)
	if !ok {
		return
	}
	switch a := a.(type) {
	case session.DelegateSendCall:
		if x := w.t.Sessions[s].Wait; x != nil && x.Call == c.ID {
			w.answer(s, c.ID, started(w.t.Delegates.Get(x.Delegate), true))
		}
	case session.JobStopCall:
		w.answerStopNow(s, c, a)
	}
}

// update queues what a delegate tells its owner in the middle of its work. The
// call is answered when it is known how far the update came.
func (w *work) update(s id.Session, c transcript.Call, a session.CommunicateCall) {
	d := w.of(s)
	if why := w.undeliverable(d); why != "" {
		w.answer(s, c.ID, Told{Accepted: true, Delivery: "not_delivered", Reason: why})
		return
	}
	msg := strings.TrimSpace(a.Message)
	if msg == "" && a.Output != nil {
		msg = strings.TrimSpace(a.Output.Message)
	}
	w.emit(delegate.UpdateQueued{Delegate: d.ID, Generation: d.Generation, Delivery: delegate.UpdateID(d), Message: msg})
	if w.err != nil {
		return
	}
	if len(d.Owed) > 1 { // behind an earlier one
		w.answer(s, c.ID, Told{Accepted: true, Delivery: "queued"})
		return
	}
	w.hand(d)
}

// Told is the answer of a delegate's communicate(end_turn=false).
type Told struct {
	Accepted bool   `json:"accepted"`
	EndTurn  bool   `json:"end_turn"`
	Delivery string `json:"delivery"` // delivered, queued or not_delivered
	Reason   string `json:"delivery_reason,omitempty"`
}

func (w *work) undeliverable(d *delegate.State) string {
	switch {
	case d == nil:
		return "the session has no route to a parent agent"
	case d.Stops > 0:
		return "the delegate is being stopped"
	case !d.Open || w.t.Sessions[d.Session].Run.Generation != d.Generation:
		return "its run is over"
	case w.f.Full != "":
		return "the update could not be recorded: the filesystem of " + w.f.Full + " is full"
	}
	return ""
}

// hand gives the owner the first delivery that it is owed.
func (w *work) hand(d *delegate.State) {
	if len(d.Owed) == 0 {
		return
	}
	w.tell(d.Owner, w.t.deliverOf(d))
}

// deliverOf is the input that hands over the first delivery that is owed.
func (t *State) deliverOf(d *delegate.State) session.Deliver {
	x := d.Owed[0]
	n := attention.DelegateArmed{ID: x.ID, Delegate: d.ID, Class: attention.Update, Message: cut(d, x.Message, packetMessageLen)}
	if x.Packet == nil {
		n.Frame = attention.DelegateFrame(d.ID, d.Descriptor.Name, n.Class, text.Escape(n.Message))
		return session.Deliver{Notice: n}
	}
	n.Class = attention.Report
	n.Frame = attention.DelegateFrame(d.ID, d.Descriptor.Name, n.Class, x.Packet.JSON())
	return session.Deliver{Notice: n, Generation: x.Generation, Sent: completed(d, x.Packet)}
}

// received closes a delivery that the owner's journal has, and hands over the next.
func (w *work) received(s id.Session, notice string) {
	name, _, _ := strings.Cut(notice, "/")
	d := w.t.Delegates.Get(id.Delegate(name))
	if d == nil || d.Owner != s || len(d.Owed) == 0 || d.Owed[0].ID != notice {
		return
	}
	update := d.Owed[0].Packet == nil
	w.emit(delegate.Delivered{Delegate: d.ID, Delivery: notice})
	if w.err != nil {
		return
	}
	if update {
		w.answerUpdate(d, notice)
	}
	w.hand(d)
	if s != w.t.Root {
		w.tell(s, session.Settle{})
	}
	w.rest()
}

func (w *work) answerUpdate(d *delegate.State, notice string) {
	c, a, ok := w.open(d.Session, "")
	if m, isTold := a.(session.CommunicateCall); !ok || !isTold || m.EndTurn {
		return
	}
	told := Told{Accepted: true, Delivery: "queued"}
	if w.t.Sessions[d.Owner].Attention.StateOf(notice) != attention.Pending {
		told.Delivery = "delivered"
	}
	w.answer(d.Session, c.ID, told)
}

package tree_test

import (
	"slices"
	"strings"
	"testing"

	"evener/internal/attention"
	"evener/internal/delegate"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
	"evener/internal/transcript"
)

// Once a subtree is being stopped nothing new begins in it, whatever was on the
// way: no delegate that was asked for, no command, no request, no attention run.
// A message to it is refused and starts no run. What the stopped were owed is
// discarded in their journals, and no later run hears of it.
//
// clause: RC-038 JC-205 JC-573
func TestFence(t *testing.T) {
	b := kept(t, 50)
	idle, _ := b.delegate(root, 1)
	j := b.start(idle)
	b.report(idle)
	busy, _ := b.delegate(root, 2)
	k := b.start(busy)
	b.reply(busy, "", `delegate {"prompt":"Below."}`)
	for _, s := range []id.Session{idle, busy} {
		b.reply(root, "", `job_stop {"target":"`+string(id.DelegateOf(s))+`"}`)
		if got := b.last(root); got.IsError || !strings.Contains(got.Text, `"reason":"stop_pending"`) {
			t.Fatalf("the stop: %s", got.Text)
		}
	}
	lines, asked := len(b.disk), b.requests[busy]
	b.prepared(busy, id.MintSession(began, id.Entropy{9}), told.Model)
	b.take(busy, session.Replied{Request: asked, Reply: transcript.AssistantSaid{Calls: []transcript.Call{{ID: "late", Name: "shell", Arguments: `{"command":"x"}`}}}})
	if got := b.send(idle); !got.IsError || !strings.HasPrefix(got.Text, "target_not_messageable: delegate_send: session_busy") {
		t.Errorf("a message to it: %s", got.Text)
	}
	b.exit(j)
	b.exit(k)
	for _, r := range b.disk[lines:] {
		for _, e := range r.events {
			switch e.(type) {
			case delegate.Created, delegate.GenerationStarted:
				t.Errorf("%s is in the journal of the tree", e.Kind())
			case session.Requested, job.Intended, session.RunStarted:
				if r.journal != root {
					t.Errorf("%s is below the fence", e.Kind())
				}
			}
		}
	}
	notice := string(j) + "/1"
	var gone bool
	for _, r := range b.disk[lines:] {
		for _, e := range r.events {
			x, is := e.(attention.Discarded)
			gone = gone || is && r.journal == idle && slices.Contains(x.IDs, notice)
		}
	}
	if left := b.state.Sessions[idle].Attention.Pending(); !gone || len(left) > 0 {
		t.Errorf("the notice of the job is discarded: %v; pending: %v", gone, left)
	}
	if got := b.send(idle); got.IsError || strings.Contains(b.said(idle), string(j)+`" event`) {
		t.Errorf("its next run: %s\n%s", got.Text, b.said(idle))
	}
}

// said is all that a session was told or answered.
func (b *branch) said(s id.Session) string {
	var all []string
	for _, e := range b.state.Sessions[s].Transcript.Entries {
		all = append(all, e.Text)
	}
	return strings.Join(all, "\n")
}

// While the root closes nothing is admitted either.
//
// clause: RC-038
func TestFenceOfClose(t *testing.T) {
	b := kept(t, 50)
	one, _ := b.delegate(root, 1)
	b.start(one)
	b.reply(one, "", `delegate {"prompt":"Below."}`)
	lines := len(b.disk)
	b.take(root, session.Close{})
	b.prepared(one, id.MintSession(began, id.Entropy{9}), told.Model)
	for _, r := range b.disk[lines:] {
		for _, e := range r.events {
			switch e.(type) {
			case delegate.Created, delegate.GenerationStarted, session.Requested, job.Intended:
				t.Errorf("%s: %s", b.state.Sessions[r.journal].Delegate, e.Kind())
			}
		}
	}
}

// What a stopped delegate's own delegates told it, and no turn of it has taken, is
// discarded with the stop, and so is what they owed it: no later run hears of it.
//
// clause: JC-434
func TestFenceDiscards(t *testing.T) {
	b := kept(t, 50)
	one, _ := b.delegate(root, 1)
	two, _ := b.delegate(one, 2)
	three, _ := b.delegate(one, 3)
	b.reply(two, "", `communicate {"message":"half of it","end_turn":false}`)
	b.reply(three, "", `communicate {"message":"all of it","end_turn":true}`)
	queued := b.state.Sessions[one].Attention.Pending()
	if len(queued) != 2 {
		t.Fatalf("it is owed %v", queued)
	}
	b.reply(root, "", `job_stop {"target":"`+string(id.DelegateOf(one))+`"}`)
	for _, s := range []id.Session{one, two, three} {
		d := b.state.Delegates.Get(id.DelegateOf(s))
		if left := b.state.Sessions[s].Attention.Pending(); len(left) > 0 || s != one && len(d.Owed) > 0 {
			t.Errorf("%s: pending %v, owed %v", d.ID, left, d.Owed)
		}
	}
	for _, x := range queued {
		if got := b.state.Sessions[one].Attention.StateOf(x); got != attention.Settled {
			t.Errorf("%s is %s", x, got)
		}
	}
	b.send(one)
	if said := b.said(one); strings.Contains(said, "half of it") || strings.Contains(said, "all of it") || strings.Contains(said, string(id.DelegateOf(two))+`" kind`) {
		t.Errorf("its next run: %s", said)
	}
}

// A stop says what it found the delegate at when it was asked for, whoever asks again
// and whichever process ends it: the one that takes the tree up does, and calls no
// model. While it is not at its end the answer says that it was requested.
//
// clause: JC-448 JC-449
func TestFenceClassification(t *testing.T) {
	b := kept(t, 50)
	one, _ := b.delegate(root, 1)
	name := id.DelegateOf(one)
	j := b.start(one)
	stop := func(args string) string {
		t.Helper()
		b.reply(root, "", `job_stop {"target":"`+string(name)+`"`+args+`}`)
		return b.last(root).Text
	}
	const pending = `"type":"delegate","status":"running","reason":"stop_pending","previous_status":"running","outcome":"stop_requested"`
	for range 2 {
		if got := stop(""); !strings.Contains(got, pending) {
			t.Errorf("it is asked for: %s", got)
		}
	}
	stop(`,"max_wait_ms":1000`)
	call := b.state.Sessions[root].Transcript.Open()[0].ID
	b.take(root, session.TimerFired{Key: "stop:" + call})
	if got := b.last(root).Text; !strings.Contains(got, pending) {
		t.Errorf("the wait for it ran out: %s", got)
	}
	lost := slices.Clone(b.disk)
	stop(`,"max_wait_ms":1000`)
	b.exit(j)
	const over = `"status":"idle","reason":"stopped_by_parent","previous_status":"running","outcome":"cancelled_by_request"`
	if got := b.last(root).Text; !strings.Contains(got, over) {
		t.Errorf("it has ended: %s", got)
	}
	if got := stop(`,"max_wait_ms":1000`); !strings.Contains(got, `"status":"idle","reason":null,"previous_status":"idle","outcome":"already_idle"`) {
		t.Errorf("it was at rest: %s", got)
	}

	c := newBranch(t, lost)
	c.take(root, foundOf(c.state))
	d := c.state.Delegates.Get(name)
	if d.Stops > 0 || d.Open || d.Stopped.Previous != "running" || d.Last.Status != delegate.Cancelled || d.Last.Reason != delegate.StoppedByParent || c.requests[one] > 0 {
		t.Errorf("another process: %+v, last %+v, %d requests", d.Stopped, d.Last, c.requests[one])
	}
}

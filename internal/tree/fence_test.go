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

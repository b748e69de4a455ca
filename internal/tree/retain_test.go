package tree_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"evener/internal/id"
	"evener/internal/transcript"
	"evener/internal/tree"
)

// kept is a root whose delegates may stay in memory so many at a time.
func kept(t *testing.T, limit int64) *branch {
	l := familyLimits
	l.MaxConcurrentDelegates, l.MaxRetainedTerminal = 50, limit
	return prompted(t, l)
}

func (b *branch) delegate(owner id.Session, n byte) (id.Session, transcript.Entry) {
	b.t.Helper()
	child := id.MintSession(began, id.Entropy{n})
	b.reply(owner, "", `delegate {"prompt":"Brief."}`)
	b.prepared(owner, child, told.Model, "shell", "delegate", "delegate_send", "job_status")
	return child, b.last(owner)
}

// last is the latest result that a session has.
func (b *branch) last(s id.Session) transcript.Entry {
	all := b.state.Sessions[s].Transcript.Entries
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Role == transcript.Tool {
			return all[i]
		}
	}
	return transcript.Entry{}
}

// report ends the run of a delegate, and those in which it is told of what came meanwhile.
func (b *branch) report(s id.Session) {
	b.t.Helper()
	for n := 0; b.state.Sessions[s].Run.Open; n++ {
		if n > 5 {
			b.t.Fatalf("%s does not come to rest", s)
		}
		b.reply(s, "", `communicate {"message":"done","end_turn":true}`)
	}
}

func (b *branch) send(s id.Session) transcript.Entry {
	b.t.Helper()
	b.reply(root, "", `delegate_send {"to":"`+string(id.DelegateOf(s))+`","message":"More."}`)
	return b.last(root)
}

// here lists which of these sessions are in memory.
func (b *branch) here(sessions ...id.Session) (here []bool) {
	for _, s := range sessions {
		here = append(here, !b.state.Sessions[s].Transcript.Released())
	}
	return here
}

func (b *branch) want(what string, got []bool, want ...bool) {
	b.t.Helper()
	if !reflect.DeepEqual(got, want) {
		b.t.Errorf("%s: in memory %v, want %v", what, got, want)
	}
}

// Above the bound a start lets those idle delegates go that have rested longest,
// as many as it takes and no more. Only memory goes: no line is written, and all
// that is known of them stays. A later message finds the whole conversation.
//
// clause: JC-661 JC-663 JC-664 JC-667
func TestRetained(t *testing.T) {
	b := kept(t, 2)
	one, _ := b.delegate(root, 1)
	two, _ := b.delegate(root, 2)
	b.job(one)
	b.report(one)
	b.report(two)
	b.want("two of two", b.here(one, two), true, true)
	before := newBranch(t, b.disk)
	said := b.state.Sessions[one].Transcript.Entries
	lines := len(b.disk)
	three, _ := b.delegate(root, 3)
	b.want("a third begins", b.here(one, two, three), false, true, true)
	for _, r := range b.disk[lines:] {
		if r.journal == one {
			t.Errorf("the release writes %v", r.events)
		}
	}
	d := b.state.Delegates.Get(id.DelegateOf(one))
	if was := before.state.Delegates.Get(d.ID); !reflect.DeepEqual(d, was) {
		t.Errorf("the delegate was %+v and is %+v", was, d)
	}
	s, was := b.state.Sessions[one], before.state.Sessions[one]
	if !reflect.DeepEqual(s.Jobs(), was.Jobs()) || !reflect.DeepEqual(s.Attention, was.Attention) || s.Run.N != was.Run.N || s.Turns != was.Turns || s.Opening() != "Brief." || s.LastAt != was.LastAt {
		t.Errorf("what is known of its session is not what it was")
	}
	b.reply(root, "", `job_status {"target":"`+string(d.ID)+`"}`)
	if got := b.last(root).Text; !strings.Contains(got, `"status":"idle"`) || !strings.Contains(got, `"resumable":true,"last_outcome":{"status":"completed"`) {
		t.Errorf("its status is %s", got)
	}
	if got := b.send(one); got.IsError || b.restored != 1 {
		t.Fatalf("%s; %d conversations were taken back", got.Text, b.restored)
	}
	all := b.state.Sessions[one].Transcript.Entries
	if n := len(said); len(all) != n+1 || !reflect.DeepEqual(all[:n], said) || all[n].Text != "More." || b.requests[one] == 0 {
		t.Errorf("its next run begins with %+v", all)
	}
	b.want("the first runs again, and one is idle", b.here(one, two, three), true, true, true)
	b.report(three)
	b.report(one)
	b.want("a release needs a start", b.here(one, two, three), true, true, true)
	b.send(two)
	b.want("one that is in memory begins: of the others one stays", b.here(one, two, three), true, true, false)
}

// Where no idle delegate can be let go a start fails, and nothing is made.
//
// clause: JC-662
func TestRetainedRefused(t *testing.T) {
	b := kept(t, 1)
	top, _ := b.delegate(root, 1)
	leaf, _ := b.delegate(top, 2)
	b.report(leaf)
	b.want("nothing was started since", b.here(top, leaf), true, true)
	b.report(top)
	b.want("its owner was told, in a run of its own", b.here(top, leaf), true, false)
	other, r := b.delegate(root, 3)
	b.want("the owner is let go", b.here(top, leaf, other), false, false, true)
	if r.IsError {
		t.Fatal(r.Text)
	}
	j := b.start(other)
	b.report(other)
	lines, n := len(b.disk), b.state.Delegates.Len()
	const refusal = "tree_at_capacity: %: 1 idle delegates are in memory, which is max_retained_terminal, and none can be let go"
	if _, r := b.delegate(root, 4); !strings.HasPrefix(r.Text, strings.Replace(refusal, "%", "delegate", 1)) || b.state.Delegates.Len() != n {
		t.Errorf("with a command running: %s", r.Text)
	}
	if r := b.send(leaf); !strings.HasPrefix(r.Text, "not_controllable") {
		t.Errorf("the leaf is another's: %s", r.Text)
	}
	if r := b.send(top); !strings.HasPrefix(r.Text, strings.Replace(refusal, "%", "delegate_send", 1)) {
		t.Errorf("with a command running: %s", r.Text)
	}
	for _, x := range b.disk[lines:] {
		if x.journal == "" {
			t.Errorf("a refusal writes %v", x.events)
		}
	}
	if r := b.send(other); r.IsError {
		t.Errorf("it needs no other's place: %s", r.Text)
	}
	b.report(other)
	b.exit(j) // it is told, in a run of its own
	b.report(other)
	if _, r := b.delegate(root, 5); r.IsError {
		t.Errorf("when the command has ended: %s", r.Text)
	}
	b.want("the other was let go", b.here(other), false)
}

// An idle delegate is let go when it has rested for a while, with what is below it.
// Where something still runs there the attempt is refused and made again later.
//
// clause: JC-665 JC-666 JC-667
func TestIdleRelease(t *testing.T) {
	b := kept(t, 50)
	one, _ := b.delegate(root, 1)
	two, _ := b.delegate(root, 2)
	j := b.start(two)
	b.report(one)
	b.report(two)
	b.pass(30 * time.Second)
	b.want("after half of the time", b.here(one, two), true, true)
	b.send(one)
	b.pass(45 * time.Second)
	b.want("one runs again, the other has a command", b.here(one, two), true, true)
	b.report(one)
	b.pass(time.Minute)
	b.want("one has rested", b.here(one, two), false, true)
	b.exit(j)
	b.report(two)
	b.pass(time.Minute)
	b.want("the other too", b.here(one, two), false, false)
	if r := b.send(two); r.IsError || b.restored != 1 {
		t.Errorf("%s, restored %d", r.Text, b.restored)
	}
	b.report(two)
	var list struct {
		Occupancy struct {
			Retained int64 `json:"retained_terminal"`
			Cap      int64 `json:"retained_terminal_cap"`
		} `json:"occupancy"`
	}
	b.reply(root, "", `job_status {"target":"`+string(id.DelegateOf(one))+`"}`)
	if err := json.Unmarshal([]byte(b.last(root).Text), &list); err != nil || list.Occupancy.Retained != 1 || list.Occupancy.Cap != 50 {
		t.Errorf("occupancy is %+v, %v", list, err)
	}
}

// A coordinator stays while anything below it does not rest, and goes with all of it.
//
// clause: JC-663
func TestIdleReleaseSubtree(t *testing.T) {
	b := kept(t, 50)
	top, _ := b.delegate(root, 1)
	leaf, _ := b.delegate(top, 2)
	j := b.start(leaf)
	b.report(leaf)
	b.report(top)
	b.pass(10 * time.Minute)
	b.want("the leaf has a command", b.here(top, leaf), true, true)
	b.exit(j)
	b.report(leaf)
	b.report(top)
	b.now = b.now.Add(time.Minute)
	b.take(root, tree.TimerFired{Key: "tree:release:" + string(id.DelegateOf(top))})
	b.want("all of it rests", b.here(top, leaf), false, false)
}

package tree_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"evener/internal/delegate"
	"evener/internal/id"
	"evener/internal/model"
	"evener/internal/session"
	"evener/internal/transcript"
)

const forkedChild = id.Session("01JDYH3M00041061050R3GG28C")

// toldMuch is a root that has said much, was shown the end of one job, and is owed
// that of another.
func toldMuch(t *testing.T) *branch {
	b := newBranch(t, nil)
	p := session.Prompt{Text: "parent words", ID: "its-name", Mode: session.OneShot, Limits: familyLimits, Context: told, Create: &session.Created{Session: root, Root: root, Dir: "/w"}}
	b.take(root, p)
	b.job(root)
	for i := range 3 {
		b.reply(root, strings.Repeat(fmt.Sprintf("%d thoughts ", i), 8000), `tasks {"operation":"list"}`)
	}
	b.job(root)
	return b
}

const forkCall = `delegate {"prompt":"Its brief.","task_list":[{"title":"One","prompt":"Do one."}],"fork_context":true}`

// A delegate with fork_context begins with what its owner had said before the
// round that asked for it, and with its own brief behind that; nothing else comes
// along. Whatever of the copy a crash leaves, the restart makes the rest of it,
// and what the owner says later is never in it.
//
// clause: JC-164 JC-165 JC-167 JC-168 JC-169 JC-170 RC-135
func TestForkContext(t *testing.T) {
	b := toldMuch(t)
	before := b.state.Session().Transcript.Entries
	before = before[:len(before):len(before)]
	b.reply(root, "unfinished round", `tasks {"operation":"list"}`, forkCall)
	b.prepared(root, forkedChild, told.Model)
	checkFork(t, b, before)
	created, begun := -1, -1
	for i, r := range b.disk {
		switch {
		case r.journal == "" && created < 0:
			created = i
		case r.journal == forkedChild:
			begun = i
		}
	}
	if n := begun - created; n < 5 {
		t.Fatalf("%d lines from the delegate to its first request: the copy is in too few of them", n)
	}
	whole := b.disk
	b.reply(root, "parent goes on", `tasks {"operation":"list"}`)
	checkFork(t, b, before)
	for cut := created + 1; cut <= begun; cut++ {
		for _, owner := range []bool{false, true} { // with and without what the owner's journal has of it
			var left []record
			for i, r := range whole[:begun] {
				if i < cut || owner && r.journal == root {
					left = append(left, r)
				}
			}
			crashed(t, left, before)
		}
	}
}

// crashed takes up what a crash left of the copy, and sends the delegate more.
func crashed(t *testing.T, disk []record, before []transcript.Entry) {
	t.Helper()
	b := newBranch(t, disk)
	b.take(root, foundOf(b.state))
	checkFork(t, b, before)
	if child := b.state.Sessions[forkedChild]; child.Run.Open || child.Run.Outcome != session.RunLost {
		t.Errorf("after the restart its run is %+v", child.Run)
	}
	n := len(b.disk)
	for cut := len(disk); cut < n; cut++ { // of the restart
		x := newBranch(t, b.disk[:cut])
		x.take(root, foundOf(x.state))
		checkFork(t, x, before)
	}
	again := newBranch(t, b.disk)
	again.take(root, foundOf(again.state))
	if len(again.disk) != n {
		t.Errorf("a second restart writes %v", again.disk[n:])
	}
	again.take(root, session.Prompt{Text: "go on", Mode: session.OneShot, Limits: familyLimits, Context: told})
	again.reply(root, "", `delegate_send {"to":"`+string(id.DelegateOf(forkedChild))+`","message":"More."}`)
	checkFork(t, again, before)
	all := again.state.Sessions[forkedChild].Transcript.Entries
	if last := all[len(all)-1]; last.Text != "More." {
		t.Errorf("its next run begins with %q", last.Text)
	}
	if again.requests[forkedChild] == 0 {
		t.Error("no request of its next run")
	}
}

func checkFork(t *testing.T, b *branch, before []transcript.Entry) {
	t.Helper()
	child := folded(t, b.disk).Sessions[forkedChild]
	all := child.Transcript.Entries
	if len(all) <= len(before) {
		t.Fatalf("it has %d entries of %d", len(all), len(before))
	}
	for i, e := range before {
		if !reflect.DeepEqual(all[i], e) {
			t.Errorf("entry %d is %+v, of the owner %+v", i, all[i], e)
		}
	}
	replies := int64(0)
	for _, e := range before {
		if e.Assistant != nil {
			replies++
		}
	}
	if child.Fork.Requests != replies {
		t.Errorf("it counts %d requests of %d", child.Fork.Requests, replies)
	}
	own := child.Own()
	if len(own) == 0 || !strings.HasPrefix(own[0].Text, "So far this was the conversation of your parent agent, a copy. Your own assignment:\nIts brief.") || !strings.Contains(own[0].Text, "Do one.") {
		t.Errorf("behind the copy comes %+v", own)
	}
	if err := model.Check(messages(all)); err != nil {
		t.Error(err)
	}
	if len(child.Attention.Pending()) > 0 || len(child.Jobs()) > 0 || len(child.Tasks.All()) != 1 || child.Tokens != (transcript.Usage{}) || len(child.Queue) > 0 {
		t.Errorf("the child has more than its assignment: owed %v, jobs %v, tasks %v, tokens %+v", child.Attention.Pending(), child.Jobs(), child.Tasks.All(), child.Tokens)
	}
	if child.Context.System != "its own role" || !reflect.DeepEqual(child.Tools(), []string{"communicate", "job_list"}) {
		t.Errorf("role and tools are %q, %v", child.Context.System, child.Tools())
	}
	if f := child.Fork; f.Parent != root || f.How != session.ForkContext || f.Entries != int64(len(before)) || f.Divergence != b.state.Session().Turns+1 && child.Run.Generation == 1 && b.state.Session().Run.N == 1 {
		t.Errorf("forked as %+v", f)
	}
}

// An owner that is at rest when the copy is made after two crashes is in memory for
// that: the first lost its run and the beginning of its delegate, the second the
// restart before the copy.
func TestForkContextOwnerAtRest(t *testing.T) {
	b := newBranch(t, nil)
	b.take(root, session.Prompt{Text: "parent words", Mode: session.OneShot, Limits: familyLimits, Context: told, Create: &session.Created{Session: root, Root: root, Dir: "/w"}})
	b.reply(root, "", `delegate {"prompt":"Coordinate."}`)
	owner := id.MintSession(began, id.Entropy{7})
	b.prepared(root, owner, told.Model, "delegate", "tasks")
	b.reply(owner, "thoughts", `tasks {"operation":"list"}`)
	before := b.state.Sessions[owner].Transcript.Entries
	before = before[:len(before):len(before)]
	b.reply(owner, "", forkCall)
	b.prepared(owner, forkedChild, told.Model)
	first := slices.IndexFunc(b.disk, func(r record) bool { return r.journal == forkedChild })
	b = newBranch(t, b.disk[:first])
	b.take(root, foundOf(b.state))
	ended := slices.IndexFunc(b.disk, func(r record) bool { return finishedOf(r, owner) })
	b = newBranch(t, b.disk[:ended+1])
	b.take(root, foundOf(b.state))
	all := folded(t, b.disk).Sessions[forkedChild].Transcript.Entries
	if len(all) != len(before)+1 || !reflect.DeepEqual(all[:len(before)], before) {
		t.Errorf("it begins with %d entries of %d", len(all), len(before))
	}
}

// finishedOf tells the lines of the tree that end the run of a delegate.
func finishedOf(r record, s id.Session) bool {
	for _, e := range r.events {
		if f, ok := e.(delegate.Finished); ok && f.Delegate == id.DelegateOf(s) {
			return true
		}
	}
	return false
}

// A piece of the copy that stands there already is not written again: a full disk
// has a batch decided twice.
func TestInheritTwice(t *testing.T) {
	b := toldMuch(t)
	b.reply(root, "", forkCall)
	b.prepared(root, forkedChild, told.Model)
	from := slices.IndexFunc(b.disk, func(r record) bool { return r.journal == forkedChild })
	var pieces []session.Inherit
	n := int64(0)
	for _, r := range b.disk[from:] {
		if r.journal != forkedChild {
			continue
		}
		in := session.Inherit{From: n}
		for _, e := range r.events {
			switch e := e.(type) {
			case session.Created:
				in.Create = &e
			case session.Forked:
				in.Fork = &e
			case transcript.Inherited:
				in.Entries = append(in.Entries, e)
			}
		}
		n += int64(len(in.Entries))
		if len(in.Entries) > 0 {
			pieces = append(pieces, in)
		}
	}
	b = newBranch(t, b.disk[:from])
	for i, in := range pieces {
		for again := range 2 {
			lines := len(b.disk)
			b.take(forkedChild, in)
			if wrote := len(b.disk) - lines; wrote != 1-again {
				t.Errorf("piece %d of %d, time %d: %d lines", i, len(pieces), again, wrote)
			}
		}
	}
}

// A copy is for the model that said it; any other is refused before there is a
// delegate, also where the role chose it.
//
// clause: JC-162
func TestForkContextModel(t *testing.T) {
	for _, c := range []struct {
		model, call string
		ok          bool
	}{
		{told.Model, forkCall, true},
		{"script/y", forkCall, false},
		{"other/x", forkCall, false},
		{"other/x", `delegate {"prompt":"Its brief."}`, true},
		{"other/x", `delegate {"prompt":"Its brief.","fork_context":false}`, true},
	} {
		b := newBranch(t, nil)
		b.take(root, session.Prompt{Text: "parent words", Mode: session.OneShot, Limits: familyLimits, Context: told, Create: &session.Created{Session: root, Root: root, Dir: "/w"}})
		b.reply(root, "", c.call)
		b.prepared(root, forkedChild, c.model)
		all := b.state.Session().Transcript.Entries
		last := all[len(all)-1]
		if b.state.Delegates.Len() == 1 != c.ok || last.IsError == c.ok {
			t.Errorf("model %s, %s: %d delegates, %s", c.model, c.call, b.state.Delegates.Len(), last.Text)
		}
		if want := "invalid_request: delegate: fork_context needs the provider and model of its parent, script/x, and this delegate would have " + c.model; !c.ok && !strings.HasPrefix(last.Text, want) {
			t.Errorf("refused as %q", last.Text)
		}
	}
}

// A delegate that does not ask for it knows nothing of its owner's conversation.
//
// clause: JC-161
func TestForkContextNot(t *testing.T) {
	b := toldMuch(t)
	b.reply(root, "", `delegate {"prompt":"Its brief."}`)
	b.prepared(root, forkedChild, told.Model)
	if all := b.state.Sessions[forkedChild].Transcript.Entries; len(all) != 1 || all[0].Text != "Its brief." {
		t.Errorf("it begins with %+v", all)
	}
}

package supervisor

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"evener/internal/id"
	"evener/internal/model"
	"evener/internal/session"
	"evener/internal/transcript"
)

//go:embed name.md
var namePrompt string

const (
	// nameBytes is how much of a conversation its name is made of.
	nameBytes = 4 << 10
	// nameEntries are the first entries, which say what it is about.
	nameEntries = 12
	// nameTries is how often a process asks. One that was in the way of a turn counts.
	nameTries = 3
)

// naming is the request for the name of the session, if one is out.
type naming struct {
	cancel context.CancelFunc
	tries  int
}

// name asks for a name, on the side. It may fail freely: that is a warning.
func (t *Tree) name(s id.Session) {
	if t.naming.cancel != nil || t.naming.tries >= nameTries {
		return
	}
	x := t.o.Store.State.Sessions[s]
	own, told := x.Own(), x.Context
	own = own[:min(len(own), nameEntries)]
	from := t.request(s, 0)
	from.For = model.ForName
	ctx, cancel := context.WithCancel(t.ctx)
	t.naming.cancel = cancel
	t.naming.tries++
	t.outside(func() {
		found := session.NameFound{}
		r, err := sideRequest(told, namePrompt, transcript.Digest(own, nameBytes))
		var m model.Model
		if err == nil {
			m, err = t.o.Models(told.Model)
		}
		if err == nil {
			var reply model.Reply
			if reply, err = m.Complete(ctx, whose(r, from), nil); err == nil {
				found.Text, found.Usage = reply.Text, said(reply).Usage
			}
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			t.o.Warn(fmt.Sprintf("the session got no name: %v", err))
		}
		t.tell(s, found)
	})
}

// yieldName gives the request for a name up: a turn needs the model.
func (t *Tree) yieldName() {
	if t.naming.cancel != nil {
		t.naming.cancel()
	}
}

// named is told that the request is over.
func (t *Tree) named(in session.Input) {
	if _, ok := in.(session.NameFound); ok && t.naming.cancel != nil {
		t.naming.cancel()
		t.naming.cancel = nil
	}
}

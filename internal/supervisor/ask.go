package supervisor

import (
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
	"evener/internal/text"
	"evener/internal/tree"
)

// Post hands an input for the root to the loop and returns; an input after the
// end is dropped.
func (t *Tree) Post(in session.Input) { t.tell(t.o.Store.Root, in) }

// tell is Post for any session of the tree.
func (t *Tree) tell(s id.Session, in session.Input) {
	t.post(posted{input: tree.Input{Session: s, In: in}})
}

// Ask hands an input for the root to the loop and returns once it is decided
// and durable, or refused.
func (t *Tree) Ask(in session.Input) error { return t.ask(in, false) }

// Settle is Ask for an input that more follows from in other sessions: it
// returns when all of that is decided and durable, too.
func (t *Tree) Settle(in session.Input) error { return t.ask(in, true) }

func (t *Tree) ask(in session.Input, settle bool) error {
	return t.answered(posted{input: tree.Input{Session: t.o.Store.Root, In: in}, settle: settle})
}

// Root is the session at the top of the tree.
func (t *Tree) Root() id.Session { return t.o.Store.Root }

// Activity reads a page of what a session of the tree has, as it stands on the disk.
func (t *Tree) Activity(q tree.ActivityQuery) (page []byte, err error) {
	look := func() {
		p, refusal := t.o.Store.State.Activity(q, t.liveOf)
		if refusal != nil {
			err = refusal
			return
		}
		page = text.Encode(p) // here, as long as the rows are what they are
	}
	if ended := t.answered(posted{look: look}); ended != nil {
		return nil, ended
	}
	return page, err
}

// answered posts and waits for the answer.
func (t *Tree) answered(p posted) error {
	reply := make(chan error, 1)
	p.reply = reply
	t.post(p)
	select {
	case err := <-reply:
		return err
	case <-t.done:
	}
	select {
	case err := <-reply: // decided by the last batch
		return err
	default:
		return fault.New(fault.Closing, "the session has ended")
	}
}

func (t *Tree) post(p posted) {
	select {
	case t.in <- p:
	case <-t.done:
	}
}

func (t *Tree) liveOf(x *job.State) job.Live {
	if x.Terminal() {
		return job.Live{Job: x.ID}
	}
	return t.live(x.ID)
}

package supervisor

import (
	"context"
	"crypto/rand"
	"time"

	"evener/internal/delegate"
	"evener/internal/effect"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/tree"
)

// DelegateSpec is a delegate call with what the tree knows about its caller.
type DelegateSpec struct {
	Call      session.DelegateCall
	Allowance int64    // granted
	Tools     []string // that the caller can call
	Model     string   // of the caller
	Dir       string   // of the caller
	// Isolate makes the worktree that the call asks for; called last, when
	// nothing else refuses the call. nil if it asks for none.
	Isolate func() (delegate.Worktree, *fault.Error)
}

// Prepared is what a delegate call asks for, looked up.
type Prepared struct {
	Descriptor delegate.Descriptor
}

type callKey struct {
	session id.Session
	call    string
}

// prepared ends what is made for a delegate call, if it is not at its end yet.
func (t *Tree) prepared(s id.Session, call string) {
	if cancel := t.preparing[callKey{s, call}]; cancel != nil {
		cancel()
		delete(t.preparing, callKey{s, call})
	}
}

// prepare answers a delegate call's questions to the outside beside the loop.
func (t *Tree) prepare(s id.Session, e effect.PrepareDelegate) {
	a, ok := t.call(s, e.Call).(session.DelegateCall)
	if !ok {
		return
	}
	x := t.o.Store.State.Sessions[s]
	spec := DelegateSpec{Call: a, Allowance: e.Allowance, Tools: x.Tools(), Model: x.Context.Model, Dir: x.Dir}
	run, ctx := t.outside, t.ctx
	if a.Isolation != "" {
		var cancel context.CancelFunc
		ctx, cancel = context.WithCancel(t.ctx)
		t.preparing[callKey{s, e.Call}] = cancel
		run = t.tidied
	}
	run(func() {
		var entropy id.Entropy
		rand.Read(entropy[:]) // never fails
		child := id.MintSession(time.Now(), entropy)
		if a.Isolation != "" {
			spec.Isolate = func() (delegate.Worktree, *fault.Error) { return t.isolate(ctx, id.DelegateOf(child), x.Dir) }
		}
		p, refused := t.o.Prepare(spec)
		t.tell(s, tree.Prepared{Call: e.Call, Child: child, Descriptor: p.Descriptor, Refused: refused})
	})
}

package supervisor

import (
	"crypto/rand"
	"time"

	"evener/internal/delegate"
	"evener/internal/effect"
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
}

// Prepared is what a delegate call asks for, looked up.
type Prepared struct {
	Descriptor delegate.Descriptor
}

// prepare answers a delegate call's questions to the outside beside the loop.
func (t *Tree) prepare(s id.Session, e effect.PrepareDelegate) {
	a, ok := t.call(s, e.Call).(session.DelegateCall)
	if !ok {
		return
	}
	x := t.o.Store.State.Sessions[s]
	spec := DelegateSpec{Call: a, Allowance: e.Allowance, Tools: x.Tools(), Model: x.Context.Model, Dir: x.Dir}
	t.outside(func() {
		p, refused := t.o.Prepare(spec)
		var entropy id.Entropy
		rand.Read(entropy[:]) // never fails
		t.tell(s, tree.Prepared{Call: e.Call, Child: id.MintSession(time.Now(), entropy), Descriptor: p.Descriptor, Refused: refused})
	})
}

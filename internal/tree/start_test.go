package tree_test

import (
	"slices"
	"strings"
	"testing"

	"evener/internal/delegate"
	"evener/internal/id"
	"evener/internal/session"
)

// A start that fails when the delegate has its identity, by a lost process or by
// its model, is told under that identity with what it came to. No job and no other
// delegate stands in for it.
//
// clause: JC-187 JC-188
func TestStartFails(t *testing.T) {
	b := kept(t, 50)
	one, _ := b.delegate(root, 1)
	created := slices.IndexFunc(b.disk, func(r record) bool { return r.events[0].Kind() == delegate.Created{}.Kind() })
	lost := newBranch(t, b.disk[:created+1])
	lost.take(root, foundOf(lost.state))
	lost.take(root, session.Prompt{Text: "more", Mode: session.OneShot, Limits: familyLimits, Context: told})
	b.take(one, session.ModelFailed{Request: b.requests[one], Text: "no such model"})
	for _, c := range []struct {
		b    *branch
		want string
	}{
		{lost, `{"status":"failed","reason":"runtime_lost","message":"`},
		{b, `{"status":"failed","reason":"terminal_error","message":"The delegate's run failed: no such model","error":"no such model"`},
	} {
		frame := `<delegate-notification delegate_id="` + string(id.DelegateOf(one)) + `" kind="report">` + c.want
		if c.b == b {
			b.reply(root, "I wait.")
		}
		if got := c.b.said(root); strings.Count(got, "<delegate-notification") != 1 || !strings.Contains(got, frame) {
			t.Errorf("want %s in\n%s", frame, got)
		}
		delegates, jobs := 0, 0
		for range c.b.state.Delegates.All {
			delegates++
		}
		for _, s := range c.b.state.Sessions {
			jobs += len(s.Jobs())
		}
		if delegates != 1 || jobs != 0 {
			t.Errorf("there are %d delegates and %d jobs", delegates, jobs)
		}
	}
}

package supervisor

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"evener/internal/attention"
	"evener/internal/delegate"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/model"
	"evener/internal/store"
	"evener/internal/transcript"
)

// parent is a root's model that makes one call at a time, and child what a
// delegate's answers.
type parent struct {
	t     *testing.T
	mu    sync.Mutex
	next  func(last map[string]any, text string) *model.Call // nil: report
	child func(ctx context.Context, said string) (model.Reply, error)
	root  id.Session
	calls int
	rest  int64 // idle_release_ms
	armed func() int
}

func (p *parent) Complete(ctx context.Context, r model.Request, _ func(model.Progress)) (model.Reply, error) {
	if id.Session(r.Session) != p.root {
		var said strings.Builder
		for _, m := range r.Messages {
			if m.Role == model.RoleUser {
				said.WriteString(m.Text + "\n")
			}
		}
		return p.child(ctx, said.String())
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	last, text := map[string]any{}, ""
	if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == model.RoleTool || n > 1 {
		for i := n - 1; i >= 0; i-- {
			if r.Messages[i].Role == model.RoleTool {
				text = r.Messages[i].Text
				_ = json.NewDecoder(strings.NewReader(text)).Decode(&last) // an error text is no object, and a remark may stand behind one
				break
			}
		}
	}
	if p.calls > 0 && text == "" {
		return report("done"), nil
	}
	c := p.next(last, text)
	if c == nil {
		return report("done"), nil
	}
	p.calls++
	c.ID = fmt.Sprintf("c%d", p.calls)
	return model.Reply{Calls: []model.Call{*c}}, nil
}

func call(name string, args map[string]any) *model.Call {
	b, _ := json.Marshal(args) // plain values
	return &model.Call{Name: name, Arguments: string(b)}
}

// family runs a root whose model is p and returns the tree when all is over.
func family(t *testing.T, p *parent, turns int64) *harness {
	t.Helper()
	h := newHarness(t, nil)
	p.t, p.root, p.armed = t, h.store.Root, func() int { return h.armed(t) }
	h.o.Models = func(string) (model.Model, error) { return p, nil }
	h.o.Prepare = func(s DelegateSpec) (Prepared, *fault.Error) {
		names := []string{"shell", "delegate_send", "job_list", "job_stop", "job_status", "communicate"}
		return Prepared{Descriptor: delegate.Descriptor{Model: "test", Allowance: s.Allowance, Dir: s.Dir, System: "s",
			Tools: []byte(`[{"name":"` + strings.Join(names, `"},{"name":"`) + `"}]`)}}, nil
	}
	h.Start()
	in := h.prompt(t.TempDir())
	in.Limits.MaxTurns, in.Limits.MaxSubagentDepth, in.Limits.MaxConcurrentDelegates = turns, 2, 50
	in.Limits.IdleReleaseMS = p.rest
	in.Limits.AttentionDriveLimit, in.Limits.AttentionDriveTimeoutMS = 8, 300_000
	if err := h.Ask(in); err != nil {
		t.Fatal(err)
	}
	if err := h.Wait(); err != nil {
		t.Fatal(err)
	}
	return h
}

// settledOnce: every packet and update arrived once, and nothing is open.
func settledOnce(t *testing.T, h *harness) {
	t.Helper()
	st, err := store.Load(h.store.Home, h.store.Root, 0)
	if err != nil {
		t.Fatal(err)
	}
	if st.Delegates.Running != 0 || st.Delegates.Driving != 0 || len(st.Delegates.Stops()) != 0 {
		t.Errorf("in the end %d run, %d are driven, %d stops", st.Delegates.Running, st.Delegates.Driving, len(st.Delegates.Stops()))
	}
	for d := range st.Delegates.All {
		if d.Open || len(d.Owed) > 0 {
			t.Errorf("%s: open %v, owed %d", d.ID, d.Open, len(d.Owed))
		}
		for n := int64(1); n <= d.Generation; n++ {
			name := fmt.Sprintf("%s/%d", d.ID, n)
			if got := st.Sessions[d.Owner].Attention.StateOf(name); got != attention.Settled {
				t.Errorf("the report of generation %d is %s", n, got)
			}
		}
	}
}

// Messages that meet the end of a delegate's run, whenever they do, are each in
// one later request of it, and each of its runs reports once.
//
// clause: JC-199 JC-200 JC-201 JC-523
func TestSendsRaceTheEnd(t *testing.T) {
	const sends = 300
	p := &parent{}
	n, d, over := 0, "", false
	took := map[string]bool{}
	p.child = func(ctx context.Context, said string) (model.Reply, error) {
		return report("report"), nil // as fast as can be: every send meets an end
	}
	p.next = func(last map[string]any, text string) *model.Call {
		if over { // a report came behind the last send: one more turn
			return nil
		}
		if n == 0 {
			n++
			return call("delegate", map[string]any{"prompt": "brief"})
		}
		if n == 1 {
			d, _ = last["delegate_id"].(string)
		} else if a := last["action"]; a == "steered" || a == "started" || a == "completed" {
			took[fmt.Sprintf("msg-%d.", n-1)] = true
		} else {
			t.Errorf("send %d: %s", n-1, text)
		}
		if n > sends {
			over = true
			if left := p.armed(); left > 5 {
				t.Errorf("%d timers are armed after %d calls", left, sends)
			}
			return nil
		}
		n++
		return call("delegate_send", map[string]any{"to": d, "message": fmt.Sprintf("msg-%d.", n-1), "max_wait_ms": (n % 3) * 1000})
	}
	h := family(t, p, 100_000)
	settledOnce(t, h)
	x, _ := id.ParseDelegate(d)
	said := map[string]int{}
	for _, e := range h.store.State.Sessions[x.Session()].Transcript.Entries {
		if e.Role == transcript.User {
			for _, w := range strings.Fields(e.Text) {
				said[w]++
			}
		}
	}
	if len(took) != sends {
		t.Errorf("%d of %d sends were taken", len(took), sends)
	}
	for m := range took {
		if said[m] != 1 {
			t.Errorf("%s stands %d times in the delegate's conversation", m, said[m])
		}
	}
}

// A delegate that is let go as soon as it is idle is taken back for each of its
// runs: whatever of the two comes first, every request of it has all that was said.
//
// clause: JC-667
func TestLetGoRacesSends(t *testing.T) {
	const sends = 60
	p := &parent{rest: 1}
	n, d, over := 0, "", false
	p.child = func(ctx context.Context, said string) (model.Reply, error) {
		for i := 1; strings.Contains(said, fmt.Sprintf("msg-%d.", i+1)); i++ {
			if !strings.Contains(said, fmt.Sprintf("msg-%d.", i)) || !strings.Contains(said, "brief") {
				t.Errorf("a request of the delegate lacks what was said before message %d", i+1)
			}
		}
		return report(fmt.Sprint(strings.Count(said, "msg-"))), nil
	}
	looking := 0
	p.next = func(last map[string]any, text string) *model.Call {
		if over {
			return nil
		}
		if looking > 0 { // until it is let go
			o, _ := last["occupancy"].(map[string]any)
			if looking++; o["retained_terminal"] != 0.0 && looking < 10_000 {
				return call("job_status", map[string]any{"target": d})
			}
			if looking, n = 0, n+1; o["retained_terminal"] != 0.0 {
				t.Errorf("it was never let go: %s", text)
			}
			return call("delegate_send", map[string]any{"to": d, "message": fmt.Sprintf("msg-%d.", n-1), "max_wait_ms": 60_000})
		}
		switch {
		case n == 1:
			d, _ = last["delegate_id"].(string)
		case n > 1 && last["output"] != fmt.Sprint(n-1):
			t.Errorf("after %d messages it says %s", n-1, text)
		}
		switch {
		case n == 0:
			n++
			return call("delegate", map[string]any{"prompt": "brief"})
		case n > sends:
			over = true
			return nil
		case n%6 == 5:
			looking++
			return call("job_status", map[string]any{"target": d})
		}
		n++
		return call("delegate_send", map[string]any{"to": d, "message": fmt.Sprintf("msg-%d.", n-1), "max_wait_ms": 60_000})
	}
	settledOnce(t, family(t, p, 100_000))
}

// Stops that race starts: every one is accounted for, and the delegate stays usable.
//
// clause: JC-200 JC-613 JC-614
func TestStopsRaceStarts(t *testing.T) {
	const rounds = 500 // a start and a stop each
	p := &parent{}
	n, d, over := 0, "", false
	p.child = func(ctx context.Context, said string) (model.Reply, error) {
		if strings.Count(said, "\n")%2 == 0 {
			return report("report"), nil
		}
		<-ctx.Done() // until it is stopped
		return model.Reply{}, ctx.Err()
	}
	outcomes := map[string]int{}
	p.next = func(last map[string]any, text string) *model.Call {
		if over { // a report came behind the last stop: one more turn
			return nil
		}
		n++
		switch {
		case n == 1:
			return call("delegate", map[string]any{"prompt": "brief"})
		case n == 2:
			d, _ = last["delegate_id"].(string)
		case n%2 == 1:
			if o, _ := last["outcome"].(string); o != "" {
				outcomes[o]++
			} else {
				t.Errorf("stop: %s", text)
			}
		}
		if n > 2*rounds {
			over = true
			return nil
		}
		if n%2 == 0 {
			return call("job_stop", map[string]any{"target": d, "max_wait_ms": 60_000})
		}
		return call("delegate_send", map[string]any{"to": d, "message": "go on"})
	}
	h := family(t, p, 100_000)
	settledOnce(t, h)
	if outcomes["cancelled_by_request"]+outcomes["already_idle"] != rounds || outcomes["cancelled_by_request"] == 0 {
		t.Errorf("outcomes of %d stops: %v", rounds, outcomes)
	}
}

// Fifty delegates at once, each with an update and a report: all arrive once.
//
// clause: JC-253 JC-542
func TestFiftyDelegates(t *testing.T) {
	const many = 50
	p := &parent{}
	n := 0
	p.child = func(ctx context.Context, said string) (model.Reply, error) {
		return model.Reply{Calls: []model.Call{
			{ID: "u", Name: "communicate", Arguments: `{"message":"half way","end_turn":false}`},
			{ID: "r", Name: "communicate", Arguments: `{"message":"done","end_turn":true}`}}}, nil
	}
	p.next = func(last map[string]any, text string) *model.Call {
		if n > 0 && n <= many && last["delegate_id"] == nil {
			t.Errorf("delegate %d: %s", n, text)
		}
		if n++; n > many {
			return nil
		}
		return call("delegate", map[string]any{"prompt": fmt.Sprintf("brief %d", n)})
	}
	began := time.Now()
	h := family(t, p, 100_000)
	settledOnce(t, h)
	h.mu.Lock()
	defer h.mu.Unlock()
	if got := h.kinds["attention.delegate_armed"]; got != 2*many {
		t.Errorf("%d notices of %d delegates in %v", got, many, time.Since(began))
	}
}

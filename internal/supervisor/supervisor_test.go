package supervisor

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"evener/internal/evidence"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/model"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/tool"
	"evener/internal/tree"
)

// answers is a model that answers each request by a function.
type answers func(ctx context.Context, n int, r model.Request) (model.Reply, error)

type counted struct {
	answer answers
	n      int // requests come one after the other
}

func (c *counted) Complete(ctx context.Context, r model.Request, _ func(model.Progress)) (model.Reply, error) {
	c.n++
	return c.answer(ctx, c.n, r)
}

// harness is a tree with a store of its own and what became durable of it.
type harness struct {
	*Tree
	store *store.Tree

	mu       sync.Mutex
	kinds    map[string]int
	warnings []string
	changed  *sync.Cond
}

func newHarness(t *testing.T, a answers) *harness {
	t.Helper()
	h := &harness{kinds: map[string]int{}}
	leavesNothing(t, h)
	home, err := store.Find(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	var e id.Entropy
	rand.Read(e[:])
	st, err := store.Create(home, id.MintSession(time.Now(), e), "test", "boot")
	if err != nil {
		t.Fatal(err)
	}
	h.store = st
	h.changed = sync.NewCond(&h.mu)
	m := &counted{answer: a}
	h.Tree, err = New(Options{
		Store: st, Models: func(string) (model.Model, error) { return m, nil }, Decode: tool.Decode, OutputCap: 1 << 20, StopGrace: time.Second,
		Env:    []string{"PATH=/usr/bin:/bin"},
		Reader: evidence.Reader{Home: home, MaxChars: 24000},
		Observe: func(w tree.Write) {
			h.mu.Lock()
			defer h.mu.Unlock()
			for _, e := range w.Events {
				h.kinds[e.Kind()]++
			}
			h.changed.Broadcast()
		},
		Warn: func(s string) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.warnings = append(h.warnings, s)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// await waits until so many events of a kind are durable.
func (h *harness) await(kind string, n int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.kinds[kind] < n {
		h.changed.Wait()
	}
}

func (h *harness) prompt(dir string) session.Prompt {
	s := h.store.Root
	return session.Prompt{
		Text: "go", Mode: session.OneShot, Limits: session.Limits{CommandTimeoutMS: 60000, StopGraceMS: 1000, InlineOutputBytes: 16384},
		Context: session.ContextSet{Model: "test", Tools: []byte(`[{"name":"` + strings.Join(tool.Names(), `"},{"name":"`) + `"}]`)}, Create: &session.Created{Session: s, Root: s, Dir: dir},
	}
}

func shell(mode, command string, n int) []model.Call {
	var out []model.Call
	for i := range n {
		out = append(out, model.Call{ID: fmt.Sprintf("%s-%d", mode, i), Name: "shell", Arguments: fmt.Sprintf(`{"command":%q,"mode":%q}`, command, mode)})
	}
	return out
}

func report(text string) model.Reply {
	return model.Reply{Calls: []model.Call{{ID: "report", Name: "communicate", Arguments: fmt.Sprintf(`{"message":%q,"end_turn":true}`, text)}}}
}

// A prompt that is refused leaves nothing behind, and what comes after the end is
// told that it is over.
func TestAskAfterTheEnd(t *testing.T) {
	h := newHarness(t, func(context.Context, int, model.Request) (model.Reply, error) { return report("done"), nil })
	h.Start()
	empty := h.prompt(t.TempDir())
	empty.Text = "  "
	if err := h.Ask(empty); err == nil {
		t.Error("an empty prompt was taken")
	}
	if err := h.Ask(h.prompt(t.TempDir())); err != nil {
		t.Error(err)
	}
	if err := h.Wait(); err != nil {
		t.Fatal(err)
	}
	refused, ok := errors.AsType[*fault.Error](h.Ask(session.Prompt{Text: "more"}))
	if !ok || refused.Code != fault.Closing {
		t.Errorf("after the end: %v", refused)
	}
	h.Post(session.Close{Why: "late"}) // must not block
	if got := h.store.State.Session().Run.Outcome; got != session.RunReported {
		t.Errorf("outcome %s", got)
	}
}

// A close abandons the request in flight: the model is told at once, and no
// reply of it is taken.
func TestCloseCancelsTheRequest(t *testing.T) {
	asked := make(chan struct{})
	h := newHarness(t, func(ctx context.Context, _ int, _ model.Request) (model.Reply, error) {
		close(asked)
		<-ctx.Done()
		return model.Reply{Text: "late"}, ctx.Err()
	})
	h.Start()
	if err := h.Ask(h.prompt(t.TempDir())); err != nil {
		t.Fatal(err)
	}
	<-asked
	h.Post(session.Close{Why: "SIGINT"})
	if err := h.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := h.store.State.Session().Run.Outcome; got != session.RunInterrupted {
		t.Errorf("outcome %s", got)
	}
	if h.kinds["transcript.assistant"] != 0 {
		t.Error("the abandoned reply was taken")
	}
}

// A failure of the model ends the run with its words, once.
func TestModelFailure(t *testing.T) {
	h := newHarness(t, func(context.Context, int, model.Request) (model.Reply, error) {
		return model.Reply{}, errors.New("no such model")
	})
	h.Start()
	if err := h.Ask(h.prompt(t.TempDir())); err != nil {
		t.Fatal(err)
	}
	if err := h.Wait(); err != nil {
		t.Fatal(err)
	}
	if r := h.store.State.Session().Run; r.Outcome != session.RunFailed || r.LastReason != "no such model" {
		t.Errorf("run %+v", r)
	}
}

// A write that fails for another reason than space ends the loop with the
// error, and commands end with it.
func TestFailedAppend(t *testing.T) {
	var h *harness
	h = newHarness(t, func(_ context.Context, n int, _ model.Request) (model.Reply, error) {
		if n == 1 {
			return model.Reply{Calls: shell("background", "sleep 300", 1)}, nil
		}
		// Somebody else writes to the journal: its writer must not go on.
		spoil(t, h.store.Home.Journal(h.store.Root))
		return model.Reply{Calls: shell("background", "sleep 300", 1)}, nil
	})
	h.Start()
	if err := h.Ask(h.prompt(t.TempDir())); err != nil {
		t.Fatal(err)
	}
	if err := h.Wait(); err == nil {
		t.Fatal("the loop went on over a spoilt journal")
	}
	if n := children(t); n > 0 {
		t.Errorf("%d processes are left", n)
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"evener/internal/delegate"
	"evener/internal/evidence"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/model"
	"evener/internal/proc"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/supervisor"
	"evener/internal/tool"
	"evener/internal/tree"
	"evener/journal"
)

func busyGroups() []group {
	return []group{{name: "busy-delegates", sides: busySides, rows: []row{
		{what: "decisions of one tree, 50 delegates busy", subject: "tree", limit: "bare", limitIs: "the same batches: 50 files written and fdatasynced side by side",
			unit: "lines/s", want: ratio("≥", 0.7)},
		{what: "– lines a round of syncs, mean", subject: "round", want: want{}},
	}}}
}

// round is what one turn of the loop made durable: a piece for each journal
// that it touched.
type round struct {
	pieces map[id.Session][]byte
	lines  int
}

// busySides let a tree work once to have its batches, which the limit then writes.
func busySides(e *env) ([]side, error) {
	_, rounds, err := busyTree(e)
	if err != nil {
		return nil, err
	}
	return []side{{"tree", func(e *env) (values, error) {
		v, _, err := busyTree(e)
		return v, err
	}}, {"bare", func(e *env) (values, error) { return bareRounds(e, rounds) }}}, nil
}

// crew is a model that answers at once: a root that starts n delegates, each of
// which asks for a list of its jobs again and again, once all have come.
type crew struct {
	root  id.Session
	n     int
	calls int // of each delegate

	mu      sync.Mutex
	made    map[string]int // calls so far, by session
	over    int            // delegates that made all of theirs
	started chan struct{}
	begun   time.Time
	ended   time.Time
}

func (c *crew) Complete(ctx context.Context, r model.Request, _ func(model.Progress)) (model.Reply, error) {
	if id.Session(r.Session) == c.root {
		if r.Number > 1 {
			return model.Reply{Text: "Done."}, nil
		}
		var out model.Reply
		for i := range c.n {
			out.Calls = append(out.Calls, model.Call{ID: fmt.Sprint("d", i), Name: "delegate", Arguments: `{"prompt":"Look."}`})
		}
		return out, nil
	}
	n := c.next(r.Session)
	select {
	case <-c.started:
	case <-ctx.Done():
		return model.Reply{}, ctx.Err()
	}
	if n > c.calls {
		return model.Reply{Text: "Looked."}, nil
	}
	return model.Reply{Calls: []model.Call{{ID: fmt.Sprint("c", n), Name: "job_list", Arguments: "{}"}}}, nil
}

// next counts a request of a delegate, and notes when all begin and when the
// first has made its calls: in between all are busy.
func (c *crew) next(session string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.made[session]++
	n := c.made[session]
	if n == 1 && len(c.made) == c.n {
		c.begun = time.Now()
		close(c.started)
	}
	if n > c.calls && c.ended.IsZero() {
		c.ended = time.Now()
	}
	return n
}

// busyTree runs a whole tree in this process and gives its rate while all
// delegates were busy, and what it wrote then.
func busyTree(e *env) (values, []round, error) {
	dir, err := e.sub("busy")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	h, err := store.Find(dir, "")
	if err != nil {
		return nil, nil, err
	}
	root := id.MintSession(time.Now(), id.Entropy{7, 8, 9})
	opened, err := store.Create(h, root, "bench", proc.BootID())
	if err != nil {
		return nil, nil, err
	}
	c := &crew{root: root, n: 50, calls: e.size(60, 10), made: map[string]int{}, started: make(chan struct{})}
	log := &journalled{}
	t, err := supervisor.New(supervisor.Options{Store: opened, Models: func(string) (model.Model, error) { return c, nil }, Decode: tool.Decode, Env: os.Environ(),
		Prepare: func(s supervisor.DelegateSpec) (supervisor.Prepared, *fault.Error) {
			return supervisor.Prepared{Descriptor: delegate.Descriptor{Model: "bench", Dir: s.Dir, System: "You work.", Tools: []byte(`[{"name":"job_list"}]`)}}, nil
		},
		Reader: evidence.Reader{Home: h, MaxChars: 24_000}, Observe: log.add})
	if err != nil {
		return nil, nil, errors.Join(err, opened.Close())
	}
	l := limits
	l.MaxConcurrentDelegates, l.AttentionDriveLimit, l.AttentionDriveTimeoutMS = int64(c.n), 8, 300_000
	t.Start()
	t.Post(session.Prompt{Text: "Go on.", Mode: session.OneShot, Limits: l, Create: &session.Created{Session: root, Root: root, Dir: dir},
		Context: session.ContextSet{Model: "openai/bench", System: "You work.", Tools: []byte(`[{"name":"delegate"}]`)}})
	if err := t.Wait(); err != nil {
		return nil, nil, err
	}
	if len(c.made) != c.n || c.ended.IsZero() {
		return nil, nil, fmt.Errorf("%d of %d delegates worked", len(c.made), c.n)
	}
	rounds, err := log.rounds(h, root, c.begun, c.ended)
	if err != nil {
		return nil, nil, err
	}
	lines := 0
	for _, r := range rounds {
		lines += r.lines
	}
	return values{"tree": float64(lines) / c.ended.Sub(c.begun).Seconds(), "round": float64(lines) / float64(len(rounds))}, rounds, nil
}

// journalled notes what the loop made durable, with the moment when it was.
type journalled struct {
	writes []tree.Write
	told   []time.Time
}

func (l *journalled) add(w tree.Write) {
	l.writes, l.told = append(l.writes, w), append(l.told, time.Now())
}

// rounds are the turns of the loop between two moments, with the bytes of their
// lines. The loop tells of a turn's writes before it decides the next turn, so
// a write that was decided after the turn's first was told begins a new one.
func (l *journalled) rounds(h store.Home, root id.Session, from, to time.Time) ([]round, error) {
	lines := map[id.Session]map[int64][]byte{}
	var out []round
	first := time.Time{}
	for i, w := range l.writes {
		if w.At.Before(from) || l.told[i].After(to) {
			continue
		}
		if lines[w.Session] == nil {
			var err error
			if lines[w.Session], err = linesOf(h, root, w.Session); err != nil {
				return nil, err
			}
		}
		if first.IsZero() || w.At.After(first) {
			out = append(out, round{pieces: map[id.Session][]byte{}})
			first = l.told[i]
		}
		r := &out[len(out)-1]
		r.pieces[w.Session] = append(r.pieces[w.Session], lines[w.Session][w.Step]...)
		r.lines++
	}
	if len(out) == 0 {
		return nil, errors.New("nothing was written while all were busy")
	}
	return out, nil
}

func linesOf(h store.Home, root, s id.Session) (map[int64][]byte, error) {
	path := h.Journal(s)
	if s == "" {
		path = h.Delegates(root)
	}
	out := map[int64][]byte{}
	for e, err := range journal.Read(path, journal.Pos{}) {
		if err != nil {
			return nil, err
		}
		out[e.Step] = append(append([]byte{}, e.Line...), '\n')
	}
	return out, nil
}

// bareRounds writes the same pieces to as many files: each file once a round,
// all synced side by side.
func bareRounds(e *env, rounds []round) (values, error) {
	dir, err := e.sub("busy")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	files := map[id.Session]*bareFile{}
	for _, r := range rounds {
		for s := range r.pieces {
			if files[s] == nil {
				f, err := os.OpenFile(filepath.Join(dir, "f"+string(s)), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
				if err != nil {
					return nil, err
				}
				defer f.Close()
				b := &bareFile{make(chan []byte), make(chan error)}
				defer close(b.in)
				go b.serve(f)
				files[s] = b
			}
		}
	}
	lines, start := 0, time.Now()
	for _, r := range rounds {
		for s, piece := range r.pieces {
			files[s].in <- piece
		}
		for s := range r.pieces {
			if err := <-files[s].out; err != nil {
				return nil, err
			}
		}
		lines += r.lines
	}
	return values{"bare": float64(lines) / time.Since(start).Seconds()}, nil
}

type bareFile struct {
	in  chan []byte
	out chan error
}

func (b *bareFile) serve(f *os.File) {
	for piece := range b.in {
		b.out <- writeSync(f, piece)
	}
}

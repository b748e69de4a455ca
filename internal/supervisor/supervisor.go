package supervisor

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"evener/internal/effect"
	"evener/internal/evidence"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/joblog"
	"evener/internal/model"
	"evener/internal/proc"
	"evener/internal/schema"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/tree"
	"evener/internal/worktree"
	"evener/journal"
)

// Options are what a Tree works with.
type Options struct {
	Store *store.Tree
	// Models opens the model that a session's context names. It is called beside
	// the loop and may be called often.
	Models func(name string) (model.Model, error)
	Decode session.Decoder
	// Prepare answers what a delegate call asks of the outside, beside the loop.
	Prepare func(DelegateSpec) (Prepared, *fault.Error)
	// Env is the environment of commands, without secrets.
	Env       []string
	OutputCap int64 // bytes kept of one job's output
	StopGrace time.Duration
	Reader    evidence.Reader
	// Observe is told each durable write, in order, on the loop's goroutine. May be nil.
	Observe func(tree.Write)
	// Warn is told what no journal line says: repairs, retries, a full disk. May be nil.
	Warn func(string)
	// Progress is told how far a model request has come, beside the loop. It must not wait. May be nil.
	Progress func(model.Progress)
}

// Tree runs the loop of one tree.
type Tree struct {
	o        Options
	in       chan posted
	closing  chan string   // RequestClose
	done     chan struct{} // closed when the loop takes nothing more
	result   chan error    // how the loop ended
	procs    *proc.Host
	git      *worktree.Git
	wg       sync.WaitGroup
	searches searches
	tools    toolSets
	tidying  sync.WaitGroup // of it, what needs commands of evener's own to clean up

	ctx    context.Context // of everything started outside the loop
	cancel context.CancelFunc

	// owned by the loop
	queue     []posted // what follows from decisions that are on disk
	settling  []chan error
	requests  map[id.Session]request
	naming    naming
	preparing map[callKey]context.CancelFunc
	timers    map[timerKey]*timer
	ended     bool
	broken    error // what a conversation could not be taken back for
}

// request is the one of a session that is out.
type request struct {
	n      int64
	cancel context.CancelFunc
}

// posted is an input on its way, with a place for a refusal where somebody waits.
type posted struct {
	input  tree.Input
	reply  chan error
	settle bool   // the answer waits until everything that follows is decided
	look   func() // in place of an input: reads the state as it is on the disk
	timer  *timer // of an input that one gave
}

// New makes the loop of an opened tree.
func New(o Options) (*Tree, error) {
	if o.Observe == nil {
		o.Observe = func(tree.Write) {}
	}
	if o.Warn == nil {
		o.Warn = func(string) {}
	}
	if o.Progress == nil {
		o.Progress = func(model.Progress) {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	t := &Tree{
		o: o, in: make(chan posted, 64), closing: make(chan string, 1), done: make(chan struct{}), result: make(chan error, 1), ctx: ctx, cancel: cancel,
		searches: searches{byJob: map[id.Job][]*follower{}, ends: map[id.Job]end{}},
		requests: map[id.Session]request{}, preparing: map[callKey]context.CancelFunc{}, timers: map[timerKey]*timer{},
	}
	host, err := proc.Open(proc.Options{Lock: o.Store.Lock, Env: o.Env, StopGrace: o.StopGrace, Post: t.fromProc})
	if err != nil {
		cancel()
		return nil, err
	}
	t.procs, t.git = host, worktree.New(host)
	return t, nil
}

// Start begins to take inputs. Wait must follow.
func (t *Tree) Start() {
	go func() {
		t.reclaim()
		t.result <- t.run()
	}()
}

// Wait returns when the session's run has ended and everything that was started
// is joined and closed. The error is a failure of the state folder or of the
// program; how the run went stands in the state, which is the caller's from
// here on.
func (t *Tree) Wait() error { return <-t.result }

func (t *Tree) run() error {
	err := t.loop()
	close(t.done)
	t.cancel()
	for k := range t.timers {
		t.dropTimer(k)
	}
	t.tidy()
	// Commands have ended by now, or were given up; a keeper that does not answer is killed.
	ctx, cancel := context.WithTimeout(context.Background(), t.o.StopGrace+closeLimit)
	defer cancel()
	closeErr := t.procs.Close(ctx)
	t.wg.Wait()
	t.o.Store.Summarise = err == nil
	return errors.Join(err, closeErr, t.o.Store.Close())
}

// RequestClose asks for the end of the run in order. It never waits, so that
// whoever is called by the loop may call it; a request after the first is dropped.
func (t *Tree) RequestClose(why string) {
	select {
	case t.closing <- why:
	default:
	}
}

func (t *Tree) loop() error {
	for !t.ended {
		if err := t.take(t.inputs()); err != nil {
			return err
		}
		if len(t.queue) == 0 {
			for _, reply := range t.settling {
				reply <- nil
			}
			t.settling = nil
		}
	}
	return nil
}

// inputs takes what there is to decide: first what follows from decisions that
// were made, then what came from outside, for which it waits if there is nothing.
func (t *Tree) inputs() []posted {
	batch := t.queue
	t.queue = nil
	if len(batch) == 0 {
		select {
		case p := <-t.in:
			batch = append(batch, p)
		case why := <-t.closing:
			batch = append(batch, posted{input: tree.Input{Session: t.o.Store.Root, In: session.Close{Why: why}}})
		}
	}
	for {
		select {
		case p := <-t.in:
			batch = append(batch, p)
		default:
			return batch
		}
	}
}

// take decides a batch, makes it durable and acts on it. What could not be
// decided yet, and what follows, waits in the queue.
func (t *Tree) take(batch []posted) error {
	var waited time.Duration
	for {
		decided, err := t.decide(batch)
		if err == nil {
			err = t.o.Store.Append(decided.Writes)
		}
		if err == nil {
			t.act(batch, decided)
			return t.broken
		}
		if !errors.Is(err, journal.ErrFull) || waited >= fullLimit {
			return err
		}
		if waited == 0 {
			t.o.Warn(fmt.Sprintf("the filesystem of %s is full; nothing was lost, waiting up to %v for space", t.o.Store.Home.Sessions, fullLimit))
		}
		if err := t.o.Store.Refold(); err != nil {
			return err
		}
		// There is nothing that tells when space returns, so this looks again.
		batch = append(batch, t.gather(fullPause)...)
		waited += fullPause
	}
}

// act performs what a durable batch orders and answers who asked.
func (t *Tree) act(batch []posted, decided decisions) {
	for _, w := range decided.Writes {
		t.o.Observe(w)
	}
	t.perform(decided.Effects)
	for _, w := range decided.Writes {
		t.callsOver(w)
	}
	for i, p := range batch[:decided.n] {
		if p.look != nil {
			p.look()
			p.reply <- nil
			continue
		}
		refusal, refused := decided.refusals[i]
		t.handled(p.input)
		t.timed(p)
		switch {
		case refused && p.reply == nil:
			t.unmake(p.input)
		case p.reply == nil:
		case p.settle && !refused:
			t.settling = append(t.settling, p.reply)
		default:
			p.reply <- refusal
		}
	}
	t.queue = append(t.queue, batch[decided.n:]...)
	for _, in := range decided.Next {
		t.queue = append(t.queue, posted{input: in})
	}
}

// closeLimit is how long the process host may take to end, beside the grace.
const closeLimit = 10 * time.Second

const (
	fullPause = time.Second
	fullLimit = time.Minute
)

// gather takes inputs for a while.
func (t *Tree) gather(d time.Duration) []posted {
	var got []posted
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case p := <-t.in:
			got = append(got, p)
		case <-timer.C:
			return got
		}
	}
}

// decisions is what a batch came to.
type decisions struct {
	tree.Decision
	refusals map[int]error
	n        int // how many of the batch were decided
}

// decide takes the inputs of a batch in turn. A decision may rest only on what
// is on disk or goes there with the same line: the tree reads the journals of
// sessions and they read its own, so where the one follows on a write of the
// other the batch ends and is made durable first.
func (t *Tree) decide(batch []posted) (decisions, error) {
	out := decisions{refusals: map[int]error{}, n: len(batch)}
	over, session, tree := false, false, false // written so far
	for i, p := range batch {
		if p.look != nil {
			continue
		}
		if over { // nothing is admitted behind the end of the run
			out.refusals[i] = fault.New(fault.Closing, "the session has ended")
			continue
		}
		if p.input.ForTree() && session || !p.input.ForTree() && tree {
			out.n = i
			return out, nil
		}
		d, err := t.o.Store.State.Decide(t.o.Decode, t.facts(), p.input)
		if refusal, ok := errors.AsType[*fault.Error](err); ok {
			out.refusals[i] = refusal
			continue
		}
		if err != nil {
			return out, fmt.Errorf("decide %s: %w", p.input.In.Kind(), err)
		}
		session = session || len(d.Writes) > 0 && !p.input.ForTree()
		tree = tree || len(d.Writes) > 0 && p.input.ForTree()
		out.Writes = append(out.Writes, d.Writes...)
		out.Effects = append(out.Effects, d.Effects...)
		out.Next = append(out.Next, d.Next...)
		over = slices.ContainsFunc(d.Effects, func(e treeEffect) bool { return e.Effect == effect.EndRun{} })
	}
	return out, nil
}

type treeEffect = tree.Effect

func (t *Tree) facts() session.Facts {
	var random [4]byte
	rand.Read(random[:]) // never fails
	full, room := "", int64(0)
	if t.o.Store.Full() {
		full, room = t.o.Store.Home.Sessions, t.o.Store.SetAside()
	}
	return session.Facts{
		Now: time.Now(), Random: binary.LittleEndian.Uint32(random[:]),
		Live: t.live, Output: t.output, Full: full, Room: room, Fits: schema.Violations,
		Scratch: t.o.Store.Home.Scratch(t.o.Store.Root),
	}
}

// live is what the running process knows of a job.
func (t *Tree) live(j id.Job) job.Live {
	total, last := t.procs.Output(string(j))
	return job.Live{Job: j, Total: total, LastAt: last.UTC().Truncate(time.Microsecond)}
}

// outputEnds is how much of each end of the output a hand-off may show, in bytes.
const outputEnds = 64 << 10

// output reads what a running job has printed so far: pages that were just
// written, so the loop does not wait for the disk.
func (t *Tree) output(j id.Job) job.Output {
	path := t.o.Store.Home.Log(j)
	c, err := joblog.Tail(path, outputEnds)
	if err != nil {
		return job.Output{} // nothing printed yet
	}
	o := job.Output{Total: c.End, Start: c.Start, Tail: string(c.Data)}
	if head, err := joblog.Window(path, 0, outputEnds); err == nil {
		o.Head = string(head.Data)
	}
	return o
}

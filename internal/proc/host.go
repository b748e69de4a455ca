package proc

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Host is evener's side: it starts, watches and ends the jobs of one tree.
type Host struct {
	o     Options
	shell string
	bufs  *buffers
	wide  atomic.Int32   // pipes widened, or asked to be
	calls sync.WaitGroup // Start, Detach and Run under way
	work  sync.WaitGroup // goroutines

	closing context.Context // ends when Close begins
	close   context.CancelFunc

	launch sync.Mutex // one keeper is launched at a time

	mu     sync.Mutex
	jobs   map[string]*running
	ended  map[*running]bool // reported, but their pipe is still held by somebody
	link   *link             // nil before the first command and after a keeper's death
	closed bool
}

// Open prepares a Host. The keeper starts with the first command. This process
// becomes unreadable to its jobs and the subreaper of what a dying keeper leaves.
func Open(o Options) (*Host, error) {
	if o.StopGrace <= 0 {
		o.StopGrace = DefaultStopGrace
	}
	if o.Post == nil {
		return nil, errors.New("open a process host: nobody receives its events")
	}
	markCloseOnExec()
	if err := family.enter(); err != nil {
		return nil, fmt.Errorf("open a process host: %w", err)
	}
	h := &Host{o: o, shell: findShell(o.Env), bufs: newBuffers(), jobs: map[string]*running{}, ended: map[*running]bool{}}
	h.closing, h.close = context.WithCancel(context.Background())
	return h, nil
}

// Output gives the live numbers of a running job: lifetime bytes, and when the
// last of them came. Zero for a job that is unknown or has ended.
func (h *Host) Output(job string) (total int64, last time.Time) {
	j := h.job(job)
	if j == nil {
		return 0, time.Time{}
	}
	return j.output()
}

// Keep lets the job's log be synced before its Exited is posted. It reports
// false when that event is already on its way.
func (h *Host) Keep(job string) bool {
	j := h.job(job)
	return j != nil && j.setKeep()
}

func (h *Host) job(job string) *running {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.jobs[job]
}

// Close ends everything that was started here, detached commands aside, and
// returns when it is gone, reaped and reported and no goroutine is left. When ctx
// ends first, the keeper is killed and what it leaves is ended without grace.
func (h *Host) Close(ctx context.Context) error {
	h.mu.Lock()
	was := h.closed
	h.closed = true
	h.mu.Unlock()
	if was {
		return nil
	}
	h.close()
	h.calls.Wait()
	h.mu.Lock()
	l := h.link
	var held []*running
	for _, j := range h.jobs {
		held = append(held, j)
	}
	for j := range h.ended {
		held = append(held, j)
	}
	h.mu.Unlock()
	var err error
	if l != nil {
		err = l.end(ctx)
	}
	for _, j := range held {
		j.abort()
	}
	h.work.Wait()
	family.leave()
	return err
}

// begin admits one call; the caller calls h.calls.Done when it is over.
func (h *Host) begin() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	h.calls.Add(1)
	return nil
}

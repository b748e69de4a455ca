package journal

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"
)

const (
	errNoSpace = syscall.ENOSPC
	errQuota   = syscall.EDQUOT

	ballast    = 256 << 10 // allocated past the end
	ballastLow = 128 << 10 // topped up below this

	settleYields = 16
	settleIdle   = 3 // yields without another call after which no more are awaited
)

// run is the writer: the only goroutine that touches the file.
func (j *Journal) run() {
	defer close(j.done)
	quiet := time.NewTimer(time.Hour)
	quiet.Stop()
	defer quiet.Stop()
	for {
		select {
		case <-j.kick:
		case <-quiet.C:
			j.mark()
		}
		if j.drain() && j.o.Quiet > 0 {
			quiet.Reset(j.o.Quiet)
		}
		if j.ended() {
			j.err = j.finish()
			return
		}
	}
}

func (j *Journal) ended() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.closing && len(j.queue) == 0
}

// drain writes what is queued and reports whether a record of a caller was among it.
func (j *Journal) drain() (wrote bool) {
	if j.retry.Swap(false) {
		j.topUp(j.Durable().Off)
	}
	for {
		b := j.take()
		if b == nil {
			return wrote
		}
		if j.commit(b) && b.recs > 0 {
			wrote = true
		}
	}
}

// take takes the first batch.
func (j *Journal) take() *batch {
	j.settle()
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.queue) == 0 {
		return nil
	}
	b := j.queue[0]
	j.queue = slices.Delete(j.queue, 0, 1) // in place: the queue is short, and needs no new memory then
	j.racing = b.calls
	return b
}

// settle lets callers queue who race: after a write that served several calls it
// yields until as many are back or no more come. A single caller, who hands over
// whole batches, never waits for this.
func (j *Journal) settle() {
	calls, idle := 0, 0
	for range settleYields {
		j.mu.Lock()
		n, more := 0, len(j.queue) > 1
		if len(j.queue) > 0 {
			n = j.queue[0].calls
		}
		j.mu.Unlock()
		if more || n == 0 || max(n, j.racing) < 2 || n >= batchCalls {
			return
		}
		if n > calls {
			idle = 0
		} else if idle++; idle >= settleIdle {
			return
		}
		if n >= j.racing && idle > 0 {
			return
		}
		calls = n
		runtime.Gosched()
	}
}

// commit makes a batch durable and tells who waits. It reports success.
func (j *Journal) commit(b *batch) bool {
	if len(b.buf) == 0 {
		j.publish(b)
		return true
	}
	if err := j.write(b); err != nil {
		j.fail(b, err)
		return false
	}
	j.publish(b)
	j.topUp(b.last.Off) // in nobody's way: who waited has been told
	return true
}

// write is one write and one sync.
func (j *Journal) write(b *batch) error {
	if err := j.settleTail(); err != nil {
		return poisoned(err)
	}
	if j.reserved == 0 {
		j.topUp(b.off)
	}
	if err := j.writeOut(b.buf); err != nil {
		return j.undo(b.off, err)
	}
	if err := hasSize(j.f, j.path, b.off+int64(len(b.buf))); err != nil {
		return j.undo(b.off, err)
	}
	if err := j.f.sync(); err != nil {
		return poisoned(pathError("sync", j.path, err))
	}
	return nil
}

func (j *Journal) writeOut(b []byte) error { return pathError("write", j.path, writeAll(j.f, b)) }

// undo cuts what a failed write left. Only if the disk was full, and if the cut
// is durable, can the handle go on; else the outcome stays unknown.
func (j *Journal) undo(off int64, cause error) error {
	err := j.f.truncate(off)
	j.reserved = 0 // cutting gives back what was allocated past the end
	if !isFull(cause) {
		return poisoned(cause)
	}
	if err == nil {
		err = j.f.sync()
	}
	if err != nil {
		return poisoned(errors.Join(cause, pathError("cut", j.path, err)))
	}
	j.topUp(off) // take the ballast again before somebody else does
	j.full.Store(true)
	return fmt.Errorf("%w: %w", ErrFull, cause)
}

func poisoned(cause error) error { return fmt.Errorf("%w: %w", ErrPoisoned, cause) }

// publish says that a batch is durable. Its buffer is for the next one, which
// who is woken now will begin.
func (j *Journal) publish(b *batch) {
	j.mu.Lock()
	j.durable, j.durAt = b.last, b.lastAt
	j.used = j.used || b.recs > 0
	j.release(b)
	if cap(b.buf) <= keepBuffer {
		j.spare = b.buf
	}
	b.buf = nil
	j.mu.Unlock()
	close(b.done) // not under the lock, which all who wake up want next
}

// release wakes who waits for room and who follows, under the lock.
func (j *Journal) release(b *batch) {
	j.queued -= len(b.buf)
	j.room.Broadcast()
	j.moved()
}

// moved wakes who follows, under the lock.
func (j *Journal) moved() {
	if j.followed != nil {
		close(j.followed)
		j.followed = nil
	}
}

// fail tells who waits that nothing came of it. Later batches count on the failed
// one, so they fall with it.
func (j *Journal) fail(b *batch, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !errors.Is(err, ErrFull) {
		j.failed = err
	}
	for _, b := range append([]*batch{b}, j.queue...) {
		b.err = err
		j.release(b)
		close(b.done)
	}
	j.queue = nil
	j.next, j.lastAt = j.durable, j.durAt
	if j.opened > j.durable.Seq {
		j.opened = 0
	}
}

// topUp keeps the ballast. Running out of room for it is the full state.
func (j *Journal) topUp(end int64) {
	if j.barren {
		j.full.Store(false) // nothing to measure by but the writes themselves
		return
	}
	if j.reserved-end >= ballastLow && !j.full.Load() {
		return
	}
	defer func() { j.aside.Store(max(0, j.reserved-end)) }()
	switch err := j.f.reserve(end, ballast); {
	case err == nil:
		j.reserved = end + ballast
		j.full.Store(false)
	case errors.Is(err, errNoReserve):
		j.barren = true
		j.full.Store(false)
	default:
		j.full.Store(true)
	}
}

// mark covers the last records by a later write, so that damage to them can be
// told from a torn tail while the session sleeps. The closing hash catches up
// meanwhile, so that Close is quick; if that fails, Close tries again and says so.
func (j *Journal) mark() {
	j.mu.Lock()
	if j.refusal() != nil || len(j.queue) > 0 || j.full.Load() {
		j.mu.Unlock()
		return
	}
	j.own(kindMarked, struct{}{})
	end := j.durable.Off
	j.mu.Unlock()
	_ = j.hash.catchUp(j.f, end)
}

// own queues a line of the package's own, as a batch by itself.
func (j *Journal) own(kind string, data any) *batch {
	return j.ownBehind(kind, func(*batch) any { return data })
}

// ownBehind is own for data that depends on what its write says first.
func (j *Journal) ownBehind(kind string, data func(before *batch) any) *batch {
	b := j.newBatch()
	at := j.o.Now()
	j.noteClock(b, at)
	j.put(b, ownBody(kind, data(b), at), at)
	j.queued += len(b.buf)
	j.queue = append(j.queue, b)
	return b
}

// noteRecovered appends the line that tells of a torn tail, and shows it to Visit.
func (j *Journal) noteRecovered(t *Torn) error {
	d := recoveredData{DroppedBytes: t.Bytes, SHA256: t.SHA256, FirstSeq: t.Seq}
	if t.Saved != "" {
		d.Saved = filepath.Base(t.Saved)
	}
	b := j.own(kindRecovered, d)
	j.queue = nil
	if err := j.write(b); err != nil {
		return err
	}
	lines := b.buf
	j.publish(b)
	return visitLines(lines, b.off, j.o.Visit) // before there is anybody who could append
}

// finish ends the handle in order: what was appended since the opening is closed
// by a line of its own, the ballast goes back, the lock with the descriptor.
func (j *Journal) finish() error {
	j.mu.Lock()
	failed, used := j.failed, j.used
	j.mu.Unlock()
	err := failed
	if failed == nil && used {
		err = j.writeClosing()
	}
	if err == nil && j.reserved > 0 {
		err = pathError("give the ballast back to", j.path, j.f.truncate(j.durable.Off))
	}
	err = errors.Join(err, closeFile(j.f, j.path))
	j.mu.Lock()
	j.over = true
	j.moved()
	j.mu.Unlock()
	return err
}

func (j *Journal) writeClosing() error {
	end := j.Durable().Off
	if err := j.hash.catchUp(j.f, end); err != nil {
		return fmt.Errorf("hash journal %s: %w", j.path, err)
	}
	j.mu.Lock()
	b := j.ownBehind(kindClosed, func(before *batch) any {
		j.hash.add(before.buf, before.off) // a step of the clock is told in the same write
		return closedData{j.hash.sum()}
	})
	j.queue = nil
	j.mu.Unlock()
	if err := j.write(b); err != nil {
		j.fail(b, err)
		return err
	}
	j.publish(b)
	return nil
}

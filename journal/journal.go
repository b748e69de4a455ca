package journal

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Journal is a journal open for writing. Its methods may be called from any goroutine.
type Journal struct {
	o    Options
	path string
	f    file
	info fileInfo // which file the name meant when it was opened
	head Header

	// The writer's own.
	hash     *chain
	tail     *stretch // the last write found on opening, not yet certain to be durable
	reserved int64    // blocks are allocated up to here
	barren   bool     // the file system cannot allocate ahead
	racing   int      // how many calls the last write served

	full  atomic.Bool
	aside atomic.Int64 // what remains of the ballast
	retry atomic.Bool  // Full asked to try the ballast again
	kick  chan struct{}
	done  chan struct{} // closed when the writer has ended
	err   error         // how Close went; set before done is closed

	mu       sync.Mutex
	room     sync.Cond // the queue became shorter, or the handle ended
	queue    []*batch  // not yet taken by the writer; calls join the last one
	queued   int       // bytes in the queue and with the writer
	next     Pos       // past the last line queued
	lastAt   time.Time // of that line
	opened   int64     // seq of this handle's journal.opened, 0 if not queued
	durable  Pos
	durAt    time.Time // of the last durable line
	used     bool      // a record of the caller became durable since the opening
	failed   error     // ErrPoisoned and why
	closing  bool
	over     bool          // the writer has ended
	spare    []byte        // a buffer to use again
	followed chan struct{} // closed when durable moves or the handle ends; nil if nobody waits
}

// batch is one write: the lines, and who waits for them.
type batch struct {
	buf    []byte
	first  int64 // seq of its first line
	off    int64 // where it will stand in the file
	calls  int
	recs   int // records of callers
	last   Pos
	lastAt time.Time
	done   chan struct{}
	err    error // set before done is closed
}

const (
	batchBytes = 1 << 20
	batchCalls = 1024
	queueBytes = 8 << 20
	keepBuffer = 2 << 20
)

// start begins the writing. What was read stays as it is until the first append.
func (j *Journal) start() {
	j.room.L = &j.mu
	j.kick = make(chan struct{}, 1)
	j.done = make(chan struct{})
	go j.run()
}

// setEnd says where the file ends.
func (j *Journal) setEnd(p Pos, at time.Time) {
	j.next, j.durable = p, p
	j.lastAt, j.durAt = at, at
}

// Header is what line 1 says.
func (j *Journal) Header() Header { return j.head }

// Path is the absolute path of the file.
func (j *Journal) Path() string { return j.path }

// Append writes the records, in order and next to each other, and returns once
// they are durable, with the place past the last of them. There is no context:
// once queued, their outcome must be learnt.
//
// A refusal (ErrInvalid, ErrTooLong) and ErrFull mean that none was written.
// ErrPoisoned means that it is not known.
func (j *Journal) Append(recs ...Record) (Pos, error) {
	b, pos, err := j.enqueue(recs)
	if err != nil {
		return Pos{}, err
	}
	<-b.done
	if b.err != nil {
		return Pos{}, b.err
	}
	return pos, nil
}

// AppendAsync is Append without the wait. Records stand in the file in the order
// of the calls, those of one call next to each other; after a crash any number of
// the last of them may be missing. The call itself waits only while more than
// 8 MiB are queued.
func (j *Journal) AppendAsync(recs ...Record) *Ticket {
	b, pos, err := j.enqueue(recs)
	if err != nil {
		b = &batch{done: closedChan, err: err}
	}
	return &Ticket{b, pos}
}

var closedChan = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// Ticket stands for records that are on their way.
type Ticket struct {
	b   *batch
	pos Pos
}

// Done is closed when the outcome is known.
func (t *Ticket) Done() <-chan struct{} { return t.b.done }

// Wait returns once the outcome is known, as Append does.
func (t *Ticket) Wait() (Pos, error) {
	<-t.b.done
	if t.b.err != nil {
		return Pos{}, t.b.err
	}
	return t.pos, nil
}

// Pos is where the last record of the call ends, if it becomes durable.
func (t *Ticket) Pos() Pos { return t.pos }

// Sync waits until everything queued before it is durable, and returns the error if it is not.
func (j *Journal) Sync() error {
	j.mu.Lock()
	if err := j.refusal(); err != nil {
		j.mu.Unlock()
		return err
	}
	b := j.openBatch(0)
	j.mu.Unlock()
	j.wake()
	<-b.done
	return b.err
}

// Durable is the place past the last line that is known to be durable.
func (j *Journal) Durable() Pos {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.durable
}

// Full reports that the disk is too full to keep the ballast: room set aside for
// the records that end things. Nothing new should be begun; appends still work,
// from the ballast. While it is so, each call makes the writer try again, and a
// later call tells how that went.
func (j *Journal) Full() bool {
	if !j.full.Load() {
		return false
	}
	j.retry.Store(true)
	j.wake()
	return true
}

// SetAside is what remains of the ballast, in bytes: how much can still be
// written while the journal is full.
func (j *Journal) SetAside() int64 { return j.aside.Load() }

// Close waits for what is queued, writes journal.closed if the handle appended
// anything, gives the ballast back and unlocks the file. It is the same error
// each time. After ErrPoisoned it touches nothing.
func (j *Journal) Close() error {
	j.mu.Lock()
	j.closing = true
	j.room.Broadcast()
	j.mu.Unlock()
	j.wake()
	<-j.done
	return j.err
}

func (j *Journal) wake() {
	select {
	case j.kick <- struct{}{}:
	default:
	}
}

// refusal says why nothing more can be queued, under the lock.
func (j *Journal) refusal() error {
	if j.failed != nil {
		return j.failed
	}
	if j.closing {
		return ErrClosed
	}
	return nil
}

// enqueue adds the records of one call to a batch.
func (j *Journal) enqueue(recs []Record) (*batch, Pos, error) {
	if len(recs) == 0 {
		return nil, Pos{}, fmt.Errorf("%w: no records", ErrInvalid)
	}
	sc, err := encode(recs, j.o.Now)
	if err != nil {
		return nil, Pos{}, err
	}
	defer sc.free()
	j.mu.Lock()
	for j.queued > 0 && j.queued+len(sc.buf) > queueBytes && j.refusal() == nil {
		j.room.Wait()
	}
	if err := j.refusal(); err != nil {
		j.mu.Unlock()
		return nil, Pos{}, err
	}
	b := j.openBatch(len(sc.buf))
	j.fill(b, sc)
	pos := b.last
	j.mu.Unlock()
	j.wake()
	return b, pos, nil
}

// fill puts the lines of one call into the batch, behind what the package has to say first.
func (j *Journal) fill(b *batch, sc *scratch) {
	before := len(b.buf)
	if j.opened == 0 {
		at := sc.parts[0].at
		j.noteClock(b, at)
		j.put(b, openedBody(j.o.Version, at), at)
		j.opened = j.next.Seq
	}
	from := 0
	for _, p := range sc.parts {
		j.noteClock(b, p.at)
		j.put(b, sc.buf[from:p.end], p.at)
		from = p.end
	}
	b.calls++
	b.recs += len(sc.parts)
	j.queued += len(b.buf) - before
}

// noteClock says so when the wall clock went back by more than a second.
func (j *Journal) noteClock(b *batch, at time.Time) {
	if j.lastAt.Sub(at) > time.Second {
		j.put(b, ownBody(kindClock, clockData{j.lastAt.UTC(), at.UTC()}, at), at)
	}
}

func (j *Journal) put(b *batch, body []byte, at time.Time) {
	j.next.Seq++
	before := len(b.buf)
	b.buf = appendLine(b.buf, j.next.Seq, b.first, body)
	j.next.Off += int64(len(b.buf) - before)
	j.lastAt = at.Round(0) // the wall clock is what the line shows, so it is what is compared
	b.last, b.lastAt = j.next, j.lastAt
}

// openBatch is the batch that n more bytes may join.
func (j *Journal) openBatch(n int) *batch {
	if i := len(j.queue) - 1; i >= 0 {
		b := j.queue[i]
		if len(b.buf) == 0 || len(b.buf)+n <= batchBytes && b.calls < batchCalls {
			return b
		}
	}
	b := j.newBatch()
	j.queue = append(j.queue, b)
	return b
}

func (j *Journal) newBatch() *batch {
	b := &batch{buf: j.spare[:0], first: j.next.Seq + 1, off: j.next.Off, last: j.next, lastAt: j.lastAt, done: make(chan struct{})}
	j.spare = nil
	return b
}

// isFull reports whether an error means that there was no room.
func isFull(err error) bool { return errors.Is(err, errNoSpace) || errors.Is(err, errQuota) }

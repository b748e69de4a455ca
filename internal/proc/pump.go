package proc

import (
	"errors"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

const (
	headKeep = 8 << 10
	tailKeep = 64 << 10
	bufSize  = 256 << 10
	maxBufs  = 16 // 4 MiB: more jobs than this wait for the disk anyway

	pipeDefault = 64 << 10
	pipeWide    = 1 << 20
	maxWide     = 16 // pipes at a time

	drainQuiet = 250 * time.Millisecond
	drainMost  = time.Second
)

// buffers are shared by all pumps; a pump holds one only while bytes wait.
type buffers struct {
	sem  chan struct{}
	pool sync.Pool
}

func newBuffers() *buffers {
	return &buffers{
		sem:  make(chan struct{}, maxBufs),
		pool: sync.Pool{New: func() any { return new([bufSize]byte) }},
	}
}

func (b *buffers) get() *[bufSize]byte {
	b.sem <- struct{}{}
	return b.pool.Get().(*[bufSize]byte)
}

func (b *buffers) put(buf *[bufSize]byte) {
	b.pool.Put(buf)
	<-b.sem
}

// pump is the life of a job's output: into the log until the end is known and
// drained, then the report, then into nothing until the last holder of the pipe
// is gone.
func (j *running) pump() {
	p := &pump{j: j}
	eof := p.drain()
	ev, silent := p.settle()
	removeFile(j.file)
	h := j.host
	h.mu.Lock()
	delete(h.jobs, j.id)
	h.ended[j] = true
	h.mu.Unlock()
	_ = j.link.send(pack(askForget, j.id)) // a dead keeper has forgotten
	if !silent {
		h.o.Post(ev)
	}
	if !eof {
		h.discard(j)
	}
	h.mu.Lock()
	delete(h.ended, j)
	h.mu.Unlock()
	_ = j.out.Close()
	if p.wide {
		h.wide.Add(-1)
	}
}

type pump struct {
	j      *running
	wide   bool // the pipe was widened, or that was tried
	head   []byte
	tail   []byte // only once the log lost bytes; before, the log has them
	logErr error
}

// drain pumps until the report is due. It tells whether the pipe is closed.
func (p *pump) drain() (eof bool) {
	for {
		switch next := p.j.next(eof); {
		case next == drainMore && eof:
			<-p.j.wake
		case next == drainMore:
			err := p.read(false)
			eof = err != nil && !errors.Is(err, os.ErrDeadlineExceeded)
		case next == drainLook:
			// The quiet may be our own: bytes can wait although their time is up.
			before := p.j.total.Load()
			if err := p.read(true); err != nil {
				eof = true
			} else if p.j.total.Load() > before {
				continue
			}
			fallthrough
		default:
			if p.j.setSettled() {
				return eof
			}
		}
	}
}

// read takes what waits in the pipe into the log; it waits for more unless once is set.
// The buffer is taken only when the pipe has something to say, and filled before
// it is written: a command that writes in small pieces must not cost a write each.
func (p *pump) read(once bool) error {
	rc, err := p.j.out.SyscallConn()
	if err != nil {
		return err
	}
	var rerr error
	err = rc.Read(func(fd uintptr) bool {
		buf := p.j.host.bufs.get()
		defer p.j.host.bufs.put(buf)
		n := 0
		n, rerr = fillFrom(int(fd), buf[:])
		if n > 0 {
			p.take(buf[:n])
		}
		if n >= pipeDefault && !p.wide {
			p.wide = true
			p.j.host.widen(int(fd))
		}
		return n > 0 || rerr != nil || once
	})
	return errors.Join(err, rerr)
}

// fillFrom reads what waits, at most len(b). The end of the pipe is io.EOF, once
// everything before it was read.
func fillFrom(fd int, b []byte) (n int, err error) {
	for n < len(b) {
		m, err := unix.Read(fd, b[n:])
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.EAGAIN:
			return n, nil
		case err == nil && m == 0:
			err = io.EOF
		}
		if err != nil {
			if n > 0 {
				return n, nil // the next read says it again
			}
			return 0, err
		}
		n += m
	}
	return n, nil
}

// take stores bytes. A log that fails loses them, but the head and the tail of
// the report do not.
func (p *pump) take(b []byte) {
	j := p.j
	if room := headKeep - len(p.head); room > 0 {
		p.head = append(p.head, b[:min(room, len(b))]...)
	}
	before := j.log.End()
	if _, err := j.log.Write(b); err != nil && p.logErr == nil {
		p.logErr = err
		p.tail, _ = j.log.Window(max(j.log.Start(), before-tailKeep), before)
	}
	if p.logErr != nil {
		p.tail = append(p.tail, b[max(0, len(b)-tailKeep):]...)
		if extra := len(p.tail) - tailKeep; extra > tailKeep {
			p.tail = append(p.tail[:0], p.tail[extra:]...)
		}
	}
	j.count(len(b))
}

func (j *running) count(n int) {
	j.last.Store(time.Now().UnixNano())
	j.total.Add(int64(n))
	j.printed()
}

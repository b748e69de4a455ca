package host

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// maxPending is how many bytes may wait for the reader of standard output.
// Beyond it whoever writes waits too.
const maxPending = 16 << 20

// flushLimit is how long a run that was told to end waits for that reader when
// all else is done.
const flushLimit = 2 * time.Second

// ErrUnread: the end of a run waited in vain for the reader of standard output.
var ErrUnread = errors.New("nobody reads standard output")

// Output writes lines to somebody who may read slowly or not at all. The loop
// that makes them does not wait for him, and a signal ends what does.
type Output struct {
	w      io.Writer
	file   *os.File // w, if it is one: then a write can be given up
	failed func(error)
	quit   pipeEnd
	wg     sync.WaitGroup

	mu      sync.Mutex // guards all below
	change  *sync.Cond
	pending [][]byte
	bytes   int // of pending, and of what is being written
	closed  bool
	hurried bool
	timer   *time.Timer
	err     error
}

// NewOutput begins to write to w; Close must follow. failed is told once, when
// nothing can be written any more.
func NewOutput(w io.Writer, failed func(error)) (*Output, error) {
	o := &Output{w: w, failed: failed}
	o.change = sync.NewCond(&o.mu)
	if f, ok := w.(*os.File); ok {
		var err error
		if o.quit, err = newPipeEnd(); err != nil {
			return nil, err
		}
		o.file = f
	}
	o.wg.Add(1)
	go func() {
		defer o.wg.Done()
		o.run()
	}()
	return o, nil
}

// Write hands a line over, which is not to be changed any more. What comes
// after a failure is dropped.
func (o *Output) Write(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.bytes > maxPending && !o.hurried && o.err == nil {
		o.change.Wait()
	}
	if o.err != nil || o.closed {
		return
	}
	o.pending = append(o.pending, line)
	o.bytes += len(line)
	o.change.Broadcast()
}

// Hurry says that the run is to end: nothing waits for the reader any more, but
// for a moment at the very end.
func (o *Output) Hurry() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hurried = true
	o.limit()
	o.change.Broadcast()
}

// limit bounds the last wait. o.mu is held.
func (o *Output) limit() {
	if o.closed && o.hurried && o.timer == nil && o.file != nil {
		o.timer = time.AfterFunc(flushLimit, o.quit.end)
	}
}

// Close waits until all is written, and says what was not. It may be called again.
func (o *Output) Close() error {
	o.mu.Lock()
	o.closed = true
	o.limit()
	o.change.Broadcast()
	o.mu.Unlock()
	o.wg.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.timer != nil {
		o.timer.Stop()
	}
	o.quit.close()
	return o.err
}

func (o *Output) run() {
	for {
		lines := o.next()
		if lines == nil {
			return
		}
		for _, line := range lines {
			if err := o.write(line); err != nil {
				o.fail(err)
				return
			}
			o.mu.Lock()
			o.bytes -= len(line)
			o.change.Broadcast()
			o.mu.Unlock()
		}
	}
}

// next takes what waits; nil at the end.
func (o *Output) next() [][]byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.pending) == 0 && !o.closed {
		o.change.Wait()
	}
	lines := o.pending
	o.pending = nil
	return lines
}

func (o *Output) fail(err error) {
	o.mu.Lock()
	if errors.Is(err, errStopped) {
		err = fmt.Errorf("%w; %d bytes of events were not written", ErrUnread, o.bytes)
	}
	o.err, o.pending, o.bytes = err, nil, 0
	o.change.Broadcast()
	o.mu.Unlock()
	o.failed(err)
}

// write writes a line whole. A pipe that can be written to takes this much at
// least, so that a write does not wait and the wait before it can be ended.
func (o *Output) write(line []byte) error {
	const atOnce = 4096 // PIPE_BUF
	for len(line) > 0 {
		n := len(line)
		if o.file != nil {
			if err := o.quit.wait(o.file, unix.POLLOUT); err != nil {
				return err
			}
			n = min(n, atOnce)
		}
		if _, err := o.w.Write(line[:n]); err != nil {
			return err
		}
		line = line[n:]
	}
	return nil
}

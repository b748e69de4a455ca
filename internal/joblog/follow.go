package joblog

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"
)

// followers are those that wait for bytes. The writer looks at a list that is
// replaced and never changed, so it takes no lock and waits for nobody.
type followers struct {
	mu     sync.Mutex // one change of the list at a time
	list   atomic.Pointer[[]*Follower]
	closed atomic.Bool  // nothing more is written
	files  atomic.Int64 // counts the files that bytes went to: a new one wants a new look
}

// tell wakes who waits. One that was told and has not looked yet is not told
// again: however much is written meanwhile, it has one look to take.
func (w *followers) tell() {
	list := w.list.Load()
	if list == nil {
		return
	}
	for _, f := range *list {
		select {
		case f.wake <- struct{}{}:
		default:
		}
	}
}

func (w *followers) change(with func([]*Follower) []*Follower) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []*Follower
	if now := w.list.Load(); now != nil {
		list = slices.Clone(*now)
	}
	list = with(list)
	if len(list) == 0 {
		w.list.Store(nil)
		return
	}
	w.list.Store(&list)
}

// Follower reads a log while it is written, at its own pace. One goroutine uses
// it; it holds up neither the writer nor eviction.
type Follower struct {
	l    *Log
	off  int64
	wake chan struct{}
	r    *reader
	file int64 // which of the log's files r looks at
}

// Follow begins at a lifetime offset; any goroutine may call it, before the
// first byte and after Close too. The follower must be closed.
func (l *Log) Follow(off int64) *Follower {
	f := &Follower{l: l, off: max(off, 0), wake: make(chan struct{}, 1)}
	l.follow.change(func(list []*Follower) []*Follower { return append(list, f) })
	return f
}

// Close ends the following. It does not wake a Read: end that by its context.
func (f *Follower) Close() {
	f.l.follow.change(func(list []*Follower) []*Follower {
		return slices.DeleteFunc(list, func(o *Follower) bool { return o == f })
	})
	f.look(nil)
}

// Offset is where the next Read goes on.
func (f *Follower) Offset() int64 { return f.off }

// Read waits for bytes and gives as many of them as p has room for, with the
// lifetime offset of the first one. That is past Offset where the disk did not
// take what was written. The end of a closed log is io.EOF. Bytes that were
// evicted first give an *EvictedError that names them; the next Read goes on
// behind them. An ended context gives its error, and loses nothing.
func (f *Follower) Read(ctx context.Context, p []byte) (off int64, n int, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return f.off, 0, err
		}
		closed := f.l.follow.closed.Load() // before End, which then is the last one
		end := f.l.End()
		switch {
		case f.off < end && len(p) > 0:
			off, n, err = f.read(p, end)
			if n > 0 || err != nil {
				return off, n, err
			}
		case f.off >= end && closed:
			return f.off, 0, io.EOF
		case len(p) == 0:
			return f.off, 0, nil
		default:
			select {
			case <-f.wake:
			case <-ctx.Done():
			}
		}
	}
}

// read gives bytes of [f.off, end), or moves on where there are none.
func (f *Follower) read(p []byte, end int64) (off int64, n int, err error) {
	if start := f.l.Start(); f.off < start {
		return f.evicted(start)
	}
	if err := f.open(); err != nil {
		return f.off, 0, err
	}
	if f.off < f.r.base {
		return f.evicted(f.r.base)
	}
	at, err := f.r.dataFrom(f.off, end)
	if err != nil {
		return f.off, 0, err
	}
	if at > f.off { // a gap, or evicted just now: the file knows before Start does
		in, err := f.r.info()
		if err != nil {
			return f.off, 0, err
		}
		if f.off < in.Start {
			return f.evicted(in.Start)
		}
		f.off = at
	}
	if at == end {
		return at, 0, nil
	}
	n, err = f.r.readAt(p[:min(int64(len(p)), end-at)], at)
	if e, ok := errors.AsType[*EvictedError](err); ok {
		return f.evicted(e.Start)
	}
	f.off += int64(n)
	return at, n, err
}

// open looks at the file that the newest bytes are in. The one it leaves has
// every byte that was written before.
func (f *Follower) open() error {
	file := f.l.follow.files.Load()
	if f.r != nil && f.file == file {
		return nil
	}
	r, err := open(f.l.path)
	if err != nil {
		return err
	}
	f.look(r)
	f.file = file
	return nil
}

func (f *Follower) evicted(start int64) (int64, int, error) {
	err := &EvictedError{f.l.path, f.off, start}
	f.off = start
	return start, 0, err
}

func (f *Follower) look(r *reader) {
	if f.r != nil {
		f.r.close()
	}
	f.r = r
}

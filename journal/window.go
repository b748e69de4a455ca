package journal

import "bytes"

// window reads a file line by line without copying what fits its buffer. It
// reads the file as if it ended at limit, so that what a writer adds meanwhile
// does not mix into one reading.
type window struct {
	f      file
	buf    []byte
	lo, hi int   // what is in buf and not yet taken
	off    int64 // where buf[lo] stands in the file
	limit  int64
	max    int // bytes without a newline after which line gives up
}

const windowSize = 256 << 10

func newWindow(f file, off, limit int64) window {
	return window{f: f, off: off, limit: limit, max: MaxLine}
}

// line takes the next line without its newline. whole is false for what is left
// at the end without a newline and for a line that is longer than a line may
// be; such bytes are shown but not taken.
func (w *window) line() (line []byte, whole bool, err error) {
	searched := 0
	for {
		if n := bytes.IndexByte(w.buf[w.lo+searched:w.hi], '\n'); n >= 0 {
			line = w.buf[w.lo : w.lo+searched+n]
			w.skip(len(line) + 1)
			return line, true, nil
		}
		searched = w.hi - w.lo
		if searched >= w.max {
			return w.buf[w.lo:w.hi], false, nil
		}
		more, err := w.fill()
		if err != nil || !more {
			return w.buf[w.lo:w.hi], false, err
		}
	}
}

func (w *window) skip(n int) {
	w.lo += n
	w.off += int64(n)
}

// fill reads more behind what is there, and reports whether there was any.
func (w *window) fill() (bool, error) {
	at := w.off + int64(w.hi-w.lo)
	if at >= w.limit {
		return false, nil
	}
	if w.lo > 0 {
		copy(w.buf, w.buf[w.lo:w.hi])
		w.lo, w.hi = 0, w.hi-w.lo
	}
	if w.hi == len(w.buf) {
		size := max(2*len(w.buf), int(min(windowSize, w.limit-at)))
		w.buf = append(make([]byte, 0, size), w.buf...)[:size]
	}
	n, err := w.f.readAt(w.buf[w.hi:min(len(w.buf), w.hi+int(min(w.limit-at, MaxLine)))], at)
	w.hi += n
	return n > 0, err
}

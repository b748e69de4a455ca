package journal

import (
	"fmt"
	"sync"
	"time"
)

// scratch holds the bodies of the records of one call, made in the caller's
// goroutine before the queue is touched.
type scratch struct {
	buf   []byte
	parts []part
}

type part struct {
	end int // of the body in buf
	at  time.Time
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// keepScratch bounds what a pooled scratch may hold on to, in bytes.
const keepScratch = 1 << 20

func (sc *scratch) free() {
	if cap(sc.buf) <= keepScratch {
		sc.buf, sc.parts = sc.buf[:0], sc.parts[:0]
		scratches.Put(sc)
	}
}

func (sc *scratch) each(do func(body []byte, at time.Time)) {
	from := 0
	for _, p := range sc.parts {
		do(sc.buf[from:p.end], p.at)
		from = p.end
	}
}

// encode checks the records and makes their bodies. If one is refused, none is made.
func encode(recs []Record, now func() time.Time) (*scratch, error) {
	sc := scratches.Get().(*scratch)
	for i := range recs {
		if err := sc.add(&recs[i], now); err != nil {
			sc.free()
			return nil, fmt.Errorf("record %d of %d: %w", i+1, len(recs), err)
		}
	}
	return sc, nil
}

func (sc *scratch) add(r *Record, now func() time.Time) error {
	if err := r.check(); err != nil {
		return err
	}
	at := r.At
	if at.IsZero() {
		at = now()
	}
	from := len(sc.buf)
	sc.buf = appendBody(sc.buf, r, at)
	if n := headMax + len(sc.buf) - from + sealLen + 1; n > MaxLine {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLong, n, MaxLine)
	}
	sc.parts = append(sc.parts, part{len(sc.buf), at})
	return nil
}

package joblog

import (
	"io"
	"unicode/utf8"
)

// runeReader reads a stretch of a log for a regular expression. Bytes that are
// no UTF-8 count as one replacement character each, as in a []byte.
type runeReader struct {
	s       *search
	at, end int64
	err     error // why reading ended early
}

func (r *runeReader) ReadRune() (rune, int, error) {
	if r.at >= r.end {
		return 0, 0, io.EOF
	}
	b, err := r.s.fill(r.at)
	if err == nil && len(b) < utf8.UTFMax && r.at+int64(len(b)) < r.end {
		// A rune may go on in the next buffer: let it begin with this byte.
		r.s.buf = r.s.buf[:0]
		b, err = r.s.fill(r.at)
	}
	if err == nil && len(b) == 0 {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		r.err = err
		return 0, 0, io.EOF
	}
	b = b[:min(int64(len(b)), r.end-r.at)]
	c, n := utf8.DecodeRune(b)
	r.at += int64(n)
	return c, n, nil
}

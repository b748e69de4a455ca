package match

import (
	"bytes"
	"unicode/utf8"
)

// Occurrence is one match. Its slices are good until the function that got it
// returns.
type Occurrence struct {
	From, To int64  // what matched, in bytes of the output
	Text     []byte // the same, as the pattern read it: \r\n reads as \n\n
	Line     []byte // the line that the match begins in, as far as it was there: at most Window bytes, no line end
}

// State is all that a matcher knows beside the text: one that is resumed with
// it goes on as if it had never stopped.
type State struct {
	Start   int64 // the text begins here: ^ matches, and nothing before it counts
	Scanned int64 // everything before was scanned
	Count   int64 // occurrences reported so far
	Last    Span  // the last one, with what it took in since; nothing while Count is 0
	Cut     bool  // the Window cut Last: a match at its end is its continuation
	Stopped bool  // no more was wanted
}

// Span is a range of bytes of the output, From included, To not.
type Span struct{ From, To int64 }

// Matcher looks for the occurrences of one pattern in one output. One goroutine
// uses it.
type Matcher struct {
	p      *Pattern
	report func(Occurrence) bool
	State

	base int64  // offset of buf[0]
	buf  []byte // text from base on, scanned and waiting
	from int    // in a scan: the first offset in buf at which a match may begin
	old  int64  // in a scan: where the one before it ended
}

// back is how many scanned bytes a scan may look at: the Window, and what tells
// the rune before it.
const back = Window + utf8.UTFMax

// most is the capacity of a buffer: what may be looked at, what waits, and a
// string beyond it.
const most = back + Window + maxLiteral

// From gives a matcher for an output whose text begins at the offset start.
// Every occurrence is given to report, once, in order; when it returns false,
// the matcher wants nothing any more.
func (p *Pattern) From(start int64, report func(Occurrence) bool) *Matcher {
	return p.Resume(State{Start: start, Scanned: start}, report)
}

// Resume gives a matcher that goes on from a state. It wants some of the text
// again, from Next on; what is gone of that may be left out.
func (p *Pattern) Resume(s State, report func(Occurrence) bool) *Matcher {
	return &Matcher{p: p, report: report, State: s, base: max(s.Start, s.Scanned-back)}
}

// Next is the offset of the byte that the matcher wants next.
func (m *Matcher) Next() int64 { return m.base + int64(len(m.buf)) }

// Add takes the bytes of the output at an offset. Bytes that it has are passed
// over; where bytes are left out, the text ends and another begins. What was
// added is scanned in strides of 4096 bytes; how it is cut into calls does not
// matter. b is not kept.
func (m *Matcher) Add(off int64, b []byte) {
	if m.Stopped {
		return
	}
	next := m.Next()
	switch {
	case off > next:
		m.Finish()
		m.Start, m.base, m.buf = off, off, m.buf[:0]
		m.Scanned = max(m.Scanned, off)
	case off < next:
		b = b[min(next-off, int64(len(b))):]
	}
	for len(b) > 0 && !m.Stopped {
		if b = m.leap(b); len(b) == 0 {
			return
		}
		n := int(min(int64(len(b)), m.Scanned+Window-m.Next()))
		m.take(b[:n])
		b = b[n:]
		if m.Next() == m.Scanned+Window {
			m.scan(m.stride())
		}
	}
}

// Flush scans what was added, as if the text ended there. What may turn out to
// be something else waits.
func (m *Matcher) Flush() {
	if !m.Stopped {
		m.scan(m.settled())
	}
}

// Finish scans all that was added: nothing follows.
func (m *Matcher) Finish() {
	if !m.Stopped {
		m.scan(m.Next())
	}
}

// take appends bytes and reads \r\n as \n\n.
func (m *Matcher) take(b []byte) {
	m.room(len(b))
	i := max(0, len(m.buf)-1)
	m.buf = append(m.buf, b...)
	for {
		n := bytes.IndexByte(m.buf[i:], '\r')
		if n < 0 || i+n+1 == len(m.buf) {
			return
		}
		if i += n + 1; m.buf[i] == '\n' {
			m.buf[i-1] = '\n'
		}
	}
}

// room makes place for n bytes more: text that no scan will look at again goes.
func (m *Matcher) room(n int) {
	if m.buf == nil {
		m.buf = make([]byte, 0, most)
	}
	if gone := int(m.Scanned - back - m.base); gone > 0 && len(m.buf)+n > cap(m.buf) {
		m.buf = m.buf[:copy(m.buf, m.buf[gone:])]
		m.base += int64(gone)
	}
}

// stride is where a scan ends when the text did not: behind the last newline, so
// that $ does not hold inside a line that fits.
func (m *Matcher) stride() int64 {
	if n := bytes.LastIndexByte(m.buf[m.Scanned-m.base:], '\n'); n >= 0 {
		return m.Scanned + int64(n) + 1
	}
	return m.settled()
}

// settled is the end of the text without a last \r, which may become a line
// end, and without the first bytes of a rune.
func (m *Matcher) settled() int64 { return m.Next() - int64(unsettled(m.buf)) }

func unsettled(b []byte) int {
	if n := len(b); n > 0 && b[n-1] == '\r' {
		return 1
	}
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if utf8.FullRune(b[len(b)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}

// leap passes over the strides at the beginning of b in which no occurrence can
// end, and returns the rest: that is all of b, unless b is long and what every
// match needs is neither in its beginning nor in the text that is still looked at.
func (m *Matcher) leap(b []byte) []byte {
	const least = back + Window + utf8.UTFMax // what it takes to fill the buffer anew
	if m.p.find == nil || len(b) < 2*least {
		return b
	}
	waiting := m.Next() - m.Scanned
	if waiting < 0 || m.Count > 0 && m.Last.From >= m.Scanned-Window {
		return b
	}
	m.room(maxLiteral)
	low := max(0, int(max(m.Scanned-Window, m.Last.To)-m.base))
	if m.p.find(append(m.buf[low:], b[:maxLiteral]...)) >= 0 {
		return b
	}
	clean := m.p.find(b)
	if clean < 0 {
		clean = len(b)
	}
	at := -int(waiting) // where in b the last of these scans ends
	for at+Window <= clean {
		end := at + Window
		n := bytes.LastIndexByte(b[max(at, 0):end], '\n')
		switch {
		case n >= 0:
			at = max(at, 0) + n + 1
		case at < 0:
			return b // where that scan ends may be told by what waits
		default:
			at = end - unsettled(b[:end])
		}
	}
	if at < least {
		return b
	}
	m.Scanned = m.Next() + int64(at)
	m.base, m.buf = m.Scanned-back, m.buf[:0]
	m.take(b[at-back : at])
	return b[at:]
}

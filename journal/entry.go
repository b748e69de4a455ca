package journal

import (
	"bytes"
	"iter"
	"time"
)

// Entry is a line that was read and whose checksum is right. Its slices belong
// to the reader and hold until it moves on; Clone keeps one.
type Entry struct {
	Seq, Batch, Step int64
	Off, End         int64  // where the line begins; the byte just past its newline
	Line             []byte // the whole line without its newline
	Cause            []byte // a JSON object

	at    int32 // where the time stands in the line
	spans []span
	kinds *kindSet
}

// span is where one event stands in the line: kind from k to kEnd, data from d to dEnd.
type span struct{ k, kEnd, d, dEnd int32 }

// Pos is the place just past the entry.
func (e Entry) Pos() Pos { return Pos{Seq: e.Seq, Off: e.End} }

// At is the wall time at which the decision was made: a label, never an order.
func (e Entry) At() time.Time {
	if e.at == 0 {
		return time.Time{} // the entry that comes with an error
	}
	return parseTime(e.Line[e.at:][:len(timeLayout)])
}

// parseTime gives the zero time for what is none. The checksum is right, so the
// writer put it there; a label is not worth a refusal.
func parseTime(b []byte) time.Time {
	// Every start does this for every line, so the fixed digits are read by hand.
	ok := true
	n := func(i, width int) (v int) {
		for _, c := range b[i : i+width] {
			ok = ok && isDigit(c)
			v = v*10 + int(c-'0')
		}
		return v
	}
	t := time.Date(n(0, 4), time.Month(n(5, 2)), n(8, 2), n(11, 2), n(14, 2), n(17, 2), n(20, 6)*1000, time.UTC)
	if !ok {
		return time.Time{}
	}
	return t
}

// Own reports whether the line is the package's own (step 0).
func (e Entry) Own() bool { return e.Step == 0 }

// Events yields kind and data of each event, in order.
func (e Entry) Events() iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for i := range e.Len() {
			if !yield(e.Event(i)) {
				return
			}
		}
	}
}

// Len is the number of events.
func (e *Entry) Len() int { return len(e.spans) }

// Event is kind and data of one event, counted from 0. Unlike Events it makes no
// garbage, which a fold of a million lines would feel.
func (e *Entry) Event(i int) (kind string, data []byte) {
	s := e.spans[i]
	return e.kinds.get(e.Line[s.k:s.kEnd]), e.Line[s.d:s.dEnd]
}

// Clone returns a copy that does not share memory with the reader.
func (e Entry) Clone() Entry {
	c := Entry{Off: e.Off, End: e.End}
	if !c.parse(bytes.Clone(e.Line)) {
		panic("journal: clone of an entry that was not read")
	}
	return c
}

// kindSet keeps the strings of kinds seen lately, so that reading a million lines
// does not make a million of them.
type kindSet [256]string

func (s *kindSet) get(b []byte) string {
	if s == nil {
		return string(b)
	}
	n := len(b)
	h := uint(n)
	for _, c := range [...]byte{b[0], b[n/3], b[n/2], b[n-1]} {
		h = h*37 + uint(c)
	}
	slot := &s[h%uint(len(s))]
	if *slot != string(b) {
		*slot = string(b)
	}
	return *slot
}

// parse fills the entry from a sealed line and reports whether it has the shape
// of one. What is inside cause and data is trusted to the checksum.
func (e *Entry) parse(line []byte) bool {
	seq, batch, body := parseHead(line)
	return body > 0 && e.parseBody(line, seq, batch, body)
}

func (e *Entry) parseBody(line []byte, seq, batch int64, i int) bool {
	if i = eat(line, i, stepKey); i < 0 {
		return false
	}
	step, i := parseInt(line, i)
	if i = eat(line, i, atKey); i < 0 || !validTime(line[i:]) {
		return false
	}
	at := i
	if i = eat(line, i+len(timeLayout), causeKey); i < 0 || i >= len(line) || line[i] != '{' {
		return false
	}
	end := skipValue(line, i)
	if end < 0 || !e.parseEvents(line, eat(line, end, eventsKey)) {
		return false
	}
	e.Seq, e.Batch, e.Step, e.at = seq, batch, step, int32(at)
	e.Line, e.Cause = line, line[i:end]
	return true
}

// parseEvents reads the events from i up to the seal; there is at least one.
func (e *Entry) parseEvents(line []byte, i int) bool {
	e.spans = e.spans[:0]
	to := len(line) - sealLen - 1 // the closing bracket
	for i > 0 && i < to {
		k := eat(line, i, kindKey)
		if k < 0 {
			return false
		}
		n := bytes.IndexByte(line[k:to], '"')
		d := eat(line, k+n, dataKey)
		if n <= 0 || d < 0 {
			return false
		}
		end := skipValue(line[:to], d)
		if end <= d || end >= to || line[end] != '}' {
			return false
		}
		e.spans = append(e.spans, span{int32(k), int32(k + n), int32(d), int32(end)})
		if i = end + 1; i == to {
			return line[to] == ']'
		}
		if i = eat(line, i, ","); i < 0 {
			return false
		}
	}
	return false
}

// validTime reports whether b begins with the marks of a time as timeLayout writes it.
func validTime(b []byte) bool {
	return len(b) >= len(timeLayout) && b[4] == '-' && b[7] == '-' && b[10] == 'T' && b[13] == ':' && b[16] == ':' && b[19] == '.' && b[26] == 'Z'
}

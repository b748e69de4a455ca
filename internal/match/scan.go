package match

import (
	"bytes"
	"unicode/utf8"
)

// scan looks at the text up to end, and reports what it finds new.
func (m *Matcher) scan(end int64) {
	if end <= m.Scanned {
		return
	}
	m.old, m.Scanned = m.Scanned, end
	text := m.buf[:end-m.base]
	m.from = m.floor(text)
	if m.Count > 0 && m.Last.From >= m.base+int64(m.from) {
		m.grow(text)
	}
	low := max(m.from, int(m.Last.To-m.base))
	for low = m.hint(text, low); low < len(text) && !m.Stopped; low = m.hint(text, low) {
		s, t, ok := m.find(text, low)
		if !ok {
			return
		}
		low = s + step(text[s:])
		t, cut, ok := m.bound(text, s, t)
		if ok && m.accept(text, s, t, cut) {
			low = max(low, t)
		}
	}
}

// accept makes a match the last occurrence, and reports it unless it continues
// the one before. A match without a byte counts only before a byte and not at
// the end of an occurrence.
func (m *Matcher) accept(text []byte, s, t int, cut bool) bool {
	from, to := m.base+int64(s), m.base+int64(t)
	follows := m.Count > 0 && from == m.Last.To
	if s == t && (s == len(text) || follows) {
		return false
	}
	continues := follows && m.Cut
	m.Last, m.Cut = Span{from, to}, cut
	if continues {
		return true
	}
	m.Count++
	m.Stopped = !m.report(Occurrence{from, to, text[s:t], m.line(text, s, t)})
	return true
}

// grow looks at the last occurrence again, now that more follows it.
func (m *Matcher) grow(text []byte) {
	s := int(m.Last.From - m.base)
	t, ok := m.at(text, s)
	if !ok {
		return
	}
	if t, cut, ok := m.bound(text, s, t); ok {
		m.Last.To, m.Cut = max(m.Last.To, m.base+int64(t)), cut
	}
}

// floor is the first offset in text at which a match may begin that the scans
// so far have not settled: at most the Window before the new bytes, and as near
// to them as the pattern allows.
func (m *Matcher) floor(text []byte) int {
	old := int(m.old - m.base)
	low := max(0, int(m.Start-m.base), old-min(Window, m.p.longest))
	if m.p.oneLine && low < old {
		low += bytes.LastIndexByte(text[low:old], '\n') + 1
	}
	for low < len(text) && m.inside(text, low) {
		low++
	}
	return low
}

// hint is the first offset from low on at which a match can begin, as far as the
// strings tell that every match contains; the end of text when there is none.
func (m *Matcher) hint(text []byte, low int) int {
	if m.p.find == nil || low >= len(text) {
		return low
	}
	n := m.p.find(text[low:])
	if n < 0 {
		return len(text)
	}
	if n -= m.p.need.before; n > 0 {
		for low += n; m.inside(text, low); {
			low--
		}
	}
	return low
}

// find gives the first match that begins at low or later, whatever its length.
func (m *Matcher) find(text []byte, low int) (from, to int, ok bool) {
	if !m.p.looksBack || m.begins(low) {
		return shift(m.p.re.FindIndex(text[low:]), low)
	}
	// The byte before low can matter. It must not become part of the match.
	from, to, ok = shift(m.p.re.FindIndex(text[low-1:]), low-1)
	if ok && from < low {
		loc := m.p.later.FindSubmatchIndex(text[low-1:])
		if loc == nil {
			return 0, 0, false
		}
		return shift(loc[2:4], low-1)
	}
	return from, to, ok
}

// at gives the end of the match that begins at s, whatever its length.
func (m *Matcher) at(text []byte, s int) (to int, ok bool) {
	if !m.p.looksBack || m.begins(s) {
		_, to, ok = shift(m.p.here.FindIndex(text[s:]), s)
		return to, ok
	}
	_, to, ok = shift(m.p.past.FindIndex(text[s-1:]), s-1)
	return to, ok
}

// bound takes a match [s,t) as it is when the Window has room for it; else it
// looks for another at s in the Window that begins there. cut tells that this one
// fills the Window.
func (m *Matcher) bound(text []byte, s, t int) (to int, cut, ok bool) {
	if t-s <= Window {
		return t, false, true
	}
	end := s + Window
	for m.inside(text, end) {
		end--
	}
	to, ok = m.at(text[:end], s)
	return to, ok && to == end, ok
}

// begins reports whether the text begins at i.
func (m *Matcher) begins(i int) bool { return m.base+int64(i) == m.Start }

// inside reports whether i is in the middle of a rune.
func (m *Matcher) inside(text []byte, i int) bool {
	first := max(0, int(m.Start-m.base))
	for n := 1; n < utf8.UTFMax && i-n >= first && i < len(text); n++ {
		if c := text[i-n]; utf8.RuneStart(c) {
			return c >= utf8.RuneSelf && step(text[i-n:]) > n
		}
	}
	return false
}

func shift(loc []int, by int) (from, to int, ok bool) {
	if loc == nil {
		return 0, 0, false
	}
	return loc[0] + by, loc[1] + by, true
}

// step is the length of the rune, or of the broken byte, that text begins with.
func step(text []byte) int {
	_, n := utf8.DecodeRune(text)
	return max(n, 1)
}

// line is the line that the match [s,t) begins in: from its beginning, or later
// when the match would not fit.
func (m *Matcher) line(text []byte, s, t int) []byte {
	end := len(text)
	if n := bytes.IndexByte(text[s:], '\n'); n >= 0 {
		end = s + n
	}
	from := max(0, int(max(m.Start, m.old-Window)-m.base), min(t, end)-Window)
	from = max(from, bytes.LastIndexByte(text[:s], '\n')+1)
	for m.inside(text, from) {
		from++
	}
	to := min(end, from+Window)
	for m.inside(text, to) {
		to--
	}
	return text[from:max(from, to)]
}

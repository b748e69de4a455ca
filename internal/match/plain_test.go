package match

import (
	"bytes"
	"regexp"
	"unicode/utf8"
)

// plainMatcher is the rule of the package comment and nothing else: it keeps all
// of the output, and tries the expression at every rune of the window.
type plainMatcher struct {
	first, next *regexp.Regexp // at the beginning of the text, and after its first byte
	start       int            // where the text begins in all
	all         []byte         // the output from offset 0 on, as it came
	scanned     int
	count       int
	last        Span
	cut         bool
	found       []found
}

// found is an occurrence that can be compared.
type found struct {
	From, To   int64
	Text, Line string
}

func newPlain(pattern string, start int) *plainMatcher {
	return &plainMatcher{
		first: regexp.MustCompile(`\A(?m:` + pattern + `)`),
		next:  regexp.MustCompile(`\A(?s:.)(?m:` + pattern + `)`),
		start: start, all: make([]byte, start), scanned: start,
	}
}

func (m *plainMatcher) add(b []byte) {
	m.all = append(m.all, b...)
	for end := m.scanned + Window; len(m.all) >= end; end = m.scanned + Window {
		if n := bytes.LastIndexByte(m.all[m.scanned:end], '\n'); n >= 0 {
			m.scan(m.scanned + n + 1)
		} else {
			m.scan(m.hold(end))
		}
	}
}

func (m *plainMatcher) flush()  { m.add(nil); m.scan(m.hold(len(m.all))) }
func (m *plainMatcher) finish() { m.add(nil); m.scan(len(m.all)) }

// hold steps back before a last \r, or a rune that has begun.
func (m *plainMatcher) hold(end int) int {
	text := m.all[m.start:end]
	if bytes.HasSuffix(text, []byte("\r")) {
		return end - 1
	}
	for n := 1; n <= 3 && n <= len(text); n++ {
		if tail := text[len(text)-n:]; !utf8.FullRune(tail) && tail[0] >= 0xC0 {
			return end - n
		}
	}
	return end
}

func (m *plainMatcher) scan(end int) {
	if end <= m.scanned {
		return
	}
	text := bytes.ReplaceAll(m.all, []byte("\r\n"), []byte("\n\n"))[:end]
	low := max(m.start, m.scanned-Window)
	m.scanned = end
	if m.count > 0 && int(m.last.From) >= low {
		if to, cut, ok := m.at(text, int(m.last.From)); ok {
			m.last.To, m.cut = max(m.last.To, int64(to)), cut
		}
	}
	for s := m.start; s < end; {
		after := s + step(text[s:])
		if s < low || m.count > 0 && s < int(m.last.To) {
			s = after
			continue
		}
		to, cut, ok := m.at(text, s)
		follows := m.count > 0 && int64(s) == m.last.To
		switch {
		case !ok || to == s && follows:
		case follows && m.cut:
			m.last, m.cut = Span{int64(s), int64(to)}, cut
		default:
			m.count++
			m.last, m.cut = Span{int64(s), int64(to)}, cut
			m.found = append(m.found, found{int64(s), int64(to), string(text[s:to]), m.line(text, s, to, low)})
		}
		s = after
	}
}

// at is the match at s, at most the window long.
func (m *plainMatcher) at(text []byte, s int) (to int, cut, ok bool) {
	re, from := m.next, s-1
	if s == m.start {
		re, from = m.first, s
	}
	loc := re.FindIndex(text[from:])
	if loc == nil {
		return 0, false, false
	}
	if to = from + loc[1]; to-s <= Window {
		return to, false, true
	}
	end := m.start
	for end+step(text[end:]) <= s+Window {
		end += step(text[end:])
	}
	if loc = re.FindIndex(text[from:end]); loc == nil {
		return 0, false, false
	}
	return from + loc[1], from+loc[1] == end, true
}

func (m *plainMatcher) line(text []byte, s, to, low int) string {
	end := len(text)
	if n := bytes.IndexByte(text[s:], '\n'); n >= 0 {
		end = s + n
	}
	from := max(m.start, bytes.LastIndexByte(text[:s], '\n')+1, low, min(to, end)-Window)
	var line []byte
	for at := m.start; at < end; {
		n := step(text[at:])
		if at >= from && at+n <= end && len(line)+n <= Window {
			line = append(line, text[at:at+n]...)
		} else if len(line) > 0 {
			break
		}
		at += n
	}
	return string(line)
}

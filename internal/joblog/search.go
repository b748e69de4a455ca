package joblog

import (
	"bytes"
	"regexp"
	"slices"
)

// SearchOptions bound a search. Zero values mean the defaults.
type SearchOptions struct {
	Context    int  // lines shown before and after a match; at most 100
	MaxMatches int  // default 50
	MaxBytes   int  // text shown in all; default 16 KiB
	MaxLine    int  // text shown of one line; default 1 KiB
	Final      bool // the job has ended: a last line without a newline is complete
}

const maxContext = 100

func (o SearchOptions) withDefaults() SearchOptions {
	set := func(v *int, def int) {
		if *v <= 0 {
			*v = def
		}
	}
	set(&o.MaxMatches, 50)
	set(&o.MaxBytes, 16<<10)
	set(&o.MaxLine, 1<<10)
	o.Context = max(0, min(o.Context, maxContext))
	return o
}

// Line is one line of a result, without its line end.
type Line struct {
	Offset int64  // lifetime offset of the line's first byte
	End    int64  // of the first byte after it, its newline included
	TextAt int64  // of the first byte of Text
	Text   []byte // the line, or an excerpt of a long one: around the match, else its beginning
	Cut    bool   // Text is not the whole line
	Match  bool
	From   int64 // of the first match in the line, when Match
	To     int64
}

// Found is the result of a search: matching lines with their context, each line
// once, in order.
type Found struct {
	Info
	Lines   []Line
	Matches int
	Next    int64 // where a search goes on: the first line not looked at
	More    bool  // a bound ended this search before the end of the log
}

// Search looks for the lines that re matches among the retained complete lines
// from a lifetime offset on. An offset inside a line begins with the next line;
// one that was evicted begins with the first retained line that is complete.
// Line by line, so ^ and $ are the ends of a line; \r\n ends a line too.
// Memory is bounded whatever the length of the lines.
func Search(path string, re *regexp.Regexp, from int64, o SearchOptions) (Found, error) {
	r, err := open(path)
	if err != nil {
		return Found{}, err
	}
	defer r.close()
	in, err := r.info()
	if err != nil {
		return Found{}, err
	}
	if from > in.End {
		return Found{}, &PastEndError{path, from, in.End}
	}
	s := &search{r: r, re: re, o: o.withDefaults(), found: Found{Info: in}}
	if err := s.begin(max(from, 0)); err != nil {
		return Found{}, err
	}
	for {
		more, err := s.line()
		if isEvicted(err) {
			more, err = s.overtaken()
		}
		if err != nil {
			return Found{}, err
		}
		if !more {
			return s.found, nil
		}
	}
}

// overtaken goes on with what is kept now, after the job wrote more than the cap
// meanwhile. The end stays where it was: a search does not chase its job.
func (s *search) overtaken() (more bool, err error) {
	now, err := s.r.info()
	if err != nil {
		return false, err
	}
	s.found.Start = now.Start
	s.before, s.after = nil, 0
	return true, s.begin(now.Start)
}

// span is a line: its text [from, to), and where the next one begins.
type span struct{ from, to, next int64 }

type search struct {
	r     *reader
	re    *regexp.Regexp
	o     SearchOptions
	found Found

	at     int64 // the next line begins here
	buf    []byte
	bufAt  int64
	before []span // lines looked at and not shown, newest last
	after  int    // context lines still owed to the last match
	shown  int
}

const searchBuf = 128 << 10

// begin finds the first line that begins at or after from.
func (s *search) begin(from int64) error {
	s.at = max(from, s.found.Start)
	s.found.Next = s.at
	if s.at == 0 || s.at >= s.found.End {
		return nil
	}
	if s.at > s.found.Start {
		prev := make([]byte, 1)
		if _, err := s.r.readAt(prev, s.at-1); err != nil && !isEvicted(err) {
			return err
		}
		if prev[0] == '\n' {
			return nil
		}
	}
	_, next, err := s.lineEnd(s.at)
	if err != nil {
		return err
	}
	s.at = next
	s.found.Next = next
	return nil
}

// line looks at one line; more is false when the search is over.
func (s *search) line() (more bool, err error) {
	if s.at >= s.found.End {
		s.found.Next = s.at
		return false, nil
	}
	if s.full() && s.after == 0 {
		s.found.More = true
		return false, nil
	}
	end, next, err := s.lineEnd(s.at)
	if err != nil {
		return false, err
	}
	if next == s.at || end == next && !s.o.Final { // the end, or a line the job is still at
		s.found.Next = s.at
		return false, nil
	}
	l := span{s.at, end, next}
	m, err := s.match(l)
	if err != nil {
		return false, err
	}
	if m != nil && (s.full() || s.found.Matches > 0 && s.cost(l) > s.room()) {
		s.found.More = true
		return false, nil
	}
	if !s.full() {
		s.found.Next = next
	}
	s.at = next
	return true, s.place(l, m)
}

func (s *search) full() bool { return s.found.Matches >= s.o.MaxMatches }

func (s *search) room() int { return s.o.MaxBytes - s.shown }

func (s *search) cost(l span) int { return int(min(l.to-l.from, int64(s.o.MaxLine))) + 1 }

// place shows a line, or remembers it as what may come before a match.
func (s *search) place(l span, m []int64) error {
	if m == nil {
		if s.after > 0 && s.cost(l) <= s.room() {
			s.after--
			return s.show(l, nil)
		}
		s.after = 0
		s.before = append(s.before, l)
		if extra := len(s.before) - s.o.Context; extra > 0 {
			s.before = append(s.before[:0], s.before[extra:]...)
		}
		return nil
	}
	need := s.cost(l)
	for i, b := range slices.Backward(s.before) {
		if need += s.cost(b); need > s.room() {
			s.before = s.before[i+1:]
			break
		}
	}
	for _, b := range s.before {
		if err := s.show(b, nil); err != nil {
			return err
		}
	}
	s.before = s.before[:0]
	s.found.Matches++
	s.after = s.o.Context
	return s.show(l, m)
}

// show adds a line to the result, with where it matched. A long line is cut to a
// part that holds the beginning of its match.
func (s *search) show(at span, m []int64) error {
	l := Line{Offset: at.from, End: at.next, TextAt: at.from, Match: m != nil}
	most := int64(s.o.MaxLine)
	if l.Match {
		l.From, l.To = m[0], m[1]
		if l.To > l.Offset+most {
			l.TextAt = max(l.Offset, min(l.From-most/4, at.to-most))
		}
	}
	l.Text = make([]byte, min(at.to-l.TextAt, most))
	if _, err := s.r.readAt(l.Text, l.TextAt); err != nil {
		return err
	}
	l.Cut = l.TextAt > l.Offset || l.TextAt+int64(len(l.Text)) < at.to
	if !l.Cut {
		l.Text = bytes.TrimSuffix(l.Text, []byte("\r"))
	}
	s.found.Lines = append(s.found.Lines, l)
	s.shown += len(l.Text) + 1
	return nil
}

// fill makes the buffer hold what follows off. It is empty at the end, and where
// the log has a hole.
func (s *search) fill(off int64) ([]byte, error) {
	if off >= s.bufAt && off < s.bufAt+int64(len(s.buf)) {
		return s.buf[off-s.bufAt:], nil
	}
	end, err := s.r.dataEnd(off, s.found.End)
	if err != nil {
		return nil, err
	}
	if cap(s.buf) < searchBuf {
		s.buf = make([]byte, searchBuf)
	}
	s.buf, s.bufAt = s.buf[:max(0, min(searchBuf, end-off))], off
	got, err := s.r.readAt(s.buf, off)
	s.buf = s.buf[:got]
	return s.buf, err
}

// lineEnd finds the end of the line that goes through off, and where the next
// line begins: the same place when the log ends first. A hole ends a line too.
func (s *search) lineEnd(off int64) (end, next int64, err error) {
	for {
		b, err := s.fill(off)
		if err != nil {
			return 0, 0, err
		}
		if len(b) == 0 {
			next, err := s.r.dataFrom(off, s.found.End)
			return off, next, err
		}
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			return off + int64(i), off + int64(i) + 1, nil
		}
		off += int64(len(b))
	}
}

// match looks for re in one line. A line within the buffer is matched as it is; a
// longer one is read through the expression rune by rune, which needs no memory.
func (s *search) match(l span) ([]int64, error) {
	if l.to-l.from <= searchBuf {
		if l.from < s.bufAt || l.to > s.bufAt+int64(len(s.buf)) {
			s.buf = s.buf[:0]
		}
		b, err := s.fill(l.from)
		if err != nil {
			return nil, err
		}
		b = bytes.TrimSuffix(b[:min(int64(len(b)), l.to-l.from)], []byte("\r"))
		return at(l.from, s.re.FindIndex(b)), nil
	}
	runes := &runeReader{s: s, at: l.from, end: l.to}
	if b, err := s.tailByte(l); err != nil {
		return nil, err
	} else if b == '\r' {
		runes.end--
	}
	m := s.re.FindReaderIndex(runes)
	return at(l.from, m), runes.err
}

func (s *search) tailByte(l span) (byte, error) {
	var b [1]byte
	_, err := s.r.readAt(b[:], l.to-1)
	return b[0], err
}

func at(base int64, m []int) []int64 {
	if m == nil {
		return nil
	}
	return []int64{base + int64(m[0]), base + int64(m[1])}
}

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
)

// tty is the terminal of a started command.
type tty struct {
	*screen
	master *os.File
}

// check fails the script if the terminal saw what it may not see.
func (t *tty) check(ts *testscript.TestScript) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.faults) > 0 {
		ts.Fatalf("%s", strings.Join(t.faults, "\n"))
	}
	if t.x > 0 || t.y != len(t.rows)-1 || len(t.rows[t.y]) > 0 {
		ts.Fatalf("the last line is not left empty: %q", t.rows[t.y])
	}
}

// screen is a small terminal: it takes what a program writes to one, keeps all
// that scrolled away, and notes what may not happen there. It measures text by
// a rule of its own.
type screen struct {
	mu     sync.Mutex
	width  int
	raw    []byte
	rest   []byte // of a character or a sequence that has not come whole
	rows   [][]string
	y, x   int
	faults []string
}

func newScreen(width int) *screen { return &screen{width: width, rows: [][]string{nil}} }

// Write takes output of the program.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw = append(s.raw, p...)
	b := append(s.rest, p...)
	for len(b) > 0 {
		n := s.take(b)
		if n == 0 {
			break
		}
		b = b[n:]
	}
	s.rest = slices.Clone(b)
	return len(p), nil
}

// take obeys one character or sequence and gives its length; 0: it is not whole.
func (s *screen) take(b []byte) int {
	if b[0] == 0x1b {
		return s.sequence(b)
	}
	if !utf8.FullRune(b) {
		return 0
	}
	r, n := utf8.DecodeRune(b)
	switch {
	case r == '\r':
		s.x = 0
	case r == '\n':
		s.y++
		if s.y == len(s.rows) {
			s.rows = append(s.rows, nil)
		}
	case r < 0x20 || r >= 0x7f && r < 0xa0 || r == utf8.RuneError && n == 1:
		s.fault("the control character %q reached the terminal", b[:n])
	default:
		s.put(r)
	}
	return n
}

func (s *screen) sequence(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	if b[1] != '[' {
		s.fault("the sequence %q reached the terminal", b[:2])
		return 2
	}
	end := slices.IndexFunc(b[2:], func(c byte) bool { return c >= 0x40 && c <= 0x7e })
	if end < 0 {
		return 0
	}
	end += 3
	switch seq := string(b[2:end]); {
	case seq == "J" || seq == "0J":
		s.rows = s.rows[:s.y+1]
		s.rows[s.y] = s.rows[s.y][:min(s.x, len(s.rows[s.y]))]
	case strings.HasSuffix(seq, "m"):
	default:
		s.fault("the sequence %q reached the terminal", b[:end])
	}
	return end
}

func (s *screen) put(r rune) {
	w := 1
	switch {
	case r >= 0x300 && r <= 0x36f, r == 0x200d:
		w = 0
	case r >= 0x1100 && r <= 0x115f, r >= 0x3000 && r <= 0x9fff, r >= 0xac00 && r <= 0xd7a3, r >= 0x1f300 && r <= 0x1faff:
		w = 2
	}
	if s.x+w > s.width {
		s.fault("a line is wider than %d columns: %s", s.width, strings.Join(s.rows[s.y], "")+string(r))
		s.take([]byte("\r"))
		s.take([]byte("\n"))
	}
	row := s.rows[s.y]
	if w == 0 {
		if s.x > 0 {
			row[s.x-1] += string(r)
		}
		return
	}
	for len(row) < s.x+w {
		row = append(row, " ")
	}
	row[s.x] = string(r)
	if w == 2 {
		row[s.x+1] = ""
	}
	s.rows[s.y] = row
	s.x += w
}

func (s *screen) fault(format string, args ...any) {
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

// text is all that was shown and not erased.
func (s *screen) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for i, row := range s.rows {
		if i < len(s.rows)-1 || len(row) > 0 {
			b.WriteString(strings.TrimRight(strings.Join(row, ""), " ") + "\n")
		}
	}
	return b.String()
}

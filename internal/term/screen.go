// Package term draws on a terminal: rows that scroll up, and below them one
// status line that changes.
//
// Rules:
//
//   - One goroutine writes. Whoever prints does not wait for the terminal, which
//     may be held up by its user.
//   - No line is longer than the terminal is wide at that moment, by the larger
//     of two measures where terminals differ.
//   - Text from outside is made printable here, whoever it came from.
//   - The cursor is never hidden. It rests before the status line, so that what
//     the terminal itself shows of a key stands there and is erased with it.
//   - The status line is gone before anything else is written, and at the end.
package term

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// Tick is how often the status line is drawn while it shows something.
const Tick = 150 * time.Millisecond

// erase clears from the cursor on, also below: where the terminal became
// narrower, it may have broken the status line in two.
const erase = "\x1b[J"

// Options are what a Screen works with.
type Options struct {
	Out   io.Writer
	Width func() int // columns, asked before each write
	Color bool
	// Status gives the status line, of at most width columns; empty is none. It
	// is called on the screen's goroutine. nil: the terminal can show none.
	Status func(now time.Time, width int) string
	// Hidden: the status line is not to be shown now. Nothing tells when that
	// ends, so it is asked each time. May be nil.
	Hidden func() bool
	// Suspend asks for a pause, in which the status line is gone: Pause returns
	// when it is over. May be nil.
	Suspend <-chan os.Signal
	Pause   func()
}

// Screen is a terminal in use. Close must follow.
type Screen struct {
	o    Options
	wake chan struct{}
	quit chan struct{}
	done chan struct{}
	once sync.Once

	mu   sync.Mutex // guards rows
	rows []Row

	drawn string // owned by the goroutine: the status line as it stands
}

// Open begins to write.
func Open(o Options) *Screen {
	s := &Screen{o: o, wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
	go s.run()
	return s
}

// Print queues rows and has the status line drawn anew. After Close it does nothing.
func (s *Screen) Print(rows ...Row) {
	s.mu.Lock()
	s.rows = append(s.rows, rows...)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Close writes what is queued, erases the status line and ends the goroutine.
func (s *Screen) Close() {
	s.leave()
	<-s.done
}

// Leave is Close for a process that ends at once: it waits for the terminal no
// longer than limit.
func (s *Screen) Leave(limit time.Duration) {
	s.leave()
	t := time.NewTimer(limit)
	defer t.Stop()
	select {
	case <-s.done:
	case <-t.C:
	}
}

func (s *Screen) leave() { s.once.Do(func() { close(s.quit) }) }

func (s *Screen) run() {
	defer close(s.done)
	tick := time.NewTimer(Tick)
	defer tick.Stop()
	for {
		select {
		case <-s.quit:
			s.write(false)
			return
		case <-s.o.Suspend:
			s.write(false)
			s.o.Pause()
		case <-s.wake:
		case <-tick.C:
		}
		if s.write(true) {
			tick.Reset(Tick)
		} // else nothing moves until something is printed
	}
}

// write prints the queued rows and the status line in one go, and reports
// whether there is a status line that may change.
func (s *Screen) write(status bool) bool {
	s.mu.Lock()
	rows := s.rows
	s.rows = nil
	s.mu.Unlock()
	width := max(1, s.o.Width()-1) // a line that fills the last column may wrap
	var b strings.Builder
	for _, r := range rows {
		for _, line := range r.Render(width, s.o.Color) {
			b.WriteString(line)
			b.WriteByte('\n')
		}
	}
	line := ""
	if status && s.o.Status != nil {
		line = s.o.Status(time.Now(), width)
	}
	lives := line != ""
	if lives && s.o.Hidden != nil && s.o.Hidden() {
		line = ""
	}
	if b.Len() == 0 && line == s.drawn {
		return lives
	}
	out := ""
	if s.drawn != "" {
		out = "\r" // a key that was echoed moved the cursor
		if line == "" || b.Len() > 0 {
			out += erase
		}
	}
	out += b.String()
	if line != "" { // written over the one before it, which flickers less than erasing it first
		out += line + erase + "\r"
	}
	s.drawn = line
	// A terminal that is gone takes nothing; the run does not depend on it.
	_, _ = io.WriteString(s.o.Out, out)
	return lives
}

package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"syscall"
)

// Report says what a reading found.
type Report struct {
	Header   Header        // what line 1 says, if it was read
	Last     Pos           // the last good line
	Lines    int64         // good lines that were read
	Closed   bool          // the file ends with journal.closed
	Closings []Closing     // the closing lines, in order; not those that a salvaged copy brought along
	Torn     *Torn         // bytes behind the last good line, of a torn write or of one going on; Saved and SHA256 are empty
	Damage   *CorruptError // why the reading stopped early
}

// Closing is a closing line: the hash covers each byte of the file before it.
type Closing struct {
	Seq, Off int64  // Off is where the line begins
	SHA256   string // in hex
}

// Verify reads a journal and checks numbers, checksums and closing hashes. It
// writes nothing and takes no lock. The error is a failure to read; damage is in
// the report.
func Verify(path string) (Report, error) { return scanFile(path, Pos{}, nil, true) }

// Scan reads a journal once, as Read does, and reports as Verify does, without
// checking the closing hashes. An error of visit ends it.
func Scan(path string, from Pos, visit func(Entry) error) (Report, error) {
	return scanFile(path, from, visit, false)
}

// Read yields the good lines behind from, up to the end that the file has now.
// A torn tail ends it without an error, since it may be a write that is going
// on; damage is a CorruptError. A from with a Seq but no Off is looked for from
// the start; ErrTruncated if from.Off is not where a line ends.
func Read(path string, from Pos) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		r, err := scanFile(path, from, func(e Entry) error {
			if !yield(e, nil) {
				return errStopped
			}
			return nil
		}, false)
		switch {
		case errors.Is(err, errStopped):
		case err != nil:
			yield(Entry{}, err)
		case r.Damage != nil:
			yield(Entry{}, r.Damage)
		}
	}
}

func scanFile(path string, from Pos, visit func(Entry) error, hashes bool) (r Report, err error) {
	f, err := osFS{}.open(path, syscall.O_RDONLY, 0)
	if err != nil {
		return r, fmt.Errorf("read journal: %w", err)
	}
	defer func() { err = errors.Join(err, closeFile(f, path)) }()
	s, err := openScanner(f, path, from)
	if err != nil {
		return r, err
	}
	if hashes {
		s.sums = newChain(Closing{})
	}
	for {
		e, err := s.nextLive()
		r.Header, r.Last, r.Closings = s.head, s.end, s.closings
		if damage, ok := errors.AsType[*CorruptError](err); ok {
			r.Damage = damage
			return r, nil
		}
		if err != nil {
			return r, err
		}
		if e == nil {
			break
		}
		r.Lines++
		if visit != nil && e.Seq > from.Seq {
			if err := visit(*e); err != nil {
				return r, err
			}
		}
	}
	r.Closed = s.bad == nil && s.closed.Seq > 0 && s.closed.Seq == s.end.Seq
	if n := s.win.limit - s.end.Off; n > 0 {
		r.Torn = &Torn{Offset: s.end.Off, Bytes: n, Seq: s.end.Seq + 1}
	}
	return r, nil
}

// openScanner begins to read behind from.
func openScanner(f file, path string, from Pos) (*scanner, error) {
	if from.Off == 0 {
		from.Seq = 0
	}
	s := newScanner(f, path, from, 0)
	if err := s.refresh(); err != nil {
		return nil, err
	}
	if from.Off > 0 {
		var b [1]byte
		if n, err := f.readAt(b[:], from.Off-1); err != nil {
			return nil, pathError("read", path, err)
		} else if n == 0 || b[0] != '\n' {
			return nil, fmt.Errorf("read journal %s from offset %d: %w", path, from.Off, ErrTruncated)
		}
	}
	return s, nil
}

// refresh lets the scanner go on behind its last good line, up to the end that the file has now.
func (s *scanner) refresh() error {
	info, err := s.win.f.stat()
	if err != nil {
		return pathError("stat", s.path, err)
	}
	if info.size < s.end.Off {
		return fmt.Errorf("read journal %s at offset %d: %w", s.path, s.end.Off, ErrTruncated)
	}
	s.extend(info.size)
	return nil
}

func (s *scanner) extend(limit int64) {
	if s.bad != nil || s.win.off != s.end.Off {
		s.win.lo, s.win.hi, s.win.off = 0, 0, s.end.Off // read again what did not pass
	}
	s.bad, s.sure, s.raw, s.win.limit = nil, false, nil, limit
}

// nextLive is next without a lock on the file: nil at the end or at a torn tail,
// a CorruptError at damage. A writer may repair the tail while we look at it, so
// damage must look the same twice.
func (s *scanner) nextLive() (*Entry, error) {
	var seen *CorruptError
	for {
		e, err := s.next()
		if e != nil || err != nil {
			return e, err
		}
		err = s.judge()
		damage, ok := errors.AsType[*CorruptError](err)
		if !ok || seen != nil && damage.Offset == seen.Offset && bytes.Equal(damage.Raw, seen.Raw) {
			return nil, err
		}
		seen = damage
		if err := s.refresh(); err != nil {
			return nil, err
		}
	}
}

// checkClosing compares a closing hash with what was read.
func (s *scanner) checkClosing(d closedData) error {
	if s.sums == nil || s.sums.sum() == d.SHA256 {
		return nil
	}
	return errors.New("the closing hash does not fit what stands before it")
}

// closingOf is the closing data of a line, if it is one that is about this file.
// Those that a salvaged copy brought along are about the bytes of another.
func (s *scanner) closingOf(e *Entry) (d closedData, ok bool) {
	if s.head.Salvaged != nil && e.Seq <= s.head.Salvaged.Through {
		return d, false
	}
	for kind, data := range e.Events() {
		if kind == kindClosed && json.Unmarshal(data, &d) == nil {
			return d, true
		}
	}
	return d, false
}

package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// format is the number of the line format that this package writes and reads.
const format = 1

// Header is what line 1 says.
type Header struct {
	Format   int64           `json:"format"`
	FileID   string          `json:"file_id"`         // 128 random bits in hex
	Owner    json.RawMessage `json:"owner,omitempty"` // what the file belongs to, as Create was told
	BootID   string          `json:"boot_id"`
	Salvaged *SalvagedFrom   `json:"salvaged,omitempty"` // in a copy that Salvage made
}

// SalvagedFrom says what a salvaged copy was made from.
type SalvagedFrom struct {
	FileID  string `json:"file_id,omitempty"` // of the source, if its line 1 was readable
	Through int64  `json:"through"`           // the last seq of the source that was found
	Lost    int64  `json:"lost"`              // how many lines up to there were not; they stand as journal.lost
	Edited  bool   `json:"edited,omitempty"`  // lines were changed on purpose: see SalvageEdited
}

// scanner reads the valid prefix of a file, line by line.
type scanner struct {
	win  window
	path string

	head     Header
	end      Pos     // past the last good line
	batch    int64   // its write; 0 if unknown
	batchOff int64   // where that write begins
	closed   Closing // the last one
	closings []Closing
	sums     *chain // checks the closing hashes; nil if not asked for
	at       [len(timeLayout)]byte
	seal     [sealLen + 1]byte // how the last good line ends

	entry Entry
	bad   error // why the reading stopped before the end; nil at the end
	sure  bool  // no tear can have done this
	raw   []byte
}

func newScanner(f file, path string, from Pos, limit int64) *scanner {
	s := &scanner{win: newWindow(f, from.Off, limit), path: path, end: from, batchOff: from.Off}
	s.entry.kinds = new(kindSet)
	return s
}

// next returns the next good line, or nil where the valid prefix ends.
func (s *scanner) next() (*Entry, error) {
	line, whole, err := s.win.line()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read journal %s at offset %d: %w", s.path, s.end.Off, err)
	case !whole && len(line) == 0:
		if s.end.Off == 0 {
			s.stop(line, true, errors.New("the file is empty"))
		}
		return nil, nil
	case !whole && len(line) >= MaxLine:
		s.stop(line, false, fmt.Errorf("no end of line within %d bytes", MaxLine))
		return nil, nil
	case !whole:
		s.stop(line, false, errors.New("the line has no end"))
		return nil, nil
	}
	e := &s.entry
	e.Off, e.End = s.end.Off, s.end.Off+int64(len(line))+1
	if err := s.check(e, line); err != nil {
		if errors.Is(err, ErrFormat) {
			return nil, err
		}
		return nil, nil
	}
	s.advance(e)
	return e, nil
}

func (s *scanner) stop(line []byte, sure bool, why error) {
	// Line 1 was durable before the file had its name: it is never torn.
	s.bad, s.sure = why, sure || s.end.Seq == 0
	s.raw = bytes.Clone(line[:min(len(line), RawLimit)])
}

// check reports why a whole line is not the next one.
func (s *scanner) check(e *Entry, line []byte) error {
	want := s.end.Seq + 1
	sure, why := false, error(nil)
	seq, batch, body := parseHead(line)
	switch {
	case body < 0:
		why = errors.New("the line does not begin as a line of a journal")
	case !sealed(line):
		why = errors.New("the checksum is wrong")
	case seq != want:
		why = fmt.Errorf("the line has seq %d where %d should follow", seq, want)
	case s.batch != 0 && batch != s.batch && batch != seq:
		// From here on number and checksum are right, which no tear can bring about.
		sure, why = true, fmt.Errorf("the line belongs to write %d, which cannot follow write %d", batch, s.batch)
	case !e.parseBody(line, seq, batch, body):
		sure, why = true, errors.New("the checksum is right but the line has not the shape of one")
	case want == 1:
		why = s.readHeader(e)
	case e.Own():
		sure = true // a closing hash that does not fit is no tear
		why = s.noteClosing(e)
	}
	if s.sums != nil && why == nil {
		s.sums.add(line[:len(line)+1], e.Off)
	}
	if why != nil {
		s.stop(line, sure, why)
	}
	return why
}

// noteClosing remembers a closing line.
func (s *scanner) noteClosing(e *Entry) error {
	d, ok := s.closingOf(e)
	if !ok {
		return nil
	}
	if err := s.checkClosing(d); err != nil {
		return err
	}
	s.closed = Closing{e.Seq, e.Off, d.SHA256}
	s.closings = append(s.closings, s.closed)
	return nil
}

func (s *scanner) readHeader(e *Entry) error {
	for kind, data := range e.Events() {
		if kind != kindCreated {
			break
		}
		if err := json.Unmarshal(data, &s.head); err != nil {
			return fmt.Errorf("line 1 is not a header: %w", err)
		}
		if s.head.Format != format {
			return fmt.Errorf("%s: %w %d", s.path, ErrFormat, s.head.Format)
		}
		return nil
	}
	return errors.New("line 1 is not a header")
}

// lastAt is the time of the last good line.
func (s *scanner) lastAt() time.Time { return parseTime(s.at[:]) }

func (s *scanner) advance(e *Entry) {
	if e.Batch != s.batch {
		s.batch, s.batchOff = e.Batch, e.Off
	}
	s.end = e.Pos()
	copy(s.at[:], e.Line[e.at:])
	copy(s.seal[:], e.Line[len(e.Line)-sealLen:len(e.Line)+1])
}

// corrupt makes the error for the line where the reading stopped.
func (s *scanner) corrupt(later int64) *CorruptError {
	return &CorruptError{Path: s.path, Offset: s.end.Off, Line: s.end.Seq + 1, Seq: s.end.Seq + 1,
		LaterSeq: later, Raw: s.raw, Err: s.bad}
}

// provesLoss is the rule that tells damage from a torn tail: a line of a write
// that began after the missing seq had been synced. Tests replace it, to show
// that they would notice.
var provesLoss = func(batch, missing int64) bool { return batch > missing }

// judge decides what it means that the reading stopped before the end: nil for
// a torn tail, a CorruptError for damage.
func (s *scanner) judge() error {
	if s.bad == nil {
		return nil
	}
	if s.sure {
		return s.corrupt(0)
	}
	later, err := findLater(s.win.f, s.end, s.win.limit)
	if err != nil {
		return fmt.Errorf("read journal %s behind offset %d: %w", s.path, s.end.Off, err)
	}
	if later > 0 {
		return s.corrupt(later)
	}
	return nil
}

// findLater looks behind the valid prefix for a whole line that proves damage,
// and returns its seq: a line of a later write, or the missing line itself, since
// a tear leaves out bytes and puts none before a line. Lines are found by how they
// begin, not by where the one before ends: a hole swallows newlines.
func findLater(f file, end Pos, limit int64) (int64, error) {
	w := newWindow(f, end.Off, limit)
	w.max = 2 * MaxLine
	for {
		line, whole, err := w.line()
		if err != nil {
			return 0, err
		}
		if whole {
			if seq := laterIn(line, end.Seq+1); seq > 0 {
				return seq, nil
			}
			continue
		}
		if len(line) < w.max {
			return 0, nil
		}
		w.skip(len(line) - MaxLine) // a line may still end at the next newline: keep what it could fill
	}
}

func laterIn(seg []byte, missing int64) int64 {
	for {
		i := bytes.Index(seg, []byte(lineStart))
		if i < 0 {
			return 0
		}
		seg = seg[i:]
		if seq, batch, body := parseHead(seg); body > 0 && (provesLoss(batch, missing) || seq == missing) && sealed(seg) {
			return seq
		}
		seg = seg[len(lineStart):]
	}
}

// visitLines shows lines that were just written.
func visitLines(buf []byte, off int64, visit func(Entry) error) error {
	for line := range bytes.Lines(buf) {
		e := Entry{Off: off, End: off + int64(len(line))}
		if !e.parse(line[:len(line)-1]) {
			return errors.New("a line that was written does not read back")
		}
		if err := visit(e); err != nil {
			return fmt.Errorf("at seq %d: %w", e.Seq, err)
		}
		off = e.End
	}
	return nil
}

package journal

import (
	"errors"
	"fmt"
)

var (
	// ErrFull says that the disk was full and nothing of the append was written.
	// The handle lives on and the same append may be tried again later.
	ErrFull = errors.New("disk is full, nothing was written")
	// ErrPoisoned says that a write or a sync failed in a way that cannot be
	// undone. What was waiting is unknown, neither written nor unwritten; the
	// handle acknowledges nothing more. Only a new Open can tell and go on.
	ErrPoisoned = errors.New("journal failed and takes no more records")
	// ErrLocked says that another handle, of this process or another, writes the file.
	ErrLocked = errors.New("journal is locked by another writer")
	// ErrClosed answers appends to a closed handle.
	ErrClosed = errors.New("journal is closed")
	// ErrTruncated tells a reader that the file was cut or replaced behind it. It
	// reads again from the last seq that it knows to be durable.
	ErrTruncated = errors.New("journal was cut or replaced behind the reader")
	// ErrFormat says that line 1 names a format that this program does not know.
	ErrFormat = errors.New("unknown journal format")
	// ErrTooLong says that a record would make a line of more than MaxLine bytes.
	ErrTooLong = errors.New("record is longer than a line may be")
	// ErrInvalid says that a record is not what a line may hold.
	ErrInvalid = errors.New("record is not valid")
)

// CorruptError reports damage: an acknowledged line is not readable, or the file
// is not a journal. Nothing was changed.
type CorruptError struct {
	Path     string
	Offset   int64  // where the first bad line begins, in bytes
	Line     int64  // number of that line, from 1
	Seq      int64  // the seq that should be there
	LaterSeq int64  // a whole line found behind it, the proof of the damage; 0 if none was needed
	Raw      []byte // the bad line as it stands, without its newline, at most RawLimit bytes
	Err      error  // what is wrong with it
}

// RawLimit bounds CorruptError.Raw, in bytes.
const RawLimit = 64 << 10

func (e *CorruptError) Error() string {
	s := fmt.Sprintf("journal %s is damaged at line %d, offset %d: %v", e.Path, e.Line, e.Offset, e.Err)
	switch {
	case e.LaterSeq == e.Seq && e.Seq > 0:
		s += fmt.Sprintf("; seq %d stands behind it", e.Seq)
	case e.LaterSeq > 0:
		s += fmt.Sprintf("; seq %d is lost but seq %d is there", e.Seq, e.LaterSeq)
	}
	return s
}

func (e *CorruptError) Unwrap() error { return e.Err }

package journal

import (
	"fmt"
	"strings"
	"time"
)

// Pos is a place between two lines.
type Pos struct {
	Seq int64 // the line before it; 0 at the start of the file
	Off int64 // the byte just past that line's newline
}

// Event is one fact within a decision.
type Event struct {
	Kind string // lower case letters, digits, '_', '-' and '.'; "journal." is the package's own
	Data []byte // one compact JSON value in UTF-8
}

// Record is one decision: what becomes one line.
type Record struct {
	Step   int64     // number of the decision, from 1; 0 is the package's own
	At     time.Time // a label, kept in UTC to the microsecond; zero means now
	Cause  []byte    // one compact JSON object in UTF-8
	Events []Event   // at least one
}

const (
	// MaxLine bounds a line with its newline, in bytes.
	MaxLine = 8 << 20
	// maxInt is the highest integer that every JSON reader holds exactly.
	maxInt  = 1<<53 - 1
	maxKind = 128
	ownKind = "journal."
)

func (r *Record) check() error {
	if r.Step < 1 || r.Step > maxInt {
		return fmt.Errorf("%w: step %d is not between 1 and 2^53-1", ErrInvalid, r.Step)
	}
	if y := r.At.UTC().Year(); !r.At.IsZero() && (y < 1 || y > 9999) {
		return fmt.Errorf("%w: year %d does not fit", ErrInvalid, y)
	}
	if len(r.Cause) < 2 || r.Cause[0] != '{' || !validCompact(r.Cause) {
		return fmt.Errorf("%w: cause is not a compact JSON object", ErrInvalid)
	}
	if len(r.Events) == 0 {
		return fmt.Errorf("%w: no events", ErrInvalid)
	}
	for i := range r.Events {
		if err := r.Events[i].check(); err != nil {
			return err
		}
	}
	return nil
}

func (e *Event) check() error {
	if !validKind(e.Kind) {
		return fmt.Errorf("%w: kind %q", ErrInvalid, e.Kind)
	}
	if strings.HasPrefix(e.Kind, ownKind) {
		return fmt.Errorf("%w: kind %q is reserved", ErrInvalid, e.Kind)
	}
	if !validCompact(e.Data) {
		return fmt.Errorf("%w: data of %s is not compact JSON", ErrInvalid, e.Kind)
	}
	return nil
}

func validKind(k string) bool {
	if k == "" || len(k) > maxKind {
		return false
	}
	for i := 0; i < len(k); i++ {
		c := k[i]
		if !isDigit(c) && (c < 'a' || c > 'z') && c != '.' && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

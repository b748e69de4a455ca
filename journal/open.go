package journal

import (
	"errors"
	"fmt"
	"path/filepath"
	"syscall"
	"time"
)

// Options are what a handle needs to know. The zero value serves.
type Options struct {
	Version string           // of the program, for journal.opened
	Now     func() time.Time // the wall clock; time.Now if nil
	Owner   []byte           // for Create: what the file belongs to, a compact JSON value

	// Visit is called by Open for each line that the file holds, in order, before
	// the handle is returned, so that start-up reads the file once. Nothing may be
	// done about what it sees before Open returned: only then is all of it durable,
	// and damage further on makes Open fail. An error ends the opening. The entry's
	// slices hold until Visit returns.
	Visit func(Entry) error

	// Tail is shown the first line of a torn tail before it is cut, up to its end
	// or RawLimit bytes. An error ends the opening and leaves the file as it is. It
	// may be nil.
	Tail func(line []byte) error

	// Quiet is how long after an append journal.marked is written if nothing
	// follows; one second if zero, never if negative.
	Quiet time.Duration

	fs filesystem
}

func (o Options) filled() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Visit == nil {
		o.Visit = func(Entry) error { return nil }
	}
	if o.Tail == nil {
		o.Tail = func([]byte) error { return nil }
	}
	if o.Quiet == 0 {
		o.Quiet = time.Second
	}
	if o.fs == nil {
		o.fs = osFS{}
	}
	return o
}

// Recovery says what Open found.
type Recovery struct {
	Header Header
	Last   Pos   // the last line; its Seq is the number of lines
	Torn   *Torn // a torn tail that was cut, nil if there was none
	Closed bool  // the file ended with journal.closed
}

// Torn is a torn tail: bytes behind the last whole line that were never acknowledged.
type Torn struct {
	Offset int64  // where it began
	Bytes  int64  // how long it was
	Seq    int64  // the first seq that is not there
	SHA256 string // of its bytes, in hex
	Saved  string // the file that keeps them; empty if all were zero
}

// Open opens a journal for writing. It fails with ErrLocked if another handle
// has it, and with a CorruptError, changing nothing, if it is damaged. A torn
// tail is put aside and cut; then what is left is made durable.
func Open(path string, o Options) (*Journal, Recovery, error) {
	o = o.filled()
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, Recovery{}, fmt.Errorf("open journal: %w", err)
	}
	f, info, err := openLocked(o.fs, path)
	if err != nil {
		return nil, Recovery{}, fmt.Errorf("open journal: %w", err)
	}
	j := &Journal{o: o, f: f, path: path}
	r, err := j.load(info)
	if err != nil {
		return nil, r, errors.Join(err, closeFile(f, path))
	}
	j.start()
	return j, r, nil
}

func closeFile(f file, path string) error { return pathError("close", path, f.close()) }

// openLocked opens and locks the file. The name may have come to mean another
// file between the two; then it tries again.
func openLocked(fs filesystem, path string) (file, fileInfo, error) {
	for {
		f, err := fs.open(path, syscall.O_RDWR|syscall.O_APPEND, 0)
		if err != nil {
			return nil, fileInfo{}, err
		}
		if err = f.lock(); err != nil {
			return nil, fileInfo{}, errors.Join(pathError("lock", path, err), closeFile(f, path))
		}
		info, err := f.stat()
		if err != nil {
			return nil, fileInfo{}, errors.Join(pathError("stat", path, err), closeFile(f, path))
		}
		named, err := fs.stat(path)
		if err == nil && named.same(info) {
			return f, info, nil
		}
		if cerr := closeFile(f, path); err != nil || cerr != nil {
			return nil, fileInfo{}, errors.Join(err, cerr)
		}
	}
}

// load reads the file, judges its end, repairs a torn tail and makes the rest durable.
func (j *Journal) load(info fileInfo) (Recovery, error) {
	s := newScanner(j.f, j.path, Pos{}, info.size)
	closedLast, err := j.visitAll(s)
	r := Recovery{Header: s.head, Last: s.end, Closed: closedLast}
	if err != nil {
		return r, err
	}
	if err := s.judge(); err != nil {
		return r, err
	}
	j.info, j.head, j.hash = info, s.head, newChain(s.closed)
	j.setEnd(s.end, s.lastAt())
	j.tail = &stretch{s.batchOff, s.end.Off}
	if err := j.recover(s, info.size, &r); err != nil {
		return r, fmt.Errorf("recover journal %s: %w", j.path, err)
	}
	r.Last = j.durable
	return r, nil
}

func (j *Journal) visitAll(s *scanner) (closedLast bool, err error) {
	for {
		e, err := s.next()
		if err != nil {
			return false, err
		}
		if e == nil {
			return s.bad == nil && s.closed.Seq > 0 && s.closed.Seq == s.end.Seq, nil
		}
		if err := j.o.Visit(*e); err != nil {
			return false, fmt.Errorf("read journal %s at seq %d: %w", j.path, e.Seq, err)
		}
	}
}

// recover cuts a torn tail and sees to it that what was read is durable. If the
// last line is journal.closed, all before it is; that line itself can wait for
// the first append, so that opening and closing a session writes nothing.
func (j *Journal) recover(s *scanner, size int64, r *Recovery) error {
	if size > s.end.Off {
		if err := j.o.Tail(s.raw); err != nil {
			return fmt.Errorf("open journal %s: the tail at offset %d: %w", j.path, s.end.Off, err)
		}
		t, err := saveTorn(j.o.fs, j.f, j.path, s.end, size)
		if err != nil {
			return err
		}
		if err := j.f.truncate(s.end.Off); err != nil {
			return fmt.Errorf("cut the torn tail: %w", err)
		}
		r.Torn = t
	} else if !r.Closed {
		// A crash may have come between the cut and the line that tells of it.
		t, err := findTorn(j.o.fs, j.path, s.end)
		if err != nil {
			return err
		}
		r.Torn = t
	}
	if s.batch == 1 {
		// Nothing proves that the creation came to its end, so the name may not be durable.
		if err := syncPath(j.o.fs, j.path); err != nil {
			return err
		}
	}
	if !r.Closed {
		if err := j.settleTail(); err != nil {
			return err
		}
	}
	if r.Torn == nil {
		return nil
	}
	return j.noteRecovered(r.Torn)
}

package joblog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"evener/internal/regular"
)

// Info is what a log holds, in lifetime offsets.
type Info struct {
	Start int64 // first retained byte; as many bytes as this were evicted
	End   int64 // lifetime bytes
}

// Chunk is a piece of a log. Next is where the following piece begins.
type Chunk struct {
	Info
	Offset int64
	Data   []byte
	Next   int64
}

// EvictedError answers a read of bytes that are no longer kept.
type EvictedError struct {
	Path   string
	Offset int64 // asked for
	Start  int64 // first byte that is kept
}

func (e *EvictedError) Error() string {
	return fmt.Sprintf("job output %s: bytes before %d are no longer kept (asked for %d)", e.Path, e.Start, e.Offset)
}

// PastEndError answers a read of bytes that the job has not written.
type PastEndError struct {
	Path   string
	Offset int64
	End    int64
}

func (e *PastEndError) Error() string {
	return fmt.Sprintf("job output %s: offset %d is past the end, %d", e.Path, e.Offset, e.End)
}

// Stat tells what is retained.
func Stat(path string) (Info, error) {
	r, err := open(path)
	if err != nil {
		return Info{}, err
	}
	defer r.close()
	return r.info()
}

// Window reads up to n bytes from a lifetime offset. Offset End gives an empty
// chunk.
func Window(path string, off int64, n int) (Chunk, error) {
	r, err := open(path)
	if err != nil {
		return Chunk{}, err
	}
	defer r.close()
	return r.window(off, n)
}

// Tail reads the newest n bytes, or what is retained of them.
func Tail(path string, n int) (Chunk, error) {
	r, err := open(path)
	if err != nil {
		return Chunk{}, err
	}
	defer r.close()
	for {
		in, err := r.info()
		if err != nil {
			return Chunk{}, err
		}
		c, err := r.window(max(in.Start, in.End-int64(n)), n)
		if !isEvicted(err) {
			return c, err
		}
		// The job wrote more than the cap meanwhile: the newest moved on.
	}
}

func isEvicted(err error) bool {
	_, ok := errors.AsType[*EvictedError](err)
	return ok
}

// reader is one open look at a log.
type reader struct {
	path string
	f    *os.File
	base int64
}

// open follows the link of a compacted log itself, to learn the base. A
// compaction may replace link and file between two steps; then it looks again.
func open(path string) (*reader, error) {
	dir := filepath.Dir(path)
	if info, err := os.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 { // evener makes a folder there
		return nil, fmt.Errorf("open job output: %s is a symbolic link, which is not followed there", dir)
	}
	for {
		f, err := regular.Open(path, os.O_RDONLY)
		if err == nil {
			return &reader{path: path, f: f}, nil
		}
		if !errors.Is(err, unix.ELOOP) {
			return nil, fmt.Errorf("open job output: %w", err)
		}
		target, err := os.Readlink(path)
		if errors.Is(err, unix.EINVAL) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("open job output: %w", err)
		}
		base, err := baseOf(path, target)
		if err != nil {
			return nil, err
		}
		f, err = regular.Open(filepath.Join(filepath.Dir(path), target), os.O_RDONLY)
		if err == nil {
			return &reader{path: path, f: f, base: base}, nil
		}
		if now, lerr := os.Readlink(path); lerr == nil && now == target || !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("open job output: %w", err)
		}
	}
}

// close of a file that was only read cannot fail in a way that matters.
func (r *reader) close() { _ = r.f.Close() }

// info takes the size first: a start taken later can only be newer, which errs
// towards "no longer kept".
func (r *reader) info() (Info, error) {
	st, err := r.f.Stat()
	if err != nil {
		return Info{}, fmt.Errorf("stat job output: %w", err)
	}
	end := r.base + st.Size()
	if r.base > 0 {
		return Info{Start: r.base, End: end}, nil
	}
	start, err := nextData(r.f, 0, st.Size())
	if err != nil {
		return Info{}, fmt.Errorf("find the start of job output %s: %w", r.path, err)
	}
	return Info{Start: start, End: end}, nil
}

func (r *reader) window(off int64, n int) (Chunk, error) {
	in, err := r.info()
	if err != nil {
		return Chunk{}, err
	}
	if off > in.End {
		return Chunk{}, &PastEndError{r.path, off, in.End}
	}
	if off < in.Start {
		return Chunk{}, &EvictedError{r.path, off, in.Start}
	}
	data := make([]byte, max(0, min(int64(n), in.End-off)))
	got, err := r.readAt(data, off)
	if err != nil {
		return Chunk{}, err
	}
	return Chunk{Info: in, Offset: off, Data: data[:got], Next: off + int64(got)}, nil
}

// readAt reads at a lifetime offset and makes sure that eviction did not
// overtake the read: a punched hole reads as zero bytes.
func (r *reader) readAt(p []byte, off int64) (int, error) {
	n, err := r.f.ReadAt(p, off-r.base)
	if err != nil && err != io.EOF {
		return 0, fmt.Errorf("read job output: %w", err)
	}
	in, err := r.info()
	if err != nil {
		return 0, err
	}
	if off < in.Start {
		return 0, &EvictedError{r.path, off, in.Start}
	}
	return n, nil
}

// dataFrom is the first lifetime offset at or after off that holds data, and
// dataEnd the end of the data that off stands in (off, in a hole); at most end.
func (r *reader) dataFrom(off, end int64) (int64, error) {
	if off >= end {
		return end, nil
	}
	at, err := nextData(r.f, off-r.base, end-r.base)
	return at + r.base, err
}

func (r *reader) dataEnd(off, end int64) (int64, error) {
	if from, err := r.dataFrom(off, end); err != nil || from > off || off >= end {
		return off, err
	}
	return nextHole(r.f, off-r.base, end-r.base) + r.base, nil
}

// Window reads [from, to) through the writer's own descriptor, also when the
// name is gone. It is for the owner of the log, after a write.
func (l *Log) Window(from, to int64) ([]byte, error) {
	if l.f == nil || from >= to {
		return nil, nil
	}
	p := make([]byte, to-from)
	n, err := l.f.ReadAt(p, from-l.base)
	if err != nil && err != io.EOF {
		return nil, fmt.Errorf("read job output %s: %w", l.path, err)
	}
	return p[:n], nil
}

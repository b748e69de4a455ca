package joblog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
)

const (
	// DefaultCap is what a log keeps when the caller does not say: 64 MiB.
	DefaultCap = 64 << 20
	// MinCap is the least a log can be capped at: eviction works in blocks,
	// and a block must be a small part of the cap.
	MinCap = 8 * minBlock

	minBlock = 4096
)

// Log is the writer's side of one log.
type Log struct {
	path  string
	cap   int64
	block int64 // eviction works in multiples of it
	slack int64 // evicted beyond need, so that not every write evicts

	f       *os.File
	file    string // the path of f: path, or path@BASE once compacted
	base    int64  // lifetime offset of the file's first byte
	compact bool   // punching was refused
	dirSync bool   // the name is durable
	gapped  bool   // bytes were dropped since the last stored byte

	start, end, dropped atomic.Int64
}

// Create prepares a log that keeps the newest limit bytes (0: DefaultCap; never
// less than MinCap). Nothing is created on disk before the first byte.
func Create(path string, limit int64) *Log {
	if limit <= 0 {
		limit = DefaultCap
	}
	return &Log{path: path, cap: max(limit, MinCap), file: path}
}

// End is the lifetime count of bytes written, dropped ones included.
func (l *Log) End() int64 { return l.end.Load() }

// Start is the lifetime offset of the first retained byte.
func (l *Log) Start() int64 { return l.start.Load() }

// Dropped is the count of bytes that the disk did not take.
func (l *Log) Dropped() int64 { return l.dropped.Load() }

// Write appends p. The offsets advance by len(p) whatever happens; n tells how
// many bytes were stored, and an error why it was not all of them. The log stays
// usable: the next write tries again.
func (l *Log) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		// A piece is at most a quarter of the cap, so that making room for it
		// always leaves the newest bytes.
		piece := p[:min(int64(len(p)), l.cap/4)]
		p = p[len(piece):]
		stored, perr := l.append(piece)
		n += stored
		if perr != nil && err == nil {
			err = fmt.Errorf("write job output %s: %w", l.path, perr)
		}
	}
	return n, err
}

func (l *Log) append(p []byte) (int, error) {
	n, err := 0, l.open()
	if err == nil {
		err = l.makeRoom(int64(len(p)))
	}
	end := l.end.Load()
	if err == nil {
		if l.gapped && l.start.Load() == end {
			// Nothing retained but a gap: the file's first data is this block.
			l.start.Store(max(l.base, end&^(l.block-1)))
		}
		n, err = l.f.WriteAt(p, end-l.base)
	}
	if n > 0 {
		l.gapped = false
	}
	if n < len(p) {
		l.gapped = true
		l.dropped.Add(int64(len(p) - n))
		if n == 0 && l.start.Load() == end {
			l.start.Store(end + int64(len(p)))
		}
	}
	l.end.Store(end + int64(len(p)))
	return n, err
}

// open creates the file at the first byte, and its folder where needed.
func (l *Log) open() error {
	if l.f != nil {
		return nil
	}
	f, err := createFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(l.path), 0o700); err != nil {
			return err
		}
		f, err = createFile(l.path)
	}
	if err != nil {
		return err
	}
	l.f = f
	l.block = blockSize(f, l.cap)
	l.slack = l.cap / 64 &^ (l.block - 1)
	return nil
}

func createFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// blockSize is the unit of eviction: the file system's own, kept small against the cap.
func blockSize(f *os.File, limit int64) int64 {
	block := int64(minBlock)
	for want := preferredBlock(f); block < want && block*2 <= limit/8; {
		block *= 2
	}
	return block
}

// Sync makes the stored bytes and the log's name durable. A log without a file
// has nothing to sync.
func (l *Log) Sync() error {
	if l.f == nil {
		return nil
	}
	if err := datasync(l.f); err != nil {
		return fmt.Errorf("sync job output %s: %w", l.path, err)
	}
	if l.dirSync {
		return nil
	}
	if err := syncDir(filepath.Dir(l.path)); err != nil {
		return fmt.Errorf("sync job output %s: %w", l.path, err)
	}
	l.dirSync = true
	return nil
}

// Close ends writing. Bytes dropped at the very end are counted in the file's
// size, so that End can be told from the file.
func (l *Log) Close() error {
	if l.f == nil {
		return nil
	}
	var err error
	if l.gapped {
		err = l.f.Truncate(l.end.Load() - l.base)
	}
	err = errors.Join(err, l.f.Close())
	l.f = nil
	if err != nil {
		return fmt.Errorf("close job output %s: %w", l.path, err)
	}
	return nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}

package journal

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"syscall"
	"time"
)

// Follow yields the durable lines behind from, and further ones as they become
// durable, until the handle is closed, which ends it without an error, or fails.
// A done context is its error.
func (j *Journal) Follow(ctx context.Context, from Pos) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := j.follow(ctx, from, yield); err != nil && !errors.Is(err, errStopped) {
			yield(Entry{}, err)
		}
	}
}

// errStopped ends an iteration that the caller left.
var errStopped = errors.New("stopped")

func (j *Journal) follow(ctx context.Context, from Pos, yield func(Entry, error) bool) (err error) {
	f, err := j.o.fs.open(j.path, syscall.O_RDONLY, 0)
	if err != nil {
		return fmt.Errorf("follow journal: %w", err)
	}
	defer func() { err = errors.Join(err, closeFile(f, j.path)) }()
	if info, err := f.stat(); err != nil || !info.same(j.info) {
		return errors.Join(pathError("stat", j.path, err), fmt.Errorf("follow journal %s: %w", j.path, ErrTruncated))
	}
	s, err := openScanner(f, j.path, from)
	if err != nil {
		return err
	}
	for {
		end, moved, over := j.progress(s.end.Off)
		s.extend(end)
		if err := yieldAll(s, from.Seq, yield); err != nil {
			return err
		}
		if s.bad != nil {
			return s.corrupt(0) // this part was durable: there is nothing torn in it
		}
		if over != nil {
			return *over
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-moved:
		}
	}
}

func yieldAll(s *scanner, after int64, yield func(Entry, error) bool) error {
	for {
		e, err := s.next()
		if e == nil || err != nil {
			return err
		}
		if e.Seq > after && !yield(*e, nil) {
			return errStopped
		}
	}
}

// progress tells how far the file is durable, how to learn that it is further
// than read, and, if it will not be, why: a pointer to nil after an orderly close.
func (j *Journal) progress(read int64) (end int64, moved <-chan struct{}, over *error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch end = j.durable.Off; {
	case j.failed != nil:
		over = &j.failed
	case j.over:
		over = new(error)
	case end > read:
		moved = closedChan
	default:
		if j.followed == nil {
			j.followed = make(chan struct{})
		}
		moved = j.followed
	}
	return end, moved, over
}

// FollowOptions are for FollowFile.
type FollowOptions struct {
	// Durable holds the lines of the last write back until a later write proves
	// that they were synced. Without it a line may be shown that a crash then takes back.
	Durable bool
}

// pollEvery is how often a file is looked at where the system cannot tell of changes.
const pollEvery = 250 * time.Millisecond

func pause(ctx context.Context) error {
	t := time.NewTimer(pollEvery)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

// FollowFile is Follow for other processes: it yields the lines behind from and
// further ones as they are written, until the context is done, which is its
// error. An incomplete last line is not there yet. ErrTruncated says that the
// file was cut or replaced: read again from the last seq known to be durable.
func FollowFile(ctx context.Context, path string, from Pos, o FollowOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := followFile(ctx, path, from, o, yield); err != nil && !errors.Is(err, errStopped) {
			yield(Entry{}, err)
		}
	}
}

func followFile(ctx context.Context, path string, from Pos, o FollowOptions, yield func(Entry, error) bool) (err error) {
	w := NewWatch()
	defer func() { err = errors.Join(err, w.Close()) }()
	w.File(path)
	f, err := osFS{}.open(path, syscall.O_RDONLY, 0)
	if err != nil {
		return fmt.Errorf("follow journal: %w", err)
	}
	defer func() { err = errors.Join(err, closeFile(f, path)) }()
	s, err := openScanner(f, path, from)
	if err != nil {
		return err
	}
	if o.Durable {
		yield = heldBack(yield)
	}
	for {
		if err := stillThere(f, s); err != nil {
			return err
		}
		if err := yieldLive(s, from.Seq, yield); err != nil {
			return err
		}
		if err := w.Wait(ctx); err != nil {
			return err
		}
		if err := s.refresh(); err != nil {
			return err
		}
	}
}

func yieldLive(s *scanner, after int64, yield func(Entry, error) bool) error {
	for {
		e, err := s.nextLive()
		if e == nil || err != nil {
			return err
		}
		if e.Seq > after && !yield(*e, nil) {
			return errStopped
		}
	}
}

// heldBack keeps the lines of a write until one of a later write comes.
func heldBack(yield func(Entry, error) bool) func(Entry, error) bool {
	var held []Entry
	return func(e Entry, err error) bool {
		if err == nil && len(held) > 0 && held[0].Batch != e.Batch {
			for _, h := range held {
				if !yield(h, nil) {
					return false
				}
			}
			held = held[:0]
		}
		if err == nil {
			held = append(held, e.Clone())
		}
		return true
	}
}

// stillThere reports ErrTruncated if the name means another file by now, or if
// the last line that was read is no longer where it was: the file may have been
// cut and have grown again since.
func stillThere(f file, s *scanner) error {
	named, err := osFS{}.stat(s.path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTruncated, err)
	}
	info, err := f.stat()
	if err != nil {
		return pathError("stat", s.path, err)
	}
	if s.end.Off > 0 && s.seal == [sealLen + 1]byte{} {
		_, err = f.readAt(s.seal[:], s.end.Off-int64(len(s.seal)))
	}
	now := s.seal
	if err == nil && s.end.Off > 0 {
		_, err = f.readAt(now[:], s.end.Off-int64(len(now)))
	}
	if err != nil {
		return pathError("read", s.path, err)
	}
	if !named.same(info) || info.size < s.end.Off || now != s.seal {
		return fmt.Errorf("follow journal %s behind seq %d: %w", s.path, s.end.Seq, ErrTruncated)
	}
	return nil
}

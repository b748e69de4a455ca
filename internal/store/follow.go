package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"evener/internal/id"
	"evener/journal"
)

// Follow is Lines for a tree that another process writes: it yields the lines that
// are there and goes on with further ones, also of delegates that come into being
// meanwhile, until the context is done, which is its error. What it has yielded is
// at any time the beginning of what Lines yields later.
//
// So a line waits until nothing can come before it. The loop of a tree writes the
// journals of a batch side by side and begins the next batch when all of them are
// synced. A decision of a later write therefore proves that every decision up to
// the last one before that write is on disk, in whichever journal. A closing line
// proves the same. Without either, as at the end of a batch, a decision goes out
// when a later write of its own journal shows that it was synced and the decision
// before it went out. What a journal writes of itself waits for its next decision.
func Follow(ctx context.Context, h Home, s id.Session) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		f := newFollowing(h, s)
		defer f.watch.Close() // an inotify descriptor that goes away
		for {
			more, err := f.pass(yield)
			switch {
			case errors.Is(err, errLeft):
				return
			case err == nil && ctx.Err() != nil:
				err = ctx.Err()
			case err == nil && !more:
				err = f.watch.Wait(ctx)
			}
			if err != nil {
				yield(Line{}, legacy(err))
				return
			}
		}
	}
}

// errLeft ends an iteration that the caller left.
var errLeft = errors.New("left")

// holdMost bounds what is read ahead of one journal, in bytes, once a part of it can go out.
const holdMost = 1 << 20

type following struct {
	home   Home
	root   id.Session
	alone  bool // one journal is followed, in its own order
	watch  *journal.Watch
	files  []*followed // the root's, the tree's, and those of delegates as they come
	known  map[id.Session]bool
	proven int64 // every decision up to this one is on disk
	told   int64 // the last decision that went out
}

func newFollowing(h Home, s id.Session) *following {
	f := &following{home: h, root: s, alone: h.rootOf(s) != s, watch: journal.NewWatch(), known: map[id.Session]bool{}}
	f.add(s, h.Journal(s))
	if !f.alone {
		f.add("", h.Delegates(s))
	}
	return f
}

func (f *following) add(s id.Session, path string) {
	if !f.known[s] {
		f.known[s] = true
		f.files = append(f.files, &followed{session: s, path: path})
	}
}

// pass reads what is new and yields what can go out; more says that another one
// may find something at once.
func (f *following) pass(yield func(Line, error) bool) (more bool, err error) {
	known, told := f.proven, f.told // what was proven before the reading is in what is read now
	for i := 0; i < len(f.files); i++ {
		if err := f.read(f.files[i]); err != nil {
			return false, err
		}
	}
	if !f.release(known, yield) {
		return false, errLeft
	}
	if f.proven > known || f.told > told {
		return true, nil
	}
	for _, x := range f.files {
		if x.damage != nil {
			return false, x.damage
		}
	}
	return false, nil
}

// read takes what is new in a journal. A delegate's that is not there yet is waited
// for: first its folder, then its name.
func (f *following) read(x *followed) error {
	f.watch.File(x.path)
	info, err := os.Stat(x.path)
	if errors.Is(err, fs.ErrNotExist) && x.seen == nil && x.session != f.root {
		f.watch.Folder(f.home.Sessions)
		f.watch.Folder(filepath.Dir(x.path))
		f.watch.File(x.path)
		if info, err = os.Stat(x.path); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("follow journal: %w", err)
	}
	if x.seen != nil && !os.SameFile(x.seen, info) {
		return fmt.Errorf("follow journal %s: %w", x.path, journal.ErrTruncated)
	}
	if !x.changed(info) {
		return nil
	}
	x.seen, x.held, x.damage = info, false, nil
	x.forget()
	r, err := journal.Scan(x.path, x.synced, func(e journal.Entry) error {
		x.take(e)
		f.proven = max(f.proven, x.proves)
		if x.session == "" {
			for _, s := range Children(e) {
				f.add(s, f.home.Journal(s))
			}
		}
		if x.full() {
			x.held = true
			return errLeft
		}
		return nil
	})
	if x.held {
		return nil
	}
	if r.Damage != nil {
		x.damage = r.Damage
	}
	return err
}

// release yields the decisions that nothing can come before, each behind what its
// journal writes of itself; false if the caller left.
func (f *following) release(known int64, yield func(Line, error) bool) bool {
	for {
		x := f.next()
		if x == nil {
			return true
		}
		h := x.head()
		ownTurn := h.Seq <= x.synced.Seq && (f.alone || h.Step == f.told+1)
		if h.Step > known && !ownTurn {
			return true
		}
		f.told = max(f.told, h.Step)
		if !x.tell(yield) {
			return false
		}
	}
}

// next is the journal whose next decision is the lowest. There is none while one that
// was not read to its end has nothing left.
func (f *following) next() (first *followed) {
	for _, x := range f.files {
		h := x.head()
		switch {
		case h == nil && x.held:
			return nil
		case h != nil && (first == nil || h.Step < first.head().Step):
			first = x
		}
	}
	return first
}

// followed is a journal while it is followed.
type followed struct {
	session id.Session
	path    string
	seen    os.FileInfo // as it was when it was read last
	held    bool        // it was not read to its end
	damage  error

	synced journal.Pos // in front of the write that was read last
	before int64       // the last decision there
	write  int64       // that write, 0 if nothing of it was read
	end    journal.Pos // of what was read
	step   int64       // the last decision there
	proves int64       // every decision of the tree up to this one is on disk

	lines []Line // that were read and did not go out
	lead  int    // those in front of the first decision
	bytes int
	told  int64 // seq of the last line that went out
}

func (x *followed) changed(now os.FileInfo) bool {
	return x.seen == nil || x.held || now.Size() != x.seen.Size() || !now.ModTime().Equal(x.seen.ModTime())
}

// forget drops what may not stand there any more: a write that met a full disk is
// taken back.
func (x *followed) forget() {
	x.end, x.step, x.write = x.synced, x.before, 0
	for len(x.lines) > 0 && x.lines[len(x.lines)-1].Seq > x.synced.Seq {
		x.bytes -= len(x.lines[len(x.lines)-1].Line)
		x.lines = x.lines[:len(x.lines)-1]
	}
	x.lead = min(x.lead, len(x.lines))
}

func (x *followed) take(e journal.Entry) {
	if e.Batch != x.write {
		x.synced, x.before, x.write = x.end, x.step, e.Batch
	}
	x.end = e.Pos()
	if !e.Own() {
		x.step = e.Step
	}
	if !e.Own() || closes(e) {
		x.proves = max(x.proves, x.before)
	}
	if e.Seq > x.told {
		x.lines = append(x.lines, Line{Session: x.session, Path: x.path, N: e.Seq, Entry: e.Clone()})
		x.bytes += len(e.Line)
	}
}

func closes(e journal.Entry) bool {
	for kind := range e.Events() {
		return kind == "journal.closed"
	}
	return false
}

// head is the first decision that did not go out; nil if none was read.
func (x *followed) head() *Line {
	for x.lead < len(x.lines) && x.lines[x.lead].Own() {
		x.lead++
	}
	if x.lead == len(x.lines) {
		return nil
	}
	return &x.lines[x.lead]
}

// full reports whether enough was read for now.
func (x *followed) full() bool {
	h := x.head()
	return x.bytes > holdMost && h != nil && h.Step <= x.proves
}

// tell yields the lines up to the first decision.
func (x *followed) tell(yield func(Line, error) bool) bool {
	for _, l := range x.lines[:x.lead+1] {
		x.told = l.Seq
		x.bytes -= len(l.Line)
		if !yield(l, nil) {
			return false
		}
	}
	x.lines, x.lead = x.lines[x.lead+1:], 0
	return true
}

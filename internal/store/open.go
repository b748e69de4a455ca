package store

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"evener/internal/id"
	"evener/internal/tree"
	"evener/journal"
)

// ErrNoSession answers for a session that is not there.
var ErrNoSession = errors.New("no such session")

// Tree is a tree opened for writing: its lock, its journals and its fold.
type Tree struct {
	Home  Home
	Root  id.Session
	Lock  *os.File
	State *tree.State
	// Torn lists tails that the opening cut, each put aside first.
	Torn []Torn
	// Seqs is the last seq of each journal as found.
	Seqs map[string]int64

	journals map[id.Session]*journal.Journal
}

// Torn is a torn tail that was cut.
type Torn struct {
	Path string
	journal.Torn
}

// Create makes a session that nobody has heard of yet. Its journal is durable
// before Create returns, so the id may be given out.
func Create(h Home, s id.Session, version, bootID string) (*Tree, error) {
	if err := h.Make(); err != nil {
		return nil, err
	}
	if err := makeDurable(h.Dir(s)); err != nil {
		return nil, fmt.Errorf("make session %s: %w", s, err)
	}
	lock, err := h.Lock(s, bootID)
	if err != nil {
		return nil, err
	}
	j, err := journal.Create(h.Journal(s), journal.Options{Version: version, Owner: []byte(`{"session_id":"` + string(s) + `"}`)})
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &Tree{Home: h, Root: s, Lock: lock, State: tree.New(s), Seqs: map[string]int64{},
		journals: map[id.Session]*journal.Journal{s: j}}, nil
}

// Resume takes up an existing session: it locks the tree, repairs a torn tail
// and folds what is there.
func Resume(h Home, s id.Session, version, bootID string) (*Tree, error) {
	if !h.Has(s) {
		return nil, fmt.Errorf("%w: %s in %s", ErrNoSession, s, h.Sessions)
	}
	lock, err := h.Lock(s, bootID)
	if err != nil {
		return nil, err
	}
	t := &Tree{Home: h, Root: s, Lock: lock, State: tree.New(s), Seqs: map[string]int64{}, journals: map[id.Session]*journal.Journal{}}
	j, found, err := journal.Open(h.Journal(s), journal.Options{
		Version: version, Visit: folding(h, t.State, s),
		Tail: func(line []byte) error { return legacyRow(h.Journal(s)+" ends with a line that", line) },
	})
	if err != nil {
		return nil, errors.Join(legacy(err), lock.Close())
	}
	t.journals[s] = j
	t.Seqs[filepath.Base(h.Journal(s))] = found.Last.Seq
	if found.Torn != nil {
		t.Torn = append(t.Torn, Torn{h.Journal(s), *found.Torn})
	}
	return t, nil
}

// Append makes writes durable: each touched journal is written once and all
// are synced side by side. On an error nothing may be told or done; after
// journal.ErrFull nothing was written, after any other error it is not known.
func (t *Tree) Append(writes []tree.Write) error {
	batches := map[id.Session][]journal.Record{}
	var order []id.Session
	for _, w := range writes {
		r, err := encode(t.Home, w)
		if err != nil {
			return err
		}
		if batches[w.Session] == nil {
			order = append(order, w.Session)
		}
		batches[w.Session] = append(batches[w.Session], r)
	}
	var tickets []*journal.Ticket
	for _, s := range order {
		tickets = append(tickets, t.journals[s].AppendAsync(batches[s]...))
	}
	var first error
	for _, k := range tickets {
		if _, err := k.Wait(); err != nil && (first == nil || errors.Is(first, journal.ErrFull)) {
			first = err
		}
	}
	return first
}

// Full reports whether a journal has begun to use what was set aside for a
// full disk.
func (t *Tree) Full() bool {
	for _, j := range t.journals {
		if j.Full() {
			return true
		}
	}
	return false
}

// SetAside is how much can still be written while the disk is full: the least
// that any journal has, in bytes.
func (t *Tree) SetAside() int64 {
	least := int64(math.MaxInt64)
	for _, j := range t.journals {
		least = min(least, j.SetAside())
	}
	return least
}

// Refold discards the state and folds the tree again from disk.
func (t *Tree) Refold() error {
	s, err := Load(t.Home, t.Root, 0)
	if err == nil {
		t.State = s
	}
	return err
}

// Close closes the journals and gives the lock back.
func (t *Tree) Close() error {
	var errs []error
	for _, j := range t.journals {
		errs = append(errs, j.Close())
	}
	return errors.Join(append(errs, t.Lock.Close())...)
}

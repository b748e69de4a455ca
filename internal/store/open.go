package store

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/tree"
	"evener/journal"
)

// ErrNoSession answers for a session that is not there.
var ErrNoSession = errors.New("no such session")

// ErrNotRoot answers for the session of a delegate, which only its root can take up.
var ErrNotRoot = errors.New("not a root session")

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
	// Summarise lets Close write the summaries: the state is what the journals
	// say. SummaryErr is why it could not, which loses nothing.
	Summarise  bool
	SummaryErr error

	journals map[id.Session]*journal.Journal // the tree's own under ""
	options  journal.Options                 // of journals that are made later
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
	own, err := ownerOf(s, Lineage{})
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	j, err := journal.Create(h.Journal(s), journal.Options{Version: version, Owner: own})
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return &Tree{Home: h, Root: s, Lock: lock, State: tree.New(s), Seqs: map[string]int64{},
		journals: map[id.Session]*journal.Journal{s: j}, options: journal.Options{Version: version}}, nil
}

// Resume takes up an existing session: it locks the tree, repairs a torn tail
// and folds what is there.
func Resume(h Home, s id.Session, version, bootID string) (*Tree, error) {
	if !h.Has(s) {
		return nil, fmt.Errorf("%w: %s in %s", ErrNoSession, s, h.Sessions)
	}
	if root := h.rootOf(s); root != s {
		return nil, fmt.Errorf("%w: %s is the session of a delegate; resume its root %s", ErrNotRoot, s, root)
	}
	lock, err := h.Lock(s, bootID)
	if err != nil {
		return nil, err
	}
	return openTree(h, s, lock, version)
}

// openTree folds a tree whose lock is taken; on an error it gives the lock back.
func openTree(h Home, s id.Session, lock *os.File, version string) (*Tree, error) {
	t := &Tree{Home: h, Root: s, Lock: lock, State: tree.New(s), Seqs: map[string]int64{}, journals: map[id.Session]*journal.Journal{},
		options: journal.Options{Version: version}}
	if err := t.openAll(); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// rootOf is the root of a session's tree by its first decision: the session
// itself where there is none, or where it cannot be read, which opening tells.
func (h Home) rootOf(s id.Session) id.Session {
	for e, err := range Read(h.Journal(s)) {
		if err != nil {
			return s
		}
		for kind, data := range e.Events() {
			ev, err := decode(h, s, kind, data)
			if c, ok := ev.(session.Created); err == nil && ok {
				return c.Root
			}
		}
		if !e.Own() {
			return s
		}
	}
	return s
}

// openAll opens every journal of the tree, each repaired and folded: that of
// the root, that of the delegates, and those of their sessions. One of a
// delegate that was lost before its first line is made when it is written.
func (t *Tree) openAll() error {
	if err := t.open(t.Root); err != nil {
		return err
	}
	if err := t.Home.dropUnborn(t.Root); err != nil {
		return err
	}
	if !exists(t.Home.Delegates(t.Root)) {
		return nil
	}
	if err := t.open(""); err != nil {
		return err
	}
	for d := range t.State.Delegates.All {
		if err := t.Home.dropUnborn(d.Session); err != nil {
			return err
		}
		if !t.Home.Has(d.Session) {
			continue
		}
		if err := t.open(d.Session); err != nil {
			return err
		}
		t.State.ReleaseCold(d)
	}
	return nil
}

// dropUnborn removes what a killed process left of making a journal. The tree is
// locked, so nobody makes one now.
func (h Home) dropUnborn(s id.Session) error {
	entries, err := os.ReadDir(h.Dir(s))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look through session %s: %w", s, err)
	}
	for _, e := range entries {
		if !journal.Unborn(e.Name(), filepath.Base(h.Journal(s))) && !journal.Unborn(e.Name(), filepath.Base(h.Delegates(s))) {
			continue
		}
		if err := os.Remove(filepath.Join(h.Dir(s), e.Name())); err != nil {
			return fmt.Errorf("remove what is left of making a journal: %w", err)
		}
	}
	return nil
}

// Restore folds the conversation of a session that was let go again. All lines
// of its journal must be durable.
func (t *Tree) Restore(s id.Session) error {
	x, err := LoadSession(t.Home, s)
	if err == nil {
		err = t.State.Sessions[s].Transcript.Restore(x.Transcript)
	}
	if err != nil {
		return fmt.Errorf("take session %s back into memory: %w", s, err)
	}
	return nil
}

// path is the journal of a session; of "" that of the tree.
func (t *Tree) path(s id.Session) string {
	if s == "" {
		return t.Home.Delegates(t.Root)
	}
	return t.Home.Journal(s)
}

func (t *Tree) open(s id.Session) error {
	path, o := t.path(s), t.options
	if err := noLinks(filepath.Dir(path)); err != nil {
		return err
	}
	o.Visit = foldingFile(t.Home, path, t.State, s, unvisited)
	o.Tail = func(line []byte) error { return legacyRow(path+" ends with a line that", line) }
	j, found, err := journal.Open(path, o)
	if err != nil {
		return legacy(err)
	}
	t.journals[s] = j
	if s == t.Root || s == "" {
		t.Seqs[filepath.Base(path)] = found.Last.Seq
	} else {
		t.Seqs[string(s)+"/"+filepath.Base(path)] = found.Last.Seq
	}
	if found.Torn != nil {
		t.Torn = append(t.Torn, Torn{path, *found.Torn})
	}
	return nil
}

// create makes the journal of a delegate's session, or of the tree, whose first
// lines are about to be written.
func (t *Tree) create(s id.Session) error {
	o := t.options
	if s == "" {
		o.Owner = fmt.Appendf(nil, `{"root_session_id":"%s"}`, t.Root)
	} else {
		own, err := ownerOf(s, lineageOf(t.State.Sessions[s], t.State))
		if err == nil {
			err = makeDurable(t.Home.Dir(s))
		}
		if err == nil {
			err = noLinks(t.Home.Dir(s))
		}
		if err != nil {
			return fmt.Errorf("make session %s: %w", s, err)
		}
		o.Owner = own
	}
	j, err := journal.Create(t.path(s), o)
	if err == nil {
		t.journals[s] = j
	}
	return err
}

// Append makes writes durable: each touched journal is written once and all
// are synced side by side. On an error nothing may be told or done; after
// journal.ErrFull nothing was written, after any other error it is not known.
func (t *Tree) Append(writes []tree.Write) error {
	batches := map[id.Session][]journal.Record{}
	var order []id.Session
	for _, w := range writes {
		r, err := encode(t.Home, t.Root, w)
		if err != nil {
			return err
		}
		if t.journals[w.Session] == nil {
			if err := t.create(w.Session); err != nil {
				return err
			}
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
	if t.Summarise && errors.Join(errs...) == nil {
		t.SummaryErr = t.summarise()
	}
	return errors.Join(append(errs, t.Lock.Close())...)
}

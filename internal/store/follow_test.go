package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"evener/internal/id"
	"evener/journal"
)

// writing is a tree whose journals a test writes in batches, as a loop does. It
// keeps which bytes each batch added to which file.
type writing struct {
	t       *testing.T
	rnd     *rand.Rand
	home    Home
	step    int64
	open    map[id.Session]*journal.Journal // the tree's own under ""
	marking bool                            // some journals mark each write at once
	marks   map[id.Session]bool             // those that do
	made    []id.Session                    // delegates that were created
	sizes   map[string]int
	batches []map[string][]byte
}

func newWriting(t *testing.T, rnd *rand.Rand) *writing {
	return &writing{t: t, rnd: rnd, home: Home{Sessions: t.TempDir()}, open: map[id.Session]*journal.Journal{},
		marks: map[id.Session]bool{}, sizes: map[string]int{}}
}

func (w *writing) path(s id.Session) string {
	if s == "" {
		return w.home.Delegates(sourceID)
	}
	return w.home.Journal(s)
}

func (w *writing) journal(s id.Session) *journal.Journal {
	w.t.Helper()
	if j := w.open[s]; j != nil {
		return j
	}
	path, o := w.path(s), journal.Options{Quiet: -1}
	if w.marks[s] = w.marking && w.rnd.IntN(2) == 0; w.marks[s] {
		o.Quiet = 1
	}
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	var j *journal.Journal
	if err == nil && exists(path) {
		j, _, err = journal.Open(path, o)
	} else if err == nil {
		j, err = journal.Create(path, o)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.open[s] = j
	return j
}

// batch appends some decisions side by side and waits until all are synced.
func (w *writing) batch() {
	w.t.Helper()
	calls := map[id.Session][]journal.Record{}
	for range 1 + w.rnd.IntN(5) {
		w.step++
		all := append([]id.Session{sourceID, ""}, w.made...)
		s, kind, data := all[w.rnd.IntN(len(all))], "a", `{}`
		if s == "" {
			n := id.Session(fmt.Sprintf("%s%02d", sourceID[:24], len(w.made)))
			w.made = append(w.made, n)
			kind, data = "delegate.created", fmt.Sprintf(`{"child_session_id":"%s"}`, n)
		}
		calls[s] = append(calls[s], journal.Record{Step: w.step, Cause: []byte(`{}`), Events: []journal.Event{{Kind: kind, Data: []byte(data)}}})
	}
	for s, records := range calls {
		j := w.journal(s)
		end, err := j.Append(records...)
		if err != nil {
			w.t.Fatal(err)
		}
		for w.marks[s] && j.Durable().Seq == end.Seq {
			runtime.Gosched()
		}
	}
	w.note()
}

// end closes the journals. The next opening leaves out some steps, as after a crash.
func (w *writing) end() {
	for s, j := range w.open {
		if err := j.Close(); err != nil {
			w.t.Fatal(err)
		}
		delete(w.open, s)
	}
	w.note()
	w.step += int64(w.rnd.IntN(3))
}

// note keeps what the files have grown by.
func (w *writing) note() {
	grown := map[string][]byte{}
	for _, s := range append([]id.Session{sourceID, ""}, w.made...) {
		b, err := os.ReadFile(w.path(s))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			w.t.Fatal(err)
		}
		if n := w.sizes[w.path(s)]; len(b) > n {
			rel, _ := filepath.Rel(w.home.Sessions, w.path(s))
			grown[rel], w.sizes[w.path(s)] = b[n:], len(b)
		}
	}
	w.batches = append(w.batches, grown)
}

// appearing is a copy of a tree whose bytes appear one batch after the other, those
// of a batch in any order and in pieces.
type appearing struct {
	*writing
	home Home
	rest []map[string][]byte
	left map[string][]byte // of the batch that is being written
}

func (a *appearing) some() {
	if len(a.left) == 0 {
		if len(a.rest) == 0 {
			return
		}
		a.left, a.rest = maps.Clone(a.rest[0]), a.rest[1:]
	}
	names := slices.Sorted(maps.Keys(a.left))
	if len(names) == 0 {
		return
	}
	name := names[a.rnd.IntN(len(names))]
	b := a.left[name]
	path := filepath.Join(a.home.Sessions, name)
	n := 1 + a.rnd.IntN(len(b))
	if !exists(path) { // has its name when its first line is there
		n = max(n, strings.IndexByte(string(b), '\n')+1)
	}
	if a.left[name] = b[n:]; n == len(b) {
		delete(a.left, name)
	}
	err := os.MkdirAll(filepath.Dir(path), 0o700)
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
			_, err = f.Write(b[:n])
			err = errors.Join(err, f.Close())
		}
	}
	if err != nil {
		a.t.Fatal(err)
	}
}

func told(h Home, l Line) string {
	rel, _ := filepath.Rel(h.Sessions, l.Path)
	return fmt.Sprintf("%s %d %s", rel, l.N, l.Line)
}

// However the writes of a tree become visible, in pieces, in any order within a
// batch, between the reading of two journals: what was followed is the beginning of
// what is read later, and in the end every decision was.
func TestFollowTree(t *testing.T) {
	for seed := range uint64(6) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		w := newWriting(t, rnd)
		w.marking = true
		w.journal(sourceID)
		w.note()
		for range 1 + rnd.IntN(5) {
			for w.batch(); rnd.IntN(3) > 0; {
				w.batch()
			}
			w.end()
		}
		var want []string
		decisions := 0
		for l, err := range Lines(w.home, sourceID) {
			if err != nil {
				t.Fatal(err)
			}
			if want = append(want, told(w.home, l)); !l.Own() {
				decisions = len(want)
			}
		}
		for range 30 {
			appears(t, w, want, decisions)
		}
	}
}

// appears follows a tree while it appears.
func appears(t *testing.T, w *writing, want []string, decisions int) {
	a := &appearing{writing: w, home: Home{Sessions: t.TempDir()}, rest: w.batches}
	for !exists(a.home.Journal(sourceID)) {
		a.some()
	}
	f := newFollowing(a.home, sourceID)
	defer f.watch.Close()
	var got []string
	check := func() {
		known := f.proven
		for i := 0; i < len(f.files); i++ {
			for range w.rnd.IntN(3) {
				a.some()
			}
			if err := f.read(f.files[i]); err != nil {
				t.Fatal(err)
			}
		}
		f.release(known, func(l Line, _ error) bool {
			if got = append(got, told(a.home, l)); len(got) > len(want) || got[len(got)-1] != want[len(got)-1] {
				t.Fatalf("line %d is\n%s\nwant\n%s", len(got), got[len(got)-1], want[min(len(got), len(want))-1])
			}
			return true
		})
	}
	for len(a.rest)+len(a.left) > 0 {
		check()
	}
	for range 4 {
		check()
	}
	if len(got) != decisions {
		t.Fatalf("%d lines of %d went out", len(got), decisions)
	}
}

func (w *writing) append(s id.Session, step int64, body string) {
	w.t.Helper()
	_, err := w.journal(s).Append(journal.Record{Step: step, Cause: []byte(`{}`), Events: []journal.Event{{Kind: "a", Data: fmt.Appendf(nil, `"%s"`, body)}}})
	if err != nil {
		w.t.Fatal(err)
	}
}

// Of journals that are longer than what is held, all goes out, in order.
func TestFollowLong(t *testing.T) {
	w := newWriting(t, rand.New(rand.NewPCG(1, 1)))
	long := strings.Repeat("x", 300<<10)
	for step := int64(1); step <= 24; step += 2 {
		w.append(sourceID, step, long)
		w.append("", step+1, "short")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	step := int64(0)
	for l, err := range Follow(ctx, w.home, sourceID) {
		if errors.Is(err, context.Canceled) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if l.Own() {
			continue
		}
		if step++; l.Step != step {
			t.Fatalf("step %d, want %d", l.Step, step)
		}
		if step == 22 { // the last writes are proved by nothing
			cancel()
		}
	}
	if step < 22 {
		t.Errorf("%d decisions", step)
	}
}

// A write that met a full disk is taken back: it was seen and never went out.
func TestFollowTakenBack(t *testing.T) {
	w := newWriting(t, rand.New(rand.NewPCG(1, 2)))
	path := w.path(sourceID)
	w.append(sourceID, 1, "kept")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	w.append(sourceID, 2, "taken back")
	f := newFollowing(w.home, sourceID)
	defer f.watch.Close()
	var got []string
	pass := func() {
		t.Helper()
		for more := true; more; {
			more, err = f.pass(func(l Line, _ error) bool {
				for _, data := range l.Events() {
					if !l.Own() {
						got = append(got, string(data))
					}
				}
				return true
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	pass()
	w.open[sourceID].Close()
	delete(w.open, sourceID)
	if err := os.Truncate(path, info.Size()); err != nil {
		t.Fatal(err)
	}
	w.append(sourceID, 2, "in its place")
	pass()
	w.append(sourceID, 3, "more")
	pass()
	if want := []string{`"kept"`, `"in its place"`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

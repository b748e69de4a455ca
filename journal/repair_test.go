package journal

import (
	"bytes"
	"errors"
	"math/rand"
	"strings"
	"syscall"
	"testing"
)

// A refused append stays refused: the cut that undid it is durable, so that no
// power cut brings its lines back under numbers that were given anew.
func TestFullIsUndoneForGood(t *testing.T) {
	for seed := range int64(300) {
		fs := newMemFS("/d")
		o := &oracle{path: "/d/j", created: true}
		j := mustCreate(t, o.path, Options{fs: fs})
		fs.setRoom(1500 + seed*5)
		if err := o.append(j, 200, 300, 400, 500, 600, 700); !errors.Is(err, ErrFull) {
			t.Fatal(err)
		}
		fs.powerCut(rand.New(rand.NewSource(seed)))
		j.Close()
		k, err := o.reopen(fs, fs.bytes)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		fs.kill()
		k.Close()
	}
}

// journal.opened is part of the write that a full disk refused, so it comes again.
func TestFullOnTheFirstAppend(t *testing.T) {
	fs := newMemFS("/d")
	j := mustCreate(t, "/d/j", Options{fs: fs})
	fs.setRoom(10)
	if _, err := j.Append(rec(1, "a")); !errors.Is(err, ErrFull) {
		t.Fatal(err)
	}
	fs.setRoom(1 << 20)
	if _, err := j.Append(rec(1, "a")); err != nil {
		t.Fatal(err)
	}
	closeOK(t, j)
	if n := strings.Count(string(fs.bytes("/d/j")), kindOpened); n != 1 {
		t.Errorf("%d lines of journal.opened, want 1", n)
	}
}

// A crash between the cut of a torn tail and the line that tells of it: the next
// opening tells, from the copy. A copy that does not fit is let be.
func TestInterruptedRepairIsTold(t *testing.T) {
	s := makeSample(t, false, 2, 2)
	next := int64(bytes.Count(s.data, []byte("\n"))) + 1
	fs := onFile(s.data)
	w, err := fs.open(tornName("/d/j", next, 1), syscall.O_CREAT, 0)
	if err != nil {
		t.Fatal(err)
	}
	w.write([]byte("torn bytes"))
	j, r, err := Open("/d/j", Options{fs: fs, Quiet: -1})
	if err != nil || r.Torn == nil || r.Torn.Bytes != 10 || r.Torn.Seq != next {
		t.Fatalf("%+v, %v", r, err)
	}
	closeOK(t, j)
	if got := string(fs.bytes("/d/j")); !strings.Contains(got, `"saved":"`+"j.torn-") {
		t.Errorf("not told:\n%s", got)
	}
	// Another tail at a number whose copy exists gets a name of its own.
	fs2 := onFile(append(bytes.Clone(s.data), "other"...))
	fs2.names[tornName("/d/j", next, 1)] = fs.names[tornName("/d/j", next, 1)]
	j, r, err = Open("/d/j", Options{fs: fs2, Quiet: -1})
	if err != nil || r.Torn.Saved != tornName("/d/j", next, 2) || string(fs2.bytes(r.Torn.Saved)) != "other" {
		t.Fatalf("%+v, %v", r.Torn, err)
	}
	closeOK(t, j)
}

// A copy is durable before the tail is cut: no power cut after the opening loses it.
func TestCopiesOfTailsSurvive(t *testing.T) {
	s := makeSample(t, false, 2, 2)
	for seed := range int64(40) {
		fs := onFile(s.data[:len(s.data)-20])
		_, r, err := Open("/d/j", Options{fs: fs, Quiet: -1})
		if err != nil {
			t.Fatal(err)
		}
		tail := bytes.Clone(fs.bytes(r.Torn.Saved))
		fs.powerCut(rand.New(rand.NewSource(seed)))
		if !bytes.Equal(fs.bytes(r.Torn.Saved), tail) || len(tail) == 0 {
			t.Fatalf("seed %d: the copy is lost", seed)
		}
	}
}

// switchFile shows a file that a writer repairs between two reads.
type switchFile struct {
	file
	after file
	reads int
	turn  int
}

func (f *switchFile) now() file {
	if f.reads > f.turn {
		return f.after
	}
	return f.file
}

func (f *switchFile) readAt(p []byte, off int64) (int, error) {
	f.reads++
	return f.now().readAt(p, off)
}

func (f *switchFile) stat() (fileInfo, error) { return f.now().stat() }

// A reader that sees a torn tail and, behind it, what a repair has put there
// meanwhile, must not call it damage.
func TestReaderBesideRepair(t *testing.T) {
	s := makeSample(t, false, 2, 2)
	torn := append(bytes.Clone(s.data), []byte("half a line that a crash left behind, long enough to be longer than what comes")...)
	fs := onFile(torn)
	j, _, err := Open("/d/j", Options{fs: fs, Quiet: -1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(rec(50, "a")); err != nil {
		t.Fatal(err)
	}
	closeOK(t, j)
	repaired := fs.bytes("/d/j")
	old, _ := onFile(append(torn, bytes.Repeat([]byte{'x'}, len(repaired)-len(torn))...)).open("/d/j", 0, 0)
	now, _ := onFile(repaired).open("/d/j", 0, 0)
	f := &switchFile{file: old, after: now, turn: 1}
	sc, err := openScanner(f, "/d/j", Pos{})
	if err != nil {
		t.Fatal(err)
	}
	for {
		e, err := sc.nextLive()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			break
		}
	}
	if sc.end.Off != int64(len(repaired)) {
		t.Errorf("ended at %+v of %d bytes", sc.end, len(repaired))
	}
}

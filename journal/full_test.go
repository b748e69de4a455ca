package journal

import (
	"bytes"
	"errors"
	"strings"
	"syscall"
	"testing"
)

// setRoom leaves n bytes free.
func (m *memFS) setRoom(n int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.room = 1
	m.room = 1 - m.free() + n
}

// A full disk refuses and is not the end: nothing was written, and with room the
// same append goes through.
func TestFullHeals(t *testing.T) {
	fs := newMemFS("/d")
	j := mustCreate(t, "/d/j", Options{fs: fs})
	if _, err := j.Append(rec(1, "a")); err != nil {
		t.Fatal(err)
	}
	before := fs.bytes("/d/j")
	fs.setRoom(1000)
	big := rec(2, strings.Repeat("b", 2*ballast))
	if _, err := j.Append(big); !errors.Is(err, ErrFull) || !errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrPoisoned) {
		t.Fatalf("got %v", err)
	}
	if !j.Full() {
		t.Error("not full after a write that found no room")
	}
	if !bytes.Equal(fs.bytes("/d/j"), before) {
		t.Error("the refused write left something")
	}
	fs.setRoom(4 << 20)
	if pos, err := j.Append(big); err != nil || pos.Seq != 4 {
		t.Fatal(pos, err)
	}
	if j.Full() {
		t.Error("still full with room")
	}
	closeOK(t, j)
}

// When the ballast cannot be topped up the handle is full, yet writes still work
// from it, the closing line too; with room it heals without an append; Close
// gives it back.
func TestBallast(t *testing.T) {
	fs := newMemFS("/d")
	j := mustCreate(t, "/d/j", Options{fs: fs})
	fs.setRoom(ballast + 2000)
	for step := int64(1); !j.Full(); step++ {
		if _, err := j.Append(rec(step, strings.Repeat("a", 1000))); err != nil {
			t.Fatalf("step %d: %v", step, err)
		}
	}
	if n := ballast - len(fs.bytes("/d/j")); n < ballastLow-4000 {
		t.Errorf("full was told with %d bytes of the ballast left", n)
	}
	for step := int64(1000); step < 1080; step++ {
		if _, err := j.Append(rec(step, strings.Repeat("a", 1000))); err != nil {
			t.Fatalf("no append from the ballast: %v", err)
		}
	}
	fs.setRoom(1 << 20)
	j.Full()
	if err := j.Sync(); err != nil {
		t.Fatal(err)
	}
	if j.Full() {
		t.Error("full although there is room again")
	}
	fs.setRoom(0)
	closeOK(t, j)
	if r := fs.names["/d/j"].reserved; r != 0 {
		t.Errorf("%d bytes stay reserved after the end", r)
	}
	if got := string(fs.bytes("/d/j")); !strings.Contains(got, kindClosed) {
		t.Error("no closing line on a full disk")
	}
}

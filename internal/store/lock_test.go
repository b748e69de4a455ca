package store

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"evener/internal/id"
)

// A refused tree names who holds it, also while the holder has not written its
// name yet; a dead holder whose helper still holds the lock is told apart.
func TestLockNamesItsHolder(t *testing.T) {
	h := Home{Sessions: t.TempDir()}
	const s = id.Session("01JE5K8Q0ZAAAAAAAAAAAAAAAA")
	if err := os.Mkdir(h.Dir(s), 0o700); err != nil {
		t.Fatal(err)
	}
	first, err := h.Lock(s, "boot")
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	refused := func() *LockedError {
		t.Helper()
		f, err := h.Lock(s, "boot")
		if f != nil {
			f.Close()
		}
		locked, ok := errors.AsType[*LockedError](err)
		if !ok || locked.Holder.PID != os.Getpid() {
			t.Fatalf("got %v", err)
		}
		return locked
	}
	if got := refused().Error(); !strings.Contains(got, "in use by process") || !strings.Contains(got, "since") {
		t.Error(got)
	}
	if err := first.Truncate(0); err != nil {
		t.Fatal(err)
	}
	if got := refused().Error(); !strings.Contains(got, "in use by process") || strings.Contains(got, "since") {
		t.Error(got)
	}
}

// The kernel is asked by the lock that is held, not by the file.
func TestLockerOfAFreeFile(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "lock")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := locker(f); got != 0 {
		t.Errorf("a free file is held by %d", got)
	}
	if err := flock(f, syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if got := locker(f); got != os.Getpid() {
		t.Errorf("held by %d", got)
	}
}

// Who holds a tree is told without a lock, and nobody is once the lock is free, though
// the file still has the name.
func TestHeld(t *testing.T) {
	h := Home{Sessions: t.TempDir()}
	const s = id.Session("01JE5K8Q0ZAAAAAAAAAAAAAAAA")
	if err := os.Mkdir(h.Dir(s), 0o700); err != nil {
		t.Fatal(err)
	}
	held := func(what, boot string, want bool) {
		t.Helper()
		who, got, err := h.Held(s, boot)
		if err != nil || got != want || want && who.PID != os.Getpid() {
			t.Errorf("%s: %v, %+v, %v", what, got, who, err)
		}
	}
	held("no lock", "boot", false)
	f, err := h.Lock(s, "boot")
	if err != nil {
		t.Fatal(err)
	}
	held("a lock", "boot", true)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	held("a lock that is free", "boot", false)
	held("of another boot", "other", false)
	if g, err := h.Lock(s, "boot"); err != nil {
		t.Errorf("the look took it: %v", err)
	} else {
		g.Close()
	}
}

package joblog

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// On a full disk bytes are dropped and counted, offsets go on, and what is written
// after space returns stands where it belongs.
func TestFullDisk(t *testing.T) {
	dir := smallDisk(t, "1m")
	path := filepath.Join(dir, "jobs", "j.log")
	l := Create(path, 64<<20)
	put(t, l, pattern(0, 300_000))
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 2<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatalf("disk is not full: %v", err)
	}
	n, err := l.Write(pattern(300_000, 900_000))
	if !errors.Is(err, unix.ENOSPC) || int64(n)+l.Dropped() != 600_000 || l.Dropped() == 0 || l.End() != 900_000 {
		t.Fatalf("stored %d dropped %d end %d: %v", n, l.Dropped(), l.End(), err)
	}
	stored := int64(300_000 + n)
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	put(t, l, append([]byte("\nneedle\n"), pattern(900_008, 910_000)...))
	in, err := Stat(path)
	if err != nil || in != (Info{0, 910_000}) {
		t.Fatalf("%+v %v", in, err)
	}
	c, err := Window(path, 0, int(stored))
	if err != nil || !bytes.Equal(c.Data, pattern(0, stored)) {
		t.Fatal("bytes before the gap differ", err)
	}
	c, err = Window(path, 900_008, 20_000)
	if err != nil || !bytes.Equal(c.Data, pattern(900_008, 910_000)) {
		t.Fatal("bytes after the gap differ", err)
	}
	if f := search1(t, path, "^needle$", 0); f.Matches != 1 || f.Lines[0].Offset != 900_001 {
		t.Fatalf("%+v", f)
	}
	// Dropped at the very end: the size tells of them once the log is closed.
	if err := os.WriteFile(ballast, make([]byte, 2<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	if _, err := l.Write(make([]byte, 500_000)); !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if in, err := Stat(path); err != nil || in.End != 1_410_000 || in.End != l.End() {
		t.Fatalf("%+v %v", in, err)
	}
}

// A log that could not even be created counts on and begins when space returns.
func TestFullDiskFromTheStart(t *testing.T) {
	dir := smallDisk(t, "256k")
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "j.log")
	l := Create(path, 0)
	if n, err := l.Write(make([]byte, 10_000)); err == nil || n != 0 || l.Start() != 10_000 {
		t.Fatal(n, err, l.Start())
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	put(t, l, pattern(10_000, 20_000))
	in, err := Stat(path)
	if err != nil || in.Start != l.Start() || in.Start > 10_000 || in.Start < 10_000-minBlock || in.End != 20_000 {
		t.Fatalf("%+v %d %v", in, l.Start(), err)
	}
	if c, err := Window(path, 10_000, 20_000); err != nil || !bytes.Equal(c.Data, pattern(10_000, 20_000)) {
		t.Fatal(err)
	}
}

// smallDisk mounts a file system of the given size.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("cannot mount a small file system (needs root): %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

package joblog

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// at is the byte that tests write at a lifetime offset: never zero, and telling.
func byteAt(off int64) byte { return byte(off%251) + 1 }

func pattern(from, to int64) []byte {
	p := make([]byte, to-from)
	for i := range p {
		p[i] = byteAt(from + int64(i))
	}
	return p
}

// folders are the file systems at hand: the one of the test, and a tmpfs.
func folders(t *testing.T) []string {
	dirs := []string{t.TempDir()}
	if d, err := os.MkdirTemp("/dev/shm", "joblog"); err == nil {
		t.Cleanup(func() { os.RemoveAll(d) })
		dirs = append(dirs, d)
	}
	return dirs
}

func put(t testing.TB, l *Log, p []byte) {
	t.Helper()
	if n, err := l.Write(p); err != nil || n != len(p) {
		t.Fatalf("write %d: %d, %v", len(p), n, err)
	}
}

// After every write, as after a crash there, the file alone tells Start and End
// exactly, the newest bytes are kept within the cap, and every retained byte is
// the one that was written at its lifetime offset.
//
// clause: JC-482 JC-515 JC-517
func TestOffsetsAfterAnyWrite(t *testing.T) {
	for _, dir := range folders(t) {
		for _, compact := range []bool{false, true} {
			const limit = 256 << 10
			path := filepath.Join(dir, "jobs", "j"+map[bool]string{true: "c"}[compact]+".log")
			l := Create(path, limit)
			l.compact = compact
			most := int64(limit)
			if compact {
				most = 2 * limit
			}
			rnd := rand.New(rand.NewPCG(1, 2))
			for end := int64(0); end < 20*limit; {
				n := rnd.Int64N(40000)
				if rnd.IntN(30) == 0 {
					n = rnd.Int64N(2 * limit)
				}
				put(t, l, pattern(end, end+n))
				end += n
				if end == 0 {
					continue
				}
				in, err := Stat(path)
				if err != nil {
					t.Fatal(err)
				}
				if in.End != end || in.End != l.End() || in.Start != l.Start() {
					t.Fatalf("%s compact=%v: file says %+v, written %d, log says [%d,%d)", dir, compact, in, end, l.Start(), l.End())
				}
				if kept := in.End - in.Start; kept > most || end > limit && kept < limit*3/4-MinCap {
					t.Fatalf("kept %d of cap %d", kept, limit)
				}
				c, err := Window(path, in.Start, int(in.End-in.Start))
				if err != nil || !bytes.Equal(c.Data, pattern(in.Start, in.End)) {
					t.Fatalf("retained bytes differ in [%d,%d): %v", in.Start, in.End, err)
				}
				if used := diskUse(t, path); used > most+64<<10 {
					t.Fatalf("%d bytes on disk for cap %d", used, limit)
				}
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			if err := Remove(path); err != nil {
				t.Fatal(err)
			}
			if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 {
				t.Fatalf("left behind: %v", left)
			}
		}
	}
}

func diskUse(t *testing.T, path string) int64 {
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return st.Sys().(*syscall.Stat_t).Blocks * 512
}

func TestNoFileBeforeTheFirstByte(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs", "j.log")
	l := Create(path, 0)
	if err := errors.Join(l.Sync(), l.Close(), Remove(path)); err != nil {
		t.Fatal(err)
	}
	if _, err := Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	l = Create(path, 0)
	put(t, l, []byte("x"))
	st, err := os.Stat(path)
	if err != nil || st.Mode().Perm() != 0o600 {
		t.Fatalf("%v %v", st.Mode(), err)
	}
	if err := errors.Join(l.Sync(), l.Close()); err != nil {
		t.Fatal(err)
	}
}

// A crash between any two steps of a compaction leaves one log with right offsets.
func TestCompactionCutShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.log")
	l := Create(path, MinCap)
	l.compact = true
	put(t, l, pattern(0, 2*MinCap))
	before, err := Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	// The new file is there, its link is not.
	if err := os.WriteFile(path+"@40000", pattern(40000, 2*MinCap), 0o600); err != nil {
		t.Fatal(err)
	}
	if in, err := Stat(path); err != nil || in != before {
		t.Fatalf("%+v %v", in, err)
	}
	// The link is there, the old file is not removed yet.
	if err := relink(path, path+"@40000"); err != nil {
		t.Fatal(err)
	}
	c, err := Window(path, 40000, 1<<20)
	if err != nil || c.Start != 40000 || c.End != 2*MinCap || !bytes.Equal(c.Data, pattern(40000, 2*MinCap)) {
		t.Fatalf("%+v %v", c.Info, err)
	}
	if err := os.WriteFile(path+"@17", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Remove(path); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 0 {
		t.Fatalf("left behind: %v", left)
	}
}

func TestForeignLinkIsRefused(t *testing.T) {
	dir := t.TempDir()
	for i, target := range []string{"/etc/passwd", "j.log@-1", "j.log@07", "j.log@1/../../x", "other@3"} {
		path := filepath.Join(dir, "j.log")
		os.Remove(path)
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		if _, err := Window(path, 0, 10); err == nil || !strings.Contains(err.Error(), "not one of ours") {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// A page before the retained start is an error of its own kind, and so is one
// past the end; the end itself is an empty page.
//
// clause: JC-355
func TestReadsOutsideWhatIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.log")
	l := Create(path, MinCap)
	put(t, l, pattern(0, 100_000))
	start, end := l.Start(), l.End()
	if start == 0 {
		t.Fatal("nothing was evicted")
	}
	var gone *EvictedError
	if _, err := Window(path, start-1, 10); !errors.As(err, &gone) || gone.Start != start {
		t.Fatalf("%v", err)
	}
	var past *PastEndError
	if _, err := Window(path, end+1, 10); !errors.As(err, &past) || past.End != end {
		t.Fatalf("%v", err)
	}
	if c, err := Window(path, end, 10); err != nil || len(c.Data) != 0 || c.Next != end {
		t.Fatalf("%+v %v", c, err)
	}
	if c, err := Window(path, end-4, 10); err != nil || !bytes.Equal(c.Data, pattern(end-4, end)) || c.Next != end {
		t.Fatalf("%+v %v", c, err)
	}
	if c, err := Tail(path, 1000); err != nil || !bytes.Equal(c.Data, pattern(end-1000, end)) {
		t.Fatalf("%+v %v", c.Info, err)
	}
	if c, err := Tail(path, 1<<30); err != nil || !bytes.Equal(c.Data, pattern(start, end)) {
		t.Fatalf("%+v %v", c.Info, err)
	}
}

// A reader beside a fast writer sees the written bytes or an eviction, never the
// zero bytes of a hole.
func TestReadersWhileWriting(t *testing.T) {
	for _, compact := range []bool{false, true} {
		path := filepath.Join(t.TempDir(), "j.log")
		l := Create(path, MinCap)
		l.compact = compact
		put(t, l, pattern(0, 10))
		done := make(chan struct{})
		go func() {
			defer close(done)
			for l.End() < 8<<20 {
				if _, err := l.Write(pattern(l.End(), l.End()+3000)); err != nil {
					t.Error(err)
					return
				}
			}
		}()
		reads := 0
		for running := true; running; {
			select {
			case <-done:
				running = false
			default:
			}
			c, err := Tail(path, 20000)
			if err == nil {
				c, err = Window(path, max(c.Start, c.End-MinCap), 20000)
			}
			if isEvicted(err) {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(c.Data, pattern(c.Offset, c.Next)) {
				t.Fatalf("wrong bytes in [%d,%d)", c.Offset, c.Next)
			}
			reads++
		}
		if reads == 0 {
			t.Fatal("no read succeeded")
		}
	}
}

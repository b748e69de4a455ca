package joblog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
)

// followAll reads to the end and checks that every byte is the one written at its
// offset, and that what is missing was named. It gives the bytes read and named.
func followAll(f *Follower, buf []byte, between func()) (read, gone int64, err error) {
	for {
		at := f.Offset()
		off, n, err := f.Read(context.Background(), buf)
		lost, evicted := errors.AsType[*EvictedError](err)
		switch {
		case errors.Is(err, io.EOF):
			return read, gone, nil
		case evicted && lost.Offset == at && lost.Start > at && f.Offset() == lost.Start:
			gone += lost.Start - at
		case err != nil:
			return read, gone, err
		case n == 0 || off != at || f.Offset() != off+int64(n):
			return read, gone, fmt.Errorf("%d bytes at %d, asked for %d, next %d", n, off, at, f.Offset())
		case !bytes.Equal(buf[:n], pattern(off, off+int64(n))):
			return read, gone, fmt.Errorf("wrong bytes in [%d,%d)", off, off+int64(n))
		}
		read += int64(n)
		between()
	}
}

// Thirty-two followers of one log, quick and slow, from its first byte or from
// the middle, get every byte that was kept once, in order, and are told what was not.
func TestFollow(t *testing.T) {
	for _, c := range []struct {
		name    string
		limit   int64
		compact bool
		total   int64
	}{{"all kept", 64 << 20, false, 4 << 20}, {"evicting", 256 << 10, false, 8 << 20}, {"compacting", 256 << 10, true, 8 << 20}} {
		t.Run(c.name, func(t *testing.T) {
			l := Create(filepath.Join(t.TempDir(), "j.log"), c.limit)
			l.compact = c.compact
			var work sync.WaitGroup
			for i := range 32 {
				from := int64(0)
				if i%4 == 1 {
					from = c.total / 2 // which is not written yet
				}
				f := l.Follow(from)
				between := func() {}
				if i%3 == 0 {
					between = runtime.Gosched
				}
				work.Go(func() {
					defer f.Close()
					read, gone, err := followAll(f, make([]byte, 1<<(6+i%12)), between)
					if err != nil || read+gone != c.total-from || c.limit > c.total && gone > 0 {
						t.Errorf("follower %d from %d: %d read, %d gone: %v", i, from, read, gone, err)
					}
				})
			}
			rnd := rand.New(rand.NewPCG(3, 4))
			for l.End() < c.total {
				put(t, l, pattern(l.End(), min(c.total, l.End()+1+rnd.Int64N(20_000))))
			}
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			work.Wait()
			if list := l.follow.list.Load(); list != nil {
				t.Errorf("%d followers are left", len(*list))
			}
		})
	}
}

// A follower that waits is woken by a write, by the end and by its context, and
// by nothing else; one that is behind is told once.
func TestFollowWaits(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.log")
	synctest.Test(t, func(t *testing.T) {
		l := Create(path, 0)
		f := l.Follow(0)
		defer f.Close()
		type result struct {
			off int64
			n   int
			err error
		}
		buf, got := make([]byte, 100), make(chan result, 1)
		ctx, cancel := context.WithCancel(t.Context())
		read := func() {
			go func() {
				off, n, err := f.Read(ctx, buf)
				got <- result{off, n, err}
			}()
			synctest.Wait()
		}
		expect := func(what string, want result) {
			t.Helper()
			synctest.Wait()
			select {
			case r := <-got:
				if r.off != want.off || r.n != want.n || !errors.Is(r.err, want.err) {
					t.Errorf("%s: got %+v, want %+v", what, r, want)
				}
			default:
				t.Errorf("%s: still waits", what)
			}
		}
		read()
		if len(got) != 0 {
			t.Fatal("an empty log was read")
		}
		put(t, l, pattern(0, 10))
		expect("a write", result{0, 10, nil})
		for range 5 {
			put(t, l, pattern(l.End(), l.End()+10))
		}
		if len(f.wake) != 1 {
			t.Errorf("told %d times", len(f.wake))
		}
		read()
		expect("five writes", result{10, 50, nil})
		read() // the word of those writes is old
		if len(got) != 0 {
			t.Fatal("read again what was read")
		}
		cancel()
		expect("a cancelled wait", result{60, 0, context.Canceled})
		ctx = t.Context()
		read()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		expect("the end", result{60, 0, io.EOF})
		late := l.Follow(50)
		defer late.Close()
		if off, n, err := late.Read(ctx, buf); off != 50 || n != 10 || err != nil {
			t.Errorf("a late follower: %d at %d, %v", n, off, err)
		}
	})
}

// The end of a job without output is an end too; a log whose file is gone is an error.
func TestFollowNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j.log")
	l := Create(path, 0)
	f := l.Follow(0)
	defer f.Close()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Read(t.Context(), make([]byte, 10)); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	l = Create(path, 0)
	put(t, l, pattern(0, 10))
	f = l.Follow(0)
	defer f.Close()
	if err := Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Read(t.Context(), make([]byte, 10)); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// What a write costs its writer: with nobody there, with followers that never
// look, and with followers that read along.
func BenchmarkWriteFollowed(b *testing.B) {
	for _, c := range []struct {
		name  string
		count int
		reads bool
	}{{"none", 0, false}, {"32 idle", 32, false}, {"1 reading", 1, true}, {"32 reading", 32, true}} {
		b.Run(c.name, func(b *testing.B) {
			l := Create(filepath.Join(b.TempDir(), "j.log"), 8<<20)
			var work sync.WaitGroup
			for range c.count {
				f := l.Follow(0)
				if !c.reads {
					defer f.Close()
					continue
				}
				work.Go(func() {
					defer f.Close()
					for buf := make([]byte, 64<<10); ; {
						if _, _, err := f.Read(context.Background(), buf); errors.Is(err, io.EOF) {
							return
						}
					}
				})
			}
			p := pattern(0, 4096)
			b.SetBytes(int64(len(p)))
			b.ReportAllocs()
			for b.Loop() {
				put(b, l, p)
			}
			if err := l.Close(); err != nil {
				b.Fatal(err)
			}
			work.Wait()
		})
	}
}

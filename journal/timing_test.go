package journal

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A second of quiet after an append is marked, once.
func TestQuietIsMarked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := newMemFS("/d")
		j := mustCreate(t, "/d/j", Options{fs: fs, Quiet: time.Second})
		marks := func() int { return strings.Count(string(fs.bytes("/d/j")), kindMarked) }
		time.Sleep(5 * time.Second)
		if marks() != 0 {
			t.Error("marked without an append")
		}
		for step := int64(1); step < 4; step++ {
			time.Sleep(900 * time.Millisecond)
			if _, err := j.Append(rec(step, "a")); err != nil {
				t.Fatal(err)
			}
		}
		if marks() != 0 {
			t.Error("marked while appends go on")
		}
		time.Sleep(10 * time.Second)
		if marks() != 1 {
			t.Errorf("%d marks after a quiet time, want 1", marks())
		}
		closeOK(t, j)
	})
}

// More than 8 MiB waiting makes the next append wait, and it then goes through.
func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		fs := &gateFS{memFS: newMemFS("/d")}
		j := mustCreate(t, "/d/j", Options{fs: fs})
		fs.gate = gate
		queued := 0
		done := make(chan error, 1)
		go func() {
			var last *Ticket
			for step := int64(1); step <= 12; step++ {
				last = j.AppendAsync(rec(step, strings.Repeat("a", 1<<20)))
				queued++
			}
			_, err := last.Wait()
			done <- err
		}()
		synctest.Wait()
		if queued < 6 || queued > 8 {
			t.Errorf("%d appends of 1 MiB were queued, want about 8 MiB", queued)
		}
		close(gate)
		if err := <-done; err != nil {
			t.Error(err)
		}
		closeOK(t, j)
	})
}

type gateFS struct {
	*memFS
	gate chan struct{}
}

type gateFile struct {
	file
	fs *gateFS
}

func (f *gateFS) open(path string, flag int, perm uint32) (file, error) {
	got, err := f.memFS.open(path, flag, perm)
	return gateFile{got, f}, err
}

func (f gateFile) sync() error {
	if f.fs.gate != nil {
		<-f.fs.gate
	}
	return f.file.sync()
}

// A wall clock that steps back is told, also across a restart.
func TestClockStepsBack(t *testing.T) {
	fs := newMemFS("/d")
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	o := Options{fs: fs, Quiet: -1, Now: func() time.Time { return now }}
	j := mustCreate(t, "/d/j", o)
	step := int64(0)
	add := func(d time.Duration) {
		now = now.Add(d)
		step++
		if _, err := j.Append(rec(step, "a")); err != nil {
			t.Fatal(err)
		}
	}
	clocks := func() int { return strings.Count(string(fs.bytes("/d/j")), kindClock) }
	add(0)
	add(-900 * time.Millisecond)
	if clocks() != 0 {
		t.Error("less than a second was told")
	}
	add(-time.Minute)
	if clocks() != 1 {
		t.Error("a minute was not told")
	}
	add(time.Second)
	closeOK(t, j)
	now = now.Add(-time.Hour)
	var err error
	if j, _, err = Open("/d/j", o); err != nil {
		t.Fatal(err)
	}
	add(0)
	closeOK(t, j)
	if clocks() != 2 {
		t.Errorf("an hour across a restart was not told:\n%s", fs.bytes("/d/j"))
	}
}

// The closing hash covers a step of the clock that is told right before it.
func TestClockStepsBackAtTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	o := Options{Quiet: -1, Now: func() time.Time { return now }}
	j := mustCreate(t, path, o)
	for step := range int64(2) {
		if _, err := j.Append(rec(step+1, "a")); err != nil {
			t.Fatal(err)
		}
		now = now.Add(-time.Minute)
		closeOK(t, j)
		r, err := Verify(path)
		if err != nil || r.Damage != nil || !r.Closed || int64(len(r.Closings)) != step+1 {
			t.Fatalf("%+v %v", r, err)
		}
		if j, _, err = Open(path, o); err != nil {
			t.Fatal(err)
		}
	}
	closeOK(t, j)
}

package journal

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Whoever follows a handle sees each durable line once, in order, from anywhere,
// until the handle is closed.
func TestFollow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j := mustCreate(t, path, Options{})
	var wg sync.WaitGroup
	for _, from := range []Pos{{}, {Seq: 2}, {Seq: 1, Off: j.Durable().Off}} {
		wg.Go(func() {
			want := from.Seq
			for e, err := range j.Follow(context.Background(), from) {
				want++
				if err != nil || e.Seq != want || e.End > j.Durable().Off {
					t.Errorf("seq %d, want %d: %v", e.Seq, want, err)
					return
				}
			}
			if want != 203 {
				t.Errorf("ended at %d", want)
			}
		})
	}
	for step := range int64(200) {
		j.AppendAsync(rec(step+1, "a"))
	}
	closeOK(t, j)
	wg.Wait()
}

func TestFollowEnds(t *testing.T) {
	fs := &failNext{memFS: newMemFS("/d")}
	j := mustCreate(t, "/d/j", Options{fs: fs})
	if _, err := j.Append(rec(1, "a")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for e, err := range j.Follow(ctx, Pos{}) {
		if e.Seq == 3 {
			cancel()
		}
		if e.Seq == 0 && !errors.Is(err, context.Canceled) {
			t.Errorf("a done context gave %v", err)
		}
	}
	fs.call, fs.how = "sync", faults[0]
	if _, err := j.Append(rec(2, "b")); err == nil {
		t.Fatal("no failure")
	}
	var last error
	for _, err := range j.Follow(context.Background(), Pos{}) {
		last = err
	}
	if !errors.Is(last, ErrPoisoned) {
		t.Errorf("a failed handle gave %v", last)
	}
	j.Close()
}

// rawAppend adds bytes as another process would.
func rawAppend(t *testing.T, path string, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(b); err != nil {
		t.Fatal(err)
	}
}

// followed starts to follow a file and returns what it yields.
func followed(t *testing.T, path string, o FollowOptions) (<-chan int64, <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	seqs, end := make(chan int64), make(chan error, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		for e, err := range FollowFile(ctx, path, Pos{}, o) {
			if err != nil {
				end <- err
				return
			}
			select {
			case seqs <- e.Seq:
			case <-ctx.Done():
				return
			}
		}
	})
	t.Cleanup(func() { cancel(); wg.Wait() })
	return seqs, end
}

func expect(t *testing.T, seqs <-chan int64, end <-chan error, from, to int64) {
	t.Helper()
	for want := from; want <= to; want++ {
		select {
		case got := <-seqs:
			if got != want {
				t.Fatalf("got seq %d, want %d", got, want)
			}
		case err := <-end:
			t.Fatalf("ended before seq %d: %v", want, err)
		}
	}
}

// A file is followed over writes that come in pieces; what is not a whole line is not there yet.
func TestFollowFile(t *testing.T) {
	s := makeSample(t, true, 2, 3, 1)
	starts := lineStarts(s.data)
	path := onDisk(t, s.data[:starts[2]])
	seqs, end := followed(t, path, FollowOptions{})
	expect(t, seqs, end, 1, 2)
	rawAppend(t, path, s.data[starts[2]:starts[3]+9])
	expect(t, seqs, end, 3, 3)
	rawAppend(t, path, s.data[starts[3]+9:])
	expect(t, seqs, end, 4, int64(len(starts)))
}

// With Durable the lines of the last write wait for a line of a later one.
func TestFollowFileDurable(t *testing.T) {
	s := makeSample(t, true, 2, 3, 1) // writes: 1, 2-4, 5-7, 8, 9
	starts := lineStarts(s.data)
	path := onDisk(t, s.data[:starts[6]])
	seqs, end := followed(t, path, FollowOptions{Durable: true})
	expect(t, seqs, end, 1, 4)
	rawAppend(t, path, s.data[starts[6]:starts[7]])
	rawAppend(t, path, s.data[starts[7]:starts[8]])
	expect(t, seqs, end, 5, 7)
	rawAppend(t, path, s.data[starts[8]:])
	expect(t, seqs, end, 8, 8)
	select {
	case seq := <-seqs:
		t.Errorf("seq %d was shown and nothing proves it", seq)
	default:
	}
}

// A file that is cut behind its reader, cut and grown again, replaced or removed
// ends the following; so does damage, and a torn tail does not.
func TestFollowFileTruncated(t *testing.T) {
	s := makeSample(t, true, 2, 3, 1)
	other := makeSample(t, true, 2, 3, 4)
	starts := lineStarts(s.data)
	write := func(b []byte) func(string) error {
		return func(path string) error { return os.WriteFile(path, b, 0o600) }
	}
	tests := map[string]func(path string) error{
		"cut": func(path string) error { return os.Truncate(path, starts[3]) },
		// One write over the old bytes, so that the file is never short.
		"other bytes":  write(append(bytes.Clone(s.data[:starts[4]]), other.data...)),
		"removed":      os.Remove,
		"replaced":     func(path string) error { return errors.Join(write(s.data)(path+"2"), os.Rename(path+"2", path)) },
		"renamed away": func(path string) error { return os.Rename(path, path+"3") },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			path := onDisk(t, s.data)
			seqs, end := followed(t, path, FollowOptions{})
			expect(t, seqs, end, 1, int64(len(starts)))
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			if err := <-end; !errors.Is(err, ErrTruncated) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("damage", func(t *testing.T) {
		path := onDisk(t, s.data[:starts[4]])
		seqs, end := followed(t, path, FollowOptions{})
		expect(t, seqs, end, 1, 4)
		rawAppend(t, path, []byte("garbage\n")) // may be a torn tail
		rawAppend(t, path, s.data[starts[len(starts)-1]:])
		if _, ok := errors.AsType[*CorruptError](<-end); !ok {
			t.Error("damage was not told")
		}
	})
}

// A repair of a torn tail while somebody follows: the garbage is never shown, the
// lines that take its place are.
func TestFollowFileOverRepair(t *testing.T) {
	s := makeSample(t, false, 2, 3)
	starts := lineStarts(s.data)
	path := onDisk(t, append(bytes.Clone(s.data[:starts[5]]), []byte("torn\n{\"seq\":")...))
	seqs, end := followed(t, path, FollowOptions{})
	expect(t, seqs, end, 1, 5)
	j, r, err := Open(path, Options{Quiet: -1})
	if err != nil || r.Torn == nil {
		t.Fatal(r, err)
	}
	if _, err := j.Append(rec(99, "a")); err != nil {
		t.Fatal(err)
	}
	expect(t, seqs, end, 6, 8) // recovered, opened, the record
	closeOK(t, j)
	expect(t, seqs, end, 9, 9)
}

// Where the system gives no watch, the file is looked at every so often.
func TestFollowFileWithoutWatch(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	if err := pause(ctx); err != nil {
		t.Error(err)
	}
	cancel()
	if err := NewWatch().Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := NewWatch().Close(); err != nil {
		t.Error(err)
	}
}

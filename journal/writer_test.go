package journal

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func mustCreate(t *testing.T, path string, o Options) *Journal {
	t.Helper()
	if o.Quiet == 0 {
		o.Quiet = -1
	}
	j, err := Create(path, o)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func closeOK(t *testing.T, j *Journal) {
	t.Helper()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// A creation costs one file sync, one folder sync and one more per new folder; a
// batch one write and one sync.
func TestSyncsAreCounted(t *testing.T) {
	fs := &countFS{}
	j := mustCreate(t, filepath.Join(t.TempDir(), "new", "newer", "j"), Options{fs: fs})
	if f, d := fs.syncs.Load(), fs.dirSyncs.Load(); f != 1 || d != 3 {
		t.Errorf("creation below two new folders took %d file syncs and %d folder syncs, want 1 and 3", f, d)
	}
	fs.dirSyncs.Store(0)
	for i := range int64(5) {
		w, s := fs.writes.Load(), fs.syncs.Load()
		if _, err := j.Append(rec(3*i+1, "a"), rec(3*i+2, "b"), rec(3*i+3, "c")); err != nil {
			t.Fatal(err)
		}
		if w, s = fs.writes.Load()-w, fs.syncs.Load()-s; w != 1 || s != 1 {
			t.Errorf("append %d took %d writes and %d syncs, want 1 and 1", i, w, s)
		}
	}
	if d := fs.dirSyncs.Load(); d != 0 {
		t.Errorf("%d folder syncs for appends", d)
	}
	closeOK(t, j)
}

// The records of one call are one write and say so.
func TestOneCallIsOneWrite(t *testing.T) {
	fs := newMemFS("/d")
	j := mustCreate(t, "/d/j", Options{fs: fs})
	for step := int64(1); step < 9; step += 2 {
		if _, err := j.AppendAsync(rec(step, "a"), rec(step+1, "b")).Wait(); err != nil {
			t.Fatal(err)
		}
	}
	closeOK(t, j)
	var got []string
	for e, err := range readMem(fs, "/d/j") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(e.Seq, ":", e.Batch))
	}
	if want := "1:1 2:2 3:2 4:2 5:5 6:5 7:7 8:7 9:9 10:9 11:11"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// A failed sync, or a write that was not the disk being full, ends the handle.
func TestPoison(t *testing.T) {
	tests := []struct {
		fails string
		how   fault
	}{{"sync", faults[0]}, {"sync", faults[1]}, {"write", faults[0]}, {"fstat", faults[0]}, {"write", faults[4]}}
	for _, tt := range tests {
		t.Run(tt.fails+"/"+tt.how.name, func(t *testing.T) {
			fs := &failNext{memFS: newMemFS("/d")}
			j := mustCreate(t, "/d/j", Options{fs: fs})
			if _, err := j.Append(rec(1, "a")); err != nil {
				t.Fatal(err)
			}
			durable := j.Durable()
			fs.call, fs.how = tt.fails, tt.how
			_, err := j.Append(rec(2, "b"))
			if !errors.Is(err, ErrPoisoned) || !tt.how.lie && !errors.Is(err, tt.how.errno) {
				t.Fatalf("got %v", err)
			}
			calls := fs.calls
			for _, err := range []error{err2(j.Append(rec(3, "c"))), err2(j.AppendAsync(rec(4, "d")).Wait()), j.Sync()} {
				if !errors.Is(err, ErrPoisoned) {
					t.Errorf("a poisoned handle answered %v", err)
				}
			}
			if j.Durable() != durable {
				t.Error("the durable end moved")
			}
			if err := j.Close(); !errors.Is(err, ErrPoisoned) {
				t.Errorf("close gave %v", err)
			}
			if fs.calls != calls {
				t.Errorf("the handle touched the file %d times after it failed", fs.calls-calls)
			}
			if got := string(fs.bytes("/d/j")); strings.Contains(got, `"c"`) || strings.Contains(got, kindClosed) {
				t.Error("something was written after the failure")
			}
		})
	}
}

func err2(_ Pos, err error) error { return err }

// failNext fails the next call of one name, and counts calls on files.
type failNext struct {
	*memFS
	call  string
	how   fault
	calls int
}

type failFile struct {
	file
	fs *failNext
}

func (f *failNext) open(path string, flag int, perm uint32) (file, error) {
	got, err := f.memFS.open(path, flag, perm)
	return failFile{got, f}, err
}

func (f *failNext) due(call string) bool {
	f.calls++
	if f.call != call {
		return false
	}
	f.call = ""
	return true
}

func (f failFile) write(p []byte) (int, error) {
	if f.fs.due("write") {
		if f.fs.how.lie {
			return len(p), nil
		}
		return 0, f.fs.how.errno
	}
	return f.file.write(p)
}

func (f failFile) sync() error {
	if f.fs.due("sync") {
		return f.fs.how.errno
	}
	return f.file.sync()
}

func (f failFile) stat() (fileInfo, error) {
	if f.fs.due("fstat") {
		return fileInfo{}, f.fs.how.errno
	}
	return f.file.stat()
}

func (f failFile) truncate(n int64) error {
	f.fs.calls++
	return f.file.truncate(n)
}

func TestTwoWritersAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "j")
	j := mustCreate(t, path, Options{})
	if _, _, err := Open(path, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("a second opening gave %v", err)
	}
	if _, err := Create(path, Options{}); err == nil {
		t.Error("created over an open journal")
	}
	closeOK(t, j)
	k, _, err := Open(path, Options{Quiet: -1})
	if err != nil {
		t.Fatal(err)
	}
	closeOK(t, k)
}

// What cannot be a line is refused before anything is queued, and costs nothing.
func TestRefusals(t *testing.T) {
	fs := newMemFS("/d")
	j := mustCreate(t, "/d/j", Options{fs: fs})
	ok := rec(1, "a")
	with := func(change func(*Record)) Record {
		r := rec(1, "a")
		change(&r)
		return r
	}
	data := func(s string) Record { return with(func(r *Record) { r.Events[0].Data = []byte(s) }) }
	tests := []struct {
		name string
		recs []Record
		want error
	}{
		{"none", nil, ErrInvalid},
		{"step 0", []Record{with(func(r *Record) { r.Step = 0 })}, ErrInvalid},
		{"step above 2^53", []Record{with(func(r *Record) { r.Step = 1 << 53 })}, ErrInvalid},
		{"year 10000", []Record{with(func(r *Record) { r.At = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) })}, ErrInvalid},
		{"no cause", []Record{with(func(r *Record) { r.Cause = nil })}, ErrInvalid},
		{"cause not an object", []Record{with(func(r *Record) { r.Cause = []byte(`[1]`) })}, ErrInvalid},
		{"no events", []Record{with(func(r *Record) { r.Events = nil })}, ErrInvalid},
		{"own kind", []Record{with(func(r *Record) { r.Events[0].Kind = kindClosed })}, ErrInvalid},
		{"kind with a quote", []Record{with(func(r *Record) { r.Events[0].Kind = `a"b` })}, ErrInvalid},
		{"spaces", []Record{data(`{"a": 1}`)}, ErrInvalid},
		{"newline", []Record{data("{\"a\":\"\n\"}")}, ErrInvalid},
		{"bad UTF-8", []Record{data("\"\xff\"")}, ErrInvalid},
		{"two values", []Record{data(`1,2`)}, ErrInvalid},
		{"too deep", []Record{data(strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1))}, ErrInvalid},
		{"too long", []Record{data(`"` + strings.Repeat("a", MaxLine) + `"`)}, ErrTooLong},
		{"the last of two", []Record{ok, data(`x`)}, ErrInvalid},
	}
	before := fs.bytes("/d/j")
	for _, tt := range tests {
		if _, err := j.Append(tt.recs...); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", tt.name, err, tt.want)
		}
	}
	if !bytes.Equal(before, fs.bytes("/d/j")) {
		t.Error("a refused record left something")
	}
	longest := MaxLine - headMax - sealLen - 1 - len(string(appendBody(nil, &ok, ok.At))) + 1
	if _, err := j.Append(rec(2, strings.Repeat("a", longest))); err != nil {
		t.Errorf("the longest line: %v", err)
	}
	closeOK(t, j)
	if r, _, err := verdict(fs.bytes("/d/j")); err != nil || !r.Closed {
		t.Errorf("the longest line does not read back: %v", err)
	}
}

// The name may come to mean another file between opening and locking; the handle
// is for the one that the name means.
func TestReplacedBeforeTheLock(t *testing.T) {
	fs := newMemFS("/d")
	old := mustCreate(t, "/d/j", Options{fs: fs})
	closeOK(t, old)
	repaired := mustCreate(t, "/d/k", Options{fs: fs})
	closeOK(t, repaired)
	j, r, err := Open("/d/j", Options{fs: &swapFS{memFS: fs}, Quiet: -1})
	if err != nil || r.Header.FileID != repaired.Header().FileID {
		t.Fatalf("%+v, %v", r, err)
	}
	closeOK(t, j)
}

// swapFS puts another file in place while the first one is being locked.
type swapFS struct {
	*memFS
	done bool
}

type swapFile struct {
	file
	fs *swapFS
}

func (f *swapFS) open(path string, flag int, perm uint32) (file, error) {
	got, err := f.memFS.open(path, flag, perm)
	return swapFile{got, f}, err
}

func (f swapFile) lock() error {
	if !f.fs.done {
		f.fs.done = true
		if err := f.fs.rename("/d/k", "/d/j"); err != nil {
			return err
		}
	}
	return f.file.lock()
}

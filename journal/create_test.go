package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A creation leaves one file, private to its owner, and never takes the place of another.
func TestCreate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "s", "j")
	j := mustCreate(t, path, Options{Owner: []byte(`{"session":"S"}`)})
	if o := string(j.Header().Owner); o != `{"session":"S"}` || len(j.Header().FileID) != 32 || j.Path() != path {
		t.Errorf("header %+v", j.Header())
	}
	closeOK(t, j)
	if _, err := Create(path, Options{}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a journal: %v", err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	for p, want := range map[string]fs.FileMode{path: 0o600, filepath.Dir(path): fs.ModeDir | 0o700} {
		if st, err := os.Stat(p); err != nil || st.Mode() != want {
			t.Errorf("%s: %v, %v", p, st.Mode(), err)
		}
	}
	_, r, err := Open(path, Options{Quiet: -1})
	if err != nil || string(r.Header.Owner) != `{"session":"S"}` || r.Last.Seq != 1 || r.Closed {
		t.Errorf("%+v, %v", r, err)
	}
	for name, o := range map[string]Options{"not JSON": {Owner: []byte(`{a}`)}, "too long": {Owner: []byte(`"` + strings.Repeat("a", MaxLine) + `"`)}} {
		if _, err := Create(path+name, o); !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrTooLong) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Create(path+"2", Options{}, Record{}); !errors.Is(err, ErrInvalid) {
		t.Errorf("born with nonsense: %v", err)
	}
}

// Records that a journal is born with keep their step and time, and stand in one
// write with the header: there is no journal without them.
func TestBornWithRecords(t *testing.T) {
	m := newMemFS("/d")
	old := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	a, b := rec(7, "a"), rec(9, "b")
	a.At, b.At = old, old.Add(time.Hour)
	j, err := Create("/d/j", Options{fs: m, Quiet: -1, Version: "v2"}, a, b)
	if err != nil {
		t.Fatal(err)
	}
	if d := j.Durable(); d.Seq != 4 || d.Off != int64(len(m.bytes("/d/j"))) {
		t.Errorf("durable %+v", d)
	}
	if _, err := j.Append(rec(10, "c")); err != nil {
		t.Fatal(err)
	}
	closeOK(t, j)
	var got []string
	for e, err := range readMem(m, "/d/j") {
		if err != nil {
			t.Fatal(err)
		}
		if e.Step == 7 && !e.At().Equal(old) || e.Seq <= 4 && e.Batch != 1 {
			t.Errorf("%s", e.Line)
		}
		got = append(got, kindList(e)...)
	}
	if want := "journal.created journal.opened test.said test.said test.said journal.closed"; strings.Join(got, " ") != want {
		t.Errorf("got %v", got)
	}
}

// Where the file system has no links, a rename must do, and still not over a file.
func TestCreateWithoutLinks(t *testing.T) {
	m := linkless{newMemFS("/d")}
	j := mustCreate(t, "/d/j", Options{fs: m})
	closeOK(t, j)
	if _, err := Create("/d/j", Options{fs: m}); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over a journal: %v", err)
	}
	if len(m.names) != 1 {
		t.Errorf("left over: %v", m.names)
	}
}

type linkless struct{ *memFS }

func (linkless) link(_, to string) error { return pathError("link", to, syscall.EPERM) }

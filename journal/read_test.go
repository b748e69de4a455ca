package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// onDisk writes bytes to a file of their own.
func onDisk(t testing.TB, b []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "j")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// resealed is a line with its checksum made right again, as somebody would who
// changes a record and knows the format.
func resealed(line []byte) []byte {
	seq, batch, body := parseHead(line)
	return bytes.TrimSuffix(appendLine(nil, seq, batch, line[body:len(line)-sealLen]), []byte("\n"))
}

func lineStarts(b []byte) (at []int64) {
	for i := range b {
		if i == 0 || b[i-1] == '\n' {
			at = append(at, int64(i))
		}
	}
	return at
}

func TestReadFromAPlace(t *testing.T) {
	s := makeSample(t, true, 2, 1, 3)
	path := onDisk(t, s.data)
	starts := lineStarts(s.data)
	for i, off := range starts {
		for _, from := range []Pos{{int64(i), off}, {Seq: int64(i)}} {
			want := int64(i)
			for e, err := range Read(path, from) {
				want++
				if err != nil || e.Seq != want || e.Off != starts[want-1] || e.End != e.Pos().Off {
					t.Fatalf("from %+v: seq %d at %d, %v", from, e.Seq, e.Off, err)
				}
				c := e.Clone()
				if string(c.Line) != string(e.Line) || c.At() != e.At() || string(c.Cause) != string(e.Cause) || fmt.Sprint(kindList(c)) != fmt.Sprint(kindList(e)) {
					t.Fatal("a clone differs")
				}
			}
			if want != int64(len(starts)) {
				t.Errorf("from %+v: ended at %d", from, want)
			}
		}
	}
	for _, bad := range []Pos{{3, starts[3] + 1}, {3, int64(len(s.data)) + 5}} {
		for _, err := range Read(path, bad) {
			if !errors.Is(err, ErrTruncated) {
				t.Errorf("from %+v: %v", bad, err)
			}
		}
	}
	for range Read(path, Pos{}) {
		break // leaving early must not panic
	}
	for _, err := range Read(path+"-", Pos{}) {
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("no file: %v", err)
		}
	}
}

func kindList(e Entry) (k []string) {
	for kind := range e.Events() {
		k = append(k, kind)
	}
	return k
}

func TestVerify(t *testing.T) {
	fs := newMemFS("/d")
	o := &oracle{path: "/d/j"}
	j := mustCreate(t, o.path, Options{fs: fs, Owner: []byte(`"me"`)})
	for range 3 {
		if err := errors.Join(o.append(j, 10, 20), o.append(j, 300), j.Close()); err != nil {
			t.Fatal(err)
		}
		var err error
		if j, _, err = Open(o.path, Options{fs: fs, Quiet: -1}); err != nil {
			t.Fatal(err)
		}
	}
	closeOK(t, j)
	good := fs.bytes(o.path)
	starts := lineStarts(good)
	edit := func(line int, change func([]byte) []byte) []byte {
		lines := bytes.SplitAfter(good, []byte("\n"))
		lines[line-1] = append(resealed(change(bytes.TrimSuffix(bytes.Clone(lines[line-1]), []byte("\n")))), '\n')
		return bytes.Join(lines, nil)
	}
	t.Run("clean", func(t *testing.T) {
		r, err := Verify(onDisk(t, good))
		if err != nil || r.Damage != nil || r.Torn != nil || !r.Closed || len(r.Closings) != 3 || r.Lines != int64(len(starts)) || string(r.Header.Owner) != `"me"` {
			t.Errorf("%+v, %v", r, err)
		}
	})
	t.Run("torn", func(t *testing.T) {
		n := starts[len(starts)-1] + 7
		r, err := Verify(onDisk(t, good[:n]))
		if err != nil || r.Damage != nil || r.Closed || r.Torn == nil || r.Torn.Bytes != 7 || r.Torn.Seq != int64(len(starts)) {
			t.Errorf("%+v, %v", r, err)
		}
	})
	// Who changes a line and makes its checksum right is found by the closing hash behind it.
	t.Run("rewritten", func(t *testing.T) {
		for _, line := range []int{1, 3, 5, 9, len(starts) - 1} {
			b := edit(line, func(l []byte) []byte { return bytes.Replace(l, []byte(`"2026-`), []byte(`"2027-`), 1) })
			path := onDisk(t, b)
			r, err := Verify(path)
			if err != nil || r.Damage == nil || !strings.Contains(r.Damage.Error(), "closing hash") {
				t.Errorf("line %d: %+v, %v", line, r.Damage, err)
			}
			if r, err := Scan(path, Pos{}, nil); err != nil || r.Damage != nil {
				t.Errorf("line %d: a scan checks no hashes: %+v, %v", line, r.Damage, err)
			}
		}
	})
	// A right checksum around a wrong shape, or a write that cannot follow, is no tear.
	t.Run("misshapen", func(t *testing.T) {
		for _, b := range [][]byte{
			edit(len(starts), func(l []byte) []byte { return bytes.Replace(l, []byte(`"cause":{`), []byte(`"cause":[`), 1) }),
			edit(len(starts), func(l []byte) []byte { return bytes.Replace(l, []byte(`,"b":16`), []byte(`,"b":2`), 1) }),
		} {
			if bytes.Equal(b, good) {
				t.Fatal("nothing was changed")
			}
			r, err := Verify(onDisk(t, b))
			if err != nil || r.Damage == nil || r.Damage.Line != int64(len(starts)) || r.Damage.Offset != starts[len(starts)-1] {
				t.Errorf("%+v, %v", r.Damage, err)
			}
		}
	})
}

// A file that does not begin as a journal is never cut: it is damage at line 1,
// and the caller sees the line, to say what it is.
func TestNotAJournal(t *testing.T) {
	s := makeSample(t, true, 2, 1)
	tests := []struct{ name, data, raw string }{
		{"empty", "", ""},
		{"blank first line", "\n" + string(s.data), ""},
		{"windows line ends", strings.ReplaceAll(string(s.data), "\n", "\r\n"), string(s.data[:bytes.IndexByte(s.data, '\n')]) + "\r"},
		{"legacy row", `{"id":"old","status":"done"}` + "\n" + `{"id":"old2"}` + "\n", `{"id":"old","status":"done"}`},
		{"no newline", `{"id":"old"}`, `{"id":"old"}`},
		{"byte order mark", "\ufeff" + string(s.data), "\ufeff" + string(s.data[:bytes.IndexByte(s.data, '\n')])},
		{"zeros", strings.Repeat("\x00", 700), strings.Repeat("\x00", 700)},
		{"header lost", string(s.data[bytes.IndexByte(s.data, '\n')+1:]), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := onDisk(t, []byte(tt.data))
			_, _, err := Open(path, Options{})
			damage, ok := errors.AsType[*CorruptError](err)
			if !ok || damage.Line != 1 || damage.Seq != 1 || damage.Offset != 0 {
				t.Fatalf("got %v", err)
			}
			if tt.raw != "" && string(damage.Raw) != tt.raw {
				t.Errorf("raw line %q, want %q", damage.Raw, tt.raw)
			}
			if string(readFile(path)) != tt.data {
				t.Error("the file was changed")
			}
			if r, err := Verify(path); err != nil || r.Damage == nil || r.Damage.Line != 1 {
				t.Errorf("verify: %+v, %v", r.Damage, err)
			}
		})
	}
}

// Blank lines, deleted lines and foreign lines behind line 1 are named where they stand.
func TestEditedFiles(t *testing.T) {
	s := makeSample(t, true, 2, 1, 2)
	lines := bytes.SplitAfter(s.data, []byte("\n"))
	join := func(l ...[][]byte) (b []byte) {
		for _, part := range l {
			b = append(b, bytes.Join(part, nil)...)
		}
		return b
	}
	tests := map[string][]byte{
		"blank line":   join(lines[:3], [][]byte{[]byte("\n")}, lines[3:]),
		"foreign line": join(lines[:3], [][]byte{[]byte("{\"x\":1}\n")}, lines[3:]),
		"deleted line": join(lines[:3], lines[4:]),
		"swapped":      join(lines[:3], lines[4:5], lines[3:4], lines[5:]),
		// Only the line itself stands behind what was put before it: no tear does that.
		"before the last line": join(lines[:3], [][]byte{[]byte("{\"x\":1}\n")}, lines[3:4]),
		"glued to the last":    join(lines[:3], [][]byte{[]byte(`{"x":1`)}, lines[3:4]),
	}
	for name, b := range tests {
		_, fs, err := verdict(b)
		damage, ok := errors.AsType[*CorruptError](err)
		if !ok || damage.Line != 4 || damage.LaterSeq < damage.Seq {
			t.Errorf("%s: %v", name, err)
		}
		if !bytes.Equal(fs.bytes("/d/j"), b) {
			t.Errorf("%s: the file was changed", name)
		}
	}
}

// A tail that the caller refuses is left where it is.
func TestTailIsShownBeforeItIsCut(t *testing.T) {
	s := makeSample(t, true, 2, 1)
	torn := append(bytes.Clone(s.data), "{\"old\":1}\nrest"...)
	path := onDisk(t, torn)
	refused := errors.New("not this one")
	var seen string
	_, _, err := Open(path, Options{Tail: func(line []byte) error { seen = string(line); return refused }})
	if !errors.Is(err, refused) || seen != `{"old":1}` {
		t.Fatalf("saw %q, got %v", seen, err)
	}
	if string(readFile(path)) != string(torn) {
		t.Error("the file was changed")
	}
	j, r, err := Open(path, Options{})
	if err != nil || r.Torn == nil {
		t.Fatalf("%+v, %v", r.Torn, err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestUnknownFormat(t *testing.T) {
	s := makeSample(t, true, 1)
	lines := bytes.SplitAfter(s.data, []byte("\n"))
	first := bytes.Replace(bytes.TrimSuffix(lines[0], []byte("\n")), []byte(`"format":1`), []byte(`"format":2`), 1)
	lines[0] = append(resealed(first), '\n')
	path := onDisk(t, bytes.Join(lines, nil))
	_, _, err := Open(path, Options{})
	_, verr := Verify(path)
	_, serr := Salvage(path, path+"-2")
	for _, err := range []error{err, verr, serr} {
		if !errors.Is(err, ErrFormat) {
			t.Errorf("got %v", err)
		}
	}
}

// An error of Visit ends the opening and leaves the file alone, torn tail and all.
func TestVisitMayRefuse(t *testing.T) {
	s := makeSample(t, false, 2, 2)
	torn := s.data[:len(s.data)-5]
	fs := onFile(torn)
	stop := errors.New("stop")
	_, _, err := Open("/d/j", Options{fs: fs, Visit: func(e Entry) error {
		if e.Seq == 3 {
			return stop
		}
		return nil
	}})
	if !errors.Is(err, stop) || !bytes.Equal(fs.bytes("/d/j"), torn) {
		t.Errorf("got %v", err)
	}
	// The lock is free again, and Visit sees the line that tells of the repair.
	var kinds []string
	j, r, err := Open("/d/j", Options{fs: fs, Quiet: -1, Visit: func(e Entry) error {
		kinds = append(kinds, kindList(e)...)
		return nil
	}})
	if err != nil || r.Torn == nil || kinds[len(kinds)-1] != kindRecovered {
		t.Fatalf("%+v, %v, %v", r, kinds, err)
	}
	closeOK(t, j)
}

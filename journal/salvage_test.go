package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"
)

// salvaged runs Salvage over the bytes and opens what it made.
func salvaged(t *testing.T, src []byte) (SalvageReport, Recovery, []byte) {
	t.Helper()
	path := onDisk(t, src)
	dst := path + ".salvaged"
	r, err := Salvage(path, dst)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(readFile(path), src) {
		t.Fatal("the source was changed")
	}
	out := readFile(dst)
	j, rec2, err := Open(dst, Options{Quiet: -1})
	if err != nil || rec2.Torn != nil {
		t.Fatalf("the copy does not open cleanly: %+v, %v", rec2, err)
	}
	if rec2.Last != r.Last {
		t.Errorf("last %+v, report says %+v", rec2.Last, r.Last)
	}
	if _, err := j.Append(rec(1<<40, "goes on")); err != nil {
		t.Fatal(err)
	}
	closeOK(t, j)
	if v, err := Verify(dst); err != nil || v.Damage != nil || !v.Closed || len(v.Closings) != 1 {
		t.Errorf("the copy does not verify after it went on: %+v, %v", v, err)
	}
	if _, err := texts(readFile(dst)); err != nil {
		t.Error(err)
	}
	if _, err := Salvage(path, dst); !errors.Is(err, fs.ErrExist) {
		t.Errorf("salvaging over a file gave %v", err)
	}
	return r, rec2, out
}

func TestSalvage(t *testing.T) {
	s := makeSample(t, true, 2, 3, 1, 2) // writes: 1, 2-4, 5-7, 8, 9-10, 11
	lines := bytes.SplitAfter(s.data, []byte("\n"))
	lines = lines[:len(lines)-1]
	tests := []struct {
		name   string
		change func([][]byte) [][]byte
		lost   string
		kept   int64
		skip   int64
	}{
		{"nothing", func(l [][]byte) [][]byte { return l }, "[]", 10, 0},
		{"one line garbled", func(l [][]byte) [][]byte { l[5][30] ^= 1; return l }, "[{6 6}]", 9, 0},
		{"first of a write", func(l [][]byte) [][]byte { l[4][30] ^= 1; return l }, "[{5 5}]", 9, 0},
		{"two writes gone", func(l [][]byte) [][]byte { return append(l[:3:3], l[8:]...) }, "[{4 8}]", 5, 0},
		{"header lost", func(l [][]byte) [][]byte { l[0] = []byte("old row\n"); return l }, "[]", 10, 0},
		{"header and more", func(l [][]byte) [][]byte { return l[6:] }, "[{2 6}]", 5, 0},
		{"newline lost", func(l [][]byte) [][]byte { l[6] = l[6][:len(l[6])-1]; return l }, "[{7 7}]", 9, 0},
		{"doubled", func(l [][]byte) [][]byte { return append(l[:6:6], l[2:]...) }, "[]", 10, 4},
		{"torn tail", func(l [][]byte) [][]byte { l[10] = l[10][:9]; return l }, "[]", 9, 0},
		{"zeros within", func(l [][]byte) [][]byte { l[7] = make([]byte, len(l[7])); return l }, "[{8 8}]", 9, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			src := make([][]byte, len(lines))
			for i := range lines {
				src[i] = bytes.Clone(lines[i])
			}
			r, rec, out := salvaged(t, bytes.Join(tt.change(src), nil))
			if got := fmt.Sprint(r.Lost); r.Kept != tt.kept || r.Skipped != tt.skip || got != tt.lost {
				t.Errorf("%+v", r)
			}
			if rec.Header.Salvaged == nil || rec.Header.Salvaged.Through != r.Last.Seq {
				t.Errorf("header %+v", rec.Header)
			}
			for i, l := range bytes.SplitAfter(out, []byte("\n"))[1:r.Last.Seq] {
				if !bytes.Contains(l, []byte(kindLost)) && !bytes.Equal(l, lines[i+1]) {
					t.Errorf("line %d was not copied as it stood", i+2)
				}
			}
		})
	}
}

// An edited copy keeps numbers, times and the journal's own lines, says that it was
// edited, verifies and goes on; made again it is the same. An edit that leaves no
// JSON is refused, and nothing is left.
func TestSalvageEdited(t *testing.T) {
	s := makeSample(t, true, 2, 3, 1, 2)
	src := onDisk(t, s.data)
	shout := func(kind string, b []byte) ([]byte, error) {
		if kind == "" {
			return []byte(`{"kind":"edited"}`), nil
		}
		return append(append([]byte(`["`), kind...), `"]`...), nil
	}
	for _, dst := range []string{src + ".a", src + ".b"} {
		if r, err := SalvageEdited(src, dst, shout); err != nil || len(r.Lost) > 0 || r.Bytes != 0 {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	if !bytes.Equal(readFile(src+".a"), readFile(src+".b")) {
		t.Error("two copies differ")
	}
	var was, is []Entry
	for e, err := range Read(src, Pos{}) {
		if err != nil {
			t.Fatal(err)
		}
		was = append(was, e.Clone())
	}
	for e, err := range Read(src+".a", Pos{}) {
		if err != nil {
			t.Fatal(err)
		}
		is = append(is, e.Clone())
	}
	if len(was) != len(is) {
		t.Fatalf("%d lines became %d", len(was), len(is))
	}
	for i := range was {
		a, b := was[i], is[i]
		if a.Seq != b.Seq || a.Batch != b.Batch || a.Step != b.Step || !a.At().Equal(b.At()) {
			t.Errorf("line %d became %s", i+1, b.Line)
		}
		if i > 0 && a.Own() && !bytes.Equal(a.Line, b.Line) {
			t.Errorf("the journal's own line %d was changed", i+1)
		}
		if !a.Own() && string(b.Cause) != `{"kind":"edited"}` {
			t.Errorf("the cause of line %d is %s", i+1, b.Cause)
		}
	}
	v, err := Verify(src + ".a")
	if err != nil || v.Damage != nil || v.Header.Salvaged == nil || !v.Header.Salvaged.Edited || v.Header.Salvaged.Lost != 0 {
		t.Errorf("the copy verifies as %+v, %v", v, err)
	}
	j, _, err := Open(src+".a", Options{Quiet: -1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := j.Append(rec(1<<40, "goes on")); err != nil {
		t.Fatal(err)
	}
	closeOK(t, j)
	if _, err := SalvageEdited(src, src+".c", func(string, []byte) ([]byte, error) { return []byte(`{ }`), nil }); !errors.Is(err, ErrInvalid) {
		t.Errorf("an edit that leaves no compact JSON: %v", err)
	}
	if _, err := os.Stat(src + ".c"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a refused copy was left")
	}
}

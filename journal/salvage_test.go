package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
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

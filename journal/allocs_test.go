//go:build !race

package journal

import "testing"

// The race detector makes pools forget, so this counts without it.
func TestAppendAllocatesLittle(t *testing.T) {
	j := mustCreate(t, "/d/j", Options{fs: newMemFS("/d")})
	fs := &nullFS{}
	j2 := mustCreate(t, "/d/k", Options{fs: fs})
	r := rec(1, "a")
	if n := testing.AllocsPerRun(500, func() {
		if _, err := j2.Append(r); err != nil {
			t.Fatal(err)
		}
	}); n > 2 {
		t.Errorf("%v allocations per append, want at most 2", n)
	}
	closeOK(t, j)
	if err := j2.Close(); err == nil {
		t.Error("a file that keeps nothing was closed in order")
	}
}

// nullFS keeps sizes and no bytes, so that only the package's own memory counts.
type nullFS struct{ memFS }

type nullFile struct {
	file
	size int64
}

func (f *nullFS) open(string, int, uint32) (file, error) { return &nullFile{}, nil }
func (f *nullFS) stat(string) (fileInfo, error)          { return fileInfo{}, nil }
func (f *nullFS) link(string, string) error              { return nil }
func (f *nullFS) remove(string) error                    { return nil }
func (f *nullFile) write(p []byte) (int, error)          { f.size += int64(len(p)); return len(p), nil }
func (f *nullFile) sync() error                          { return nil }
func (f *nullFile) lock() error                          { return nil }
func (f *nullFile) close() error                         { return nil }
func (f *nullFile) reserve(int64, int64) error           { return nil }
func (f *nullFile) truncate(int64) error                 { return nil }
func (f *nullFile) readAt([]byte, int64) (int, error)    { return 0, nil }
func (f *nullFile) stat() (fileInfo, error)              { return fileInfo{size: f.size}, nil }

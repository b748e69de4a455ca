package journal

import (
	"errors"
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// faultFS fails the n-th call that it is asked for, once or from then on.
type faultFS struct {
	*memFS
	mu     sync.Mutex
	n      int // 0 never
	sticky bool
	fault  fault
	calls  int
	hit    string // what was failed first
	deaf   string // a call that claims success and does nothing
}

// fault is how a call fails.
type fault struct {
	name  string
	errno syscall.Errno
	part  bool // a write writes half first
	lie   bool // a write tells that it wrote and did not
}

var faults = []fault{
	{name: "EIO", errno: syscall.EIO},
	{name: "ENOSPC", errno: syscall.ENOSPC},
	{name: "EIO after half", errno: syscall.EIO, part: true},
	{name: "ENOSPC after half", errno: syscall.ENOSPC, part: true},
	{name: "lying write", errno: syscall.EIO, lie: true},
}

// due counts a call and tells how it is to fail, if it is.
func (f *faultFS) due(call string) (fault, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	if f.n == 0 || f.calls < f.n || f.calls > f.n && !f.sticky {
		return fault{}, false
	}
	if f.hit == "" {
		f.hit = call
	}
	return f.fault, true
}

func (f *faultFS) err(call string) error {
	if how, due := f.due(call); due {
		return how.errno
	}
	return nil
}

// arm sets the fault for the n-th call from now, 0 for none.
func (f *faultFS) arm(how fault, n int, sticky bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fault, f.n, f.sticky = how, 0, sticky; n > 0 {
		f.n = f.calls + n
	}
}

// next lets the call that follows fail as well.
func (f *faultFS) next() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n = f.calls + 1
}

// struck is the call that a fault struck first since forget.
func (f *faultFS) struck() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hit
}

func (f *faultFS) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.n, f.hit = 0, ""
}

func (f *faultFS) open(path string, flag int, perm uint32) (file, error) {
	if err := f.err("open"); err != nil {
		return nil, pathError("open", path, err)
	}
	got, err := f.memFS.open(path, flag, perm)
	if err != nil {
		return nil, err
	}
	return &faultFile{f, got.(*memFile)}, nil
}

func (f *faultFS) link(from, to string) error {
	if err := f.err("link"); err != nil {
		return pathError("link", to, err)
	}
	return f.memFS.link(from, to)
}

func (f *faultFS) remove(path string) error {
	if err := f.err("remove"); err != nil {
		return pathError("remove", path, err)
	}
	return f.memFS.remove(path)
}

func (f *faultFS) mkdir(path string, perm uint32) error {
	if err := f.err("mkdir"); err != nil {
		return pathError("mkdir", path, err)
	}
	return f.memFS.mkdir(path, perm)
}

func (f *faultFS) stat(path string) (fileInfo, error) {
	if err := f.err("stat"); err != nil {
		return fileInfo{}, pathError("stat", path, err)
	}
	return f.memFS.stat(path)
}

func (f *faultFS) syncDir(dir string) error {
	if f.deaf == "syncDir" {
		return nil
	}
	if err := f.err("syncDir"); err != nil {
		return pathError("sync", dir, err)
	}
	return f.memFS.syncDir(dir)
}

type faultFile struct {
	fs *faultFS
	*memFile
}

func (f *faultFile) bad(call string, p []byte, put func([]byte) (int, error)) (int, error) {
	how, due := f.fs.due(call)
	switch {
	case !due:
		return put(p)
	case how.lie && call == "write":
		return len(p), nil
	case how.lie:
		return put(p) // no size tells of a lie at an offset; nobody could
	case how.part && len(p) > 1:
		n, err := put(p[:len(p)/2])
		f.fs.next() // the rest meets the error
		return n, err
	}
	return 0, how.errno
}

func (f *faultFile) write(p []byte) (int, error) { return f.bad("write", p, f.memFile.write) }

func (f *faultFile) writeAt(p []byte, off int64) (int, error) {
	if f.fs.deaf == "writeAt" {
		return len(p), nil
	}
	return f.bad("writeAt", p, func(p []byte) (int, error) { return f.memFile.writeAt(p, off) })
}

func (f *faultFile) readAt(p []byte, off int64) (int, error) {
	if err := f.fs.err("readAt"); err != nil {
		return 0, err
	}
	return f.memFile.readAt(p, off)
}

func (f *faultFile) sync() error {
	if f.fs.deaf == "sync" {
		return nil
	}
	if err := f.fs.err("sync"); err != nil {
		f.failSync()
		return err
	}
	return f.memFile.sync()
}

func (f *faultFile) truncate(n int64) error {
	if f.fs.deaf == "truncate" {
		return nil
	}
	if err := f.fs.err("truncate"); err != nil {
		return err
	}
	return f.memFile.truncate(n)
}

func (f *faultFile) stat() (fileInfo, error) {
	if err := f.fs.err("fstat"); err != nil {
		return fileInfo{}, err
	}
	return f.memFile.stat()
}

func (f *faultFile) lock() error {
	if err := f.fs.err("lock"); err != nil {
		return err
	}
	return f.memFile.lock()
}

func (f *faultFile) reserve(off, n int64) error {
	if err := f.fs.err("reserve"); err != nil {
		return err
	}
	return f.memFile.reserve(off, n)
}

// workload lives a whole life on the file system: creation, appends, an orderly
// close, a second life that is killed, and a third that begins with a repair. It
// stops at the first error that a caller would stop at.
func workload(fs *faultFS, o *oracle) error {
	first, born := o.next(10)
	j, err := Create(o.path, Options{fs: fs, Quiet: -1}, first)
	o.settle(err, born)
	if err != nil {
		born.state = "unknown" // the creation may have got as far as the name
		return err
	}
	o.created = true
	if err := live(j, o, 3); err != nil {
		return errors.Join(err, j.Close())
	}
	if err := j.Close(); err != nil {
		return err
	}
	for range 2 {
		o.handle++
		if j, _, err = Open(o.path, Options{fs: fs, Quiet: -1}); err != nil {
			return err
		}
		if err := live(j, o, 2); err != nil {
			return errors.Join(err, j.Close())
		}
		fs.kill()
		j.Close()
		fs.memFS.tear(o.path)
	}
	return nil
}

func live(j *Journal, o *oracle, n int) error {
	for i := range n {
		if err := o.append(j, 100*i, 300, 7); err != nil {
			return poisonHolds(j, o, err)
		}
		r, a := o.next(40)
		t := j.AppendAsync(r)
		r2, a2 := o.next(600)
		t2 := j.AppendAsync(r2)
		_, err := t.Wait()
		o.settle(err, a)
		_, err2 := t2.Wait()
		o.settle(err2, a2)
		if err := errors.Join(err, err2); err != nil {
			return poisonHolds(j, o, err)
		}
	}
	return nil
}

// poisonHolds: a handle that failed acknowledges nothing more, also if the disk
// is well again; one that was full takes the next append once there is room.
func poisonHolds(j *Journal, o *oracle, cause error) error {
	err := o.append(j, 5)
	if errors.Is(cause, ErrPoisoned) && !errors.Is(err, ErrPoisoned) {
		return fmt.Errorf("WRONG: after %w an append gave %w", cause, err)
	}
	if errors.Is(cause, ErrFull) && (err == nil || errors.Is(err, ErrFull)) {
		return errors.Join(live(j, o, 0), cause)
	}
	return cause
}

// tear leaves half a line behind, as a crash within a write does.
func (m *memFS) tear(path string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := m.names[path]; i != nil {
		i.data = append(i.data, `{"seq":99,"b":99,"step":`...)
		i.disk, i.sizes, i.hist, i.dirty = append([]byte(nil), i.data...), nil, map[int64][][]byte{}, map[int64]bool{}
	}
}

// Every call of the workload fails, once and from then on, in each way; then the
// process is killed or the power cut, and what is found must be what was answered.
func TestEveryCallFails(t *testing.T) {
	images := 3
	if testing.Short() {
		images = 2
	}
	for _, fault := range faults {
		for _, sticky := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/sticky=%v", fault.name, sticky), func(t *testing.T) {
				hits := map[string]int{}
				for n := 1; ; n++ {
					hit := ""
					for image := range images {
						fs := &faultFS{memFS: newMemFS("/d"), n: n, sticky: sticky, fault: fault}
						if err := runFault(fs, image); err != nil {
							t.Fatalf("call %d (%s), image %d: %v", n, fs.hit, image, err)
						}
						hit = fs.hit
					}
					if hit == "" {
						t.Logf("%d calls, failed: %v", n-1, hits)
						return
					}
					hits[hit]++
				}
			})
		}
	}
}

// runFault is one workload with its fault and what comes after it.
func runFault(fs *faultFS, image int) error {
	o := &oracle{path: "/d/new/j"}
	err := workload(fs, o)
	if err != nil && (fs.hit == "" || strings.Contains(err.Error(), "WRONG")) {
		return err
	}
	if bad := afterwards(fs, o, int64(fs.n*10+image), image); bad != nil {
		return fmt.Errorf("the workload ended with: %v; after it: %w", err, bad)
	}
	return nil
}

// The tests must notice when one of the steps that make a promise true is left out.
func TestMissingStepsAreNoticed(t *testing.T) {
	for _, deaf := range []string{"sync", "syncDir", "writeAt", "truncate"} {
		noticed := false
		for n := 0; n < 110 && !noticed; n++ {
			for image := range 4 {
				fs := &faultFS{memFS: newMemFS("/d"), n: n, fault: faults[0], deaf: deaf}
				noticed = noticed || runFault(fs, image) != nil
			}
		}
		if !noticed {
			t.Errorf("%s: not noticed", deaf)
		}
	}
}

// afterwards ends the process (image 0) or the power, opens again and checks,
// lives on for a while, cuts the power once more and checks again.
func afterwards(fs *faultFS, o *oracle, seed int64, image int) error {
	fs.arm(fault{}, 0, false) // the disk is well again
	r := rand.New(rand.NewSource(seed))
	for round := range 2 {
		if image == 0 && round == 0 {
			fs.kill()
		} else {
			fs.powerCut(r)
		}
		j, err := o.reopen(fs, fs.bytes)
		if err != nil || j == nil {
			return err
		}
		if round == 0 {
			err = errors.Join(o.append(j, 30), o.append(j, 500, 2))
		}
		if err := errors.Join(err, j.Close()); err != nil {
			return err
		}
		if err := o.again(fs, fs.bytes); err != nil {
			return err
		}
	}
	return nil
}

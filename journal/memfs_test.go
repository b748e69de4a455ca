package journal

import (
	"bytes"
	"math/rand"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
)

// memFS is a file system in memory that keeps apart what is certainly on disk
// and what may be, by sectors, sizes and names, and builds the images that a
// power cut can leave. A failed sync behaves as on Linux: the pages count as
// clean afterwards, so that only writing them again brings them to the disk.
type memFS struct {
	mu    sync.Mutex
	names map[string]*inode
	dirs  map[string]bool
	past  []nameOp // changes of names that no folder sync has covered yet
	sure  map[string]*inode
	sureD map[string]bool
	inos  uint64
	gen   int   // handles of an earlier boot or process are dead
	room  int64 // bytes on the disk; 0 for no bound
	syncs int
}

type nameOp struct {
	dir string
	do  func(names map[string]*inode, dirs map[string]bool)
}

type inode struct {
	ino      uint64
	data     []byte // what reads show
	disk     []byte // what is certainly on disk
	hist     map[int64][][]byte
	dirty    map[int64]bool
	sizes    []int64
	reserved int64
	locked   *memFile
}

const sector = 512

func newMemFS(dirs ...string) *memFS {
	m := &memFS{names: map[string]*inode{}, dirs: map[string]bool{"/": true}, gen: 1}
	for _, d := range dirs {
		m.dirs[d] = true
	}
	m.settleNames()
	return m
}

func (m *memFS) settleNames() {
	m.past = nil
	m.sure, m.sureD = map[string]*inode{}, map[string]bool{}
	for k, v := range m.names {
		m.sure[k] = v
	}
	for k := range m.dirs {
		m.sureD[k] = true
	}
}

func (m *memFS) change(path string, do func(map[string]*inode, map[string]bool)) {
	do(m.names, m.dirs)
	m.past = append(m.past, nameOp{filepath.Dir(path), do})
}

func (m *memFS) open(path string, flag int, _ uint32) (file, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.names[path]
	switch {
	case i == nil && flag&syscall.O_CREAT == 0 || !m.dirs[filepath.Dir(path)]:
		return nil, pathError("open", path, syscall.ENOENT)
	case i != nil && flag&syscall.O_EXCL != 0:
		return nil, pathError("open", path, syscall.EEXIST)
	case i == nil:
		m.inos++
		i = &inode{ino: m.inos, hist: map[int64][][]byte{}, dirty: map[int64]bool{}}
		m.change(path, func(n map[string]*inode, _ map[string]bool) { n[path] = i })
	}
	return &memFile{m: m, i: i, gen: m.gen}, nil
}

func (m *memFS) link(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.names[to] != nil {
		return pathError("link", to, syscall.EEXIST)
	}
	i := m.names[from]
	m.change(to, func(n map[string]*inode, _ map[string]bool) { n[to] = i })
	return nil
}

func (m *memFS) rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.names[from]
	m.change(to, func(n map[string]*inode, _ map[string]bool) { delete(n, from); n[to] = i })
	return nil
}

func (m *memFS) remove(path string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.names[path] == nil {
		return pathError("remove", path, syscall.ENOENT)
	}
	m.change(path, func(n map[string]*inode, _ map[string]bool) { delete(n, path) })
	return nil
}

func (m *memFS) mkdir(path string, _ uint32) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dirs[path] {
		return pathError("mkdir", path, syscall.EEXIST)
	}
	m.change(path, func(_ map[string]*inode, d map[string]bool) { d[path] = true })
	return nil
}

func (m *memFS) stat(path string) (fileInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := m.names[path]; i != nil {
		return fileInfo{dev: 1, ino: i.ino, size: int64(len(i.data))}, nil
	}
	if m.dirs[path] {
		return fileInfo{dev: 1, ino: 1 << 40}, nil
	}
	return fileInfo{}, pathError("stat", path, syscall.ENOENT)
}

func (m *memFS) syncDir(dir string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.syncs++
	m.past = slices.DeleteFunc(m.past, func(op nameOp) bool {
		if op.dir == dir {
			op.do(m.sure, m.sureD)
		}
		return op.dir == dir
	})
	return nil
}

// kill ends all handles, as a kill of the process does: the cache survives.
func (m *memFS) kill() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gen++
}

// powerCut ends all handles and leaves one of the images that the disk may hold.
func (m *memFS) powerCut(r *rand.Rand) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.gen++
	names, dirs := m.sure, m.sureD
	for _, op := range m.past {
		if r.Intn(2) == 0 {
			op.do(names, dirs)
		}
	}
	m.names, m.dirs = names, dirs
	for path, i := range names {
		d := filepath.Dir(path)
		for ; dirs[d] && d != "/"; d = filepath.Dir(d) {
		}
		if d != "/" {
			delete(names, path) // a folder above it is gone
		}
		i.cut(r)
	}
	m.settleNames()
}

var fills = []byte{0, 0, '\n', '{', 0xff}

func (i *inode) cut(r *rand.Rand) {
	size := int64(len(i.disk))
	if n := len(i.sizes); n > 0 && r.Intn(4) > 0 {
		to := i.sizes[r.Intn(n)]
		if size, to = min(size, to), max(size, to); r.Intn(2) == 0 || len(i.disk) > int(size) {
			size = to
		} else {
			size += r.Int63n(to - size + 1)
		}
	}
	fill := fills[r.Intn(len(fills))]
	img := bytes.Repeat([]byte{fill}, int(size))
	copy(img, i.disk)
	for s, versions := range i.hist {
		if v := r.Intn(len(versions) + 1); v > 0 && s*sector < size {
			copy(img[s*sector:min(size, (s+1)*sector)], versions[v-1])
		}
	}
	i.data, i.disk = img, bytes.Clone(img)
	i.hist, i.dirty, i.sizes, i.reserved = map[int64][][]byte{}, map[int64]bool{}, nil, 0
}

type memFile struct {
	m   *memFS
	i   *inode
	gen int
}

// live locks the file system and tells whether the handle is.
func (f *memFile) live() error {
	f.m.mu.Lock()
	if f.gen != f.m.gen {
		f.m.mu.Unlock()
		return syscall.ENODEV
	}
	return nil
}

func (f *memFile) write(p []byte) (int, error) { return f.put(p, -1) }

func (f *memFile) writeAt(p []byte, off int64) (int, error) { return f.put(p, off) }

func (f *memFile) put(p []byte, off int64) (int, error) {
	if err := f.live(); err != nil {
		return 0, err
	}
	defer f.m.mu.Unlock()
	i := f.i
	if off < 0 {
		off = int64(len(i.data))
	}
	if free, grow := f.m.free(), off+int64(len(p))-max(int64(len(i.data)), i.reserved); f.m.room > 0 && grow > free {
		if p = p[:max(0, int64(len(p))-(grow-free))]; len(p) == 0 {
			return 0, syscall.ENOSPC
		}
	}
	if n := off + int64(len(p)); n > int64(len(i.data)) {
		i.data = append(i.data, make([]byte, n-int64(len(i.data)))...)
		i.sizes = append(i.sizes, n)
	}
	copy(i.data[off:], p)
	i.touch(off, off+int64(len(p)))
	return len(p), nil
}

func (m *memFS) free() int64 {
	n := m.room
	for _, i := range m.names {
		n -= max(int64(len(i.data)), i.reserved)
	}
	return n
}

func (i *inode) touch(from, to int64) {
	for s := from / sector; s*sector < to; s++ {
		v := make([]byte, sector)
		copy(v, i.data[s*sector:])
		i.hist[s] = append(i.hist[s], v)
		i.dirty[s] = true
	}
}

func (f *memFile) readAt(p []byte, off int64) (int, error) {
	if err := f.live(); err != nil {
		return 0, err
	}
	defer f.m.mu.Unlock()
	if off >= int64(len(f.i.data)) {
		return 0, nil
	}
	return copy(p, f.i.data[off:]), nil
}

func (f *memFile) sync() error {
	if err := f.live(); err != nil {
		return err
	}
	defer f.m.mu.Unlock()
	f.m.syncs++
	i := f.i
	disk := make([]byte, len(i.data))
	copy(disk, i.disk)
	for s := range i.dirty {
		if s*sector < int64(len(i.data)) {
			copy(disk[s*sector:], i.data[s*sector:min(int64(len(i.data)), (s+1)*sector)])
		}
		delete(i.hist, s)
	}
	for s := range i.hist {
		if s*sector >= int64(len(disk)) {
			delete(i.hist, s) // cut off
		}
	}
	i.disk, i.dirty, i.sizes = disk, map[int64]bool{}, nil
	return nil
}

// failSync is a sync that fails: what was dirty counts as clean and may or may not be on disk.
func (f *memFile) failSync() {
	if f.live() == nil {
		defer f.m.mu.Unlock()
		f.i.dirty = map[int64]bool{}
	}
}

func (f *memFile) truncate(size int64) error {
	if err := f.live(); err != nil {
		return err
	}
	defer f.m.mu.Unlock()
	i := f.i
	i.reserved = 0
	if size < int64(len(i.data)) {
		i.data = i.data[:size:size]
		i.sizes = append(i.sizes, size)
		if size%sector != 0 {
			i.touch(size/sector*sector, size)
		}
	}
	return nil
}

func (f *memFile) stat() (fileInfo, error) {
	if err := f.live(); err != nil {
		return fileInfo{}, err
	}
	defer f.m.mu.Unlock()
	return fileInfo{dev: 1, ino: f.i.ino, size: int64(len(f.i.data))}, nil
}

func (f *memFile) lock() error {
	if err := f.live(); err != nil {
		return err
	}
	defer f.m.mu.Unlock()
	if l := f.i.locked; l != nil && l != f && l.gen == f.m.gen {
		return ErrLocked
	}
	f.i.locked = f
	return nil
}

func (f *memFile) reserve(off, n int64) error {
	if err := f.live(); err != nil {
		return err
	}
	defer f.m.mu.Unlock()
	more := off + n - max(int64(len(f.i.data)), f.i.reserved)
	if f.m.room > 0 && more > f.m.free() {
		return syscall.ENOSPC
	}
	f.i.reserved = max(f.i.reserved, off+n)
	return nil
}

func (f *memFile) close() error {
	if f.live() == nil {
		defer f.m.mu.Unlock()
		if f.i.locked == f {
			f.i.locked = nil
		}
	}
	return nil
}

func (m *memFS) bytes(path string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := m.names[path]; i != nil {
		return bytes.Clone(i.data)
	}
	return nil
}

package journal

import (
	"errors"
	"os"
	"syscall"
)

// filesystem is all that the package asks of the system. Each method is one
// system call and its checks, so that a test can fail, shorten or forget any of them.
type filesystem interface {
	open(path string, flag int, perm uint32) (file, error)
	link(from, to string) error
	rename(from, to string) error
	remove(path string) error
	mkdir(path string, perm uint32) error
	stat(path string) (fileInfo, error)
	syncDir(path string) error
}

type file interface {
	write(p []byte) (int, error)
	writeAt(p []byte, off int64) (int, error)
	readAt(p []byte, off int64) (int, error) // 0, nil at the end of the file
	sync() error                             // data and size, on stable storage when it returns
	truncate(size int64) error
	stat() (fileInfo, error)
	lock() error                // exclusive, without waiting; ErrLocked if taken
	reserve(off, n int64) error // allocates blocks, leaves the size alone
	close() error
}

type fileInfo struct {
	dev, ino uint64
	size     int64
	deleted  bool // no name leads to it any more
}

func (a fileInfo) same(b fileInfo) bool { return a.dev == b.dev && a.ino == b.ino }

// errNoReserve says that the file system cannot allocate ahead.
var errNoReserve = syscall.EOPNOTSUPP

type osFS struct{}

type osFile int

// again repeats a call that a signal interrupted.
func again(call func() error) error {
	for {
		if err := call(); err != syscall.EINTR {
			return err
		}
	}
}

func pathError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &os.PathError{Op: op, Path: path, Err: err}
}

// open takes regular files only: a pipe would wait for its other end, a device
// might never end.
func (osFS) open(path string, flag int, perm uint32) (file, error) {
	var fd int
	err := again(func() (err error) {
		fd, err = syscall.Open(path, flag|syscall.O_CLOEXEC|syscall.O_NONBLOCK, perm)
		return err
	})
	if err != nil {
		return nil, pathError("open", path, err)
	}
	var st syscall.Stat_t
	if err = again(func() error { return syscall.Fstat(fd, &st) }); err == nil && st.Mode&syscall.S_IFMT != syscall.S_IFREG {
		err = errIrregular
	}
	if err != nil {
		syscall.Close(fd)
		return nil, pathError("open", path, err)
	}
	return osFile(fd), nil
}

var errIrregular = errors.New("it is no regular file")

func (osFS) link(from, to string) error { return pathError("link", to, syscall.Link(from, to)) }
func (osFS) rename(from, to string) error {
	return pathError("rename", to, syscall.Rename(from, to))
}
func (osFS) remove(path string) error { return pathError("remove", path, syscall.Unlink(path)) }
func (osFS) mkdir(path string, perm uint32) error {
	return pathError("mkdir", path, syscall.Mkdir(path, perm))
}

func (osFS) stat(path string) (fileInfo, error) {
	var st syscall.Stat_t
	err := again(func() error { return syscall.Stat(path, &st) })
	return infoOf(&st), pathError("stat", path, err)
}

func (osFS) syncDir(path string) error {
	fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return pathError("open", path, err)
	}
	err = again(func() error { return syscall.Fsync(fd) })
	if cerr := syscall.Close(fd); err == nil {
		err = cerr
	}
	return pathError("sync", path, err)
}

func infoOf(st *syscall.Stat_t) fileInfo {
	return fileInfo{dev: uint64(st.Dev), ino: st.Ino, size: st.Size, deleted: st.Nlink == 0}
}

// The file's own calls return bare errno values: the journal names the path.

func (f osFile) write(p []byte) (n int, err error) {
	for {
		if n, err = syscall.Write(int(f), p); err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

func (f osFile) writeAt(p []byte, off int64) (n int, err error) {
	for {
		if n, err = syscall.Pwrite(int(f), p, off); err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

func (f osFile) readAt(p []byte, off int64) (n int, err error) {
	for {
		if n, err = syscall.Pread(int(f), p, off); err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

func (f osFile) sync() error { return again(func() error { return fdatasync(int(f)) }) }

func (f osFile) truncate(size int64) error {
	return again(func() error { return syscall.Ftruncate(int(f), size) })
}

func (f osFile) stat() (fileInfo, error) {
	var st syscall.Stat_t
	err := again(func() error { return syscall.Fstat(int(f), &st) })
	return infoOf(&st), err
}

func (f osFile) lock() error {
	err := again(func() error { return syscall.Flock(int(f), syscall.LOCK_EX|syscall.LOCK_NB) })
	if err == syscall.EWOULDBLOCK {
		return ErrLocked
	}
	return err
}

func (f osFile) reserve(off, n int64) error { return reserve(int(f), off, n) }
func (f osFile) close() error               { return syscall.Close(int(f)) }

package joblog

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

var errNoPunch = errors.New("holes cannot be punched here")

// punch frees [off, off+n) and leaves the size alone. A file system that has no
// holes answers errNoPunch.
func punch(f *os.File, off, n int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, n)
		switch err {
		case nil:
			return nil
		case unix.EINTR:
			continue
		case unix.EOPNOTSUPP, unix.ENOSYS, unix.EPERM, unix.EINVAL, unix.ENODEV:
			return errNoPunch
		}
		return os.NewSyscallError("fallocate", err)
	}
}

// nextData is the first offset at or after off that holds data; size when there is none.
func nextData(f *os.File, off, size int64) (int64, error) {
	at, err := unix.Seek(int(f.Fd()), off, unix.SEEK_DATA)
	switch err {
	case nil:
		return min(at, size), nil
	case unix.ENXIO:
		return size, nil
	case unix.EINVAL, unix.EOPNOTSUPP:
		return off, nil // no holes on this file system: all of it is data
	}
	return 0, os.NewSyscallError("lseek", err)
}

// nextHole is the first offset at or after off that holds none; size when there is none.
func nextHole(f *os.File, off, size int64) int64 {
	at, err := unix.Seek(int(f.Fd()), off, unix.SEEK_HOLE)
	if err != nil {
		return size
	}
	return min(at, size)
}

func datasync(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); err != unix.EINTR {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}

func preferredBlock(f *os.File) int64 {
	st, err := f.Stat()
	if err != nil {
		return minBlock
	}
	return int64(st.Sys().(*syscall.Stat_t).Blksize)
}

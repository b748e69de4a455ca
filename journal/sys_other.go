//go:build !linux

package journal

import "syscall"

// fdatasync: where only fsync is to be had it syncs more than is needed. On
// darwin the disk's own cache is flushed only by F_FULLFSYNC.
func fdatasync(fd int) error {
	const fullSync = 51
	if _, _, e := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), fullSync, 0); e == 0 {
		return nil
	}
	return syscall.Fsync(fd)
}

func reserve(int, int64, int64) error { return errNoReserve }

func bootID() string {
	s, err := syscall.Sysctl("kern.bootsessionuuid")
	if err != nil {
		return ""
	}
	return s
}

func monotonic() int64 { return 0 }

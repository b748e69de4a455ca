package journal

import (
	"os"
	"strings"
	"syscall"
	"unsafe"
)

func fdatasync(fd int) error { return syscall.Fdatasync(fd) }

// reserve allocates blocks past the end without touching the size, so that
// readers, jq and tail see nothing of it.
func reserve(fd int, off, n int64) error {
	const keepSize = 1
	err := again(func() error { return syscall.Fallocate(fd, keepSize, off, n) })
	if err == syscall.ENOSYS || err == syscall.EINVAL || err == syscall.ENODEV {
		return errNoReserve
	}
	return err
}

// bootID names this boot of the machine: monotonic times mean something only with it.
func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "" // no proc mounted: unknown, which the line then says by leaving it empty
	}
	return strings.TrimSpace(string(b))
}

// monotonic is the monotonic clock of the system in nanoseconds.
func monotonic() int64 {
	const clockMonotonic = 1
	var ts syscall.Timespec
	if _, _, e := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0); e != 0 {
		return 0
	}
	return ts.Nano()
}

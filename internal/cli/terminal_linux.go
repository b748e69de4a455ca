package cli

import (
	"runtime"

	"golang.org/x/sys/unix"
)

const ioctlGetTermios = unix.TCGETS

// stopSelf does what Ctrl-Z does to a program that has no handler for it, and
// returns when the program goes on. Where no shell could continue it, the kernel
// does not stop it. The runtime keeps a handler of SIGTSTP once it was asked for
// one; SIGTTIN stops in the same way and has none.
func stopSelf() {
	runtime.LockOSThread() // a signal to the own thread comes before anything else happens in it
	defer runtime.UnlockOSThread()
	_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGTTIN) // cannot fail for the own thread
}

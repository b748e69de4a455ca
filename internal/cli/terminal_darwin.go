package cli

import "golang.org/x/sys/unix"

const ioctlGetTermios = unix.TIOCGETA

// stopSelf does what Ctrl-Z does to a program that has no handler for it, and
// returns when the program goes on. Where no shell could continue it, the kernel
// does not stop it. The runtime keeps a handler of SIGTSTP once it was asked for
// one; SIGTTIN stops in the same way and has none.
func stopSelf() {
	_ = unix.Kill(unix.Getpid(), unix.SIGTTIN) // cannot fail for the own process
}

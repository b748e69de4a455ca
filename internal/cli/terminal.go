package cli

import (
	"io"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"evener/internal/text"
)

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), ioctlGetTermios)
	return err == nil
}

func isTerminalWriter(w io.Writer) bool {
	f := fileOf(w)
	return f != nil && isTerminal(f)
}

// output is standard output. It remembers the first write that failed, so that
// no command can succeed whose words were lost.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if o.err == nil {
		o.err = err
	}
	return n, err
}

// beneath is what w is itself, for who has to know whether it is a file and
// tells of what cannot be written.
func beneath(w io.Writer) io.Writer {
	if o, ok := w.(*output); ok {
		return o.Writer
	}
	return w
}

// fileOf is the file that w writes to; nil if it is none.
func fileOf(w io.Writer) *os.File {
	f, _ := beneath(w).(*os.File)
	return f
}

// columns is how wide the terminal is now; one that does not say has 80.
func columns(f *os.File) int {
	if size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ); err == nil && size.Col > 0 {
		return int(size.Col)
	}
	return 80
}

// inForeground: a process in the background does not draw over what its user
// does with the terminal. A terminal that is not the process's own has no such
// order.
func inForeground(f *os.File) bool {
	group, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err != nil || group == unix.Getpgrp()
}

// obeys: the terminal knows control sequences.
func obeys(getenv func(string) string) bool {
	kind := getenv("TERM")
	return kind != "" && kind != "dumb"
}

// spinnerFor is what turns in the status line, by what the terminal can show.
func spinnerFor(getenv func(string) string) []rune {
	locale := getenv("LANG")
	for _, name := range []string{"LC_CTYPE", "LC_ALL"} {
		if v := getenv(name); v != "" {
			locale = v
		}
	}
	locale = strings.ToLower(locale)
	if getenv("TERM") == "linux" || !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8") {
		return []rune(`|/-\`)
	}
	return []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
}

// oneLine shows a description, or else a command, in a few words.
func oneLine(description, command string) string {
	if description == "" {
		description = command
	}
	return text.Preview(description, 60)
}

// settleRuntime has the runtime do, before anybody listens to signals, what it
// would do before the first process: to try a system call with a child that
// shares this memory. A signal to the whole group, as Ctrl-C is, that met this
// child too would be counted twice.
func settleRuntime() {
	if p, err := os.FindProcess(os.Getpid()); err == nil {
		_ = p.Release() // of the handle alone
	}
}

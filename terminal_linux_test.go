package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

func init() {
	commands["terminal"] = cmdTerminal
	commands["resize"] = cmdResize
	commands["type"] = cmdType
	commands["shown"] = cmdShown
}

// terminal NAME WxH COMMAND...: start, with a terminal of this size for standard
// input, output and error. What it shows in the end goes to NAME.out with times
// and ids masked, every byte it was sent to NAME.raw. join fails when a line did
// not fit, when something else than text, SGR and an erased status line reached
// it, or when the last line is not left empty.
func cmdTerminal(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 3, "terminal NAME WxH COMMAND...")
	ts.Check(ts.Exec("env", "-0"))
	master, slave, err := openTerminal()
	ts.Check(err)
	width := setSize(ts, master, args[1])
	c := exec.Command("env", args[2:]...)
	c.Dir, c.Env = ts.MkAbs("."), strings.Split(strings.TrimSuffix(ts.ReadFile("stdout"), "\x00"), "\x00")
	c.Stdin, c.Stdout, c.Stderr = slave, slave, slave
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	ts.Check(c.Start())
	ts.Check(slave.Close())
	t := &tty{screen: newScreen(width), master: master}
	r := &running{cmd: c, done: make(chan error, 1), tty: t}
	go func() {
		_, _ = io.Copy(t, master) // ends with an error when the last user of the terminal is gone
		err := c.Wait()
		_ = os.WriteFile(ts.MkAbs(args[0]+".raw"), t.raw, 0o600)
		_ = os.WriteFile(ts.MkAbs(args[0]+".out"), []byte(masked(t.text())), 0o600)
		_ = os.WriteFile(ts.MkAbs(args[0]+".err"), nil, 0o600)
		r.done <- err
	}()
	ts.Value(runningKey).(map[string]*running)[args[0]] = r
	ts.Setenv(args[0]+"_pid", strconv.Itoa(c.Process.Pid))
	ts.Defer(func() {
		c.Process.Kill()
		r.done <- <-r.done
		master.Close()
	})
}

// openTerminal makes a pseudo-terminal.
func openTerminal() (master, slave *os.File, err error) {
	master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		master.Close()
	}
	return master, slave, err
}

// setSize gives the terminal a size such as 80x24, and its user the signal.
func setSize(ts *testscript.TestScript, master *os.File, size string) int {
	cols, rows, _ := strings.Cut(size, "x")
	ts.Check(unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(number(cols)), Row: uint16(number(rows))}))
	if w := number(cols); w > 0 {
		return w
	}
	return 80
}

func terminalOf(ts *testscript.TestScript, name string) *tty {
	t := started(ts, name).tty
	if t == nil {
		ts.Fatalf("%s has no terminal", name)
	}
	return t
}

// resize NAME WxH
func cmdResize(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "resize NAME WxH")
	t := terminalOf(ts, args[0])
	t.mu.Lock() // what is on its way is measured by the old size or the new one
	defer t.mu.Unlock()
	t.width = setSize(ts, t.master, args[1])
}

// type NAME TEXT: types it; ^C is the key.
func cmdType(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "type NAME TEXT")
	_, err := terminalOf(ts, args[0]).master.WriteString(strings.NewReplacer(`\r`, "\r", "^C", "\x03", "^Z", "\x1a", "^S", "\x13", "^Q", "\x11").Replace(args[1]))
	ts.Check(err)
}

// shown NAME REGEXP: waits until the terminal shows this.
func cmdShown(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "shown NAME REGEXP")
	t, re := terminalOf(ts, args[0]), expression(ts, args[1])
	defer func() {
		if !re.MatchString(t.text()) {
			ts.Logf("[terminal]\n%s", t.text())
		}
	}()
	eventually(ts, args[1]+" on the terminal of "+args[0], func() bool { return re.MatchString(t.text()) })
}

var masks = []struct {
	re *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`job_[0-9A-Z]{32}`), "JOB"},
	{regexp.MustCompile(`\b[0-9A-Z]{26}\b`), "SESSION"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "SERVER"},
	{regexp.MustCompile(`\bpid \d+`), "pid N"},
	{regexp.MustCompile(`\b\d+(\.\d+)? ?m?s\b|\b\d+:\d\d (min|h)\b`), "TIME"},
	{regexp.MustCompile(`(?m)TIME · .*…$`), "TIME · …"}, // where it is cut depends on the time
}

func masked(s string) string {
	for _, m := range masks {
		s = m.re.ReplaceAllString(s, m.as)
	}
	return s
}

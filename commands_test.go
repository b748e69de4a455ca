package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// commands are what scripts have beside the commands of testscript.
var commands = map[string]func(*testscript.TestScript, bool, []string){
	"script":    cmdScript,
	"serve":     cmdServe,
	"served":    cmdServed,
	"gaps":      cmdGaps,
	"exits":     cmdExits,
	"start":     cmdStart,
	"signal":    cmdSignal,
	"send":      cmdSend,
	"shut":      cmdShut,
	"join":      cmdJoin,
	"waitfor":   cmdWaitFor,
	"capture":   cmdCapture,
	"session":   cmdSession,
	"process":   cmdProcess,
	"noprocess": cmdNoProcess,
}

// condition: [root] is true for user 0.
func condition(name string) (bool, error) {
	if name == "root" {
		return os.Geteuid() == 0, nil
	}
	return false, fmt.Errorf("unknown condition %q", name)
}

func usage(ts *testscript.TestScript, ok bool, text string) {
	if !ok {
		ts.Fatalf("usage: %s", text)
	}
}

// eventually looks for what another process brings about; it fails the script
// after patience.
func eventually(ts *testscript.TestScript, what string, ok func() bool) {
	for end := time.Now().Add(patience); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("waited %v for %s", patience, what)
		}
	}
}

// exits [-within DURATION] STATUS COMMAND...: like exec, for a command that must
// exit with this status, or die of this signal.
func cmdExits(ts *testscript.TestScript, neg bool, args []string) {
	var within time.Duration
	if len(args) > 1 && args[0] == "-within" {
		d, err := time.ParseDuration(args[1])
		ts.Check(err)
		within, args = d, args[2:]
	}
	usage(ts, !neg && len(args) >= 2, "exits [-within DURATION] STATUS COMMAND...")
	begun := time.Now()
	err := ts.Exec(args[1], args[2:]...)
	if got := ended(err); got != args[0] {
		ts.Fatalf("ended with %s, want %s", got, args[0])
	}
	if took := time.Since(begun); within > 0 && took > within {
		ts.Fatalf("took %v, more than %v", took, within)
	}
}

// ended is an exit status, or the name of the signal that ended the process.
func ended(err error) string {
	if err == nil {
		return "0"
	}
	e := (*exec.ExitError)(nil)
	if !errors.As(err, &e) {
		return err.Error()
	}
	if w, ok := e.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return signals[w.Signal()]
	}
	return strconv.Itoa(e.ExitCode())
}

var signals = map[syscall.Signal]string{
	syscall.SIGKILL: "KILL", syscall.SIGTERM: "TERM", syscall.SIGINT: "INT", syscall.SIGHUP: "HUP", syscall.SIGSTOP: "STOP", syscall.SIGCONT: "CONT",
}

type runningT struct{}

var runningKey runningT

// running is a command in the background. Its output goes to NAME.out and NAME.err.
type running struct {
	cmd    *exec.Cmd
	done   chan error
	server *server // the one thing that is no process
	tty    *tty    // its terminal, if it has one
	input  io.WriteCloser
}

// start [-pipe] NAME COMMAND...: runs it in the background, with -pipe its
// standard input is for send and shut. env finds it by the script's PATH and
// becomes it, so NAME_pid is its pid.
func cmdStart(ts *testscript.TestScript, neg bool, args []string) {
	pipe := len(args) > 0 && args[0] == "-pipe"
	if pipe {
		args = args[1:]
	}
	usage(ts, !neg && len(args) >= 2, "start [-pipe] NAME COMMAND...")
	ts.Check(ts.Exec("env", "-0")) // a script's environment can be had from its commands only
	c := exec.Command("env", args[1:]...)
	c.Dir, c.Env = ts.MkAbs("."), strings.Split(strings.TrimSuffix(ts.ReadFile("stdout"), "\x00"), "\x00")
	out, err := os.Create(ts.MkAbs(args[0] + ".out"))
	ts.Check(err)
	errs, err := os.Create(ts.MkAbs(args[0] + ".err"))
	ts.Check(err)
	c.Stdout, c.Stderr = out, errs
	r := &running{cmd: c, done: make(chan error, 1)}
	if pipe {
		r.input, err = c.StdinPipe()
		ts.Check(err)
	}
	ts.Check(c.Start())
	go func() { r.done <- errors.Join(c.Wait(), out.Close(), errs.Close()) }()
	ts.Value(runningKey).(map[string]*running)[args[0]] = r
	ts.Setenv(args[0]+"_pid", strconv.Itoa(c.Process.Pid))
	ts.Defer(func() {
		c.Process.Kill()
		r.done <- <-r.done
	})
}

func started(ts *testscript.TestScript, name string) *running {
	r := ts.Value(runningKey).(map[string]*running)[name]
	if r == nil {
		ts.Fatalf("nothing was started as %s", name)
	}
	return r
}

// signal NAME SIGNAL
func cmdSignal(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "signal NAME SIGNAL")
	for s, name := range signals {
		if name == args[1] {
			ts.Check(started(ts, args[0]).cmd.Process.Signal(s))
			return
		}
	}
	ts.Fatalf("unknown signal %s", args[1])
}

// send NAME LINE...: writes lines to a command that was started with -pipe.
func cmdSend(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) >= 2, "send NAME LINE...")
	_, err := io.WriteString(started(ts, args[0]).input, strings.Join(args[1:], "\n")+"\n")
	ts.Check(err)
}

// shut NAME: ends the standard input of a command that was started with -pipe.
func cmdShut(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "shut NAME")
	ts.Check(started(ts, args[0]).input.Close())
}

// join NAME STATUS: waits for the end of a started command.
func cmdJoin(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "join NAME STATUS")
	r := started(ts, args[0])
	select {
	case err := <-r.done:
		r.done <- err
		ts.Logf("[stdout]\n%s[stderr]\n%s", ts.ReadFile(args[0]+".out"), ts.ReadFile(args[0]+".err"))
		if got := ended(err); got != args[1] {
			ts.Fatalf("%s ended with %s, want %s", args[0], got, args[1])
		}
		r.tty.check(ts)
	case <-time.After(2 * patience):
		ts.Fatalf("%s still runs after %v", args[0], 2*patience)
	}
}

// found reads the files of a pattern and finds an expression in them.
func found(ts *testscript.TestScript, glob string, re *regexp.Regexp) []string {
	paths, err := filepath.Glob(ts.MkAbs(glob))
	ts.Check(err)
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err == nil {
			if m := re.FindStringSubmatch(string(b)); m != nil {
				return m
			}
		}
	}
	return nil
}

// waitfor GLOB REGEXP: waits until a file of that name holds this.
func cmdWaitFor(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 2, "waitfor GLOB REGEXP")
	re := expression(ts, args[1])
	eventually(ts, args[1]+" in "+args[0], func() bool { return found(ts, args[0], re) != nil })
}

// capture VARIABLE GLOB REGEXP: the first group becomes the variable's value.
func cmdCapture(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 3, "capture VARIABLE GLOB|stdout|stderr REGEXP")
	re := expression(ts, args[2])
	var m []string
	if args[1] == "stdout" || args[1] == "stderr" {
		m = re.FindStringSubmatch(ts.ReadFile(args[1]))
	} else {
		m = found(ts, args[1], re)
	}
	if len(m) < 2 {
		ts.Fatalf("no %s in %s", args[2], args[1])
	}
	ts.Setenv(args[0], m[1])
}

func expression(ts *testscript.TestScript, s string) *regexp.Regexp {
	re, err := regexp.Compile("(?m)" + s)
	ts.Check(err)
	return re
}

// session [DIR]: S becomes the id of the only root session there, J the path of
// its journal, T that of its delegates; with one delegate C is the id of its
// session and K the path of that journal.
func cmdSession(ts *testscript.TestScript, neg bool, args []string) {
	dir := ".evener/sessions"
	if len(args) == 1 {
		dir = args[0]
	}
	paths, err := filepath.Glob(ts.MkAbs(dir + "/*/session.jsonl"))
	ts.Check(err)
	var roots, delegates []string
	for _, path := range paths {
		line, err := os.ReadFile(path)
		ts.Check(err)
		if regexp.MustCompile(`"kind":"session.created","data":\{[^}]*"delegate_id"`).Match(line) {
			delegates = append(delegates, path)
		} else {
			roots = append(roots, path)
		}
	}
	if len(roots) != 1 {
		ts.Fatalf("want one session in %s, have %q", dir, roots)
	}
	id := func(path string) string { return filepath.Base(filepath.Dir(path)) }
	ts.Setenv("S", id(roots[0]))
	ts.Setenv("J", roots[0])
	ts.Setenv("T", filepath.Join(filepath.Dir(roots[0]), "delegates.jsonl"))
	if len(delegates) == 1 {
		ts.Setenv("C", id(delegates[0]))
		ts.Setenv("K", delegates[0])
	}
}

package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// A found process: the processes of a script carry its WORK in their environment.
type foundProcess struct {
	pid  int
	line string
}

func (p foundProcess) String() string { return fmt.Sprintf("%d %q", p.pid, p.line) }

func (p foundProcess) kill() { syscall.Kill(p.pid, syscall.SIGKILL) }

// processes lists living processes whose environment holds mark and whose
// command line holds text. A zombie has neither.
func processes(mark, text string) []foundProcess {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil // no such view here; the scripts that need one are for Linux
	}
	var out []foundProcess
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		env, err := os.ReadFile("/proc/" + e.Name() + "/environ")
		if err != nil || !bytes.Contains(env, []byte(mark+"\x00")) {
			continue
		}
		line, err := os.ReadFile("/proc/" + e.Name() + "/cmdline")
		if err != nil || len(line) == 0 {
			continue
		}
		if s := strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " ")); strings.Contains(s, text) {
			out = append(out, foundProcess{pid, s})
		}
	}
	return out
}

// settled lists what still lives after a moment for what is ending.
func settled(mark, text string) []foundProcess {
	end := time.Now().Add(3 * time.Second)
	for {
		left := processes(mark, text)
		if len(left) == 0 || time.Now().After(end) {
			return left
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func marked(ts *testscript.TestScript) string { return "WORK=" + ts.Getenv("WORK") }

// process TEXT: a process of the script whose command line begins with this lives,
// or comes to. A shell that is held at its gate has the command further on in its
// own line: the command does not run yet.
func cmdProcess(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "process TEXT")
	eventually(ts, "a process "+args[0], func() bool {
		return slices.ContainsFunc(processes(marked(ts), args[0]), func(p foundProcess) bool { return strings.HasPrefix(p.line, args[0]) })
	})
}

// noprocess TEXT: none lives, or the last one is ending.
func cmdNoProcess(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "noprocess TEXT")
	if left := settled(marked(ts), args[0]); len(left) > 0 {
		ts.Fatalf("still lives: %v", left)
	}
}

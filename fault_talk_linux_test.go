package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"evener/internal/audit"
	"evener/internal/store"
)

// obedient runs what it is told, and answers with what that gave.
const obedient = `{"conversations": [{"name": "all", "matches": [
	{"match": "(?:\\A|\\n)run (?P<c>[^\\n]+)\\s*\\z", "calls": [{"name": "shell", "arguments": {"command": "${c}"}}]},
	{"match": "(?:\\A|\\n)start (?P<c>[^\\n]+)\\s*\\z", "calls": [{"name": "shell", "arguments": {"command": "${c}", "mode": "background"}}]},
	{"match": "(?s)(?P<all>.*)", "text": "${all}"}]}]}`

// talk is a session on pipes that a test talks with.
type talk struct {
	t       *testing.T
	cmd     *exec.Cmd
	dir     string
	mark    string
	in      io.WriteCloser
	lines   chan outputLine // closed at the end of the output
	errs    bytes.Buffer
	session string
}

// talkTo starts a session in dir, as another user where uid says so; before runs in a
// shell that becomes the program.
func talkTo(t *testing.T, dir string, uid uint32, before string, args ...string) *talk {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "m.json"), []byte(obedient), 0o644); err != nil {
		t.Fatal(err)
	}
	if before == "" {
		before = ":"
	}
	x := &talk{t: t, dir: dir, mark: "WORK=" + dir, lines: make(chan outputLine, 1000)}
	program := "evener"
	if own := filepath.Join(dir, program); exists(own) {
		program = own
	}
	x.cmd = exec.Command("bash", append([]string{"-c", before + `; exec "$@"`, "bash", program, "--model", "script/m.json", "--input", "jsonl"}, args...)...)
	x.cmd.Dir, x.cmd.Stderr = dir, &x.errs
	x.cmd.Env = append(os.Environ(), x.mark, "HOME="+dir, "XDG_CONFIG_HOME=", "EVENER_STATE_DIR=", "EVENER_STATE_HOME=", "TMPDIR="+dir, "BASH_ENV=")
	if uid != 0 {
		x.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	}
	out, err := x.cmd.StdoutPipe()
	if err == nil {
		x.in, err = x.cmd.StdinPipe()
	}
	if err == nil {
		err = x.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(x.lines)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			var l outputLine
			if json.Unmarshal(line, &l) == nil {
				x.lines <- l
			}
		}
	}()
	t.Cleanup(func() {
		x.cmd.Process.Kill()
		for _, p := range processes(x.mark, "") {
			p.kill()
		}
	})
	return x
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// prompts gives each prompt a name of its own: a resume tells of the turn that was lost
// too, by the name that an earlier program gave it.
var prompts atomic.Int64

// say is a prompt and the answer to it; ok is false when the program ends instead.
func (x *talk) say(prompt string) (answer string, ok bool) {
	x.t.Helper()
	name := fmt.Sprint("p", prompts.Add(1))
	fmt.Fprintf(x.in, "{\"prompt\":%q,\"id\":%q}\n", prompt, name) // of one that died nothing comes back
	late := time.After(2 * time.Minute)
	for {
		select {
		case l, open := <-x.lines:
			if !open {
				return "", false
			}
			if x.session == "" {
				x.session = l.Session
			}
			if l.Type == "turn_result" && l.Input == name {
				return l.Message, true
			}
		case <-late:
			x.t.Fatalf("%q has no answer within two minutes", prompt)
		}
	}
}

// answers says something whose answer must hold a text.
func (x *talk) answers(prompt, want string) string {
	x.t.Helper()
	got, ok := x.say(prompt)
	if !ok {
		x.t.Fatalf("%q: the program ended\n%s", prompt, x.end())
	}
	if !strings.Contains(got, want) {
		x.t.Errorf("%q is answered %s, want %q", prompt, got, want)
	}
	return got
}

// end closes the input and waits for the end; nothing of the session may be left.
func (x *talk) end() string {
	x.t.Helper()
	x.in.Close()
	for range x.lines {
	}
	err := x.cmd.Wait()
	if left := settled(x.mark, ""); len(left) > 0 {
		x.t.Errorf("processes are left: %v", left)
	}
	return fmt.Sprintf("%v\n%s", err, x.errs.String())
}

// keeper is the one process keeper of the session.
func (x *talk) keeper() int {
	x.t.Helper()
	all := processes(x.mark, "evener-keeper")
	if len(all) != 1 {
		x.t.Fatalf("keepers: %v", all)
	}
	return all[0].pid
}

// wellKept fails the test when the sessions of a folder are not as they should be.
func wellKept(t *testing.T, sessions string) {
	t.Helper()
	v := &audit.Verified{}
	if err := v.Folder(store.Home{Sessions: sessions}); err != nil || v.Damaged() {
		t.Errorf("verify: %v %+v", err, v.Findings)
	}
}

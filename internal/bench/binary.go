package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// program is the real binary, built once with the flags of the Makefile's build target.
func (e *env) program() (string, error) {
	if e.binary != "" {
		return e.binary, nil
	}
	path := filepath.Join(e.dir, "evener")
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X evener/internal/about.Version=bench", "-o", path, ".")
	c.Dir, c.Env = e.root, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w: %s", err, out)
	}
	e.binary = path
	return path, nil
}

// evener prepares a run of the binary in a folder, with a configuration of its
// own and nothing of this user's.
func (e *env) evener(dir string, args ...string) (*exec.Cmd, error) {
	path, err := e.program()
	if err != nil {
		return nil, err
	}
	home := filepath.Join(e.dir, "home")
	if err := os.MkdirAll(filepath.Join(home, "evener"), 0o700); err != nil {
		return nil, err
	}
	// The largest foreground wait: no command of a benchmark becomes a job by taking long.
	conf := []byte(`{"default_command_timeout_ms": 600000, "max_turns": 1000000}`)
	if err := os.WriteFile(filepath.Join(home, "evener", "config.json"), conf, 0o600); err != nil {
		return nil, err
	}
	c := exec.Command(path, args...)
	c.Dir = dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_CONFIG_HOME=" + home, "LANG=C"}
	return c, nil
}

// session is one run of a prompt in the binary against a model of our own.
type session1 struct {
	*modelServer
	cmd   *exec.Cmd
	start time.Time
	took  time.Duration // of the whole process
}

// runSession runs a prompt to its end. flags come before the prompt.
func (e *env) runSession(dir string, answer func(s *session1, r request) reply, flags ...string) (*session1, error) {
	s := &session1{}
	s.modelServer = serveModel(func(r request) reply { return answer(s, r) })
	defer s.Close()
	args := append([]string{"--model", "openai/bench", "--base-url", s.base()}, flags...)
	c, err := e.evener(dir, append(args, "Go on.")...)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	s.cmd, s.start = c, time.Now()
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("evener %s: %w: %s", strings.Join(flags, " "), err, bytes.TrimSpace(out.Bytes()))
	}
	s.took = time.Since(s.start)
	if len(s.arrivals) == 0 {
		return nil, errors.New("evener asked nothing")
	}
	return s, nil
}

// answers makes a model that gives these replies in turn, the last one again and again.
func answers(replies ...reply) func(*session1, request) reply {
	return func(_ *session1, r request) reply { return replies[min(r.n, len(replies))-1] }
}

var done = reply{text: "Done."}

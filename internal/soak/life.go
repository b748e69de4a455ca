package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// patience is how long a run that is not killed may take. Nothing in a tree takes
// more than seconds.
const patience = 2 * time.Minute

// tree is one that is played.
type tree struct {
	ctx   context.Context
	bin   string
	dir   string
	env   []string
	rng   *rand.Rand // of the lives; the model has its own
	model *model
	drop  func() // of the model: closes the connections that wait for another request
	root  string // session id

	mu       sync.Mutex
	accepted map[string]bool // prompts, by their text, that a session acknowledged
	seen     counts
	faults   []string
}

const settings = `{"default_command_timeout_ms":400,"stop_grace_ms":200,"max_subagent_depth":2,"model_retries":2,"attention_drive_pace_ms":200}`

// play plays the tree of one seed. Without findings nothing is left of its folder.
func play(ctx context.Context, bin string, seed uint64) (counts, []string, string) {
	dir, err := os.MkdirTemp("", fmt.Sprintf("soak-%d-", seed))
	if err != nil {
		return counts{}, []string{err.Error()}, ""
	}
	t := &tree{ctx: ctx, bin: bin, dir: dir, rng: rand.New(rand.NewPCG(seed, 1)), accepted: map[string]bool{},
		model: &model{rng: rand.New(rand.NewPCG(seed, 2)), last: map[string][]message{}}}
	if err := t.play(); err != nil {
		t.fault("%v", err)
	}
	t.model.mu.Lock()
	t.seen.requests = t.model.requests
	faults := append(t.faults, t.model.faults...)
	t.model.mu.Unlock()
	if len(faults) == 0 {
		os.RemoveAll(dir)
	}
	return t.seen, faults, dir
}

func (t *tree) fault(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.faults = append(t.faults, fmt.Sprintf(format, args...))
}

func (t *tree) play() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: t.model}
	t.drop = func() {
		server.SetKeepAlivesEnabled(false)
		server.SetKeepAlivesEnabled(true)
	}
	go server.Serve(l)
	defer server.Close()
	for _, made := range []string{".evener", temporary} {
		if err := os.MkdirAll(filepath.Join(t.dir, made), 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(t.dir, ".evener", "config.json"), []byte(settings), 0o600); err != nil {
		return err
	}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "EVENER_") && !strings.HasPrefix(kv, "OPENAI_") && !strings.HasPrefix(kv, "XDG_CONFIG_HOME=") && !strings.HasPrefix(kv, "TMPDIR=") {
			t.env = append(t.env, kv)
		}
	}
	t.env = append(t.env, "XDG_CONFIG_HOME="+t.dir, "TMPDIR="+filepath.Join(t.dir, temporary), "SOAK_TREE="+t.dir, "OPENAI_API_KEY=none", "OPENAI_BASE_URL=http://"+l.Addr().String()+"/v1")
	for range 3 + t.rng.IntN(5) {
		if err := t.life(true); err != nil {
			return err
		}
		t.clean("verify")
		if err := t.branch(); err != nil {
			return err
		}
		if len(t.faults) > 0 {
			return nil // as it was found
		}
	}
	if err := t.idle(); err != nil || len(t.faults) > 0 {
		return err
	}
	t.clean("verify")
	t.model.set(true)
	for range 2 { // what the end of the first had to tell is told in the second
		if err := t.life(false); err != nil {
			return err
		}
	}
	t.clean("verify")
	if t.root != "" {
		t.clean("replay", t.root)
	}
	return t.check()
}

func (t *tree) command(args ...string) *exec.Cmd {
	cmd := exec.Command(t.bin, args...)
	cmd.Dir, cmd.Env = t.dir, t.env
	return cmd
}

// clean runs a command that finds something or nothing.
func (t *tree) clean(args ...string) {
	if out, err := t.command(args...).CombinedOutput(); err != nil {
		t.fault("evener %s: %v: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
}

// life is one process: a run of one prompt, or a session on pipes, that is killed
// somewhere or comes to its end.
func (t *tree) life(mortal bool) error {
	args := []string{"--model", "openai/m"}
	if t.root == "" {
		t.root = t.begun()
	}
	if t.root != "" {
		args = append(args, "--resume", t.root)
	}
	living := mortal && t.rng.IntN(2) == 0
	var err error
	cmd := t.command(args...)
	var in io.WriteCloser
	var out io.ReadCloser
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if living {
		cmd.Args = append(cmd.Args, "--input", "jsonl")
		if in, err = cmd.StdinPipe(); err != nil {
			return err
		}
	} else {
		cmd.Args = append(cmd.Args, "--output", "jsonl", "go "+t.name())
	}
	if out, err = cmd.StdoutPipe(); err != nil {
		return err
	}
	ended := make(chan struct{})
	var once sync.Once
	kill := func() { once.Do(func() { go t.end(cmd.Process.Pid, ended) }) }
	t.model.mu.Lock()
	t.model.kill, t.model.killAt = kill, 0
	atRequest := mortal && t.rng.IntN(2) == 0
	if atRequest {
		t.model.killAt = t.model.requests + 1 + t.rng.IntN(10)
	}
	t.model.mu.Unlock()
	if err := cmd.Start(); err != nil {
		return err
	}
	t.seen.lives++
	limit := time.AfterFunc(patience, func() {
		t.fault("a run did not end within %s; it is ended with SIGABRT", patience)
		cmd.Process.Signal(syscall.SIGABRT)
	})
	defer limit.Stop()
	if mortal && !atRequest {
		defer time.AfterFunc(time.Duration(t.rng.IntN(1500))*time.Millisecond, kill).Stop()
	} else if mortal {
		defer time.AfterFunc(5*time.Second, kill).Stop() // there may be no request
	}
	var pipes sync.WaitGroup
	if living {
		prompts, pause := 1+t.rng.IntN(3), time.Duration(t.rng.IntN(300))*time.Millisecond
		names := make([]string, prompts)
		for i := range names {
			names[i] = t.name()
		}
		interrupt := t.rng.IntN(5) == 0
		pipes.Go(func() { t.say(in, names, pause, interrupt, ended) })
	}
	pipes.Go(func() { t.listen(out) })
	pipes.Wait()
	err = cmd.Wait()
	close(ended)
	switch status := cmd.ProcessState; {
	case strings.Contains(errs.String(), "panic:") || strings.Contains(errs.String(), "goroutine "):
		t.fault("%s", errs.String())
	case status.Exited() && status.ExitCode() > 1 && status.ExitCode() != 143:
		t.fault("evener %s: %v: %s", strings.Join(cmd.Args[1:], " "), err, strings.TrimSpace(errs.String()))
	}
	return t.ctx.Err()
}

func (t *tree) name() string {
	t.model.mu.Lock()
	defer t.model.mu.Unlock()
	return t.model.name()
}

// end ends a program: mostly at once, now and then together with its keeper, now and
// then in order, now and then after it was held.
func (t *tree) end(pid int, ended chan struct{}) {
	t.mu.Lock()
	held, how := t.rng.IntN(10) == 0, t.rng.IntN(20)
	t.seen.kills++
	t.mu.Unlock()
	if held {
		syscall.Kill(pid, syscall.SIGSTOP)
		time.Sleep(200 * time.Millisecond)
		syscall.Kill(pid, syscall.SIGCONT)
	}
	select {
	case <-ended:
		return // and the number may be another's
	default:
	}
	switch {
	case how < 3:
		syscall.Kill(pid, syscall.SIGTERM)
	case how < 6:
		keepers := children(pid)
		syscall.Kill(pid, syscall.SIGKILL)
		for _, k := range keepers {
			syscall.Kill(k, syscall.SIGKILL)
		}
	default:
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// children are those of a process.
func children(pid int) (out []int) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, f := range files {
		b, _ := os.ReadFile(f)
		for _, field := range strings.Fields(string(b)) {
			var n int
			if _, err := fmt.Sscan(field, &n); err == nil {
				out = append(out, n)
			}
		}
	}
	return out
}

// say writes prompts to a session on pipes, and ends its input.
func (t *tree) say(in io.WriteCloser, names []string, pause time.Duration, interrupt bool, ended chan struct{}) {
	defer in.Close()
	for i, n := range names {
		if i > 0 {
			select {
			case <-time.After(pause):
			case <-ended:
				return
			}
		}
		fmt.Fprintf(in, "{\"prompt\":%q,\"id\":%q}\n", "go "+n, n) // whoever reads may be dead
		if interrupt {
			fmt.Fprintln(in, `{"interrupt":true}`)
		}
	}
}

// listen keeps which prompts were acknowledged.
func (t *tree) listen(out io.Reader) {
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return // the last line may be cut off
		}
		var e struct {
			Event string `json:"event"`
			Input string `json:"input_id"`
		}
		if json.Unmarshal(line, &e) == nil && e.Input != "" && (e.Event == "TURN_START" || e.Event == "PROMPT_QUEUED") {
			t.mu.Lock()
			t.accepted["go "+e.Input] = true
			t.mu.Unlock()
		}
	}
}

// branch makes one of the tree now and then, which says nothing of its own.
func (t *tree) branch() error {
	if t.root == "" || t.rng.IntN(6) > 0 {
		return nil
	}
	cmd := t.command("aside", t.root)
	if t.rng.IntN(3) == 0 {
		if err := cmd.Start(); err != nil {
			return err
		}
		time.Sleep(time.Duration(t.rng.IntN(20)) * time.Millisecond)
		cmd.Process.Kill()
		cmd.Wait() // killed
		return nil
	}
	if out, err := cmd.CombinedOutput(); err != nil && !bytes.Contains(out, []byte("no finished turn")) {
		t.fault("evener aside: %v: %s", err, out)
		return nil
	}
	t.seen.branches++
	return nil
}

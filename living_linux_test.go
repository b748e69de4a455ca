package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// attack drives one living session through many processes, each of which is
// killed at some moment, and keeps what went in and what came out.
type attack struct {
	t       *testing.T
	dir     string
	random  *rand.Rand
	session string
	sent    []string          // ids of prompts, in order
	told    map[string]bool   // accepted, as standard output said
	results map[string]int    // ends that standard output told
	answers map[string]string // what a turn that answered said
}

// told is what a line of the output may hold.
type outputLine struct {
	Type    string `json:"type"`
	Event   string `json:"event"`
	Session string `json:"session_id"`
	Input   string `json:"input_id"`
	Outcome string `json:"outcome"`
	Message string `json:"message"`
}

const attackModel = `{"conversations": [{"name": "all", "matches": [
	{"match": "say (?P<n>\\S+)\\s*\\z", "text": "said ${n}"},
	{"match": "think (?P<n>\\S+)\\s*\\z", "text": "said ${n}", "delay_ms": 20},
	{"match": "run (?P<n>\\S+)\\s*\\z", "calls": [{"name": "shell", "arguments": {"command": "echo ${n} >>ran"}}]},
	{"match": "exit_code", "text": "ran it"}]}]}`

// A session on pipes is killed some sixty times, at any moment, and taken up
// again. Each prompt that was accepted has one end in the record, in the order
// in which they were sent, and standard output told of it once at most; what was
// answered is the answer to that prompt; no command ran twice. The seed is in
// the log: EVENER_TEST_SEED plays the same prompts again, though not the kills to
// the microsecond.
func TestLivingKilled(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("EVENER_TEST_SEED"); s != "" {
		n, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		seed = n
	}
	t.Logf("EVENER_TEST_SEED=%d", seed)
	a := &attack{t: t, dir: t.TempDir(), random: rand.New(rand.NewPCG(seed, 0)), told: map[string]bool{}, results: map[string]int{}, answers: map[string]string{}}
	if err := os.WriteFile(filepath.Join(a.dir, "m.json"), []byte(attackModel), 0o600); err != nil {
		t.Fatal(err)
	}
	kills := 0
	for begun := time.Now(); kills < 60 && time.Since(begun) < 12*time.Second; kills++ { // fewer on a busy machine
		a.process(true)
	}
	a.process(false)
	t.Logf("%d kills, %d prompts, %d of them told as accepted", kills, len(a.sent), len(a.told))
	a.check()
}

// process takes the session up, sends prompts, and is killed when some lines
// have come or some time has passed; or it may come to its end.
func (a *attack) process(killed bool) {
	a.t.Helper()
	args := []string{"--model", "script/m.json", "--input", "jsonl"}
	if a.session != "" {
		args = append(args, "--resume", a.session)
	}
	var errs bytes.Buffer
	c := exec.Command("evener", args...)
	c.Dir, c.Stderr = a.dir, &errs
	c.Env = append(os.Environ(), "HOME="+a.dir, "XDG_CONFIG_HOME=", "EVENER_STATE_DIR=", "EVENER_STATE_HOME=")
	in, err := c.StdinPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		a.t.Fatal(err)
	}
	lines := a.random.IntN(40)
	if a.session == "" {
		lines++ // its id must be known
	}
	late := time.Duration(a.random.IntN(80)) * time.Millisecond
	early := a.session != "" && a.random.IntN(5) == 0 // while it takes the session up
	kill := func() *time.Timer { return time.AfterFunc(late, func() { c.Process.Kill() }) }
	prompts := a.prompts()
	wrote := make(chan struct{})
	go func() {
		defer close(wrote)
		io.WriteString(in, prompts) // of a process that dies: the rest is not taken
		if !killed {
			in.Close()
		}
	}()
	if killed && early {
		defer kill().Stop()
	}
	r := bufio.NewReader(out)
	for n := 0; ; n++ {
		if killed && n == lines {
			c.Process.Kill()
		}
		line, err := r.ReadBytes('\n')
		if err != nil {
			break // a line that was cut short has not been told
		}
		a.hear(line)
		if killed && !early && n == 0 {
			defer kill().Stop()
		}
	}
	in.Close()
	<-wrote
	err = c.Wait()
	if !killed && err != nil && !strings.Contains(err.Error(), "exit status 1") {
		a.t.Fatalf("the last process: %v\n%s", err, &errs)
	}
	for _, line := range strings.SplitAfter(errs.String(), "\n") {
		if line != "" && !strings.HasPrefix(line, "evener: warning: ") && !strings.HasPrefix(line, "evener: session ") && !strings.HasPrefix(line, "hint: ") {
			a.t.Errorf("standard error: %s", line)
		}
	}
}

// prompts are the lines that one process gets.
func (a *attack) prompts() string {
	var b strings.Builder
	for range a.random.IntN(9) {
		id := fmt.Sprintf("p%d", len(a.sent)+1)
		a.sent = append(a.sent, id)
		verb := []string{"say", "say", "think", "run"}[a.random.IntN(4)]
		fmt.Fprintf(&b, `{"prompt":"%s %s","id":"%s"}`+"\n", verb, id, id)
		if a.random.IntN(8) == 0 {
			fmt.Fprintf(&b, `{"interrupt":true,"id":"%s"}`+"\n", a.sent[a.random.IntN(len(a.sent))])
		}
	}
	return b.String()
}

func (a *attack) hear(line []byte) {
	var l outputLine
	if err := json.Unmarshal(line, &l); err != nil {
		a.t.Fatalf("%s: %v", line, err)
	}
	if a.session == "" {
		a.session = l.Session
	}
	switch {
	case l.Input == "":
	case l.Event == "TURN_START", l.Event == "PROMPT_QUEUED":
		a.told[l.Input] = true
	case l.Event == "PROMPT_DROPPED":
		a.results[l.Input]++
	case l.Type == "turn_result":
		a.results[l.Input]++
		if l.Outcome == "answered" {
			a.answers[l.Input] = l.Message
		}
	}
}

// check reads the record.
func (a *attack) check() {
	f, err := os.Open(filepath.Join(a.dir, ".evener", "sessions", a.session, "session.jsonl"))
	if err != nil {
		a.t.Fatal(err)
	}
	defer f.Close()
	accepted, ends := map[string]bool{}, map[string]int{}
	turns, queued := map[int64]string{}, map[int64]string{}
	var order []string
	s := bufio.NewScanner(f)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		var l struct {
			Events []struct {
				Kind string
				Data struct {
					Turn   int64 `json:"turn_id"`
					Prompt int64
					Input  string `json:"input_id"`
				}
			}
		}
		if err := json.Unmarshal(s.Bytes(), &l); err != nil {
			a.t.Fatal(err)
		}
		for _, e := range l.Events {
			switch d := e.Data; e.Kind {
			case "prompt.queued":
				accepted[d.Input], queued[d.Prompt] = true, d.Input
			case "transcript.user":
				if d.Input != "" {
					accepted[d.Input], turns[d.Turn] = true, d.Input
					order = append(order, d.Input)
				}
			case "prompt.dropped":
				ends[queued[d.Prompt]]++
			case "turn.ended":
				if id := turns[d.Turn]; id != "" {
					ends[id]++
				}
			}
		}
	}
	for id := range a.told {
		if !accepted[id] {
			a.t.Errorf("%s was said to be accepted and is not in the record", id)
		}
	}
	for id := range accepted {
		if ends[id] != 1 || a.results[id] > 1 {
			a.t.Errorf("%s has %d ends in the record, and %d were told", id, ends[id], a.results[id])
		}
	}
	for id, said := range a.answers {
		if said != "said "+id && said != "ran it" {
			a.t.Errorf("%s was answered by %q", id, said)
		}
	}
	last := 0
	for _, id := range order {
		n, _ := strconv.Atoi(strings.TrimPrefix(id, "p"))
		if n <= last {
			a.t.Errorf("the turn of p%d came before that of %s", last, id)
		}
		last = n
	}
	if len(a.answers) == 0 {
		a.t.Error("nothing was answered")
	}
	a.ranOnce()
}

func (a *attack) ranOnce() {
	ran, err := os.ReadFile(filepath.Join(a.dir, "ran"))
	if err != nil && !os.IsNotExist(err) {
		a.t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, id := range strings.Fields(string(ran)) {
		if seen[id] {
			a.t.Errorf("the command of %s ran twice", id)
		}
		seen[id] = true
	}
}

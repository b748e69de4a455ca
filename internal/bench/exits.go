package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"sync"
	"time"

	"evener/internal/evidence"
	"evener/internal/id"
	"evener/internal/model"
	"evener/internal/proc"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/supervisor"
	"evener/internal/tool"
)

// exitLine prints the time as its last act: what a frame shows of it tells when
// the job ended. The wait lets the owner's turn end before.
const exitLine = "sleep 0.2; echo at=$EPOCHREALTIME"

var stampForm = regexp.MustCompile(`at=(\d+\.\d+)`)

// since is the time from the last stamp in b to at.
func since(b []byte, at time.Time) (float64, bool) {
	all := stampForm.FindAllSubmatch(b, -1)
	if len(all) == 0 {
		return 0, false
	}
	s, err := strconv.ParseFloat(string(all[len(all)-1][1]), 64)
	return float64(at.UnixMicro())/1e6 - s, err == nil
}

func exitSides(*env) ([]side, error) {
	if _, err := exec.LookPath("bash"); err != nil {
		return nil, skip("no bash")
	}
	return []side{{"bare", bareExits}, {"exit", idleExits}}, nil
}

// idleExits runs a living session in this process, since a run of the command
// line ends with its turn: its loop, its keeper, its journal and its model
// client are those of the program. Each job ends while the owner is idle, so
// that its frame begins a turn, which starts the next job.
func idleExits(e *env) (values, error) {
	dir, err := e.sub("exits")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var mu sync.Mutex
	var took []float64
	n := e.size(10, 4)
	enough := make(chan struct{})
	s := serveModel(func(r request) reply {
		mu.Lock()
		defer mu.Unlock()
		if r.n%2 == 0 { // the result of the start
			return reply{text: "It runs."}
		}
		if r.n > 1 {
			if v, ok := since(r.body, r.at); ok {
				took = append(took, v)
			}
		}
		if r.n > 2*n {
			close(enough)
			return done
		}
		return reply{calls: []call{shell(exitLine, "background")}}
	})
	defer s.Close()
	t, first, err := living(dir, s.base())
	if err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	t.Start()
	t.Post(first)
	go func() { ended <- t.Wait() }()
	select {
	case <-enough:
		t.Post(session.Close{Why: "bench"})
		err = <-ended
	case err = <-ended:
	case <-time.After(time.Minute):
		t.Post(session.Close{Why: "bench"})
		err = errors.Join(errors.New("the jobs' ends did not come"), <-ended)
	}
	mu.Lock()
	defer mu.Unlock()
	if err == nil && len(took) != n {
		err = fmt.Errorf("%d of %d frames came", len(took), n)
	}
	if err != nil {
		return nil, err
	}
	return values{"exit": median(took)}, nil
}

// living opens a living session, and gives the prompt that it is to begin with.
func living(dir, base string) (t *supervisor.Tree, first session.Prompt, err error) {
	h, err := store.Find(dir, "")
	if err != nil {
		return nil, first, err
	}
	s := id.MintSession(time.Now(), id.Entropy{4, 5, 6})
	opened, err := store.Create(h, s, "bench", proc.BootID())
	if err != nil {
		return nil, first, err
	}
	m, err := model.Open("openai/bench", model.Config{BaseURL: base})
	if err != nil {
		return nil, first, errors.Join(err, opened.Close())
	}
	t, err = supervisor.New(supervisor.Options{Store: opened, Models: func(string) (model.Model, error) { return m, nil }, Decode: tool.Decode, Env: os.Environ(),
		Reader: evidence.Reader{Home: h, MaxChars: 24_000}, Warn: func(w string) { fmt.Fprintln(os.Stderr, "bench: "+w) }})
	if err != nil {
		return nil, first, errors.Join(err, opened.Close())
	}
	tools, err := json.Marshal(tool.Definitions())
	if err != nil {
		return nil, first, err
	}
	first = session.Prompt{Text: "Go on.", Mode: session.Living, Limits: limits,
		Create:  &session.Created{Session: s, Root: s, Dir: dir},
		Context: session.ContextSet{Model: "openai/bench", System: "You work.", Tools: tools}}
	return t, first, nil
}

// bareExits does what cannot be left out: learn of the exit, write a line and
// sync it, send a request.
func bareExits(e *env) (values, error) {
	dir, err := e.sub("exits")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	got := make(chan float64, 1)
	s := serveModel(func(r request) reply {
		v, _ := since(r.body, r.at)
		got <- v
		return done
	})
	defer s.Close()
	var took []float64
	for range e.size(10, 4) {
		out, err := exec.Command("bash", "-c", exitLine).Output()
		if err == nil {
			err = syncLines(dir, 1)
		}
		if err != nil {
			return nil, err
		}
		resp, err := http.Post(s.base()+"/chat/completions", "application/json", bytes.NewReader(out))
		if err != nil {
			return nil, err
		}
		_, err = io.Copy(io.Discard, resp.Body)
		if err = errors.Join(err, resp.Body.Close()); err != nil {
			return nil, err
		}
		took = append(took, <-got)
	}
	return values{"bare": median(took)}, nil
}

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"
)

func watchedGroups() []group {
	mb := func(what, subject string, w want) row {
		return row{what: what, subject: subject, limit: "unwatched", limitIs: "the same job without a watch", unit: "MB/s", scale: 1e6, want: w}
	}
	return []group{
		{name: "output-watched", most: 5, sides: watchedSides, rows: []row{
			mb("job output with a watch for a literal", "literal", want{}),
			mb("– for the pattern (?i)(ready|blocked|needs input)", "folded", want{}),
			mb("– with 32 watches, one of each of 32 sessions", "many", want{}),
		}},
		{name: "timers", most: 3, sides: timerSides, rows: []row{
			{what: "memory with 1,000 armed timers of 125 sessions", subject: "memory", unit: "MiB", scale: 1 << 20, want: want{}},
			{what: "– CPU time of 3 quiet seconds", subject: "cpu", unit: "ms", want: value("=", 0)},
		}},
	}
}

func watchedSides(*env) ([]side, error) {
	if _, err := exec.LookPath("bash"); err != nil {
		return nil, skip("no bash")
	}
	watched := func(name string, watchers int, pattern string) side {
		return side{name, func(e *env) (values, error) { return watchedRate(e, name, watchers, pattern) }}
	}
	return []side{watched("unwatched", 0, ""), watched("literal", 1, "READY"), watched("folded", 1, watchPatterns["folded"][0]), watched("many", 32, "READY")}, nil
}

// chain is a model for a chain of sessions, each the owner of the next, the last
// of which starts a job that waits for a file. When the job is there, each of
// them sets a watch; when all are set the file is made. No reply is given more until the job has
// printed all, so nothing else happens meanwhile.
type chain struct {
	dir     string
	depth   int
	watch   string // arguments of job_watch, but for the source; empty: none
	command string
	stamps  string

	mu    sync.Mutex
	level map[int]int // requests so far
	set   int
	job   chan string // told once
	ready chan struct{}
	err   error
}

var (
	levelForm = regexp.MustCompile(`level (\d+)`)
	jobForm   = regexp.MustCompile(`job_[0-9A-Z]{26,}`)
)

func (c *chain) answer(r request) reply {
	n := 0
	if m := levelForm.FindSubmatch(r.body); m != nil && bytes.Contains(r.body, []byte("You are a delegate")) {
		n, _ = strconv.Atoi(string(m[1])) // digits
	}
	c.mu.Lock()
	c.level[n]++
	asked := c.level[n]
	c.mu.Unlock()
	last := n == c.depth-1
	switch {
	case asked == 1 && last:
		return reply{calls: []call{shell(c.command, "background")}}
	case asked == 1:
		args := fmt.Sprintf(`{"prompt":"You are level %d.","delegation_allowance":%d}`, n+1, c.depth-n-2)
		return reply{calls: []call{{"delegate", args}}}
	case asked == 2:
		if last {
			c.job <- jobForm.FindString(string(r.body[bytes.LastIndex(r.body, []byte(`"role":"tool"`)):]))
		}
		j, err := c.jobID()
		if err != nil {
			return done
		}
		if c.watch != "" {
			return reply{calls: []call{{"job_watch", `{"operation":"create","source":"` + j + `",` + c.watch + `}`}}}
		}
		fallthrough
	case asked == 3:
		c.settled(r)
	}
	return done
}

// jobID waits for the job that the last session starts.
func (c *chain) jobID() (string, error) {
	select {
	case j := <-c.job:
		c.job <- j // for the next one
		return j, nil
	case <-time.After(time.Minute):
		c.mu.Lock()
		defer c.mu.Unlock()
		c.err = errors.New("the job was not started within a minute")
		return "", c.err
	}
}

// settled waits until every session has its watch and the job has printed.
func (c *chain) settled(r request) {
	c.mu.Lock()
	if c.watch != "" && bytes.Count(r.body, []byte(`watch_id\":`)) == 0 {
		c.err = fmt.Errorf("no watch was made: %s", r.body[max(0, len(r.body)-400):])
	}
	if c.set++; c.set == c.depth {
		go func() {
			err := os.WriteFile(filepath.Join(c.dir, "go"), nil, 0o600)
			for end := time.Now().Add(2 * time.Minute); err == nil; time.Sleep(20 * time.Millisecond) {
				if b, serr := os.ReadFile(c.stamps); serr == nil && bytes.HasSuffix(b, []byte("\n")) {
					break
				}
				if time.Now().After(end) {
					err = errors.New("the job did not end")
				}
			}
			c.mu.Lock()
			c.err = errors.Join(c.err, err)
			c.mu.Unlock()
			close(c.ready)
		}()
	}
	c.mu.Unlock()
	select {
	case <-c.ready:
	case <-time.After(3 * time.Minute):
	}
}

// watchedRate is how fast a job prints while it is watched.
func watchedRate(e *env, name string, watchers int, pattern string) (values, error) {
	dir, err := e.sub("watched")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	depth := max(watchers, 1)
	if err := configure(dir, fmt.Sprintf(`{"max_subagent_depth": %d}`, depth)); err != nil {
		return nil, err
	}
	size := e.size(512<<20, 32<<20)
	c := &chain{dir: dir, depth: depth, stamps: filepath.Join(dir, "stamps"), level: map[int]int{}, job: make(chan string, 1), ready: make(chan struct{})}
	c.command = "until [ -e " + filepath.Join(dir, "go") + " ]; do sleep 0.01; done; " + stamped("yes", size, c.stamps)
	if watchers > 0 {
		p, _ := json.Marshal(pattern) // strings always encode
		c.watch = `"output_match":` + string(p)
	}
	if _, err := e.runSession(dir, func(_ *session1, r request) reply { return c.answer(r) }, "--wait-jobs"); err != nil {
		return nil, err
	}
	if c.err != nil {
		return nil, c.err
	}
	rate, err := stampedRate(c.stamps, size)
	return values{name: rate}, err
}

// timerSides let 125 sessions set 8 timers each, and look at the processes.
func timerSides(e *env) ([]side, error) {
	n := e.size(125, 5)
	var set reply
	for i := range 8 {
		set.calls = append(set.calls, call{"job_watch", fmt.Sprintf(`{"operation":"create","source":"self","after_seconds":%d}`, 3000+i)})
	}
	start := set
	for range n - 1 {
		start.calls = append(start.calls, call{"delegate", `{"prompt":"Set them."}`})
	}
	return []side{{fmt.Sprintf("%d timers", 8*n), func(e *env) (values, error) {
		dir, err := e.sub("timers")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		v, failed, armed := values{}, error(nil), make(chan struct{}, n)
		looked := make(chan struct{})
		_, err = e.runSession(dir, func(s *session1, r request) reply {
			child, asked := bytes.Contains(r.body, []byte("You are a delegate")), bytes.Contains(r.body, []byte(`watch_id\":`))
			switch {
			case child && !asked:
				return set
			case child:
				armed <- struct{}{}
				<-looked
			case !asked:
				return start
			case r.n > 0 && v["memory"] == 0 && failed == nil:
				for range n - 1 {
					select {
					case <-armed:
					case <-time.After(time.Minute):
						failed = errors.New("the timers were not all set within a minute")
					}
				}
				if failed == nil {
					lookAt(s.cmd.Process.Pid, 0, e, v)
				}
				close(looked)
			}
			return done
		}, "--max-concurrent-delegates", "200")
		return v, errors.Join(err, failed)
	}}}, nil
}

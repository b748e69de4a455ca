package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"evener/journal"
)

func runGroups() []group {
	return []group{
		{name: "version", sides: versionSides, rows: []row{
			{what: "evener version", subject: "version", limit: "true", limitIs: "/bin/true", unit: "ms", scale: 1e-3, want: value("≤", 10)},
		}},
		{name: "run", sides: oneRunSides, rows: []row{
			{what: "one run with an instant model", subject: "run", limit: "bare", limitIs: "/bin/true + the same create and syncs", unit: "ms", scale: 1e-3, want: value("≤", 60)},
			{what: "– syncs of its journal", subject: "syncs", want: want{}},
		}},
		{name: "calls", sides: callSides, after: func(v values) { v["beyond"] = v["call"] - v["bare"] }, rows: []row{
			{what: "20 foreground true calls: a call beyond process and syncs", subject: "beyond", limitIs: "the row below", unit: "ms", scale: 1e-3, want: value("≤", 5)},
			{what: "– the whole call, model server included", subject: "call", limit: "bare", limitIs: "bash -c true + 3 × write and fdatasync", unit: "ms", scale: 1e-3, want: want{}},
			{what: "– syncs a call", subject: "syncs", want: value("≤", 3)},
		}},
		{name: "sizes", sides: sizeSides, rows: []row{
			{what: "first model request, all tools, no AGENTS.md", subject: "request", unit: "KiB", scale: 1024, want: value("≤", 24)},
			{what: "binary, static and stripped", subject: "binary", unit: "MiB", scale: 1 << 20, want: value("≤", 20)},
		}},
	}
}

// timed runs a command n times and takes the median time from start to end.
func timed(n int, make func() (*exec.Cmd, error)) (float64, error) {
	var took []float64
	for range n {
		c, err := make()
		if err != nil {
			return 0, err
		}
		start := time.Now()
		if err := c.Run(); err != nil {
			return 0, err
		}
		took = append(took, time.Since(start).Seconds())
	}
	return median(took), nil
}

func bareProcess() (*exec.Cmd, error) { return exec.Command("/bin/true"), nil }

func versionSides(*env) ([]side, error) {
	return []side{{"true", func(e *env) (values, error) {
		v, err := timed(e.size(20, 5), bareProcess)
		return values{"true": v}, err
	}}, {"version", func(e *env) (values, error) {
		v, err := timed(e.size(20, 5), func() (*exec.Cmd, error) { return e.evener(e.dir, "version") })
		return values{"version": v}, err
	}}}, nil
}

// oneRun is a whole run in a new folder.
func oneRun(e *env, replies ...reply) (s *session1, path string, cleanUp func(), err error) {
	dir, err := e.sub("run")
	if err != nil {
		return nil, "", nil, err
	}
	cleanUp = func() { os.RemoveAll(dir) }
	s, err = e.runSession(dir, answers(replies...))
	if err == nil {
		var found []string
		if found, err = filepath.Glob(filepath.Join(dir, ".evener/sessions/*/session.jsonl")); err == nil && len(found) == 1 {
			return s, found[0], cleanUp, nil
		}
		err = os.ErrNotExist
	}
	cleanUp()
	return nil, "", nil, err
}

func oneRunSides(e *env) ([]side, error) {
	_, path, cleanUp, err := oneRun(e, done)
	if err != nil {
		return nil, err
	}
	defer cleanUp()
	syncs, _, err := batches(path)
	if err != nil {
		return nil, err
	}
	return []side{{"run", func(e *env) (values, error) {
		var took []float64
		for range e.size(5, 2) {
			s, _, cleanUp, err := oneRun(e, done)
			if err != nil {
				return nil, err
			}
			cleanUp()
			took = append(took, s.took.Seconds())
		}
		return values{"run": median(took), "syncs": float64(syncs)}, nil
	}}, {"bare", func(e *env) (values, error) {
		dir, err := e.sub("bare")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		start := time.Now()
		if err := exec.Command("/bin/true").Run(); err != nil {
			return nil, err
		}
		if err := bareCreate(dir, 0); err != nil {
			return nil, err
		}
		if err := syncLines(dir, syncs-1); err != nil { // the first batch is in the create
			return nil, err
		}
		return values{"bare": time.Since(start).Seconds()}, nil
	}}}, nil
}

// batches counts the syncs of a journal, and those between its first and its last model request.
func batches(path string) (all, between int, err error) {
	last, first := int64(0), -1
	for e, err := range journal.Read(path, journal.Pos{}) {
		if err != nil {
			return 0, 0, err
		}
		if e.Batch != last {
			last = e.Batch
			all++
		}
		for kind := range e.Events() {
			if kind == "turn.requested" && first < 0 {
				first = all
			} else if kind == "turn.requested" {
				between = all - first
			}
		}
	}
	return all, between, nil
}

// syncLines appends n lines of the size that a run writes, one sync each.
func syncLines(dir string, n int) error {
	f, err := os.OpenFile(filepath.Join(dir, "lines"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	line := make([]byte, 700)
	for range n {
		if err := writeSync(f, line); err != nil {
			return err
		}
	}
	return nil
}

const manyCalls = 20

func callSides(*env) ([]side, error) {
	var replies []reply
	for range manyCalls {
		replies = append(replies, reply{calls: []call{shell("true", "")}})
	}
	replies = append(replies, done)
	return []side{{"call", func(e *env) (values, error) {
		s, path, cleanUp, err := oneRun(e, replies...)
		if err != nil {
			return nil, err
		}
		defer cleanUp()
		_, syncs, err := batches(path)
		span := s.arrivals[manyCalls].Sub(s.arrivals[0])
		return values{"call": span.Seconds() / manyCalls, "syncs": float64(syncs) / manyCalls}, err
	}}, {"bare", func(e *env) (values, error) {
		dir, err := e.sub("bare")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		start := time.Now()
		for range manyCalls {
			if err := bareShell("true"); err != nil {
				return nil, err
			}
			if err := syncLines(dir, 3); err != nil {
				return nil, err
			}
		}
		return values{"bare": time.Since(start).Seconds() / manyCalls}, nil
	}}}, nil
}

// bareShell runs a command line and reads what it prints through a pipe.
func bareShell(line string) error {
	c := exec.Command("bash", "-c", line)
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, out)
	if werr := c.Wait(); err == nil {
		err = werr
	}
	return err
}

func sizeSides(*env) ([]side, error) {
	return []side{{"sizes", func(e *env) (values, error) {
		dir, err := e.sub("run")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		size := 0
		if _, err := e.runSession(dir, func(_ *session1, r request) reply {
			if r.n == 1 {
				size = len(r.body)
			}
			return done
		}); err != nil {
			return nil, err
		}
		st, err := os.Stat(e.binary)
		if err != nil {
			return nil, err
		}
		return values{"request": float64(size), "binary": float64(st.Size())}, nil
	}}}, nil
}

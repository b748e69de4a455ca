package main

import (
	"fmt"
	"path/filepath"
	"time"

	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/tool"
	"evener/internal/transcript"
	"evener/internal/tree"
)

func startGroups() []group {
	return []group{
		{name: "start-lines", sides: startLineSides, rows: []row{
			{what: "start with 100,000 lines of 260 bytes", subject: "start", limit: "bare", limitIs: "split + CRC + hand envelope + json.Unmarshal of each event", unit: "s", want: value("≤", 1.0)},
			{what: "– bytes a line", subject: "line", want: want{}},
		}},
		{name: "start-jobs", sides: startJobSides, rows: []row{
			{what: "start with 10,000 finished jobs", subject: "start", limit: "bare", limitIs: "reading + CRC of the same file", unit: "s", want: value("≤", 0.8)},
			{what: "job_list over them: the whole decision", subject: "list", limit: "status", limitIs: "a job_status of one of them", unit: "ms", scale: 1e-3, want: value("≤", 5)},
		}},
	}
}

// resumeSide times from the exec of the binary to the arrival of its first request.
func resumeSide(h store.Home, s id.Session) side {
	return side{"start", func(e *env) (values, error) {
		run, err := e.runSession(filepath.Dir(h.Project), answers(done), "--resume", string(s))
		if err != nil {
			return nil, err
		}
		return values{"start": run.arrivals[0].Sub(run.start).Seconds()}, nil
	}}
}

func startLineSides(e *env) ([]side, error) {
	lines := e.size(100_000, 10_000)
	h, s, err := talkSession(e, lines)
	if err != nil {
		return nil, err
	}
	// The runs add lines of several events, which the bare fold does not read: it has a copy.
	ch, cs, err := talkSession(e, lines)
	if err != nil {
		return nil, err
	}
	return []side{resumeSide(h, s), {"bare", func(*env) (values, error) {
		start := time.Now()
		n, err := bareFold(ch.Journal(cs))
		took := time.Since(start).Seconds()
		total := 0
		if err == nil {
			err = eachLine(ch.Journal(cs), func(l []byte) error { total += len(l) + 1; return nil })
		}
		return values{"bare": took, "line": float64(total) / float64(n)}, err
	}}}, nil
}

func startJobSides(e *env) ([]side, error) {
	jobs := e.size(10_000, 500)
	h, s, err := jobSession(e, jobs)
	if err != nil {
		return nil, err
	}
	t, err := store.Load(h, s, 0)
	if err != nil {
		return nil, err
	}
	if n := len(t.Session().Jobs()); n < jobs {
		return nil, fmt.Errorf("the session has %d jobs", n)
	}
	decisions := &decider{t: t, s: s}
	if err := decisions.begin(); err != nil {
		return nil, err
	}
	return []side{resumeSide(h, s), {"bare", func(*env) (values, error) {
		start := time.Now()
		err := eachLine(h.Journal(s), func(l []byte) error {
			if !crcRight(l) {
				return errLine
			}
			return nil
		})
		return values{"bare": time.Since(start).Seconds()}, err
	}}, {"list", func(e *env) (values, error) {
		v, err := decisions.time(e.size(20, 5), "job_list", func(i int) string { return fmt.Sprintf(`{"offset":%d}`, i) })
		return values{"list": v}, err
	}}, {"status", func(e *env) (values, error) {
		all := t.Session().Jobs()
		v, err := decisions.time(e.size(20, 5), "job_status", func(i int) string { return `{"target":"` + string(all[i].ID) + `"}` })
		return values{"status": v}, err
	}}}, nil
}

// decider makes decisions of a loaded tree without writing them.
type decider struct {
	t       *tree.State
	s       id.Session
	request int64
	calls   int
}

func (d *decider) decide(in session.Input) error {
	f := session.Facts{Now: time.Now(), Live: func(j id.Job) job.Live { return job.Live{Job: j} }, Output: func(id.Job) job.Output { return job.Output{} }}
	_, err := d.t.Decide(tool.Decode, f, tree.Input{Session: d.s, In: in})
	return err
}

func (d *decider) begin() error {
	if err := d.decide(session.Prompt{Text: "go on", Mode: session.Living, Limits: limits, Context: d.t.Session().Context}); err != nil {
		return err
	}
	d.request = d.t.Session().Requests
	return nil
}

// time takes the median of n replies that make one call each: from the reply to
// the decided line, the result and the next request included.
func (d *decider) time(n int, name string, args func(i int) string) (float64, error) {
	var took []float64
	for i := range n {
		d.calls++
		c := transcript.Call{ID: fmt.Sprintf("timed_%d", d.calls), Name: name, Arguments: args(i)}
		start := time.Now()
		err := d.decide(session.Replied{Request: d.request, Reply: transcript.AssistantSaid{Calls: []transcript.Call{c}, Finish: "tool_calls"}})
		took = append(took, time.Since(start).Seconds())
		d.request++
		if err != nil {
			return 0, err
		}
		if got := d.t.Session().Requests; got != d.request {
			return 0, fmt.Errorf("%s asked %d requests, not %d", name, got, d.request)
		}
	}
	return median(took), nil
}

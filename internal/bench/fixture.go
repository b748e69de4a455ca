package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"evener/internal/attention"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/transcript"
	"evener/journal"
)

// fixture writes a session's journal by hand, faster than a run would: lines
// that fold, of the kinds and about the sizes that a run writes.
type fixture struct {
	j       *journal.Journal
	s       id.Session
	at      time.Time
	step    int64
	turn    int64
	request int64
	calls   int64
	jobs    uint32
	waiting []journal.Record
	err     error
}

const fixtureDir = "/home/dev/project"

func newFixture(h store.Home) (*fixture, error) {
	at := time.Date(2026, 11, 30, 7, 0, 0, 0, time.UTC)
	s := id.MintSession(at, id.Entropy{1, 2, 3})
	if err := errors.Join(h.Make(), os.Mkdir(h.Dir(s), 0o700)); err != nil {
		return nil, err
	}
	j, err := journal.Create(h.Journal(s), journal.Options{Quiet: -1, Version: "bench", Owner: []byte(`{"session_id":"` + string(s) + `"}`)})
	if err != nil {
		return nil, err
	}
	f := &fixture{j: j, s: s, at: at}
	f.line("prompt", session.Created{Session: s, Root: s, Dir: fixtureDir},
		session.RunStarted{Run: 1, Mode: session.Living, Limits: limits},
		session.ContextSet{Model: "openai/bench", System: "You work.", Tools: json.RawMessage(`[{"name":"shell"},{"name":"job_list"},{"name":"job_status"}]`)})
	return f, nil
}

// limits are the defaults of a run.
var limits = session.Limits{CommandTimeoutMS: 120_000, StopGraceMS: 2_000, InlineOutputBytes: 16 << 10,
	OutputKeepTotal: 2 << 30, MaxTurns: 1_000_000, MaxSubagentDepth: 2, JobListChars: 20_000}

// line adds one decision.
func (f *fixture) line(cause string, events ...session.Event) {
	if f.err != nil {
		return
	}
	f.step++
	f.at = f.at.Add(1234567 * time.Microsecond)
	r := journal.Record{Step: f.step, At: f.at, Cause: []byte(`{"kind":"` + cause + `"}`)}
	for _, e := range events {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if f.err = enc.Encode(e); f.err != nil {
			return
		}
		r.Events = append(r.Events, journal.Event{Kind: e.Kind(), Data: bytes.TrimSuffix(b.Bytes(), []byte("\n"))})
	}
	if f.waiting = append(f.waiting, r); len(f.waiting) == 512 {
		f.flush()
	}
}

func (f *fixture) flush() {
	if len(f.waiting) > 0 && f.err == nil {
		f.j.AppendAsync(f.waiting...)
		f.waiting = f.waiting[:0]
	}
}

// close ends the run and the journal, and folds what was written as a check.
func (f *fixture) close(h store.Home) error {
	f.line("close", session.RunEnding{Run: 1, Why: "done"}, session.RunEnded{Run: 1, Outcome: session.RunAnswered})
	f.flush()
	err := errors.Join(f.err, f.j.Close())
	if err == nil {
		_, err = store.Load(h, f.s, 0)
	}
	return err
}

func (f *fixture) requested(ids ...string) session.Requested {
	f.request++
	return session.Requested{Turn: f.turn, Request: f.request, Attention: ids}
}

func (f *fixture) said(text string, calls ...transcript.Call) transcript.AssistantSaid {
	finish := "stop"
	if len(calls) > 0 {
		finish = "tool_calls"
	}
	return transcript.AssistantSaid{Turn: f.turn, Request: f.request, Text: text, Calls: calls, Finish: finish,
		Usage: transcript.Usage{Input: 20_000, Output: 40}}
}

func (f *fixture) shellCall(command, mode string) transcript.Call {
	f.calls++
	args := `{"command":"` + command + `"}`
	if mode != "" {
		args = `{"command":"` + command + `","mode":"` + mode + `"}`
	}
	return transcript.Call{ID: fmt.Sprintf("call_%d", f.calls), Name: "shell", Arguments: args}
}

func (f *fixture) intended(c transcript.Call, command string, m job.Mode) job.Intended {
	f.jobs++
	return job.Intended{Job: id.MintJob(f.s, f.jobs, func(id.Job) bool { return false }), Command: command, Mode: m,
		Dir: fixtureDir, Turn: f.turn, Call: c.ID}
}

const fixtureBoot = "5fd4e2a1-6a2f-4a53-9a35-6ac1a4ff0f1b"

func (f *fixture) started(j id.Job) job.Started {
	return job.Started{Job: j, PID: 20_000 + int(f.jobs), StartTicks: 123_456_789, BootID: fixtureBoot}
}

func finished(j id.Job, kept bool) job.Finished {
	zero := 0
	return job.Finished{Job: j, Status: job.Completed, ExitCode: &zero, Generation: 1, Kept: kept, TotalBytes: 1234}
}

// talk adds one turn of small lines, one event each: a question, a command, its
// result, an answer.
func (f *fixture) talk() {
	f.turn++
	f.line("prompt", session.TurnStarted{Turn: f.turn, Type: session.UserTurn})
	f.line("prompt", transcript.UserSaid{Turn: f.turn, Text: "go on with the next item, please"})
	f.line("prompt", f.requested())
	c := f.shellCall("make", "")
	f.line("model.replied", f.said("", c))
	in := f.intended(c, "make", job.Foreground)
	f.line("model.replied", in)
	f.line("process.launched", f.started(in.Job))
	f.line("process.exited", finished(in.Job, false))
	f.line("process.exited", transcript.Answered{Call: c.ID, Name: c.Name, Data: json.RawMessage(`{"type":"shell","exit_code":0,"output":"ok\n"}`)})
	f.line("process.exited", f.requested())
	f.line("model.replied", f.said("done, with \"quotes\""))
	f.line("model.replied", session.TurnEnded{Turn: f.turn, Outcome: session.TurnAnswered, Answer: true})
}

// background adds a turn that starts n jobs which end within it, and whose
// notices the next turn carries, in the lines that a run writes.
func (f *fixture) background(n int) {
	f.turn++
	f.line("prompt", session.TurnStarted{Turn: f.turn, Type: session.UserTurn},
		transcript.UserSaid{Turn: f.turn, Text: "build the next lot"}, f.requested())
	var owed []string
	for i := range n {
		c := f.shellCall("make all", "background")
		said := f.said("", c)
		in := f.intended(c, "make all", job.Background)
		f.line("model.replied", said, in)
		answer := transcript.Answered{Call: c.ID, Name: c.Name,
			Data: json.RawMessage(`{"job_id":"` + string(in.Job) + `","type":"shell","mode":"background","status":"running","reason":null,"timed_out":false,"total_bytes":0}`)}
		f.line("process.launched", f.started(in.Job), answer, f.requested())
		notice := attention.ID(in.Job, 1)
		zero := 0
		f.line("process.exited", finished(in.Job, true), attention.Armed{ID: notice, Source: in.Job, Generation: 1,
			Frame: attention.Frame(attention.ShellEnd{Job: in.Job, Status: "completed", ExitCode: &zero, Total: 1234, Known: true, Tail: strings.Repeat("compiled a package\n", 4)})})
		owed = append(owed, notice)
		if i == n-1 {
			f.line("model.replied", f.said("they run"), session.TurnEnded{Turn: f.turn, Outcome: session.TurnAnswered, Answer: true})
		}
	}
	f.turn++
	f.line("model.replied", session.TurnStarted{Turn: f.turn, Type: session.NotificationTurn}, f.requested(owed...))
	f.line("model.replied", f.said("all built"), attention.Consumed{IDs: owed, By: attention.ByTurn},
		session.TurnEnded{Turn: f.turn, Outcome: session.TurnAnswered})
}

// writeSession makes a session in a new state folder by calling add until done says so.
func writeSession(e *env, name string, add func(*fixture), done func(*fixture) bool) (store.Home, id.Session, error) {
	dir, err := e.sub(name)
	if err != nil {
		return store.Home{}, "", err
	}
	h, err := store.Find(dir, "")
	if err != nil {
		return h, "", err
	}
	f, err := newFixture(h)
	if err != nil {
		return h, "", err
	}
	for f.err == nil && !done(f) {
		add(f)
	}
	return h, f.s, f.close(h)
}

// talkSession has about n lines of about 260 bytes.
func talkSession(e *env, n int) (store.Home, id.Session, error) {
	return writeSession(e, "talk", (*fixture).talk, func(f *fixture) bool { return f.step >= int64(n) })
}

// jobSession has n finished jobs.
func jobSession(e *env, n int) (store.Home, id.Session, error) {
	return writeSession(e, "jobs", func(f *fixture) { f.background(10) }, func(f *fixture) bool { return int(f.jobs) >= n })
}

package tree_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"evener/internal/audit"
	"evener/internal/job"
	"evener/internal/schema"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/tool"
	"evener/internal/transcript"
	"evener/journal"
)

// Every line of every story says enough to make its decision again: from the
// state before it, with nothing but its cause and what its events hold, the
// same events come.
func TestReplay(t *testing.T) {
	for _, file := range stories(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			p := play(t, script(t, file))
			defer p.w.close()
			replayAll(t, p.w)
		})
	}
}

func replayAll(t *testing.T, w *world) {
	t.Helper()
	r, err := audit.Replay(w.store.Home, root, audit.Rules{Decode: tool.Decode, Fits: schema.Violations})
	if err != nil {
		t.Fatal(err)
	}
	if d := r.Diff; d != nil {
		t.Errorf("step %d, %s: %s\ndecided %s\nrecorded %s", d.Recorded.Step, d.Recorded.Cause, d.Why, d.Decided, d.Recorded.Events)
	}
}

// The cause of a line keeps what was read from outside, and only that.
func TestCause(t *testing.T) {
	w := newWorld(t)
	defer w.close()
	at := func(in session.Input, want string) {
		t.Helper()
		w.now = w.now.Add(1500 * time.Nanosecond)
		d, refusal := w.decide(in)
		if refusal != nil || len(d.Writes) != 1 {
			t.Fatalf("%s: %v, %d writes", in.Kind(), refusal, len(d.Writes))
		}
		x := d.Writes[0]
		if got := w.named(string(x.Cause)); got != want {
			t.Errorf("cause %s, want %s", got, want)
		}
		if x.At.Nanosecond()%1000 != 0 || x.At.Location() != time.UTC {
			t.Errorf("decided at %v", x.At)
		}
	}
	call := func(id, name, args string) session.Replied {
		return session.Replied{Request: w.request, Reply: transcript.AssistantSaid{Calls: []transcript.Call{{ID: id, Name: name, Arguments: args}}}}
	}
	at(w.prompt("go", session.OneShot, stock), `{"kind":"prompt"}`)
	at(call("c1", "shell", `{"command":"x","mode":"background"}`), `{"kind":"model.replied","random":`+strconv.Itoa(2<<5)+`,"request":1}`)
	j := w.jobs[0]
	at(session.Launched{Job: j, Launch: job.Launch{PID: 7, StartTicks: 8, BootID: "b"}}, `{"kind":"process.launched","job_id":"$j1","pid":7,"start_ticks":8,"boot_id":"b"}`)
	w.printed[j] = &output{text: "abc", last: began.Add(time.Second)}
	w.full, w.room = "/full", 5<<20
	at(call("c2", "job_status", `{"target":"`+string(j)+`"}`), `{"kind":"model.replied","live":[{"job_id":"$j1","total_bytes":3,"last_output_at":"2024-12-01T10:00:01Z"}],"full_filesystem":"/full","room_bytes":5242880,"request":2}`)
	w.full = ""
	at(call("c3", "shell", `{"command":"serve","mode":"detached"}`), `{"kind":"model.replied","request":3}`)
	at(session.Detached{Call: "c3", PID: 9}, `{"kind":"process.detached","call_id":"c3","pid":9}`)
	at(w.exit(j, job.Exit{Code: 1, LeftBehind: 2}), `{"kind":"process.exited","job_id":"$j1","code":1,"left_behind":2,"total_bytes":3}`)
	at(session.ModelFailed{Request: w.request, Text: "no"}, `{"kind":"model.failed","request":4,"text":"no"}`)
}

// Rules that decided otherwise would have recorded something else: what is in a
// journal and is not what its cause leads to, replay finds, and finds it there.
func TestReplayFindsWhatDoesNotFollow(t *testing.T) {
	const notice, tasks = "background_notice_at_boundary", "tasks"
	for name, c := range map[string]struct{ story, kind, from, to string }{
		"a status":           {notice, "job.finished", `"status":"completed"`, `"status":"failed"`},
		"a reason":           {notice, "job.finished", `"reason":"exit_zero"`, `"reason":"other"`},
		"an exit code":       {notice, "job.finished", `"exit_code":0`, `"exit_code":4`},
		"kept or not":        {notice, "job.finished", `"kept":true`, `"kept":false`},
		"a count of bytes":   {notice, "job.finished", `"output_bytes":13`, `"output_bytes":14`},
		"what a notice says": {notice, "attention.armed", `completed. `, `completed well. `},
		"its count":          {notice, "attention.armed", `output_bytes=\"13\"`, `output_bytes=\"12\"`},
		"what settled it":    {notice, "attention.consumed", `"by":"turn"`, `"by":"status"`},
		"what a request has": {notice, "turn.requested", `,"attention_ids":`, `,"attention":`},
		"a request's number": {notice, "turn.requested", `"request":2`, `"request":3`},
		"an outcome":         {notice, "turn.ended", `"outcome":"reported"`, `"outcome":"answered"`},
		"a report":           {notice, "turn.reported", `Built.`, `Built!`},
		"a command":          {notice, "job.intended", `"command":"make"`, `"command":"make clean"`},
		"a mode":             {notice, "job.intended", `"mode":"background"`, `"mode":"foreground"`},
		"a result":           {notice, "transcript.result", `"truncated":false`, `"truncated":true`},
		"a task":             {tasks, "task.added", `"title":"Fix"`, `"title":"Break"`},
		"a task's state":     {tasks, "task.changed", `"state":"done"`, `"state":"dropped"`},
		"a missing event":    {notice, "attention.consumed", ``, ``},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := play(t, script(t, filepath.Join("testdata", c.story+".txtar")))
			defer p.w.close()
			h, at := rewritten(t, p.w.store.Home, c.kind, c.from, c.to)
			if at == 0 {
				t.Fatal("nothing was changed")
			}
			r, err := audit.Replay(h, root, audit.Rules{Decode: tool.Decode, Fits: schema.Violations})
			switch _, unreadable := errors.AsType[*store.FoldError](err); {
			case unreadable: // the change is no event any more
			case err != nil:
				t.Fatal(err)
			case r.Diff == nil:
				t.Errorf("step %d was changed, and replay finds nothing", at)
			case r.Diff.Recorded.Step != at:
				t.Errorf("step %d was changed, and replay finds step %d", at, r.Diff.Recorded.Step)
			}
		})
	}
}

// rewritten copies the root's journal with the first event changed that can be,
// as whole and as well checksummed as it was. from "" takes an event away.
func rewritten(t *testing.T, from store.Home, kind, old, new string) (store.Home, int64) {
	t.Helper()
	h := store.Home{Sessions: t.TempDir()}
	if err := os.Mkdir(h.Dir(root), 0o700); err != nil {
		t.Fatal(err)
	}
	j, err := journal.Create(h.Journal(root), journal.Options{Quiet: -1, Owner: []byte(`{"session_id":"` + string(root) + `"}`)})
	if err != nil {
		t.Fatal(err)
	}
	changed := int64(0)
	for e, err := range journal.Read(from.Journal(root), journal.Pos{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Own() {
			continue
		}
		r := journal.Record{Step: e.Step, At: e.At(), Cause: e.Cause}
		for k, data := range e.Events() {
			if k == kind && changed == 0 && strings.Contains(string(data), old) {
				changed = e.Step
				if old == "" {
					continue
				}
				data = []byte(strings.Replace(string(data), old, new, 1))
			}
			r.Events = append(r.Events, journal.Event{Kind: k, Data: data})
		}
		if _, err := j.Append(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return h, changed
}

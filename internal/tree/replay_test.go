package tree_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"evener/internal/attention"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/schema"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/tool"
	"evener/internal/transcript"
	"evener/internal/tree"
	"evener/internal/watch"
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
	last := int64(0)
	for e, err := range journal.Read(w.store.Home.Journal(root), journal.Pos{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Own() {
			continue
		}
		before := tree.New(root)
		if last > 0 {
			if before, err = store.Load(w.store.Home, root, last); err != nil {
				t.Fatal(err)
			}
		}
		last = e.Step
		l := lineOf(t, e)
		d, err := before.Decide(tool.Decode, l.facts(), tree.Input{Session: root, In: l.input()})
		if err != nil || len(d.Writes) != 1 {
			t.Fatalf("step %d, %s: %d writes, %v", e.Step, e.Cause, len(d.Writes), err)
		}
		if got := d.Writes[0]; got.Step != e.Step || !got.At.Equal(e.At()) || !bytes.Equal(got.Cause, e.Cause) {
			t.Errorf("step %d: decided as step %d at %v because of %s, not %s", e.Step, got.Step, got.At, got.Cause, e.Cause)
		}
		if got := texts(t, d.Writes[0].Events); strings.Join(got, "\n") != strings.Join(l.texts, "\n") {
			t.Errorf("step %d, %s: decided otherwise\n%s\nrecorded\n%s", e.Step, e.Cause, strings.Join(got, "\n"), strings.Join(l.texts, "\n"))
		}
	}
}

func texts(t *testing.T, events []session.Event) (out []string) {
	for _, e := range events {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(e); err != nil {
			t.Fatal(err)
		}
		out = append(out, e.Kind()+" "+strings.TrimSpace(b.String()))
	}
	return out
}

// line is one decision as the journal tells it.
type line struct {
	t     *testing.T
	at    time.Time
	cause []byte
	texts []string
	data  map[string][]byte // the first event of each kind
}

func lineOf(t *testing.T, e journal.Entry) line {
	l := line{t: t, at: e.At(), cause: e.Cause, data: map[string][]byte{}}
	for kind, data := range e.Events() {
		l.texts = append(l.texts, kind+" "+string(data))
		if l.data[kind] == nil {
			l.data[kind] = data
		}
	}
	return l
}

// get reads the first event of a kind; ok false if there is none.
func get[E session.Event](l line) (E, bool) {
	var zero E
	data := l.data[zero.Kind()]
	if data == nil {
		return zero, false
	}
	return read[E](l.t, data), true
}

func (l line) facts() session.Facts {
	f := read[struct {
		Random uint32     `json:"random"`
		Live   []job.Live `json:"live"`
		Full   string     `json:"full_filesystem"`
		Room   int64      `json:"room_bytes"`
	}](l.t, l.cause)
	return session.Facts{
		Now: l.at, Random: f.Random, Full: f.Full, Room: f.Room,
		Live: func(j id.Job) job.Live {
			for _, x := range f.Live {
				if x.Job == j {
					return x
				}
			}
			l.t.Errorf("%s: nothing is recorded of %s", l.cause, j)
			return job.Live{Job: j}
		},
		Output: func(id.Job) job.Output { return l.output() },
		Fits:   schema.Violations,
	}
}

func (l line) input() session.Input {
	kind := read[struct {
		Kind string `json:"kind"`
	}](l.t, l.cause).Kind
	switch kind {
	case "prompt":
		return l.prompt()
	case "open":
		return session.Open{Prompt: l.prompt()}
	case "interrupt":
		return read[session.Interrupt](l.t, l.cause)
	case "input.ended":
		e, _ := get[session.InputEnded](l)
		return session.EndInput{Error: e.Error}
	case "inherit":
		return l.inherit()
	case "model.replied":
		in := read[session.Replied](l.t, l.cause)
		in.Reply, _ = get[transcript.AssistantSaid](l)
		in.Reply.Turn, in.Reply.Request = 0, 0
		for i, c := range in.Reply.Calls {
			if c.SentID != "" {
				in.Reply.Calls[i].ID, in.Reply.Calls[i].SentID = c.SentID, ""
			}
		}
		return in
	case "model.failed":
		return read[session.ModelFailed](l.t, l.cause)
	case "process.launched":
		return read[session.Launched](l.t, l.cause)
	case "process.launch_failed":
		return read[session.LaunchFailed](l.t, l.cause)
	case "process.exited":
		in := read[session.Exited](l.t, l.cause)
		o := l.output()
		in.Head, in.Tail = o.Head, o.Tail
		return in
	case "process.detached":
		return read[session.Detached](l.t, l.cause)
	case "read.done":
		in := read[session.ReadDone](l.t, l.cause)
		a, _ := get[transcript.Answered](l)
		in.IsError, in.Text, in.Data = a.IsError, a.Text, a.Data
		return in
	case "files.done":
		in := read[session.FilesDone](l.t, l.cause)
		a, _ := get[transcript.Answered](l)
		in.IsError, in.Text, in.Data = a.IsError, a.Text, a.Data
		if seen, ok := get[session.FileSeen](l); ok {
			in.Seen = &seen
		}
		return in
	case "timer.fired":
		return read[session.TimerFired](l.t, l.cause)
	case "close":
		return read[session.Close](l.t, l.cause)
	case "watch.scanned":
		return read[session.WatchScanned](l.t, l.cause)
	case "watch.matched":
		return read[session.WatchMatched](l.t, l.cause)
	case "watch.lost":
		return read[session.WatchLost](l.t, l.cause)
	case "archive":
		return read[session.Archive](l.t, l.cause)
	case "restarted":
		return read[session.Restarted](l.t, l.cause)
	}
	l.t.Fatalf("no such cause: %s", l.cause)
	return nil
}

func (l line) inherit() session.Input {
	var in session.Inherit
	if f, ok := get[session.Forked](l); ok {
		c, _ := get[session.Created](l)
		in.Create, in.Fork = &c, &f
	}
	for _, x := range l.texts {
		if data, ok := strings.CutPrefix(x, "transcript.inherited "); ok {
			in.Entries = append(in.Entries, read[transcript.Inherited](l.t, []byte(data)))
		}
	}
	return in
}

func (l line) prompt() session.Prompt {
	var in session.Prompt
	if c, ok := get[session.Created](l); ok {
		in.Create = &c
	}
	r, _ := get[session.RunStarted](l)
	in.Mode, in.Limits, in.ParentJob, in.OutputSchema = r.Mode, r.Limits, r.ParentJob, r.OutputSchema
	// Unchanged context is not recorded again: whatever the state has will do.
	in.Context = told
	if c, ok := get[session.ContextSet](l); ok {
		in.Context = c
	}
	u, _ := get[transcript.UserSaid](l)
	in.Text, in.ID = u.Text, u.Input
	if q, ok := get[session.PromptQueued](l); ok { // the turn is that of another
		in.Text, in.ID = q.Text, q.Input
	}
	return in
}

// output is some output that reads as the line shows it. What a result or a
// frame shows is settled: shown again it reads the same.
func (l line) output() job.Output {
	a, answered := get[transcript.Answered](l)
	shown := struct {
		Output    *string `json:"output"`
		Truncated bool    `json:"truncated"`
		Total     int64   `json:"total_bytes"`
	}{}
	if answered && a.Data != nil {
		if err := json.Unmarshal(a.Data, &shown); err != nil {
			l.t.Fatal(err)
		}
	}
	if f, ok := get[watch.Fired](l); ok && f.Class == watch.Progress {
		return job.Output{Tail: f.Excerpts[0]}
	}
	n, armed := get[attention.Armed](l)
	switch {
	case shown.Output != nil && shown.Truncated:
		return ends(l.t, *shown.Output, shown.Total)
	case shown.Output != nil:
		return job.Output{Total: shown.Total, Tail: stretch(*shown.Output, shown.Total)}
	case armed:
		f, _ := get[job.Finished](l)
		return job.Output{Total: f.TotalBytes, Tail: excerpt(n.Frame, f.TotalBytes)}
	}
	return job.Output{}
}

var leftOut = regexp.MustCompile(`(?s)^(.*)\n\[[0-9,]+ bytes left out; [^\n]*\]\n(.*)$`)

func ends(t *testing.T, shown string, total int64) job.Output {
	m := leftOut.FindStringSubmatch(shown)
	if m == nil {
		t.Fatalf("no mark in %q", shown)
	}
	return job.Output{Total: total, Head: m[1], Tail: m[2]}
}

// stretch undoes what made a text shorter than its bytes were: \r\n reads as \n.
func stretch(s string, total int64) string {
	if n := total - int64(len(s)); n > 0 {
		s = strings.Replace(s, "\n", "\r\n", int(n))
	}
	return s
}

func excerpt(frame string, total int64) string {
	_, s, _ := strings.Cut(frame, "excerpt:\n")
	s = strings.TrimSuffix(s, "</job-notification>")
	s = strings.NewReplacer("&lt;", "<").Replace(s)
	if strings.Contains(frame, "Complete output below.") {
		return stretch(s, total)
	}
	s = strings.TrimSuffix(s, "[excerpt truncated]\n")
	if utf8.RuneCountInString(s) > 8000 { // its last newline was added
		s = strings.TrimSuffix(s, "\n")
	}
	return s
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

package audit

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"evener/internal/attention"
	"evener/internal/delegate"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/task"
	"evener/internal/transcript"
	"evener/internal/tree"
	"evener/internal/watch"
)

// memory is what a line says of the input that led to it: its cause, and for
// what the cause leaves out the line's own events.
type memory struct {
	line   store.Line
	root   id.Session
	events []session.Event
	state  *tree.State // before the line
	err    error       // what the line does not say
}

// first is the line's first event of a kind; ok false if there is none.
func first[E session.Event](m *memory) (e E, ok bool) {
	for _, x := range m.events {
		if e, ok := x.(E); ok {
			return e, true
		}
	}
	return e, false
}

// args reads the cause as an input.
func args[I any](m *memory) I {
	var in I
	m.read(m.line.Cause, &in)
	return in
}

func (m *memory) read(b []byte, into any) {
	if err := json.Unmarshal(b, into); err != nil && m.err == nil {
		m.err = fmt.Errorf("the cause cannot be read: %w", err)
	}
}

// facts are what the decision read from outside the fold.
func (m *memory) facts(r Rules) session.Facts {
	var f struct {
		Random uint32     `json:"random"`
		Live   []job.Live `json:"live"`
		Full   string     `json:"full_filesystem"`
		Room   int64      `json:"room_bytes"`
	}
	m.read(m.line.Cause, &f)
	return session.Facts{
		Now: m.line.At(), Random: f.Random, Full: f.Full, Room: f.Room, Fits: r.Fits,
		Live: func(j id.Job) job.Live {
			for _, x := range f.Live {
				if x.Job == j {
					return x
				}
			}
			if m.err == nil {
				m.err = fmt.Errorf("the decision asks for the output of %s, of which its cause says nothing", j)
			}
			return job.Live{Job: j}
		},
		Output: func(id.Job) job.Output { return m.output() },
	}
}

// input is the input that led to the line.
func (m *memory) input() tree.Input {
	var head struct {
		Kind    string     `json:"kind"`
		Session id.Session `json:"session_id"` // of a line of the tree's: whom it concerns
	}
	m.read(m.line.Cause, &head)
	var in session.Input
	if m.line.Session == "" {
		in = m.ofTree(head.Kind)
	} else {
		head.Session = m.line.Session
		in = m.ofSession(head.Kind)
	}
	if in == nil && m.err == nil {
		m.err = fmt.Errorf("this program knows no cause %q", head.Kind)
	}
	return tree.Input{Session: head.Session, In: in}
}

// ofTree reads a cause of the tree's journal.
func (m *memory) ofTree(kind string) session.Input {
	switch kind {
	case "signal":
		return args[tree.Signalled](m)
	case "retry":
		return args[tree.Retry](m)
	case "delegate.prepared":
		in := args[tree.Prepared](m)
		if c, ok := first[delegate.Created](m); ok {
			in.Descriptor = c.Descriptor
		}
		return in
	case "worktree.looked":
		return args[tree.WorktreeLooked](m)
	case "tree.timer":
		return args[tree.TimerFired](m)
	case "tree.reconcile":
		return tree.Reconcile{}
	}
	return nil
}

// ofSession reads a cause of a session's journal.
func (m *memory) ofSession(kind string) session.Input {
	switch kind {
	case "prompt":
		return m.prompt()
	case "open":
		return session.Open{Prompt: m.prompt()}
	case "interrupt":
		return args[session.Interrupt](m)
	case "input.ended":
		e, _ := first[session.InputEnded](m)
		return session.EndInput{Error: e.Error}
	case "inherit":
		return m.inherit()
	case "model.replied":
		return m.replied()
	case "fork.label":
		return args[session.LabelFork](m)
	case "model.failed":
		return args[session.ModelFailed](m)
	case "model.named":
		e, _ := first[session.Named](m)
		return session.NameFound{Text: e.Name, Usage: e.Usage}
	case "model.summarised":
		in := args[session.Summarised](m)
		if e, ok := first[transcript.Compacted](m); ok {
			in.Text, in.Model, in.Usage = e.Summary, e.Model, e.Usage
		}
		return in
	case "process.launched":
		return args[session.Launched](m)
	case "process.launch_failed":
		return args[session.LaunchFailed](m)
	case "process.exited":
		in := args[session.Exited](m)
		o := m.output()
		in.Head, in.Tail, in.Shown = o.Head, o.Tail, o.Shown
		return in
	case "process.detached":
		return args[session.Detached](m)
	case "read.done":
		in := args[session.ReadDone](m)
		a, _ := first[transcript.Answered](m)
		in.IsError, in.Text, in.Data = a.IsError, a.Text, a.Data
		return in
	case "files.done":
		in := args[session.FilesDone](m)
		a, _ := first[transcript.Answered](m)
		in.IsError, in.Text, in.Data = a.IsError, a.Text, a.Data
		if seen, ok := first[session.FileSeen](m); ok {
			in.Seen = &seen
		}
		return in
	case "timer.fired":
		return args[session.TimerFired](m)
	case "close":
		return args[session.Close](m)
	case "archive":
		return args[session.Archive](m)
	case "restarted":
		return args[session.Restarted](m)
	}
	if in := m.fromTree(kind); in != nil {
		return in
	}
	return m.ofWatch(kind)
}

// fromTree reads what the tree told a session.
func (m *memory) fromTree(kind string) session.Input {
	switch kind {
	case "begin":
		return m.begin()
	case "message":
		in := args[session.Message](m)
		q, _ := first[session.MessageQueued](m)
		in.Text = q.Text
		return in
	case "deliver":
		return m.deliver()
	case "call.done":
		in := args[session.CallDone](m)
		a, _ := first[transcript.Answered](m)
		in.IsError, in.Text, in.Data = a.IsError, a.Text, a.Data
		return in
	case "wait.send":
		return args[session.WaitSend](m)
	case "wait.stop":
		return args[session.WaitStop](m)
	case "fence":
		return args[session.Fence](m)
	case "stop.shell":
		return args[session.StopShell](m)
	case "halt":
		return args[session.Halt](m)
	case "settle":
		return session.Settle{}
	}
	return nil
}

func (m *memory) ofWatch(kind string) session.Input {
	switch kind {
	case "watch.granted":
		in := args[session.WatchGranted](m)
		if a, ok := first[transcript.Answered](m); ok && a.IsError && in.Manager == "" {
			code, text, _ := strings.Cut(a.Text, ": ")
			in.Refused = &fault.Error{Code: fault.Code(code), Text: text}
		}
		return in
	case "watch.scanned":
		return args[session.WatchScanned](m)
	case "watch.matched":
		return args[session.WatchMatched](m)
	case "watch.lost":
		return args[session.WatchLost](m)
	case "observed":
		return args[session.Observed](m)
	case "source.ended":
		return args[session.SourceEnded](m)
	}
	return nil
}

func (m *memory) prompt() session.Prompt {
	in := args[session.Prompt](m)
	if c, ok := first[session.Created](m); ok {
		in.Create = &c
	}
	r, _ := first[session.RunStarted](m)
	in.Mode, in.Limits, in.ParentJob, in.OutputSchema = r.Mode, r.Limits, r.ParentJob, r.OutputSchema
	in.Context = m.context()
	u, _ := first[transcript.UserSaid](m)
	in.Text, in.ID = u.Text, u.Input
	if q, ok := first[session.PromptQueued](m); ok { // the turn is that of another
		in.Text, in.ID = q.Text, q.Input
	}
	return in
}

// context is what the model was told; unchanged it is not recorded again.
func (m *memory) context() session.ContextSet {
	if c, ok := first[session.ContextSet](m); ok {
		return c
	}
	if s := m.state.Sessions[m.line.Session]; s != nil {
		return s.Context
	}
	return session.ContextSet{}
}

func (m *memory) replied() session.Replied {
	in := args[session.Replied](m)
	in.Reply, _ = first[transcript.AssistantSaid](m)
	in.Reply.Turn, in.Reply.Request = 0, 0
	in.Reply.Calls = append([]transcript.Call(nil), in.Reply.Calls...)
	for i, c := range in.Reply.Calls {
		if c.SentID != "" {
			in.Reply.Calls[i].ID, in.Reply.Calls[i].SentID = c.SentID, ""
		}
	}
	return in
}

func (m *memory) inherit() session.Inherit {
	in := args[session.Inherit](m)
	if f, ok := first[session.Forked](m); ok {
		c, _ := first[session.Created](m)
		in.Create, in.Fork = &c, &f
	}
	if c, ok := first[session.ContextSet](m); ok {
		in.Context = &c
	}
	for _, e := range m.events {
		if x, ok := e.(transcript.Inherited); ok {
			in.Entries = append(in.Entries, x)
		}
	}
	return in
}

// begin takes what the tree's journal does not say of a generation from the line.
func (m *memory) begin() session.Begin {
	in := args[session.Begin](m)
	if c, ok := first[session.Created](m); ok {
		in.Create = &c
	}
	r, _ := first[session.RunStarted](m)
	in.Limits, in.Exits, in.Schema = r.Limits, r.Exits, r.OutputSchema
	in.Context = m.context()
	if seeded, ok := first[task.Seeded](m); ok {
		in.Tasks = seeded.Tasks
	}
	if d := m.state.Delegates.Get(id.DelegateOf(m.line.Session)); d != nil {
		in.Text = d.Text
	}
	return in
}

func (m *memory) deliver() session.Deliver {
	in := args[session.Deliver](m)
	in.Notice, _ = first[attention.DelegateArmed](m)
	if a, ok := first[transcript.Answered](m); ok {
		in.Sent = json.RawMessage(withoutEarlier(a.Data))
	}
	return in
}

// withoutEarlier takes the updates off that the decision put behind a result.
func withoutEarlier(data []byte) []byte {
	const key = `,"earlier_results":[`
	at := strings.LastIndex(string(data), key)
	if at < 0 || !json.Valid(append(append([]byte{}, data[:at]...), '}')) {
		return data
	}
	return append(append([]byte{}, data[:at]...), '}')
}

// output is output that reads as the line shows it.
func (m *memory) output() job.Output {
	if f, ok := first[watch.Fired](m); ok && f.Class == watch.Progress && len(f.Excerpts) > 0 {
		return job.Output{Tail: f.Excerpts[0]}
	}
	f, _ := first[job.Finished](m)
	if a, ok := first[transcript.Answered](m); ok && a.Data != nil {
		var shown struct {
			Output    *string `json:"output"`
			Truncated bool    `json:"truncated"`
			Total     int64   `json:"total_bytes"`
		}
		if json.Unmarshal(a.Data, &shown) == nil && shown.Output != nil {
			return job.Output{Total: shown.Total, Shown: &job.Shown{Text: *shown.Output, Cut: shown.Truncated}}
		}
	}
	if n, ok := first[attention.Armed](m); ok {
		return job.Output{Total: f.TotalBytes, Tail: excerpt(n.Frame, f.TotalBytes)}
	}
	return job.Output{}
}

// excerpt is output whose excerpt reads as a frame has it. What a frame shows
// is settled: shown again it reads the same.
func excerpt(frame string, total int64) string {
	_, s, _ := strings.Cut(frame, "excerpt:\n")
	s = strings.TrimSuffix(s, "</job-notification>")
	s = strings.NewReplacer("&lt;", "<").Replace(s)
	if strings.Contains(frame, "Complete output below.") {
		return stretch(s, total)
	}
	s = strings.TrimSuffix(s, "[excerpt truncated]\n")
	switch n := utf8.RuneCountInString(s); {
	case n > attention.ExcerptLen: // its last newline was added
		return strings.TrimSuffix(s, "\n")
	case n == attention.ExcerptLen && int64(len(s)) >= total: // there was more in front of it
		return "…" + s
	}
	return s
}

// stretch undoes what made a text shorter than its bytes were: \r\n reads as \n.
func stretch(s string, total int64) string {
	if n := total - int64(len(s)); n > 0 {
		s = strings.Replace(s, "\n", "\r\n", int(n))
	}
	return s
}

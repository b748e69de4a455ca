package cli

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"evener/internal/host"
	"evener/internal/id"
	"evener/internal/model"
	"evener/internal/session"
	"evener/internal/term"
	"evener/internal/transcript"
)

// live shows a run to a person at a terminal: a row for what happens, and below
// them a status line with what goes on. It is made of the same events that
// programs get. A nil live shows nothing.
type live struct {
	screen  *term.Screen
	root    id.Session
	model   string
	state   string // where its files lie
	living  bool   // prompts come in and answers go out on pipes
	spinner []rune
	color   bool
	suspend chan os.Signal // the user's Ctrl-Z

	mu       sync.Mutex // guards what follows; nothing waits under it
	begun    time.Time
	doing    string // "" between turns
	since    time.Time
	received int64     // bytes of the reply that is coming in
	retry    time.Time // when the request is sent again, while that is awaited
	calls    []transcript.Call
	called   time.Time // when the first of them began, by the events
	jobs     map[id.Job]time.Time
	requests int64
	in, out  int64 // tokens
	awaits   bool  // the run stays for its jobs
	stopping bool
}

// newLive opens the view of a run, if somebody sits there who asked for no other.
func newLive(r *runner) *live {
	e := r.env
	f, ok := e.err.(*os.File)
	if !ok || !isTerminal(f) || r.options.verbose || r.config.Output == "jsonl" && isTerminalWriter(e.out) {
		return nil
	}
	now := time.Now()
	l := &live{root: r.tree.Root, model: r.config.Model, state: nearby(e.dir, r.tree.Home.Sessions), living: r.options.living(), begun: now, since: now, spinner: spinnerFor(e.getenv), jobs: map[id.Job]time.Time{}}
	l.color = obeys(e.getenv) && e.getenv("NO_COLOR") == ""
	opts := term.Options{Out: f, Width: func() int { return columns(f) }, Color: l.color}
	if obeys(e.getenv) {
		opts.Status, opts.Hidden = l.status, func() bool { return !inForeground(f) }
		if !signal.Ignored(syscall.SIGTSTP) {
			l.suspend = make(chan os.Signal, 1)
			signal.Notify(l.suspend, syscall.SIGTSTP)
		}
		opts.Suspend, opts.Pause = l.suspend, stopSelf
	}
	l.screen = term.Open(opts)
	return l
}

// nearby is a path as seen from a folder, if it lies below it.
func nearby(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// close ends the view: what is printed after it stands below all that it showed.
func (l *live) close() {
	if l != nil {
		l.screen.Close()
		if l.suspend != nil {
			signal.Stop(l.suspend)
		}
	}
}

// leave is close for an exit at once.
func (l *live) leave() {
	if l != nil {
		l.screen.Leave(300 * time.Millisecond)
	}
}

// warn shows a warning.
func (l *live) warn(message string) {
	l.screen.Print(term.Row{Wrap: true, Spans: []term.Span{{Text: "evener: warning: "}, {Text: strings.ReplaceAll(message, "\n", " ")}}})
}

// signalled says that the first signal was heard.
func (l *live) signalled(s os.Signal) {
	if l == nil {
		return
	}
	l.mu.Lock()
	l.stopping = true
	l.mu.Unlock()
	if s == syscall.SIGINT {
		l.screen.Print(term.Line("stopping…; press again to end at once"))
	} else {
		l.screen.Print(term.Line("stopping…"))
	}
}

// progress is told of a model request on its way.
func (l *live) progress(p model.Progress) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.received = p.Bytes
	l.retry = time.Time{}
	if p.Failed != nil {
		l.retry = time.Now().Add(p.After)
	}
}

// event shows what became durable.
func (l *live) event(e host.Event) {
	l.mu.Lock()
	rows := l.rows(e)
	l.mu.Unlock()
	l.screen.Print(rows...)
}

// rows takes an event into the state and gives the rows for it. l.mu is held.
func (l *live) rows(e host.Event) []term.Row {
	own := e.Session == l.root
	at := instant(e.At)
	switch d := e.Data.(type) {
	case transcript.UserSaid:
		if own && l.living && !d.Note {
			return []term.Row{{Spans: []term.Span{{Text: "» "}, {Text: firstLine(d.Text), Mark: term.Bold}}}}
		}
	case transcript.AssistantSaid:
		l.in, l.out = l.in+d.Usage.Input, l.out+d.Usage.Output
		if own {
			return l.said(d, at)
		}
	case transcript.Answered:
		if own {
			return l.answered(d, at)
		}
	case host.CommunicateData:
		if own {
			return l.communicated(d, at)
		}
	case host.JobData:
		return []term.Row{l.job(e, d, at)}
	case session.JobsAwaited:
		if own {
			l.awaits = true
			return []term.Row{term.Line("waiting for " + counted(int64(len(d.Jobs)), "running job"))}
		}
	case session.RunEnded:
		if own {
			return []term.Row{l.ended(d)}
		}
	}
	if !own {
		return nil
	}
	switch e.Event {
	case "SESSION_START":
		return []term.Row{{Spans: []term.Span{{Text: "session ", Mark: term.Dim}, {Text: string(l.root), Mark: term.Dim, Whole: true},
			{Text: " · " + l.model + " · " + l.state, Mark: term.Dim}}}}
	case "MODEL_REQUEST":
		l.requests++
		l.received, l.retry = 0, time.Time{}
		l.phase(waiting)
	case "TURN_END":
		l.calls = nil
		l.phase("")
	}
	return nil
}

// What goes on beside calls.
const (
	waiting = "waiting for the model"
	working = "working"
)

func (l *live) phase(doing string) { l.doing, l.since = doing, time.Now() }

// said shows what the model says beside its calls, and the first call. Text
// without calls is an answer, which is printed where answers go.
func (l *live) said(d transcript.AssistantSaid, at time.Time) (rows []term.Row) {
	switch {
	case strings.TrimSpace(d.Text) == "":
	case len(d.Calls) > 0:
		rows = append(rows, term.Row{Spans: []term.Span{{Text: firstLine(d.Text), Mark: term.Dim}}})
	case l.living:
		rows = append(rows, word(d.Text))
	}
	l.calls = d.Calls
	return append(rows, l.next(at)...)
}

// next shows the call that begins now: those of one reply run one after another.
func (l *live) next(at time.Time) []term.Row {
	l.called = at
	if len(l.calls) == 0 {
		l.phase(working)
		return nil
	}
	c := l.calls[0]
	if c.Name == "communicate" {
		l.phase(working)
		return nil
	}
	what := arguments(c.Arguments)
	l.phase(strings.TrimSpace(c.Name + " " + what))
	return []term.Row{{Spans: []term.Span{{Text: "› "}, {Text: c.Name, Mark: term.Bold}, {Text: " " + what}}}}
}

func (l *live) answered(d transcript.Answered, at time.Time) (rows []term.Row) {
	if d.Name != "communicate" || d.IsError { // what it said is shown, or printed as the report
		rows = append(rows, outcome(d, at.Sub(l.called)))
	}
	if len(l.calls) > 0 && l.calls[0].ID == d.Call {
		l.calls = l.calls[1:]
	}
	return append(rows, l.next(at)...)
}

func (l *live) communicated(d host.CommunicateData, at time.Time) []term.Row {
	switch {
	case d.EndTurn && l.living: // its result is an event of its own
		return []term.Row{word(d.Message)}
	case d.EndTurn: // it is printed as the report
		return nil
	}
	if len(l.calls) > 0 {
		l.calls = l.calls[1:]
	}
	return append([]term.Row{word(d.Message)}, l.next(at)...)
}

// word is what the model has to say, whole.
func word(message string) term.Row {
	return term.Row{Wrap: true, Spans: []term.Span{{Text: "• "}, {Text: strings.TrimSpace(message)}}}
}

func (l *live) job(e host.Event, d host.JobData, at time.Time) term.Row {
	if e.Event == "JOB_STARTED" {
		l.jobs[d.Job] = at
		return jobRow(d, "started", 0)
	}
	begun, known := l.jobs[d.Job]
	delete(l.jobs, d.Job)
	if !known { // it was started by a process that is gone
		return jobRow(d, ending(d), 0)
	}
	return jobRow(d, ending(d), at.Sub(begun))
}

// ended is the last row of a run.
func (l *live) ended(d session.RunEnded) term.Row {
	parts := []string{string(d.Outcome) + " after " + span(time.Since(l.begun)), counted(l.requests, "request")}
	return term.Row{Spans: []term.Span{{Text: strings.Join(append(parts, l.tokens()...), " · "), Mark: term.Dim}}}
}

// tokens is nothing where the server does not count them.
func (l *live) tokens() []string {
	if l.in+l.out == 0 {
		return nil
	}
	return []string{short(l.in) + " tokens in, " + short(l.out) + " out"}
}

// status is the line below the rows: what goes on is told first and cut last.
func (l *live) status(now time.Time, width int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	doing, since := l.now(now)
	if doing == "" {
		return ""
	}
	turned := int(now.Sub(l.begun)/term.Tick) % len(l.spinner)
	head := string(l.spinner[turned]) + " " + seconds(now.Sub(l.begun)) + " · "
	tail := since
	if n := len(l.jobs); n > 0 {
		tail = append(tail, " · "+counted(int64(n), "job"))
	}
	for _, t := range l.tokens() {
		tail = append(tail, " · "+t)
	}
	for ; ; tail = tail[:len(tail)-1] {
		const least = 16 // columns of what goes on, which the rest must leave
		rest := strings.Join(tail, "")
		room := width - term.Width(head+rest)
		if room >= min(least, term.Width(doing)) || len(tail) == 0 {
			return term.Line(head+term.Short(doing, max(0, room))+rest).Render(width, l.color)[0]
		}
	}
}

// now says what goes on and since when, or nothing where nothing does.
func (l *live) now(now time.Time) (doing string, since []string) {
	if d := now.Sub(l.since); d >= time.Second {
		since = []string{" " + seconds(d)}
	}
	switch {
	case l.stopping:
		return "stopping", nil
	case l.doing == "" && len(l.jobs) > 0 && l.awaits:
		return "waiting for jobs", since
	case l.doing == "" && len(l.jobs) > 0:
		return "jobs still run", since
	case l.doing != waiting:
		return l.doing, since
	case !l.retry.IsZero():
		return "trying again in " + seconds(l.retry.Sub(now)), nil
	case l.received > 0:
		return "the model answers, " + short(l.received) + " bytes", nil
	}
	return l.doing, since
}

func seconds(d time.Duration) string { return span(max(0, d).Truncate(time.Second)) }

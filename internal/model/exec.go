package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// A command as a model: one process a reply. It reads one JSON request from its
// standard input and writes one JSON reply to its standard output.
// docs/exec-model.md describes both.

// Exec is the command of an exec model and the way to run it.
type Exec struct {
	Command []string
	Env     []string      // "KEY=value", beside what every command of evener's own gets
	Timeout time.Duration // of one reply
	Run     func(context.Context, Command) (Ran, error)
}

// Command is one run of a command. More than Limit bytes of output end it, and
// of its errors the last ErrorLimit bytes are kept.
type Command struct {
	Argv, Env         []string
	Stdin             []byte
	Limit, ErrorLimit int
}

// Ran is how a command ended.
type Ran struct {
	Stdout, Stderr []byte
	Code           int    // -1 when Signal is set
	Signal         string // SIGKILL, …
	Cut            bool   // the output was longer than the limit
}

const (
	execMax   = 16 << 20 // of a reply
	stderrMax = 16 << 10 // kept of what a command says on standard error, the last
)

type execModel struct {
	caller
	name     string
	replyMax int
}

func openExec(name string, c Config) (Model, error) {
	if c.Exec == nil || len(c.Exec.Command) == 0 {
		return nil, fmt.Errorf("model exec/%s: no such command is configured; name it under exec in the user's configuration", name)
	}
	m := &execModel{name: name, replyMax: execMax}
	m.caller = caller{c: c, scrub: newScrubber(c.Secrets)}
	m.where = m.scrub.clean("exec/" + name)
	return m, nil
}

// Complete implements Model.
func (m *execModel) Complete(ctx context.Context, r Request, progress func(Progress)) (Reply, error) {
	body, err := m.c.execRequest(m.name, r)
	if err != nil {
		return Reply{}, m.scrub.faultf(BadRequest, 0, "%s: the request cannot be written: %v", m.where, err)
	}
	if e := m.tooLong(body); e != nil {
		return Reply{}, e
	}
	if progress == nil {
		progress = func(Progress) {}
	}
	x := m.c.Trace.exchange(m.c, m.scrub, "exec/"+m.name, r)
	b, err := m.c.retry(ctx, progress, func(attempt int) (*builder, *failure) {
		b, f := m.attempt(ctx, x, body)
		if f == nil {
			progress(Progress{Attempt: attempt, Bytes: b.size})
		}
		return b, f
	})
	if err != nil {
		return Reply{}, m.overflowed(err, body)
	}
	return b.reply(callIDs(r.Messages)), nil
}

var errTooSlow = errors.New("the command took too long")

// attempt runs the command once. A reply counts when the command succeeded; an
// error that it reports in the form of a reply counts always.
func (m *execModel) attempt(parent context.Context, x *exchange, body []byte) (b *builder, f *failure) {
	ctx, cancel := context.WithTimeoutCause(parent, m.c.Exec.Timeout, errTooSlow)
	defer cancel()
	a := x.exec(m.c.Exec.Command, body)
	defer func() { a.end(f, nil) }()
	ran, err := m.c.Exec.Run(ctx, Command{Argv: m.c.Exec.Command, Env: m.c.Exec.Env, Stdin: body, Limit: m.replyMax, ErrorLimit: stderrMax})
	a.ran(ran)
	switch {
	case err != nil && context.Cause(ctx) == errTooSlow:
		f := m.fails(Timeout, ran, "%s gave no reply within %s", m.program(), m.c.Exec.Timeout)
		f.err.Hint = "raise " + m.c.key("timeout_ms") + " if it needs longer"
		return nil, f
	case err != nil:
		f := m.fails(Failed, ran, "%s could not be run: %v", m.program(), startError(err))
		f.err.Hint = "check " + m.c.key("command")
		return nil, f
	case ran.Cut:
		return nil, m.fails(Protocol, ran, "%s was ended: its output is longer than %d MiB", m.program(), m.replyMax>>20)
	}
	b, refused, err := readExecReply(ran.Stdout)
	switch {
	case err == nil && refused != nil && refused.status != 0:
		return nil, m.failed("status", refused.status, nil, *refused)
	case err == nil && refused != nil:
		return nil, m.fails(Failed, Ran{}, "%s reports: %s", m.program(), refused.text)
	case ran.Signal != "":
		return nil, m.fails(Failed, ran, "%s was ended by %s", m.program(), ran.Signal)
	case ran.Code != 0:
		return nil, m.fails(Failed, ran, "%s exited with status %d", m.program(), ran.Code)
	case err != nil:
		f := m.fails(Protocol, ran, "%s gave no valid reply: %v", m.program(), err)
		f.err.Hint = "docs/exec-model.md has the form of a reply"
		return nil, f
	}
	return b, nil
}

// program is what the command is called in errors.
func (m *execModel) program() string { return m.c.Exec.Command[0] }

// startError is a failed start without our own word for it.
func startError(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

// fails is a failure that repeating would not change, with the end of what the command said.
func (m *execModel) fails(k Kind, ran Ran, format string, args ...any) *failure {
	text := m.where + ": " + fmt.Sprintf(format, args...)
	if said := m.scrub.last(string(ran.Stderr)); said != "" {
		text += "; it said: " + said
	}
	return &failure{err: m.scrub.faultf(k, 0, "%s", text)}
}

// execReply is a reply as the command writes it. A field that is not listed is refused.
type execReply struct {
	Text      *string    `json:"text"`
	Reasoning string     `json:"reasoning"`
	Calls     []execCall `json:"calls"`
	Finish    string     `json:"finish"`
	Usage     *struct {
		Input      int64 `json:"input"`
		Output     int64 `json:"output"`
		Reasoning  int64 `json:"reasoning"`
		CacheRead  int64 `json:"cache_read"`
		CacheWrite int64 `json:"cache_write"`
	} `json:"usage"`
	Model string `json:"model"`
	Error *struct {
		Message string `json:"message"`
		Status  int    `json:"status"`
	} `json:"error"`
}

type execCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// written is a reply as a command would write it.
func (r Reply) written() []byte {
	out := struct {
		Text      string        `json:"text"`
		Reasoning string        `json:"reasoning,omitempty"`
		Calls     []writtenCall `json:"calls,omitempty"`
		Finish    string        `json:"finish"`
	}{Text: r.Text, Reasoning: r.Reasoning, Finish: r.Finish}
	for _, c := range r.Calls {
		out.Calls = append(out.Calls, writtenCall{c.ID, c.Name, c.Arguments})
	}
	b, _ := encode(out) // strings always encode
	return b
}

type writtenCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// readExecReply takes the one object of an output: a reply, or the error in it.
func readExecReply(out []byte) (*builder, *answer, error) {
	out = bytes.TrimSpace(bytes.TrimPrefix(out, []byte("\xef\xbb\xbf")))
	switch {
	case len(out) == 0:
		return nil, nil, errors.New("it wrote nothing")
	case out[0] != '{':
		return nil, nil, fmt.Errorf("it wrote no JSON object, but %q", head(out))
	}
	var w execReply
	d := json.NewDecoder(bytes.NewReader(out))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return nil, nil, replyError(err)
	}
	if rest := out[d.InputOffset():]; len(rest) > 0 {
		return nil, nil, fmt.Errorf("something follows the reply: %q", head(rest))
	}
	if w.Error != nil {
		a, err := w.refusal()
		return nil, a, err
	}
	if w.Text == nil && len(w.Calls) == 0 {
		return nil, nil, errors.New("the reply has neither text nor calls")
	}
	return w.builder(), nil, nil
}

// refusal is the error of a reply, taken apart like that of a server.
func (w execReply) refusal() (*answer, error) {
	e := *w.Error
	if e.Status != 0 && (e.Status < 400 || e.Status > 599) {
		return nil, fmt.Errorf("error.status is %d; it is 400 to 599, or left out", e.Status)
	}
	if strings.TrimSpace(e.Message) == "" {
		return nil, errors.New("error.message is empty")
	}
	a := answer{text: e.Message, status: e.Status}.measured()
	return &a, nil
}

// builder hands the reply to the code that evens out those of servers.
func (w execReply) builder() *builder {
	b := &builder{finish: w.Finish, model: w.Model, begun: true}
	if u := w.Usage; u != nil {
		b.usage = Usage{Input: max(u.Input, 0), Output: max(u.Output, 0), Reasoning: max(u.Reasoning, 0), CacheRead: max(u.CacheRead, 0), CacheWrite: max(u.CacheWrite, 0)}
	}
	d := &delta{ReasoningContent: content{text: w.Reasoning}}
	if w.Text != nil {
		d.Content.text = *w.Text
	}
	for _, c := range w.Calls {
		call := wireCall{ID: looseText(c.ID)}
		call.Function.Name = looseText(c.Name)
		if len(c.Arguments) > 0 {
			_ = call.Function.Arguments.UnmarshalJSON(c.Arguments) // it is valid JSON, so this cannot fail
		}
		d.Calls = append(d.Calls, call)
	}
	b.addMessage(d)
	return b
}

// replyError says what is wrong with a reply in words that fit its own fields.
func replyError(err error) error {
	if t, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s is %s; want %s", t.Field, t.Value, goKind(t.Type.Kind().String()))
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return fmt.Errorf("the reply has the unknown field %s", name)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON ends too early")
	}
	return fmt.Errorf("the JSON is not valid: %w", err)
}

func goKind(kind string) string {
	switch kind {
	case "string":
		return "a string"
	case "slice":
		return "a list"
	case "int", "int64":
		return "an integer"
	}
	return "an object"
}

func head(b []byte) string {
	const most = 80
	s := oneLine(string(b[:min(len(b), 4*most)]))
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

// The request as the command reads it.

type execRequest struct {
	Version  int           `json:"version"`
	Model    string        `json:"model"`
	System   string        `json:"system"`
	Messages []execMessage `json:"messages"`
	Tools    []execTool    `json:"tools"`
	Params   Params        `json:"params"`
}

type execMessage struct {
	Role      string         `json:"role"`
	Text      string         `json:"text"`
	Reasoning string         `json:"reasoning,omitempty"`
	Calls     []execSentCall `json:"calls,omitempty"`
	CallID    string         `json:"call_id,omitempty"`
}

type execSentCall struct {
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

type execTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

// execVersion is raised when a request changes so that a command which knew the old form goes wrong.
const execVersion = 1

// execRequest is the request's one line. The history is evened out as for servers.
func (c Config) execRequest(name string, r Request) ([]byte, error) {
	system := r.System
	r.System = ""
	c.ReasoningEcho = "reasoning"
	messages, err := c.history(r)
	if err != nil {
		return nil, err
	}
	out := execRequest{Version: execVersion, Model: name, System: system, Messages: []execMessage{}, Tools: []execTool{}, Params: r.Params}
	for _, w := range messages {
		m := execMessage{Role: w.Role, CallID: w.CallID}
		if w.Content != nil {
			m.Text = *w.Content
		}
		m.Reasoning, _ = w.reasoning.value.(string)
		for _, k := range w.Calls {
			m.Calls = append(m.Calls, execSentCall{k.ID, k.Function.Name, json.RawMessage(k.Function.Arguments)})
		}
		out.Messages = append(out.Messages, m)
	}
	for _, t := range sentTools(r.Tools) {
		out.Tools = append(out.Tools, execTool(t.Function))
	}
	body, err := encode(out)
	return append(body, '\n'), err
}

// last is the end of what a program said: its last lines, as many as fit one line of an error.
func (s scrubber) last(said string) string {
	text := words(s.r.Replace(said))
	if r := []rune(text); len(r) > lineMax/2 {
		return "…" + string(r[len(r)-lineMax/2:])
	}
	return text
}

package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The request as strict servers want it. The body is a function of the
// Request and the Config alone and begins the same as the one before, so that
// servers can reuse what they computed for it.

type member struct {
	name  string
	value any
}

type wireMessage struct {
	Role      string     `json:"role"`
	Content   *string    `json:"content"`
	Calls     []sentCall `json:"tool_calls,omitempty"`
	CallID    string     `json:"tool_call_id,omitempty"`
	reasoning member     // appended under its own name
}

type sentCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function sentFunction `json:"function"`
}

type sentFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type sentTool struct {
	Type     string       `json:"type"`
	Function functionSpec `json:"function"`
}

type functionSpec struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

// wireMessages are a history. A long one is most of what the process holds, so
// it is written once, into room that is asked for once.
type wireMessages []wireMessage

func (ms wireMessages) appendTo(out []byte) ([]byte, error) {
	room := 0
	for _, m := range ms {
		room += m.room()
	}
	out = append(slices.Grow(out, room+roomForRest), '[')
	for i, m := range ms {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = m.appendTo(out); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

// appendTo adds the reasoning under the name it came with.
func (m wireMessage) appendTo(out []byte) ([]byte, error) {
	out, err := appendJSON(out, m)
	if err != nil || m.reasoning.name == "" {
		return out, err
	}
	out[len(out)-1] = ','
	if out, err = appendMember(out, m.reasoning); err != nil {
		return nil, err
	}
	return append(out, '}'), nil
}

// Room that messages and the rest of a request take beside their texts: a guess,
// which costs memory when it is too high and time when it is too low.
const roomForMessage, roomForRest = 128, 64 << 10

// room is how many bytes a message takes.
func (m wireMessage) room() int {
	n := roomForMessage
	if m.Content != nil {
		n += quotedLen(*m.Content)
	}
	if s, ok := m.reasoning.value.(string); ok {
		n += quotedLen(s) + len(m.reasoning.name)
	}
	for _, c := range m.Calls {
		n += roomForMessage + quotedLen(c.Function.Arguments)
	}
	return n
}

// quotedLen is how many bytes a text takes in JSON.
func quotedLen(s string) int {
	n := len(s)
	for i, r := range s {
		switch {
		case r == '"' || r == '\\' || r == '\n' || r == '\r' || r == '\t' || r == '\b' || r == '\f':
			n++
		case r < ' ', r == utf8.RuneError && !strings.HasPrefix(s[i:], "\ufffd"):
			n += 5
		case r == '\u2028' || r == '\u2029':
			n += 3
		}
	}
	return n
}

// body is the request's JSON text.
func (c Config) body(name string, r Request, stream bool) ([]byte, error) {
	messages, err := c.history(r)
	if err != nil {
		return nil, err
	}
	ms := []member{{"model", name}, {"messages", messages}}
	if len(r.Tools) > 0 {
		ms = append(ms, member{"tools", sentTools(r.Tools)})
		if !c.NoParallel { // llama.cpp has it off by default
			ms = append(ms, member{"parallel_tool_calls", true})
		}
	}
	if r.Params.MaxTokens > 0 {
		ms = append(ms, member{c.MaxTokensField, r.Params.MaxTokens})
	}
	if r.Params.Temperature != nil {
		ms = append(ms, member{"temperature", *r.Params.Temperature})
	}
	if r.Params.ReasoningEffort != "" {
		ms = append(ms, member{"reasoning_effort", r.Params.ReasoningEffort})
	}
	ms = append(ms, member{"stream", stream})
	if stream {
		ms = append(ms, member{"stream_options", map[string]bool{"include_usage": true}})
	}
	return encodeMembers(c.withExtra(ms))
}

// withExtra puts the members of ExtraBody in place of ours, the others at the end, sorted.
func (c Config) withExtra(ms []member) []member {
	var extra map[string]json.RawMessage
	if len(c.ExtraBody) == 0 || json.Unmarshal(c.ExtraBody, &extra) != nil { // Open has checked it
		return ms
	}
	var more []member
	for k, v := range extra {
		if i := slices.IndexFunc(ms, func(m member) bool { return m.name == k }); i >= 0 {
			ms[i].value = v
		} else {
			more = append(more, member{k, v})
		}
	}
	slices.SortFunc(more, func(a, b member) int { return cmp.Compare(a.name, b.name) })
	return append(ms, more...)
}

func sentTools(tools []Tool) []sentTool {
	var out []sentTool
	for _, t := range tools {
		if len(t.Parameters) == 0 {
			t.Parameters = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		out = append(out, sentTool{"function", functionSpec(t)})
	}
	return out
}

// unanswered stands for the reply that a turn never got.
var unanswered = "(no reply: this turn ended before one)"

// history turns messages into the server's. Consecutive user messages become
// one, as templates that insist on alternation want it; where the later one
// opens a turn of its own, the reply that the earlier one never got stands
// between them. Content is null only
// beside tool calls. A reply without words and calls is left out: several
// servers refuse it.
func (c Config) history(r Request) (wireMessages, error) {
	var out wireMessages
	if r.System != "" {
		out = append(out, wireMessage{Role: "system", Content: &r.System})
	}
	for i, m := range r.Messages {
		w := wireMessage{Role: m.Role, Content: &m.Text}
		switch m.Role {
		case RoleUser:
			last := len(out) - 1
			if last >= 0 && out[last].Role == RoleUser && m.Anew {
				out = append(out, wireMessage{Role: RoleAssistant, Content: &unanswered})
				break
			}
			if last >= 0 && out[last].Role == RoleUser {
				joined := *out[last].Content + "\n\n" + m.Text
				out[last].Content = &joined
				continue
			}
		case RoleTool:
			w.CallID = m.CallID
		case RoleAssistant:
			w.reasoning = c.echo(m)
			w.Calls = sentCalls(m.Calls)
			if m.Text == "" && len(m.Calls) > 0 {
				w.Content = nil
			}
			if m.Text == "" && len(m.Calls) == 0 && w.reasoning.name == "" {
				continue
			}
		default:
			return nil, fmt.Errorf("message %d has the unknown role %q", i, m.Role)
		}
		out = append(out, w)
	}
	return out, nil
}

// echo decides whether reasoning goes back. Some servers refuse a history
// without it, others refuse an unknown field; so by default (auto) it goes
// back under the name that the server itself used for it, in every message,
// which keeps the beginning of the history unchanged. A <think> block of the
// text does not go back: templates cut it out themselves. "off" sends none,
// a field name sends all reasoning under that name.
func (c Config) echo(m Message) member {
	field := c.ReasoningEcho
	switch {
	case m.Reasoning == "" || field == "off":
		return member{}
	case field == "auto" && (m.ReasoningField == "" || m.ReasoningField == thinkTag):
		return member{}
	case field == "auto":
		field = m.ReasoningField
	}
	return member{field, m.Reasoning}
}

// sentCalls repeats calls so that any server accepts them: arguments that are
// no object (they came in half) as {}, names without other characters than tool names have.
func sentCalls(calls []Call) []sentCall {
	var out []sentCall
	for _, k := range calls {
		args := k.Arguments
		if !isObject([]byte(args)) {
			args = "{}"
		}
		out = append(out, sentCall{k.ID, "function", sentFunction{sentName(k.Name), args}})
	}
	return out
}

const nameMax = 64

func sentName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, s)
	if s == "" {
		return "unnamed"
	}
	return s[:min(len(s), nameMax)]
}

func encode(v any) ([]byte, error) { return appendJSON(nil, v) }

// appendJSON is json.Marshal without the escaping for web pages, into a buffer that is there.
func appendJSON(out []byte, v any) ([]byte, error) {
	w := appender(out)
	e := json.NewEncoder(&w)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return w[:len(w)-1], nil // its newline
}

type appender []byte

func (a *appender) Write(p []byte) (int, error) {
	*a = append(*a, p...)
	return len(p), nil
}

func appendMember(out []byte, m member) ([]byte, error) {
	out, err := appendJSON(out, m.name)
	if err != nil {
		return nil, err
	}
	out = append(out, ':')
	if ms, ok := m.value.(wireMessages); ok && ms != nil {
		out, err = ms.appendTo(out)
	} else {
		out, err = appendJSON(out, m.value)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.name, err)
	}
	return out, nil
}

func encodeMembers(ms []member) ([]byte, error) {
	out := []byte{'{'}
	for i, m := range ms {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = appendMember(out, m); err != nil {
			return nil, err
		}
	}
	return append(out, '}'), nil
}

// callIDs are the ids in use in a history.
func callIDs(ms []Message) map[string]bool {
	ids := map[string]bool{}
	for _, m := range ms {
		for _, c := range m.Calls {
			ids[c.ID] = true
		}
	}
	return ids
}

// Check tells what a strict server would refuse in a history: a call that is
// not answered right after its message, an answer without a call, an id used twice.
func Check(ms []Message) error {
	open := []string(nil)
	ids := map[string]bool{}
	for i, m := range ms {
		if m.Role == RoleTool {
			at := slices.Index(open, m.CallID)
			if at < 0 {
				return fmt.Errorf("message %d answers the call %q, which is not open there", i, m.CallID)
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("message %d comes before the call %q has its result", i, open[0])
		}
		for _, c := range m.Calls {
			if c.ID == "" || ids[c.ID] {
				return fmt.Errorf("message %d uses the call id %q, which is empty or used before", i, c.ID)
			}
			ids[c.ID] = true
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("the call %q has no result", open[0])
	}
	return nil
}

package model

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// builder puts a reply together from its pieces, in whatever shape they come.
// This is the one place where the habits of servers are evened out.
type builder struct {
	text, reasoning strings.Builder
	field           string // of reasoning
	refusal         strings.Builder
	calls           []*rawCall
	byIndex         map[int]*rawCall
	finish          string
	usage           Usage
	usageTold       bool
	model           string
	size            int64
	begun           bool // some choice was seen
	deltas          int
}

type rawCall struct {
	id, name string
	args     []byte
	delta    int // the last delta that added to it
}

// add takes one chunk of a stream, or a whole answer.
func (b *builder) add(c chunk) {
	if c.Model != "" {
		b.model = string(c.Model)
	}
	if u, ok := readUsage(c.Usage); ok {
		b.usage, b.usageTold = u, true
	} else if u, ok := readTimings(c.Timings); ok && !b.usageTold {
		b.usage = u
	}
	if len(c.Choices) == 0 { // a usage chunk
		return
	}
	ch := c.Choices[0]
	switch {
	case ch.Delta != nil:
		b.addDelta(ch.Delta)
	case ch.Message != nil && b.size == 0: // a plain answer; at the end of a stream it would repeat the deltas
		b.addMessage(ch.Message)
	}
	b.begun = true
	if ch.Finish != "" {
		b.finish = string(ch.Finish)
	}
}

func (b *builder) addDelta(d *delta) {
	b.deltas++
	b.addWords(d)
	for _, c := range d.Calls {
		b.fragment(c)
	}
}

// addMessage differs from addDelta in that each listed call is a call of its own.
func (b *builder) addMessage(d *delta) {
	b.addWords(d)
	for _, c := range d.Calls {
		b.extend(b.newCall(c), c)
	}
}

func (b *builder) addWords(d *delta) {
	b.text.WriteString(d.Content.text)
	b.refusal.WriteString(string(d.Refusal))
	b.size += int64(len(d.Content.text) + len(d.Refusal))
	b.think("reasoning_content", d.ReasoningContent.text)
	if d.ReasoningContent.text != d.Reasoning.text { // some gateways send both names with one text
		b.think("reasoning", d.Reasoning.text)
	}
	b.think("reasoning", d.Content.thinking)
}

func (b *builder) think(field, text string) {
	if text == "" {
		return
	}
	if b.field == "" {
		b.field = field
	}
	b.reasoning.WriteString(text)
	b.size += int64(len(text))
}

// fragment adds a piece of a call to the call it belongs to. A piece goes by
// its index, or without one by its id, or to the latest call. It begins a new
// call when nothing is there, when it has an id that the call there has not,
// and when it names a tool again where a continuation would not.
func (b *builder) fragment(c wireCall) {
	at := b.find(c)
	if at == nil || begins(c, at, b.deltas) {
		if at != nil && at.delta != b.deltas && repeats(c, at) {
			return
		}
		at = b.newCall(c)
	}
	b.extend(at, c)
}

func (b *builder) find(c wireCall) *rawCall {
	if c.Index.set {
		at := b.byIndex[c.Index.n]
		if at != nil && c.ID != "" && at.id != string(c.ID) {
			// A parser that gives every call the index 0 may come back to an earlier id.
			for _, o := range b.calls {
				if o.id == string(c.ID) && !isObject(o.args) {
					b.byIndex[c.Index.n] = o
					return o
				}
			}
		}
		return at
	}
	if c.ID != "" {
		for i := len(b.calls) - 1; i >= 0; i-- {
			if b.calls[i].id == string(c.ID) {
				return b.calls[i]
			}
		}
		return nil
	}
	if len(b.calls) == 0 {
		return nil
	}
	return b.calls[len(b.calls)-1]
}

// begins tells whether a piece starts a new call although one is there.
func begins(c wireCall, at *rawCall, delta int) bool {
	name, id := string(c.Function.Name), string(c.ID)
	if id != "" && at.id != "" && id != at.id {
		return true
	}
	if name == "" || at.name == "" {
		return false
	}
	// Some servers repeat the name on every piece: then it is the same and the arguments are still open.
	return name != at.name || isObject(at.args) || at.delta == delta
}

// repeats recognises a server that closes by sending a finished call once more.
func repeats(c wireCall, at *rawCall) bool {
	return c.ID != "" && string(c.ID) == at.id && string(c.Function.Name) == at.name && string(c.Function.Arguments) == string(at.args)
}

func (b *builder) newCall(c wireCall) *rawCall {
	at := &rawCall{}
	b.calls = append(b.calls, at)
	if c.Index.set {
		if b.byIndex == nil {
			b.byIndex = map[int]*rawCall{}
		}
		b.byIndex[c.Index.n] = at
	}
	return at
}

func (b *builder) extend(at *rawCall, c wireCall) {
	at.delta = b.deltas
	if at.id == "" {
		at.id = string(c.ID)
	}
	if at.name == "" {
		at.name = strings.TrimSpace(string(c.Function.Name))
	}
	args := string(c.Function.Arguments)
	if string(at.args) == "{}" && args != "" { // a placeholder that some gateways send ahead of the pieces
		at.args = nil
	}
	at.args = append(at.args, args...)
	b.size += int64(len(args) + len(c.Function.Name))
}

// reply makes the reply. taken holds the call ids of the history; ids of the
// reply that are missing, odd or in it are replaced.
func (b *builder) reply(taken map[string]bool) Reply {
	r := Reply{
		Text: b.text.String(), Reasoning: b.reasoning.String(), ReasoningField: b.field,
		FinishRaw: b.finish, Usage: b.usage, Model: b.model,
	}
	r.Finish = finishOf(b.finish, len(b.calls) > 0)
	if r.Text == "" {
		r.Text = b.refusal.String()
	}
	if r.Reasoning == "" {
		if think, rest, ok := splitThink(r.Text, r.Finish == FinishLength); ok {
			r.Text, r.Reasoning, r.ReasoningField = rest, think, thinkTag
		}
	}
	cut := r.Finish == FinishLength || r.Finish == FinishFilter
	seen := map[string]bool{}
	for _, c := range b.calls {
		call := Call{ID: c.id, Name: c.name, Arguments: string(c.args)}
		if strings.TrimSpace(call.Arguments) == "" {
			call.Arguments = ""
		}
		call.Broken = brokenCall(call, cut)
		for unfitID(call.ID) || seen[call.ID] || taken[call.ID] {
			call.ID = mintID()
		}
		seen[call.ID] = true
		r.Calls = append(r.Calls, call)
	}
	return r
}

// finishOf knows the names of other interfaces too, because gateways pass them on.
func finishOf(raw string, calls bool) string {
	switch strings.ToLower(raw) {
	case "length", "max_tokens", "max_output_tokens", "model_context_window_exceeded", "model_length":
		return FinishLength
	case "content_filter", "safety", "refusal":
		return FinishFilter
	}
	if calls {
		return FinishCalls
	}
	return FinishStop
}

const thinkTag = "<think>"

// splitThink takes a leading think block off a text. One that never ends is
// all reasoning if a limit cut it, else it is left alone.
func splitThink(text string, cut bool) (think, rest string, ok bool) {
	inner, ok := strings.CutPrefix(strings.TrimLeft(text, " \t\r\n"), thinkTag)
	if !ok {
		return "", text, false
	}
	think, rest, closed := strings.Cut(inner, "</think>")
	if !closed && !cut {
		return "", text, false
	}
	return strings.TrimSpace(think), strings.TrimLeft(rest, " \t\r\n"), true
}

// brokenCall says why a call cannot run, or nothing. After a cut an empty
// argument text counts as lost, not as {}.
func brokenCall(c Call, cut bool) string {
	if c.Name == "" {
		return "the call names no tool"
	}
	if c.Arguments == "" && !cut {
		return ""
	}
	err := checkObject([]byte(c.Arguments))
	switch {
	case err == nil:
		return ""
	case cut:
		return "the reply was cut off inside this call, before its arguments were complete; nothing was run"
	}
	return fmt.Sprintf("the arguments are not one JSON object (%s); nothing was run", err)
}

var errNoObject = errors.New("another kind of value")

func checkObject(b []byte) error {
	d := json.NewDecoder(bytes.NewReader(b))
	var v json.RawMessage
	if err := d.Decode(&v); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return errors.New("they end too early")
		}
		return err
	}
	if v[0] != '{' {
		return errNoObject
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something follows it")
	}
	return nil
}

func isObject(b []byte) bool {
	// The suffix spares parsing a growing text again and again.
	return bytes.HasSuffix(bytes.TrimRight(b, " \t\r\n"), []byte("}")) && checkObject(b) == nil
}

// idMax bounds ids from outside; they are repeated in every later request.
const idMax = 128

func unfitID(id string) bool {
	return id == "" || len(id) > idMax || strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// mintID makes a call id of the one form that every known template takes:
// nine letters and digits (Mistral's refuses any other).
func mintID() string { return rand.Text()[:9] }

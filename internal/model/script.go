package model

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"evener/internal/pattern"
)

// A scripted model. What it answers is a function of the script and of the
// request's messages: it counts the replies in the history, so it goes on where
// it stood after the program was killed and started again. The one thing it
// remembers is how often it failed on purpose (error.times).
// docs/script-model.md describes the file.

type script struct {
	name          string // for error texts: script/FILE
	conversations []*conversation
	mu            sync.Mutex
	trace         *Trace
	scrub         scrubber
	failed        map[string]int // by conversation and position: scripted errors given in this process
}

// conversation scripts the requests whose first user text firstUser finds; nil takes any.
type conversation struct {
	name      string
	firstUser *regexp.Regexp
	replies   []*scripted // by position
	matches   []*scripted // by what the last input says; tried first
	names     map[string]bool
}

// scripted is one reply of a script.
type scripted struct {
	match     *regexp.Regexp // of matches: finds the last input
	expect    *regexp.Regexp // the last input must contain it
	capture   []*regexp.Regexp
	text      string
	reasoning string
	calls     []scriptedCall
	finish    string
	err       *scriptedError
	delay     time.Duration
	usage     Usage
}

type scriptedCall struct {
	id, name  string
	arguments string
	object    bool // written as an object: what is put in is escaped
}

type scriptedError struct {
	status  int
	message string
	times   int // 0: always
}

// Complete implements Model.
func (s *script) Complete(ctx context.Context, r Request, progress func(Progress)) (Reply, error) {
	return unsent(s.trace, s.scrub, s.name, r, func() (Reply, error) { return s.complete(ctx, r, progress) })
}

// unsent writes down what a model answers that is sent nothing: the request and the
// reply in the form that a command would be asked in.
func unsent(t *Trace, scrub scrubber, name string, r Request, complete func() (Reply, error)) (Reply, error) {
	if t == nil {
		return complete()
	}
	x := t.exchange(Config{}, scrub, name, r)
	body, err := Config{}.execRequest(name, r)
	if err != nil { // a history that it refuses
		body, _ = encode(err.Error())
	}
	a := x.begin(body, func(*traceRequest) {})
	reply, err := complete()
	if err == nil {
		a.data("", reply.written())
	}
	a.end(nil, err)
	return reply, err
}

func (s *script) complete(ctx context.Context, r Request, progress func(Progress)) (Reply, error) {
	if err := Check(r.Messages); err != nil {
		return Reply{}, s.fault(r, "as a strict server it refuses the history: %v", err)
	}
	t, err := s.locate(r)
	if err != nil {
		return Reply{}, err
	}
	if err := sleep(ctx, t.entry.delay); err != nil {
		return Reply{}, err
	}
	if e := s.scriptedFault(t); e != nil {
		return Reply{}, e
	}
	b, err := t.build()
	if err != nil {
		return Reply{}, s.fault(r, "%s: %v", t.where(), err)
	}
	if progress != nil {
		progress(Progress{Attempt: 1, Bytes: b.size})
	}
	return b.reply(callIDs(r.Messages)), nil
}

func (s *script) fault(r Request, format string, args ...any) *Error {
	text := s.name + ": "
	if r.Session != "" {
		text += "session " + r.Session + ": "
	}
	return &Error{Kind: Scripted, Text: oneLine(text + fmt.Sprintf(format, args...))}
}

// turn is a place in a conversation: the entry that answers there, and what was captured before it.
type turn struct {
	conv     *conversation
	entry    *scripted
	position int // of the reply among all replies of the conversation, from 0
	values   map[string]string
}

func (t *turn) where() string {
	return fmt.Sprintf("conversation %q, reply %d", t.conv.name, t.position)
}

// locate goes through the history and finds the entry that answers it. An
// input is everything between two replies.
func (s *script) locate(r Request) (*turn, error) {
	first := ""
	for _, m := range r.Messages {
		if m.Role == RoleUser {
			first = m.Text
			break
		}
	}
	conv := s.conversationOf(first)
	if conv == nil {
		return nil, s.fault(r, "no conversation begins with the user text %q", short(first))
	}
	t := &turn{conv: conv, values: map[string]string{}}
	byPosition := 0
	var input []string
	for _, m := range r.Messages {
		if m.Role != RoleAssistant {
			input = append(input, m.Text)
			continue
		}
		t.step(strings.Join(input, "\n"), &byPosition)
		t.position++
		input = nil
	}
	last := strings.Join(input, "\n")
	t.step(last, &byPosition)
	switch {
	case t.entry == nil:
		return nil, s.fault(r, "%s: the script has only %d replies by position and none that matches the last input %q",
			t.where(), len(conv.replies), short(last))
	case t.entry.expect != nil && !t.entry.expect.MatchString(last):
		return nil, s.fault(r, "%s: the last input should contain %q, but is %q", t.where(), t.entry.expect, short(last))
	}
	return t, nil
}

func (s *script) conversationOf(first string) *conversation {
	for _, c := range s.conversations {
		if c.firstUser == nil || c.firstUser.MatchString(first) {
			return c
		}
	}
	return nil
}

// step lets the entry before look at the input that followed it, and finds the entry that answers the input.
func (t *turn) step(input string, byPosition *int) {
	if t.entry != nil {
		for _, re := range t.entry.capture {
			t.keep(re, input)
		}
	}
	t.entry = nil
	for _, e := range t.conv.matches {
		if e.match.MatchString(input) {
			t.keep(e.match, input)
			t.entry = e
			return
		}
	}
	if *byPosition < len(t.conv.replies) {
		t.entry = t.conv.replies[*byPosition]
	}
	*byPosition++
}

// keep takes the named groups of the first place that the pattern finds.
func (t *turn) keep(re *regexp.Regexp, input string) {
	m := re.FindStringSubmatchIndex(input)
	if m == nil {
		return
	}
	for i, name := range re.SubexpNames() {
		if name != "" && m[2*i] >= 0 {
			t.values[name] = input[m[2*i]:m[2*i+1]]
		}
	}
}

// scriptedFault returns the entry's error while it is due.
func (s *script) scriptedFault(t *turn) error {
	e := t.entry.err
	if e == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := t.conv.name + "\x00" + strconv.Itoa(t.position)
	if e.times > 0 && s.failed[key] >= e.times {
		return nil
	}
	s.failed[key]++
	a := parseAnswer([]byte(e.message))
	kind := kindOf(e.status)
	if a.overflows(e.status) {
		kind = Overflow
	}
	return &Error{Kind: kind, Status: e.status, Limit: a.limit, Text: oneLine(fmt.Sprintf("%s: HTTP %d, %s: %s", s.name, e.status, kind.words(), a.text))}
}

// build makes the reply of the place with its values put in.
func (t *turn) build() (*builder, error) {
	e := t.entry
	b := &builder{finish: e.finish, usage: e.usage, begun: true}
	text, err := t.fill(e.text, false)
	if err != nil {
		return nil, err
	}
	reasoning, err := t.fill(e.reasoning, false)
	if err != nil {
		return nil, err
	}
	d := &delta{Content: content{text: text}, ReasoningContent: content{text: reasoning}}
	for i, c := range e.calls {
		args, err := t.fill(c.arguments, c.object)
		if err != nil {
			return nil, err
		}
		w := wireCall{ID: looseText(c.id)}
		if w.ID == "" {
			w.ID = looseText(fmt.Sprintf("call_%d_%d", t.position, i))
		}
		w.Function.Name, w.Function.Arguments = looseText(c.name), wireArgs(args)
		d.Calls = append(d.Calls, w)
	}
	b.addMessage(d)
	return b, nil
}

var place = pattern.New(`\$\{([A-Za-z0-9_]+)\}`)

// fill puts captured values in for ${name}. A name that no pattern of the
// conversation captures is left as it is: it is the shell's.
func (t *turn) fill(s string, escape bool) (string, error) {
	missing := ""
	out := place().ReplaceAllStringFunc(s, func(at string) string {
		name := at[2 : len(at)-1]
		if !t.conv.names[name] {
			return at
		}
		v, ok := t.values[name]
		if !ok {
			missing = name
		}
		if escape {
			j, _ := json.Marshal(v) // a string always encodes
			v = string(j[1 : len(j)-1])
		}
		return v
	})
	if missing != "" {
		return "", fmt.Errorf("nothing was captured for ${%s} so far", missing)
	}
	return out, nil
}

func short(s string) string {
	const most = 200
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}

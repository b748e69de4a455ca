package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// A plan is a short way to write what a model answers, one word a line:
//
//	shell COMMAND        calls shell; so do background COMMAND and detached COMMAND
//	call NAME JSON       calls any tool
//	await N              calls shell with a command that ends once N notices are armed
//	report WORDS         calls communicate with end_turn=true
//	update WORDS         calls communicate with end_turn=false
//	delegate PROMPT      calls delegate
//	text WORDS           answers with bare text
//	reply JSON           the reply as docs/script-model.md has it
//	+ LINE               one more call of the same reply
//	~ REGEXP             what comes before the next reply must contain this
//	as NAME              keeps the id of the job or delegate that follows the reply as ${NAME}
//	keep REGEXP          keeps the named groups of what follows the reply
//	on REGEXP            the next reply answers every input that contains this
//	conversation REGEXP  what follows is for sessions whose first user text contains this; what stands before is for all others
//
// and, where a server plays it (serve):
//
//	status CODE [HEADER: VALUE]   answers one request so
//	error CODE TEXT               answers one request with this error message
//	reset | cut                   breaks the connection before, within the reply that stands next
//	raw TEXT                      answers with this body; \n in it is a line break
//	hang                          answers nothing until the client goes
//	plain                         the replies from here on are not streamed
type planned struct {
	Match   string        `json:"match,omitempty"`
	Expect  string        `json:"expect,omitempty"`
	Text    string        `json:"text,omitempty"`
	Calls   []plannedCall `json:"calls,omitempty"`
	Capture []string      `json:"capture,omitempty"`

	whole  json.RawMessage // in place of all above
	fault  string          // of a server: status, reset, cut, raw
	arg    string
	header [2]string
	plain  bool
}

type plannedCall struct {
	Name      string `json:"name"`
	Arguments any    `json:"arguments"`
}

// readPlan reads a plan.
func readPlan(text string) ([]planned, error) {
	var out []planned
	expect, match, plain := "", "", false
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		more := strings.HasPrefix(line, "+ ")
		word, rest, _ := strings.Cut(strings.TrimPrefix(line, "+ "), " ")
		switch word {
		case "", "#":
			continue
		case "~":
			expect = rest
			continue
		case "on":
			match = rest
			continue
		case "plain":
			plain = true
			continue
		case "as", "keep":
			if word == "as" {
				rest = `"(?:job|delegate)_id":"(?P<` + rest + `>(?:job|dlg)_\w+)"`
			}
			if len(out) == 0 {
				return nil, fmt.Errorf("line %d: %s before any reply", n+1, word)
			}
			last := &out[len(out)-1]
			last.Capture = append(last.Capture, rest)
			continue
		}
		p, err := plan(word, rest)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n+1, err)
		}
		if more {
			last := &out[len(out)-1]
			last.Calls = append(last.Calls, p.Calls...)
			continue
		}
		p.Expect, p.Match, p.plain = expect, match, plain
		expect, match = "", ""
		out = append(out, p)
	}
	return out, nil
}

// plan reads one line of a plan.
func plan(word, rest string) (planned, error) {
	call := func(name string, args any) (planned, error) {
		return planned{Calls: []plannedCall{{name, args}}}, nil
	}
	switch word {
	case "shell":
		return call("shell", map[string]any{"command": rest})
	case "background", "detached":
		return call("shell", map[string]any{"command": rest, "mode": word})
	case "await":
		return call("shell", map[string]any{"command": fmt.Sprintf(awaiting, number(rest))})
	case "report", "update":
		return call("communicate", map[string]any{"message": rest, "end_turn": word == "report"})
	case "delegate":
		return call("delegate", map[string]any{"prompt": rest})
	case "call":
		name, args, _ := strings.Cut(rest, " ")
		if !json.Valid([]byte(args)) {
			return call(name, args) // sent as it stands
		}
		return call(name, json.RawMessage(args))
	case "text":
		return planned{Text: rest}, nil
	case "reply":
		return planned{whole: json.RawMessage(rest)}, nil
	case "status":
		code, header, _ := strings.Cut(rest, " ")
		name, value, _ := strings.Cut(header, ": ")
		return planned{fault: word, arg: code, header: [2]string{name, value}}, nil
	case "error":
		code, message, _ := strings.Cut(rest, " ")
		return planned{fault: word, arg: code, header: [2]string{message}}, nil
	case "reset", "cut", "raw", "hang":
		return planned{fault: word, arg: rest}, nil
	}
	return planned{}, fmt.Errorf("unknown word %q", word)
}

// cmdScript: script FILE: writes FILE.json, the plan in FILE as a scripted model.
func cmdScript(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "script FILE")
	var conversations []any
	parts := regexp.MustCompile(`(?m)^conversation `).Split(ts.ReadFile(args[0]), -1)
	for i := len(parts) - 1; i >= 0; i-- { // the first takes what no other takes, so it comes last
		first, plan := "", parts[i]
		if i > 0 {
			first, plan, _ = strings.Cut(plan, "\n")
		}
		c, err := conversation(first, plan)
		ts.Check(err)
		conversations = append(conversations, c)
	}
	b, err := json.Marshal(map[string]any{"conversations": conversations})
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]+".json"), b, 0o644))
}

func conversation(first, plan string) (map[string]any, error) {
	plans, err := readPlan(plan)
	if err != nil {
		return nil, fmt.Errorf("conversation %q: %w", first, err)
	}
	replies, matches := []any{}, []any{}
	for _, p := range plans {
		var r any = p
		if p.whole != nil {
			r = p.whole
		}
		if p.Match != "" {
			matches = append(matches, r)
		} else {
			replies = append(replies, r)
		}
	}
	c := map[string]any{"name": "the root", "replies": replies}
	if len(matches) > 0 {
		c["matches"] = matches
	}
	if first != "" {
		c["name"], c["first_user"] = first, first
	}
	return c, nil
}

// awaiting is a command that ends once so many notices are on disk, so that
// the request behind it carries the last of them.
const awaiting = `until [ $(grep -cE '"attention.(delegate_)?armed"' .evener/sessions/$EVENER_SESSION_ID/session.jsonl) -ge %d ]; do sleep 0.02; done`

var placeholder = regexp.MustCompile(`\$\{(\w+)\}`)

// number reads a status code of a plan.
func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic("plan: no number: " + s)
	}
	return n
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// model answers every conversation of one tree at random, and keeps what it was told.
type model struct {
	mu        sync.Mutex
	rng       *rand.Rand
	requests  int
	killAt    int    // the request at which kill is called; 0: none
	kill      func() // ends the program
	finishing bool   // every conversation comes to its end
	names     int
	last      map[string][]message // the latest request of each conversation
	faults    []string
}

type message struct {
	Role      string `json:"role"`
	Content   any    `json:"content"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`
}

func (m message) text() string {
	s, _ := m.Content.(string)
	return s
}

// marker is in the brief of a delegate, so that its requests are known from others.
var marker = regexp.MustCompile(`(?:^|Your own assignment:\n)\[conversation (\w+)\]`)

// root is the conversation without one.
const root = "root"

func conversation(all []message) string {
	name := root
	for _, m := range all {
		if m.Role == "user" {
			for _, found := range marker.FindAllStringSubmatch(m.text(), -1) {
				name = found[1]
			}
		}
	}
	return name
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var req struct {
		Messages []message `json:"messages"`
	}
	if err == nil {
		err = json.Unmarshal(body, &req)
	}
	if err != nil {
		return // whoever asked was killed
	}
	m.mu.Lock()
	m.requests++
	name := conversation(req.Messages)
	m.check(name, req.Messages)
	text, calls := m.reply(name, req.Messages)
	if m.requests == m.killAt {
		m.kill()
	}
	m.mu.Unlock()
	w.Header().Set("Content-Type", "text/event-stream")
	delta := map[string]any{"role": "assistant", "content": text}
	finish := "stop"
	if len(calls) > 0 {
		delta["tool_calls"], finish = calls, "tool_calls"
	}
	chunk, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta}}})
	fmt.Fprintf(w, "data: %s\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", chunk, finish)
}

// check holds a request against the longest one before it: what was told stays told.
// One that was abandoned may come late, and be shorter.
func (m *model) check(name string, now []message) {
	before := m.last[name]
	if len(now) < len(before) {
		before, now = now, before
	}
	for i := 1; i < len(before); i++ { // behind the instructions, which name the tools of this run
		was, is := before[i], now[i]
		// What is said behind a user's words is put together with them.
		if was.Role != is.Role || was.text() != is.text() && !(is.Role == "user" && strings.HasPrefix(is.text(), was.text())) {
			m.faults = append(m.faults, fmt.Sprintf("conversation %s: message %d was %q and is %q", name, i, cut(was.text()), cut(is.text())))
			return
		}
	}
	m.last[name] = now
	open := map[string]bool{}
	for i, x := range now {
		for _, c := range x.ToolCalls {
			open[c.ID] = true
		}
		if x.Role == "tool" {
			if !open[x.ToolCallID] {
				m.faults = append(m.faults, fmt.Sprintf("conversation %s: message %d answers %s, which is not open", name, i, x.ToolCallID))
			}
			delete(open, x.ToolCallID)
		}
	}
	if len(open) > 0 {
		m.faults = append(m.faults, fmt.Sprintf("conversation %s: %d calls have no result", name, len(open)))
	}
}

func cut(s string) string {
	if len(s) > 120 {
		return s[:120] + "…"
	}
	return s
}

var (
	jobID      = regexp.MustCompile(`job_[0-9A-Z]{32}`)
	delegateID = regexp.MustCompile(`dlg_[0-9A-Z]{26}`)
)

// knows are the ids of a kind that a conversation has been told.
func knows(all []message, id *regexp.Regexp) []string {
	seen := map[string]bool{}
	var out []string
	for _, m := range all {
		if m.Role == "tool" || m.Role == "user" {
			for _, x := range id.FindAllString(m.text(), -1) {
				if !seen[x] {
					seen[x] = true
					out = append(out, x)
				}
			}
		}
	}
	return out
}

// reply decides what is said next.
func (m *model) reply(name string, all []message) (text string, calls []any) {
	since := 0 // replies since anybody spoke
	for i := len(all) - 1; i >= 0 && all[i].Role != "user"; i-- {
		if all[i].Role == "assistant" {
			since++
		}
	}
	longest := 5
	if name != root {
		longest = 3
	}
	if m.finishing || since > m.rng.IntN(longest)+1 {
		if strings.Contains(all[len(all)-1].text(), "-notification ") && m.rng.IntN(2) == 0 {
			return "Noted.", nil
		}
		return "", []any{m.call("communicate", map[string]any{"message": "report " + m.name(), "end_turn": true})}
	}
	if m.rng.IntN(12) == 0 {
		return "I wait.", nil
	}
	for i := range 1 + m.rng.IntN(3) {
		c := m.random(all)
		c["index"] = i
		calls = append(calls, c)
	}
	return "", calls
}

func (m *model) name() string {
	m.names++
	return fmt.Sprintf("n%d", m.names)
}

var commands = []string{
	"echo hello", "sleep 0.1; echo done", "for i in 1 2 3 4 5; do echo READY $i; sleep 0.05; done", "sleep 60", "exec sleep 60",
	"yes | head -c 200000", "exit 3", "trap '' TERM; sleep 60", "sleep 60 & sleep 60 & wait", "kill -9 $$", "setsid sleep 60 & echo left", "true",
}

// random is some call; its target may have ended or be somebody else's.
func (m *model) random(all []message) map[string]any {
	pick := func(id *regexp.Regexp, none string) string {
		known := knows(all, id)
		if len(known) == 0 {
			return none
		}
		return known[m.rng.IntN(len(known))]
	}
	command := commands[m.rng.IntN(len(commands))]
	job, child := pick(jobID, "job_NONE"), pick(delegateID, "dlg_NONE")
	target := job
	if m.rng.IntN(3) == 0 {
		target = child
	}
	switch m.rng.IntN(16) {
	case 0, 1:
		return m.call("shell", map[string]any{"command": command})
	case 2, 3, 4:
		return m.call("shell", map[string]any{"command": command, "mode": "background"})
	case 5, 6:
		return m.call("delegate", map[string]any{"prompt": "[conversation " + m.name() + "] Do something.", "fork_context": m.rng.IntN(5) == 0})
	case 7, 8:
		args := map[string]any{"to": child, "message": "steer " + m.name()}
		if m.rng.IntN(3) == 0 {
			args["max_wait_ms"] = m.rng.IntN(300)
		}
		return m.call("delegate_send", args)
	case 9:
		return m.call("job_stop", map[string]any{"target": target, "max_wait_ms": m.rng.IntN(500)})
	case 10:
		return m.call("job_status", map[string]any{"target": target})
	case 11:
		return m.call("job_list", map[string]any{"include_descendants": m.rng.IntN(2) == 0})
	case 12:
		return m.call("job_watch", map[string]any{"operation": "create", "source": job, "output_match": "READY"})
	case 13:
		return m.call("job_watch", map[string]any{"operation": "create", "source": child, "events": []any{"*"}})
	case 14:
		return m.call("read_transcript", map[string]any{"transcript_ref": "job:" + job})
	}
	return m.call("tasks", map[string]any{"operation": "add", "items": []any{map[string]any{"title": "task " + m.name()}}})
}

func (m *model) call(tool string, args any) map[string]any {
	b, _ := json.Marshal(args)
	return map[string]any{"index": 0, "id": "call_" + m.name(), "type": "function", "function": map[string]any{"name": tool, "arguments": string(b)}}
}

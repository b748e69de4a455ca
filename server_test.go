package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// server is a chat completions endpoint on loopback that plays a plan, one
// line a request. It is strict: a history that a real server would refuse gets
// status 400, and the script that looks with served fails.
type server struct {
	mu     sync.Mutex
	plan   []planned
	next   int
	values map[string]string
	dir    string // requests/N.json, requests/times
	refuse []string
	times  []time.Time
}

const serverSecret = "sk-secret-of-the-script"

// cmdServe: serve PLAN: starts the server and points OPENAI_BASE_URL and OPENAI_API_KEY at it.
func cmdServe(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "serve PLAN")
	plans, err := readPlan(ts.ReadFile(args[0]))
	ts.Check(err)
	s := &server{plan: plans, values: map[string]string{}, dir: ts.MkAbs("requests")}
	ts.Check(os.MkdirAll(s.dir, 0o755))
	h := httptest.NewServer(s)
	ts.Defer(h.Close)
	ts.Setenv("OPENAI_BASE_URL", h.URL+"/v1")
	ts.Setenv("OPENAI_API_KEY", serverSecret)
	ts.Value(runningKey).(map[string]*running)["server"] = &running{server: s}
}

// cmdServed: served N: N requests came, none of them with a history that a strict server refuses.
func cmdServed(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, !neg && len(args) == 1, "served N")
	s := started(ts, "server").server
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.refuse) > 0 {
		ts.Fatalf("the server refused: %s", strings.Join(s.refuse, "; "))
	}
	if len(s.times) != number(args[0]) {
		ts.Fatalf("%d requests came, want %s", len(s.times), args[0])
	}
}

// cmdGaps: gaps MS...: at least so many milliseconds lay between one request and the next.
func cmdGaps(ts *testscript.TestScript, neg bool, args []string) {
	s := started(ts, "server").server
	s.mu.Lock()
	defer s.mu.Unlock()
	usage(ts, !neg && len(args) == len(s.times)-1, "gaps MS... (one less than requests)")
	for i, a := range args {
		if got := s.times[i+1].Sub(s.times[i]); got < time.Duration(number(a))*time.Millisecond {
			ts.Fatalf("request %d came %v after the one before, want %s ms", i+2, got, a)
		}
	}
}

type wireMessage struct {
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

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodGet { // /v1/models is the file get/v1_models
		http.ServeFile(w, r, filepath.Join(filepath.Dir(s.dir), "get", strings.ReplaceAll(strings.Trim(r.URL.Path, "/"), "/", "_")))
		return
	}
	s.times = append(s.times, time.Now())
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client went away
	}
	n := len(s.times)
	os.WriteFile(filepath.Join(s.dir, strconv.Itoa(n)+".json"), body, 0o644)
	var req struct {
		Messages []wireMessage `json:"messages"`
	}
	err = json.Unmarshal(body, &req)
	if err == nil {
		err = strict(req.Messages)
	}
	if got := r.Header.Get("Authorization"); err == nil && got != "Bearer "+serverSecret {
		err = fmt.Errorf("authorization %q", got)
	}
	if err == nil && s.next >= len(s.plan) {
		err = fmt.Errorf("the plan has no line for request %d", n)
	}
	var p planned
	if err == nil {
		p = s.plan[s.next]
		s.next++
		err = s.check(p, input(req.Messages))
	}
	if err != nil {
		s.refuse = append(s.refuse, err.Error())
		http.Error(w, fmt.Sprintf(`{"error":{"message":%q}}`, err.Error()), http.StatusBadRequest)
		return
	}
	if p.fault == "hang" {
		s.mu.Unlock()
		<-r.Context().Done()
		s.mu.Lock()
		return
	}
	s.answer(w, p, n)
}

// input is the text since the model's last reply.
func input(messages []wireMessage) string {
	var b []string
	for i := len(messages) - 1; i >= 0 && messages[i].Role != "assistant"; i-- {
		if text, ok := messages[i].Content.(string); ok {
			b = append([]string{text}, b...)
		}
	}
	return strings.Join(b, "\n")
}

// check compares the input with what the plan expects and keeps its captures:
// those of the line before it.
func (s *server) check(p planned, in string) error {
	if s.next >= 2 {
		for _, c := range s.plan[s.next-2].Capture {
			re := regexp.MustCompile(c)
			if m := re.FindStringSubmatch(in); m != nil {
				for i, name := range re.SubexpNames() {
					if name != "" {
						s.values[name] = m[i]
					}
				}
			}
		}
	}
	if p.Expect != "" && !regexp.MustCompile(p.Expect).MatchString(in) {
		return fmt.Errorf("line %d of the plan expects %s, but the input is %.600q", s.next, p.Expect, in)
	}
	return nil
}

// strict is what endpoints insist on: every call has its result right behind
// it, in any order, and every result its call; ids are not used twice; roles
// are known; contents are there.
func strict(messages []wireMessage) error {
	var open []string
	used := map[string]bool{}
	for i, m := range messages {
		if m.Role == "tool" {
			at := -1
			for j, id := range open {
				if id == m.ToolCallID {
					at = j
				}
			}
			if at < 0 {
				return fmt.Errorf("message %d: a result for %q, which is not open", i, m.ToolCallID)
			}
			open = append(open[:at], open[at+1:]...)
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("message %d: role %s while calls %q have no result", i, m.Role, open)
		}
		switch m.Role {
		case "system":
			if i != 0 {
				return fmt.Errorf("message %d: a system message behind the first", i)
			}
		case "user":
			if m.Content == "" || m.Content == nil {
				return fmt.Errorf("message %d: an empty user message", i)
			}
		case "assistant":
			if len(m.ToolCalls) == 0 && (m.Content == "" || m.Content == nil) {
				return fmt.Errorf("message %d: an empty assistant message", i)
			}
			for _, c := range m.ToolCalls {
				if c.ID == "" || used[c.ID] || !json.Valid([]byte(c.Function.Arguments)) {
					return fmt.Errorf("message %d: call %q is unnamed, named twice or holds no JSON", i, c.ID)
				}
				used[c.ID] = true
				open = append(open, c.ID)
			}
		default:
			return fmt.Errorf("message %d: role %q", i, m.Role)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("the request ends while calls %q have no result", open)
	}
	return nil
}

func (s *server) answer(w http.ResponseWriter, p planned, n int) {
	switch p.fault {
	case "status":
		if p.header[0] != "" {
			w.Header().Set(p.header[0], p.header[1])
		}
		// Some endpoints repeat the key that they refuse.
		http.Error(w, fmt.Sprintf(`{"error":{"message":"the plan says %s to %s"}}`, p.arg, serverSecret), number(p.arg))
		return
	case "error":
		http.Error(w, fmt.Sprintf(`{"error":{"message":%q}}`, p.header[0]), number(p.arg))
		return
	case "raw":
		w.Header().Set("Content-Type", "application/json")
		if strings.HasPrefix(p.arg, "data:") {
			w.Header().Set("Content-Type", "text/event-stream")
		}
		io.WriteString(w, strings.ReplaceAll(p.arg, `\n`, "\n"))
		return
	case "reset":
		hangUp(w)
		return
	}
	full := s.completion(p, n)
	if p.plain && p.fault == "" {
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(map[string]any{"choices": []any{map[string]any{"index": 0, "message": full, "finish_reason": finish(full)}}})
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, d := range deltas(full) {
		chunk, _ := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": d}}})
		fmt.Fprintf(w, "data: %s\n\n", chunk)
		w.(http.Flusher).Flush()
		if p.fault == "cut" {
			hangUp(w)
			return
		}
	}
	fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", finish(full))
}

// completion is a reply as one message.
func (s *server) completion(p planned, n int) map[string]any {
	if p.fault == "cut" {
		p.Text = "half of a reply"
	}
	m := map[string]any{"role": "assistant", "content": s.fill(p.Text)}
	var calls []any
	for i, c := range p.Calls {
		args, ok := c.Arguments.(string)
		if !ok {
			b, _ := json.Marshal(c.Arguments)
			args = string(b)
		}
		calls = append(calls, map[string]any{"index": i, "id": fmt.Sprintf("call_%d_%d", n, i), "type": "function",
			"function": map[string]any{"name": c.Name, "arguments": s.fill(args)}})
	}
	if calls != nil {
		m["tool_calls"] = calls
	}
	return m
}

func (s *server) fill(text string) string {
	return placeholder.ReplaceAllStringFunc(text, func(at string) string {
		if v, ok := s.values[at[2:len(at)-1]]; ok {
			return v
		}
		return at
	})
}

func finish(m map[string]any) string {
	if m["tool_calls"] != nil {
		return "tool_calls"
	}
	return "stop"
}

// deltas cuts a message into the pieces of a stream.
func deltas(m map[string]any) []any {
	text := []rune(m["content"].(string))
	out := []any{map[string]any{"role": "assistant", "content": string(text[:len(text)/2])}, map[string]any{"content": string(text[len(text)/2:])}}
	calls, _ := m["tool_calls"].([]any)
	for _, c := range calls {
		call := c.(map[string]any)
		f := call["function"].(map[string]any)
		args := f["arguments"].(string)
		out = append(out,
			map[string]any{"tool_calls": []any{map[string]any{"index": call["index"], "id": call["id"], "type": "function", "function": map[string]any{"name": f["name"], "arguments": args[:len(args)/2]}}}},
			map[string]any{"tool_calls": []any{map[string]any{"index": call["index"], "function": map[string]any{"arguments": args[len(args)/2:]}}}})
	}
	return out
}

// hangUp resets the connection.
func hangUp(w http.ResponseWriter) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	if t, ok := c.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	c.Close()
}

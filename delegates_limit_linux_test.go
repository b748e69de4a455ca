package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// limited is an endpoint that refuses each of several delegates twice for its
// limit, then once for a fault of its own behind a command, and one for good.
type limited struct {
	mu   sync.Mutex
	seen map[string][]time.Time // requests of each delegate
}

var childForm = regexp.MustCompile(`Child (\d)\.`)

const limitedChildren = 5

func (l *limited) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client is gone
	}
	var in struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	child, reports := "", 0
	for _, m := range in.Messages {
		if m.Role != "user" {
			continue
		}
		if c := childForm.FindSubmatch(m.Content); c != nil && child == "" {
			child = string(c[1])
		}
		reports += strings.Count(string(m.Content), `kind=\"report\"`)
	}
	if strings.Contains(string(in.Messages[1].Content), "Start them") {
		l.root(w, len(in.Messages), reports)
		return
	}
	l.child(w, child)
}

func (l *limited) root(w http.ResponseWriter, messages, reports int) {
	switch {
	case messages == 2:
		var calls []any
		for i := range limitedChildren + 1 {
			calls = append(calls, chatCall(i, "delegate", fmt.Sprintf(`{"prompt":"Child %d."}`, i)))
		}
		chatReply(w, "", calls...)
	case reports < limitedChildren+1:
		chatReply(w, "I wait.")
	default:
		chatReply(w, "all came")
	}
}

func (l *limited) child(w http.ResponseWriter, child string) {
	l.mu.Lock()
	l.seen[child] = append(l.seen[child], time.Now())
	n := len(l.seen[child])
	l.mu.Unlock()
	switch {
	case child == fmt.Sprint(limitedChildren):
		http.Error(w, `{"error":{"message":"the key is not good"}}`, http.StatusUnauthorized)
	case n <= 2:
		w.Header().Set("Retry-After", "1")
		http.Error(w, `{"error":{"message":"too many requests"}}`, http.StatusTooManyRequests)
	case n == 3:
		chatReply(w, "", chatCall(0, "shell", `{"command":"echo `+child+` >> count"}`))
	case n == 4:
		http.Error(w, "oops", http.StatusInternalServerError)
	default:
		chatReply(w, "", chatCall(1, "communicate", `{"message":"done `+child+`","end_turn":true}`))
	}
}

func chatCall(n int, name, args string) any {
	return map[string]any{"index": n, "id": fmt.Sprint("c", n), "type": "function", "function": map[string]any{"name": name, "arguments": args}}
}

func chatReply(w http.ResponseWriter, text string, calls ...any) {
	message := map[string]any{"role": "assistant", "content": text}
	finish := "stop"
	if len(calls) > 0 {
		message["tool_calls"], finish = calls, "tool_calls"
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"id": "x", "object": "chat.completion", "model": "m", // who went away is seen elsewhere
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish}}})
}

// Delegates that meet a limit together wait as long as they were told, each by
// itself, and finish; no command runs again for it. What will not change is not tried again.
func TestDelegatesAtALimit(t *testing.T) {
	l := &limited{seen: map[string][]time.Time{}}
	s := httptest.NewServer(l)
	defer s.Close()
	dir, evener := built(t, nil, nil)
	c := exec.Command(evener, "--model", "openai/m", "--base-url", s.URL+"/v1", "Start them.")
	c.Dir = dir
	c.Env = append(os.Environ(), "OPENAI_API_KEY=sk-x")
	out, err := c.Output()
	if err != nil || string(out) != "all came\n" {
		t.Fatalf("%v: %q", err, out)
	}
	count, err := os.ReadFile(filepath.Join(dir, "count"))
	if lines := strings.Fields(string(count)); err != nil || len(lines) != limitedChildren {
		t.Errorf("the commands ran so often: %q, %v", lines, err)
	}
	together := true
	for i := range limitedChildren {
		at := l.seen[fmt.Sprint(i)]
		if len(at) != 5 {
			t.Errorf("delegate %d made %d requests, not 5", i, len(at))
			continue
		}
		for n := range 2 {
			if gap := at[n+1].Sub(at[n]); gap < time.Second {
				t.Errorf("delegate %d came again after %v; it was told 1 s", i, gap)
			}
		}
		if first := l.seen["0"]; i > 0 && len(first) == 5 && at[2].Sub(first[2]).Abs() > 5*time.Millisecond {
			together = false
		}
	}
	if together {
		t.Error("all came again on the same beat")
	}
	if n := len(l.seen[fmt.Sprint(limitedChildren)]); n != 1 {
		t.Errorf("the delegate whose key is not good made %d requests", n)
	}
	tree, err := exec.Command("sh", "-c", evener+" tree --dir "+dir+" --json").Output()
	if err != nil || strings.Count(string(tree), `"resumable":true`) != limitedChildren+1 || strings.Count(string(tree), `"status":"failed"`) != 1 ||
		strings.Count(string(tree), `"status":"completed"`) != limitedChildren {
		t.Errorf("%v\n%s", err, tree)
	}
}

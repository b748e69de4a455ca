package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// reply is what the model of a benchmark says.
type reply struct {
	text  string
	calls []call
}

type call struct{ name, args string }

func shell(command, mode string) call {
	args := map[string]string{"command": command}
	if mode != "" {
		args["mode"] = mode
	}
	b, _ := json.Marshal(args) // strings always encode
	return call{"shell", string(b)}
}

// request is one request as it arrived.
type request struct {
	n    int // from 1
	at   time.Time
	body []byte
}

// modelServer is a loopback endpoint that answers at once.
type modelServer struct {
	*httptest.Server
	answer func(r request) reply

	mu       sync.Mutex
	arrivals []time.Time
	answered []time.Time
}

func serveModel(answer func(r request) reply) *modelServer {
	s := &modelServer{answer: answer}
	s.Server = httptest.NewServer(s)
	return s
}

func (s *modelServer) base() string { return s.URL + "/v1" }

func (s *modelServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := time.Now() // the head has arrived: the client sends it when the body stands ready
	s.mu.Lock()
	s.arrivals = append(s.arrivals, at)
	n := len(s.arrivals)
	s.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out := stream(n, s.answer(request{n, at, body}))
	w.Header().Set("Content-Type", "text/event-stream")
	s.mu.Lock()
	s.answered = append(s.answered, time.Now())
	s.mu.Unlock()
	_, _ = io.WriteString(w, out) // a client that went away is seen elsewhere
}

// stream is a reply in the form of a chat completions stream.
func stream(n int, r reply) string {
	var b strings.Builder
	chunk := func(delta any, finish any) {
		v, _ := json.Marshal(map[string]any{"id": "bench", "object": "chat.completion.chunk", "model": "bench",
			"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}}) // plain values always encode
		fmt.Fprintf(&b, "data: %s\n\n", v)
	}
	chunk(map[string]any{"role": "assistant", "content": r.text}, nil)
	finish := "stop"
	for i, c := range r.calls {
		finish = "tool_calls"
		chunk(map[string]any{"tool_calls": []any{map[string]any{"index": i, "id": fmt.Sprintf("c%d_%d", n, i), "type": "function",
			"function": map[string]any{"name": c.name, "arguments": c.args}}}}, nil)
	}
	chunk(map[string]any{}, finish)
	b.WriteString("data: [DONE]\n\n")
	return b.String()
}

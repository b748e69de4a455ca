package model

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a network of its own: connections are in memory, so that a test in
// a synctest bubble waits for timers without any time passing.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
	dials atomic.Int32
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.once.Do(func() { close(p.done) }); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	p.dials.Add(1)
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// server is the endpoint of a test: the steps answer one request each, the last one also all further ones.
type server struct {
	t      *testing.T
	m      *openai
	mu     sync.Mutex
	bodies []string
	heads  []http.Header
	at     []time.Time
	start  time.Time
	open   sync.WaitGroup // handlers
	net    *pipes
}

type step func(w http.ResponseWriter, r *http.Request)

const testURL = "http://model.test:8080/v1"

// withServer runs f in a bubble. A goroutine that is left when f has ended fails the test.
func withServer(t *testing.T, c Config, steps []step, f func(t *testing.T, s *server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		if c.BaseURL == "" {
			c.BaseURL = testURL
		}
		opened, err := Open("openai/test/model", c)
		if err != nil {
			t.Fatal(err)
		}
		s := &server{t: t, m: opened.(*openai), start: time.Now()}
		s.net = &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
		tr := s.m.client.Transport.(*http.Transport)
		tr.DialContext, tr.Proxy = s.net.dial, nil
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, steps) })}
		served := make(chan struct{})
		go func() { defer close(served); _ = srv.Serve(s.net) }()
		defer func() {
			synctest.Wait() // a request on its way has its handler by then, which is joined below
			tr.CloseIdleConnections()
			_ = srv.Close()
			<-served
			s.open.Wait()
			synctest.Wait()
		}()
		f(t, s)
	})
}

func (s *server) serve(w http.ResponseWriter, r *http.Request, steps []step) {
	s.open.Add(1)
	defer s.open.Done()
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	n := len(s.bodies)
	s.bodies = append(s.bodies, string(body))
	s.heads = append(s.heads, r.Header.Clone())
	s.at = append(s.at, time.Now())
	s.mu.Unlock()
	if r.URL.Path != "/v1/chat/completions" || r.Method != http.MethodPost {
		s.t.Errorf("request to %s %s", r.Method, r.URL.Path)
	}
	steps[min(n, len(steps)-1)](w, r)
}

func (s *server) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.bodies)
}

// ask makes a small request.
func (s *server) ask(ctx context.Context) (Reply, error) {
	return s.m.Complete(ctx, Request{Messages: []Message{{Role: RoleUser, Text: "hi"}}}, nil)
}

// fails asks and returns the failure.
func (s *server) fails() *Error {
	s.t.Helper()
	_, err := s.ask(s.t.Context())
	e, ok := err.(*Error)
	if !ok {
		s.t.Fatalf("want an *Error, got %v", err)
	}
	if strings.ContainsAny(e.Error(), "\n\r") {
		s.t.Errorf("the error has more than one line: %q", e)
	}
	return e
}

func file(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// says answers 200 with a body.
func says(body string) step { return status(200, body) }

func status(code int, body string, header ...string) step {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

// resets closes the connection without an answer.
func resets(w http.ResponseWriter, _ *http.Request) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = c.Close()
	}
}

// begins sends a part and then waits until the client has gone.
func beginsThenHangs(part string) step {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, part)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
}

const okReply = `{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}`

// describe writes a reply in lines; minted ids become *.
func describe(r Reply, sent string) string {
	var b strings.Builder
	if r.Text != "" {
		fmt.Fprintf(&b, "text %q\n", r.Text)
	}
	if r.Reasoning != "" {
		fmt.Fprintf(&b, "%s %q\n", r.ReasoningField, r.Reasoning)
	}
	for _, c := range r.Calls {
		id := c.ID
		if !strings.Contains(sent, fmt.Sprintf("%q", id)) && !strings.Contains(sent, `"id": `+id) {
			id = "*"
		}
		fmt.Fprintf(&b, "call %s %s %s", id, c.Name, c.Arguments)
		if c.Broken != "" {
			fmt.Fprintf(&b, " BROKEN %s", c.Broken)
		}
		b.WriteString("\n")
	}
	fmt.Fprintf(&b, "finish %s/%s", r.Finish, r.FinishRaw)
	if u := (Usage{}); r.Usage != u {
		j, _ := json.Marshal(r.Usage)
		fmt.Fprintf(&b, " %s", j)
	}
	return b.String()
}

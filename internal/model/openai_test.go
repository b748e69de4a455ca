package model

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const secret = "sk-test/Q+7\"zz<9=="

// TestSecretsStayOut: an endpoint may repeat the key in any spelling; no error text does.
func TestSecretsStayOut(t *testing.T) {
	c := Config{BaseURL: "http://joe:hunter22@model.test:8080/v1", APIKey: secret + "\n",
		Headers: map[string]string{"X-Gateway": "Token gw-abcdefgh"}, Secrets: []string{"other-secret"}, Tries: 1}
	echo := `{"error":{"message":"bad key sk-test/Q+7\"zz<9== or gw-abcdefgh, other-secret, hunter22"}}`
	for name, st := range map[string]step{
		"json":        status(401, echo),
		"plain":       status(500, "Authorization: Bearer "+secret),
		"escaped":     status(400, `not json: sk-test/Q+7\"zz<9== sk-test%2FQ%2B7%22zz%3C9%3D%3D`),
		"web page":    says("<title>" + secret + "</title>"),
		"in a stream": says(`data: {"error":{"message":"gw-abcdefgh other-secret","code":401}}` + "\n\n"),
		"chunk":       says("data: {" + secret + "\n\n"),
		"no choices":  says(`{"key":"other-secret"}`),
		"finish":      says(`{"choices":[{"message":{},"finish_reason":"error"}],"model":"other-secret"}`),
		"redirect":    status(302, "", "Location", "http://other.test/other-secret"),
		"reset":       resets,
	} {
		t.Run(name, func(t *testing.T) {
			withServer(t, c, []step{st}, func(t *testing.T, s *server) {
				e := s.fails()
				for _, part := range []string{"sk-t", "Q+7", "Q%2B7", "gw-abcd", "other-s", "hunter"} {
					if strings.Contains(e.Error()+e.Hint, part) {
						t.Errorf("the text holds a part of a secret: %s", e)
					}
				}
				if h := s.heads[0]; h.Get("Authorization") != "Bearer "+secret || h.Get("X-Gateway") != "Token gw-abcdefgh" {
					t.Errorf("headers %v", h)
				}
			})
		})
	}
}

// TestNoHalfSecret: wherever a text is cut, no half of a secret is left at its end.
func TestNoHalfSecret(t *testing.T) {
	s := newScrubber([]string{secret})
	for n := range lineMax {
		if e := s.faultf(Auth, 401, "%s%s", strings.Repeat("x", n), secret); strings.Contains(e.Text, "sk") {
			t.Fatalf("after %d characters: %s", n, e)
		}
	}
}

// TestNoKeyNoHeader: a server without keys gets no Authorization at all.
func TestNoKeyNoHeader(t *testing.T) {
	withServer(t, Config{}, []step{says(okReply)}, func(t *testing.T, s *server) {
		if _, err := s.ask(t.Context()); err != nil {
			t.Fatal(err)
		}
		if v, ok := s.heads[0]["Authorization"]; ok {
			t.Errorf("sent Authorization %q", v)
		}
		if v := s.heads[0].Get("Accept-Encoding"); v != "" {
			t.Errorf("asked for %s, which holds a stream back", v)
		}
	})
}

// TestConnectionIsReused: replies in sequence share one connection, also after
// an error, and when the end of a stream comes a moment after its end mark.
func TestConnectionIsReused(t *testing.T) {
	late := func(w http.ResponseWriter, r *http.Request) {
		says(file(t, "llamacpp/pieces.sse"))(w, r)
		w.(http.Flusher).Flush()
		time.Sleep(drainLimit / 2)
	}
	steps := []step{late, says(okReply), status(500, "no"), late, says(okReply)}
	withServer(t, Config{Tries: 1}, steps, func(t *testing.T, s *server) {
		for range steps {
			_, _ = s.ask(t.Context())
		}
		if n := s.net.dials.Load(); n != 1 || s.requests() != len(steps) {
			t.Errorf("%d requests over %d connections", s.requests(), n)
		}
	})
}

func open(t *testing.T, c Config) *openai {
	t.Helper()
	m, err := Open("openai/m", c)
	if err != nil {
		t.Fatal(err)
	}
	o := m.(*openai)
	t.Cleanup(o.client.CloseIdleConnections)
	return o
}

// TestRedirectIsNotFollowed: nothing is sent to a place that was not configured.
func TestRedirectIsNotFollowed(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the other host was asked") }))
	defer other.Close()
	srv := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer srv.Close()
	_, err := open(t, Config{BaseURL: srv.URL, APIKey: secret}).Complete(t.Context(), Request{}, nil)
	if err == nil || !strings.Contains(err.Error(), other.URL) {
		t.Errorf("got %v", err)
	}
}

// TestAuthority: an unknown certificate is refused at once, and accepted with its authority named.
func TestAuthority(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(says(okReply)))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0) // it tells of the handshake that we refuse
	defer srv.Close()
	_, err := open(t, Config{BaseURL: srv.URL}).Complete(t.Context(), Request{}, nil)
	if err == nil || !strings.Contains(err.Error(), "ca_file") || strings.Contains(err.Error(), "attempts") {
		t.Errorf("got %v", err)
	}
	ca := filepath.Join(t.TempDir(), "ca.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
	if err := os.WriteFile(ca, block, 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := open(t, Config{BaseURL: srv.URL, CAFile: ca}).Complete(t.Context(), Request{}, nil); err != nil || r.Text != "ok" {
		t.Errorf("got %+v, %v", r, err)
	}
}

// TestNobodyListens: the error names the address, and the call ends when its context does.
func TestNobodyListens(t *testing.T) {
	srv := httptest.NewServer(nil)
	srv.Close()
	_, err := open(t, Config{BaseURL: srv.URL, Tries: 1}).Complete(t.Context(), Request{}, nil)
	e, ok := err.(*Error)
	if !ok || e.Kind != Unavailable || !strings.Contains(e.Text, srv.Listener.Addr().String()) || !strings.Contains(e.Text, "refused") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := open(t, Config{BaseURL: srv.URL}).Complete(ctx, Request{}, nil); err == nil || time.Since(start) > 5*time.Second {
		t.Errorf("after %s: %v", time.Since(start), err)
	}
}

func TestOpen(t *testing.T) {
	for _, c := range []struct {
		spec, want string
		c          Config
	}{
		{"openai/x", "OPENAI_BASE_URL", Config{}},
		{"openai/x", "must look like", Config{BaseURL: "localhost:8080"}},
		{"openai/x", "must look like", Config{BaseURL: "ftp://localhost"}},
		{"openai/x", "must look like", Config{BaseURL: "http://u:topsecret@[::1"}},
		{"openai/x", "control character", Config{BaseURL: testURL, APIKey: "a\nb"}},
		{"openai/x", "on, off or no_tools", Config{BaseURL: testURL, Stream: "maybe"}},
		{"openai/x", "not a JSON object", Config{BaseURL: testURL, ExtraBody: []byte("[1]")}},
		{"openai/x", "sets stream", Config{BaseURL: testURL, ExtraBody: []byte(`{"stream":false}`)}},
		{"openai/x", "no such file", Config{BaseURL: testURL, CAFile: "nowhere.pem"}},
		{"openai/x", "no PEM", Config{BaseURL: testURL, CAFile: "openai_test.go"}},
		{"openai/", "openai/…, exec/…, script/…", Config{BaseURL: testURL}},
		{"openai", "openai/…, exec/…, script/…", Config{BaseURL: testURL}},
		{"", "openai/…, exec/…, script/…", Config{}},
		{"claude/x", "openai/…, exec/…, script/…", Config{}},
	} {
		_, err := Open(c.spec, c.c)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "topsecret") {
			t.Errorf("%s %+v: %v", c.spec, c.c, err)
		}
	}
	for in, want := range map[string]string{
		"http://h:1/v1":                       "http://h:1/v1/chat/completions",
		" http://h:1/v1/ ":                    "http://h:1/v1/chat/completions",
		"http://h":                            "http://h/chat/completions",
		"https://h/a/v1/chat/completions?v=1": "https://h/a/v1/chat/completions?v=1",
	} {
		if m := open(t, Config{BaseURL: in}); m.address.JoinPath("chat", "completions").String() != want {
			t.Errorf("%s: %s, want %s", in, m.address, want)
		}
	}
}

// TestSilentTruncation: a server that counts far fewer tokens than were sent is reported.
func TestSilentTruncation(t *testing.T) {
	reply := `{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%d,"completion_tokens":1}}`
	long := Request{Messages: []Message{{Role: RoleUser, Text: strings.Repeat("some words ", 10000)}}}
	for tokens, want := range map[int]bool{0: false, 4096: true, 27500: false} {
		withServer(t, Config{}, []step{says(fmt.Sprintf(reply, tokens))}, func(t *testing.T, s *server) {
			r, err := s.m.Complete(t.Context(), long, nil)
			if err != nil || (r.Warning != "") != want {
				t.Errorf("%d tokens: warning %q, %v", tokens, r.Warning, err)
			}
		})
	}
}

// TestHugeParts: a line of megabytes is read, one without end is refused and not asked for again.
func TestHugeParts(t *testing.T) {
	big := strings.Repeat("a", 2<<20)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `data: {"choices":[{"delta":{"content":"`+big+`"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	defer srv.Close()
	r, err := open(t, Config{BaseURL: srv.URL}).Complete(t.Context(), Request{}, nil)
	if err != nil || len(r.Text) != len(big) {
		t.Errorf("%d bytes, %v", len(r.Text), err)
	}
	n := 0
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		n++
		_, _ = io.WriteString(w, "data: ")
		for err := error(nil); err == nil; {
			_, err = io.WriteString(w, big[:1<<20])
		}
	}))
	defer endless.Close()
	_, err = open(t, Config{BaseURL: endless.URL}).Complete(t.Context(), Request{}, nil)
	if e, ok := err.(*Error); !ok || e.Kind != Protocol || n != 1 {
		t.Errorf("after %d requests: %v", n, err)
	}
}

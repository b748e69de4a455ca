package model

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
)

// TestRetried: what may change is asked for again, whole, and then succeeds.
func TestRetried(t *testing.T) {
	ok := says(okReply)
	for name, steps := range map[string][]step{
		"loading":                 {status(503, file(t, "llamacpp/loading.json")), ok},
		"429":                     {status(429, `{"error":{"message":"slow down"}}`), ok},
		"408":                     {status(408, ""), ok},
		"409":                     {status(409, ""), ok},
		"500":                     {status(500, "<html><head><title>Oops</title></head></html>"), ok},
		"529":                     {status(529, "overloaded"), ok},
		"reset":                   {resets, ok},
		"reset four times":        {resets, resets, resets, resets, ok},
		"silent end":              {says(file(t, "ollama/silent_end.sse")), ok},
		"empty stream":            {says(""), ok},
		"only the end mark":       {says("data: [DONE]\n\n"), ok},
		"no choices":              {says(`{"choices":[]}`), ok},
		"error in the stream":     {says(file(t, "llamacpp/parse_error.sse")), ok},
		"error line":              {says(file(t, "llamacpp/error_line.sse")), ok},
		"flat error in a stream":  {says(file(t, "vllm/error_in_stream.sse")), ok},
		"error event":             {says("event: error\ndata: {\"message\":\"worker died\"}\n\n"), ok},
		"finish reason error":     {says(`data: {"choices":[{"delta":{"content":"x"},"finish_reason":"error"}]}` + "\n\n"), ok},
		"garbled chunk":           {says("data: {\"choices\":[{\"delta\":\n\n"), ok},
		"plain body cut":          {says(okReply[:40]), ok},
		"rate limit in a stream":  {says(`data: {"error":{"message":"slow","code":429}}` + "\n\n"), ok},
		"connection lost half":    {halfThenReset(file(t, "vllm/interleaved.sse")), ok},
		"429, then a broken half": {status(429, ""), says(file(t, "ollama/silent_end.sse")), ok},
	} {
		t.Run(name, func(t *testing.T) {
			withServer(t, Config{}, steps, func(t *testing.T, s *server) {
				r, err := s.ask(t.Context())
				if err != nil || r.Text != "ok" || len(r.Calls) > 0 {
					t.Fatalf("got %+v, %v", r, err)
				}
				if s.requests() != len(steps) {
					t.Errorf("%d requests, want %d", s.requests(), len(steps))
				}
				for _, b := range s.bodies {
					if b != s.bodies[0] {
						t.Errorf("a retry sent another body: %s", b)
					}
				}
				// The pauses double from half a second, less at most half, and no server asked for more.
				for i := 1; i < len(s.at); i++ {
					step := 500 * time.Millisecond << (i - 1)
					if d := s.at[i].Sub(s.at[i-1]); d < step/2 || d > step {
						t.Errorf("attempt %d came after %s, want %s to %s", i+1, d, step/2, step)
					}
				}
			})
		})
	}
}

func halfThenReset(body string) step {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(body[:len(body)/2]))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// TestNotRetried: what will not change by itself is asked for once.
func TestNotRetried(t *testing.T) {
	cases := []struct {
		name string
		step step
		kind Kind
		says string
	}{
		{"401", status(401, `{"error":{"message":"Invalid API key","type":"invalid_request_error","code":"invalid_api_key"}}`), Auth, "Invalid API key"},
		{"403", status(403, "forbidden"), Auth, "forbidden"},
		{"404", status(404, file(t, "ollama/native_error.json")), BadRequest, `model "nope" not found`},
		{"400 tools", status(400, file(t, "ollama/no_tools.json")), BadRequest, "does not support tools"},
		{"400 auto", status(400, file(t, "vllm/auto_refused.json")), BadRequest, "--enable-auto-tool-choice"},
		{"422", status(422, `{"detail":[{"loc":["body","messages"],"msg":"field required"}]}`), BadRequest, "field required"},
		{"402", status(402, "pay"), BadRequest, "pay"},
		{"quota", status(429, `{"error":{"message":"You exceeded your quota","type":"insufficient_quota","code":"insufficient_quota"}}`), RateLimit, "quota"},
		{"told not to", status(500, "no", "X-Should-Retry", "false"), Unavailable, "no"},
		{"list", status(400, `[{"error":{"code":400,"message":"bad field","status":"INVALID_ARGUMENT"}}]`), BadRequest, "bad field"},
		{"in a stream", says(`data: {"error":{"message":"bad schema","type":"invalid_request_error","code":null}}` + "\n\n"), BadRequest, "bad schema"},
		{"400 in a stream", says(`data: {"error":{"message":"bad schema","code":400}}` + "\n\n"), BadRequest, "bad schema"},
		{"web page", says("<!doctype html><html><title>Open WebUI</title></html>"), Protocol, "Open WebUI"},
		{"redirect", status(307, "", "Location", "http://user:pw@other.test/x?key=1"), Protocol, "http://other.test/x"},
		{"moved", status(301, "", "Location", "/v2"), Protocol, "elsewhere"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			withServer(t, Config{}, []step{c.step}, func(t *testing.T, s *server) {
				e := s.fails()
				if e.Kind != c.kind || !strings.Contains(e.Text, c.says) {
					t.Errorf("got %s: %s", e.Kind, e)
				}
				if s.requests() != 1 {
					t.Errorf("%d requests", s.requests())
				}
			})
		})
	}
}

// TestOverflow recognises the request that is too long in each server's words, and names the setting.
func TestOverflow(t *testing.T) {
	cases := []struct {
		name  string
		step  step
		limit int64
	}{
		{"llama.cpp", status(400, file(t, "llamacpp/overflow.json")), 32768},
		{"llama.cpp fields only", status(400, `{"error":{"code":400,"message":"zu lang","n_prompt_tokens":10,"n_ctx":9}}`), 9},
		{"llama.cpp older", status(500, `{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`), 0},
		{"ollama input", status(400, file(t, "ollama/overflow_input.json")), 0},
		{"ollama prompt", status(400, file(t, "ollama/overflow_prompt.json")), 0},
		{"vllm", status(400, file(t, "vllm/overflow.json")), 32768},
		{"vllm flat", status(400, file(t, "vllm/overflow_flat.json")), 4096},
		{"lm studio", status(400, file(t, "lmstudio/error_string.json")), 4096},
		{"openai", status(400, `{"error":{"message":"too many","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`), 0},
		{"anthropic", status(400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}`), 0},
		{"413", status(413, "<html><title>413 Request Entity Too Large</title></html>"), 0},
		{"in a stream", says("data: " + file(t, "llamacpp/overflow.json") + "\n\n"), 32768},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			withServer(t, Config{ContextTokens: 8192}, []step{c.step}, func(t *testing.T, s *server) {
				e := s.fails()
				if e.Kind != Overflow || e.Limit != c.limit || s.requests() != 1 {
					t.Errorf("got %s, limit %d, after %d requests: %s", e.Kind, e.Limit, s.requests(), e)
				}
				if !strings.Contains(e.Error(), "context_tokens (now 8192)") {
					t.Errorf("the error does not name the setting: %s", e)
				}
			})
		})
	}
	// A rate limit is none, whatever it says.
	withServer(t, Config{Tries: 1}, []step{status(429, `{"error":{"message":"maximum context length per minute"}}`)}, func(t *testing.T, s *server) {
		if e := s.fails(); e.Kind != RateLimit {
			t.Errorf("got %s", e)
		}
	})
}

// TestRetryAfter: no request comes earlier than the server asked.
func TestRetryAfter(t *testing.T) {
	date := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", time.Now().Add(20*time.Second).UTC().Format(http.TimeFormat))
		w.WriteHeader(429)
	}
	cases := []struct {
		name     string
		step     step
		min, max time.Duration
	}{
		{"seconds", status(429, "", "Retry-After", "3"), 3 * time.Second, 3250 * time.Millisecond},
		{"fraction", status(503, "", "Retry-After", "1.5"), 1500 * time.Millisecond, 1750 * time.Millisecond},
		{"date", date, 19 * time.Second, 20250 * time.Millisecond},
		{"milliseconds win", status(429, "", "Retry-After-Ms", "700", "Retry-After", "9"), 700 * time.Millisecond, 950 * time.Millisecond},
		{"zero", status(429, "", "Retry-After", "0"), 250 * time.Millisecond, 500 * time.Millisecond},
		{"past", status(429, "", "Retry-After", "Mon, 02 Jan 1995 15:04:05 GMT"), 250 * time.Millisecond, 500 * time.Millisecond},
		{"nonsense", status(429, "", "Retry-After", "soon"), 250 * time.Millisecond, 500 * time.Millisecond},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			withServer(t, Config{}, []step{c.step, says(okReply)}, func(t *testing.T, s *server) {
				if _, err := s.ask(t.Context()); err != nil {
					t.Fatal(err)
				}
				if d := s.at[1].Sub(s.at[0]); d < c.min || d > c.max {
					t.Errorf("the second request came after %s", d)
				}
			})
		})
	}
}

// TestRetryBounds: for ever ends, with the cause named; what asks for more than we wait ends at once.
func TestRetryBounds(t *testing.T) {
	limited := status(429, `{"error":{"message":"slow down"}}`, "Retry-After", "3")
	withServer(t, Config{}, []step{limited}, func(t *testing.T, s *server) {
		e := s.fails()
		if s.requests() != 5 || e.Kind != RateLimit || !strings.Contains(e.Text, "rate limit: slow down (gave up after 5 attempts)") {
			t.Errorf("after %d requests: %s", s.requests(), e)
		}
	})
	withServer(t, Config{Tries: 2}, []step{resets}, func(t *testing.T, s *server) {
		if e := s.fails(); s.requests() != 2 || e.Kind != Unavailable {
			t.Errorf("after %d requests: %s", s.requests(), e)
		}
	})
	withServer(t, Config{}, []step{status(429, "", "Retry-After", "3600")}, func(t *testing.T, s *server) {
		if e := s.fails(); s.requests() != 1 || !strings.Contains(e.Error(), "1h0m0s") || time.Since(s.start) > 0 {
			t.Errorf("after %d requests: %s", s.requests(), e)
		}
	})
	// A model that loads for two minutes is waited for; one that loads for ever is not.
	ready := func(w http.ResponseWriter, r *http.Request) {
		if s := time.Now().Second() + 60*time.Now().Minute(); s < 120 {
			status(503, file(t, "llamacpp/loading.json"))(w, r)
			return
		}
		says(okReply)(w, r)
	}
	withServer(t, Config{}, []step{ready}, func(t *testing.T, s *server) {
		if _, err := s.ask(t.Context()); err != nil || s.requests() < 10 {
			t.Errorf("after %d requests: %v", s.requests(), err)
		}
	})
	withServer(t, Config{}, []step{status(503, file(t, "llamacpp/loading.json"))}, func(t *testing.T, s *server) {
		if e := s.fails(); e.Kind != Unavailable || time.Since(s.start) > 5*time.Minute {
			t.Errorf("after %s: %s", time.Since(s.start), e)
		}
	})
}

// TestJitter: callers that failed together do not come back together.
func TestJitter(t *testing.T) {
	for _, after := range []time.Duration{0, 3 * time.Second} {
		seen := map[time.Duration]bool{}
		for range 5 {
			seen[pause(1, after)] = true
		}
		if len(seen) < 5 {
			t.Errorf("five pauses after %s fall together: %v", after, seen)
		}
	}
}

func TestProgress(t *testing.T) {
	steps := []step{status(429, "slow", "Retry-After", "2"), says(file(t, "vllm/reasoning.sse"))}
	withServer(t, Config{}, steps, func(t *testing.T, s *server) {
		var failed []Progress
		var last Progress
		_, err := s.m.Complete(t.Context(), Request{Messages: []Message{{Role: RoleUser, Text: "hi"}}}, func(p Progress) {
			if last = p; p.Failed != nil {
				failed = append(failed, p)
			}
		})
		if err != nil || len(failed) != 1 || failed[0].Attempt != 1 || failed[0].Failed.Kind != RateLimit || failed[0].After < 2*time.Second {
			t.Errorf("%v, %+v", err, failed)
		}
		if want := (Progress{Attempt: 2, Bytes: int64(len("Hmm.Yes."))}); !reflect.DeepEqual(last, want) {
			t.Errorf("last progress %+v, want %+v", last, want)
		}
	})
}

// TestCancel: a call ends at once wherever it stands, and leaves nothing behind (the bubble would tell).
func TestCancel(t *testing.T) {
	stop := errors.New("stopped by the user")
	half := strings.Split(file(t, "llamacpp/pieces.sse"), "\n\n")[0] + "\n\n"
	for name, st := range map[string]step{
		"before the answer": beginsThenHangsSilent,
		"in the stream":     beginsThenHangs(half),
		"after the finish":  beginsThenHangs(`data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}` + "\n\n"),
		"in a plain answer": beginsThenHangs(okReply[:20]),
		"in an error":       beginsThenHangsWith(400, "par"),
		"while waiting":     status(429, "", "Retry-After", "200"),
	} {
		t.Run(name, func(t *testing.T) {
			withServer(t, Config{}, []step{st}, func(t *testing.T, s *server) {
				ctx, cancel := context.WithCancelCause(t.Context())
				timer := time.AfterFunc(time.Second, func() { cancel(stop) })
				defer timer.Stop()
				_, err := s.ask(ctx)
				if !errors.Is(err, stop) || !errors.Is(err, context.Canceled) || time.Since(s.start) != time.Second || s.requests() != 1 {
					t.Errorf("after %s and %d requests: %v", time.Since(s.start), s.requests(), err)
				}
			})
		})
	}
}

func beginsThenHangsSilent(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func beginsThenHangsWith(code int, part string) step {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(code)
		beginsThenHangs(part)(w, r)
	}
}

// TestSilence: there is no limit in total, one to the first byte and one between bytes.
func TestSilence(t *testing.T) {
	slow := func(w http.ResponseWriter, _ *http.Request) {
		time.Sleep(599 * time.Second)
		for range 10 {
			_, _ = w.Write([]byte(": still here\n"))
			w.(http.Flusher).Flush()
			time.Sleep(599 * time.Second)
		}
		_, _ = w.Write([]byte(file(t, "ollama/no_mark.sse")))
	}
	withServer(t, Config{}, []step{slow}, func(t *testing.T, s *server) {
		if r, err := s.ask(t.Context()); err != nil || r.Text != "4" {
			t.Errorf("%+v, %v", r, err)
		}
	})
	withServer(t, Config{}, []step{beginsThenHangsSilent}, func(t *testing.T, s *server) {
		e := s.fails()
		if e.Kind != Timeout || s.requests() != 1 || time.Since(s.start) != 600*time.Second || !strings.Contains(e.Error(), "model_idle_timeout_ms") {
			t.Errorf("after %s and %d requests: %s", time.Since(s.start), s.requests(), e)
		}
	})
	withServer(t, Config{IdleTimeout: time.Minute}, []step{beginsThenHangs(": hello\n"), says(okReply)}, func(t *testing.T, s *server) {
		if _, err := s.ask(t.Context()); err != nil || s.requests() != 2 {
			t.Errorf("after %d requests: %v", s.requests(), err)
		}
	})
	withServer(t, Config{IdleTimeout: time.Minute, Tries: 2}, []step{beginsThenHangs(": hello\n")}, func(t *testing.T, s *server) {
		if e := s.fails(); e.Kind != Timeout || !strings.Contains(e.Error(), "the answer stopped within 1m0s") {
			t.Errorf("%s", e)
		}
	})
	// A server that has said everything but keeps the connection open costs seconds, not minutes.
	pings := func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(strings.TrimSuffix(file(t, "ollama/no_mark.sse"), "\n")))
		for r.Context().Err() == nil {
			_, _ = w.Write([]byte("\n: ping\n"))
			w.(http.Flusher).Flush()
			time.Sleep(time.Second)
		}
	}
	withServer(t, Config{}, []step{pings}, func(t *testing.T, s *server) {
		if r, err := s.ask(t.Context()); err != nil || r.Text != "4" || time.Since(s.start) > tailLimit {
			t.Errorf("after %s: %+v, %v", time.Since(s.start), r, err)
		}
	})
	withServer(t, Config{}, []step{beginsThenHangs(file(t, "ollama/whole_calls.sse"))}, func(t *testing.T, s *server) {
		if r, err := s.ask(t.Context()); err != nil || len(r.Calls) != 2 || time.Since(s.start) > drainLimit {
			t.Errorf("after %s: %+v, %v", time.Since(s.start), r, err)
		}
	})
}

package model

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
)

// TestRefusals: each way in which a server says no, in its own words, is asked
// for once, keeps those words, and says what to do.
func TestRefusals(t *testing.T) {
	const address = "base_url (--base-url, OPENAI_BASE_URL)"
	at := func(code int, name string) step { return status(code, file(t, name)) }
	for name, c := range map[string]struct {
		step step
		kind Kind
		says string // of the server
		hint string
	}{
		"llama.cpp without jinja":       {at(500, "llamacpp/no_jinja.json"), BadRequest, "tools param requires", "start llama-server with --jinja, and a model whose template has tools"},
		"llama.cpp template":            {at(500, "llamacpp/template.json"), BadRequest, "CallExpression", "the model's chat template does not take this conversation"},
		"llama.cpp unknown model":       {at(400, "llamacpp/unknown_model.json"), BadRequest, "model 'nope' not found", "evener models openai lists what the server offers"},
		"llama.cpp wrong path":          {at(404, "llamacpp/wrong_path.json"), BadRequest, "File Not Found", "nothing there answers chat completions: check " + address},
		"llama.cpp wrong key":           {at(401, "llamacpp/wrong_key.json"), Auth, "Invalid API Key", "the server wants an API key: set OPENAI_API_KEY"},
		"llama.cpp embeddings":          {at(501, "llamacpp/embeddings.json"), BadRequest, "does not support completions", "the server serves no chat completions"},
		"ollama without tools":          {at(400, "ollama/no_tools.json"), BadRequest, "does not support tools", "choose a model with tools (Ollama: ollama show NAME lists its capabilities)"},
		"ollama unknown model":          {at(404, "ollama/unknown_model.json"), BadRequest, "try pulling it first", "evener models openai lists what the server offers"},
		"ollama unknown model, native":  {at(404, "ollama/native_error.json"), BadRequest, "try pulling it first", "evener models openai lists what the server offers"},
		"ollama without thinking":       {at(400, "ollama/no_thinking.json"), BadRequest, "does not support thinking", "take reasoning_effort out of the configuration"},
		"ollama template":               {at(500, "ollama/template.json"), BadRequest, "template: :3:24", "the model's chat template does not take this conversation"},
		"ollama memory":                 {at(500, "ollama/memory.json"), Unavailable, "more system memory", "the server cannot load the model"},
		"ollama wrong path":             {at(404, "ollama/wrong_path.txt"), BadRequest, "404 page not found", "nothing there answers chat completions: check " + address},
		"vllm without tools":            {at(400, "vllm/auto_refused.json"), BadRequest, `"auto" tool choice requires`, "start vLLM with --enable-auto-tool-choice and the --tool-call-parser of the model"},
		"vllm unknown model":            {at(404, "vllm/unknown_model.json"), BadRequest, "does not exist", "evener models openai lists what the server offers"},
		"vllm template":                 {at(400, "vllm/template.json"), BadRequest, "default chat template", "the model's chat template does not take this conversation"},
		"vllm wrong path":               {at(404, "vllm/wrong_path.json"), BadRequest, "Not Found", "nothing there answers chat completions: check " + address},
		"vllm wrong key":                {at(401, "vllm/wrong_key.json"), Auth, "Unauthorized", "the server wants an API key: set OPENAI_API_KEY"},
		"vllm max_tokens":               {at(400, "vllm/max_tokens.json"), BadRequest, "is too large: 9000", "lower max_tokens"},
		"lm studio wrong path":          {at(200, "lmstudio/wrong_path.json"), BadRequest, "Unexpected endpoint", "nothing there answers chat completions: check " + address},
		"lm studio unknown model":       {at(404, "lmstudio/unknown_model.json"), BadRequest, "Invalid model identifier", "evener models openai lists what the server offers"},
		"lm studio without a model":     {at(404, "lmstudio/none_loaded.json"), BadRequest, "lms load", "evener models openai lists what the server offers"},
		"lm studio template":            {at(400, "lmstudio/template.json"), BadRequest, "rendering prompt", "the model's chat template does not take this conversation"},
		"gateway, no model of the name": {status(400, `{"error":{"message":"Invalid model name passed in model=nope"}}`), BadRequest, "model=nope", "evener models openai"},
		"http to https":                 {status(400, "Client sent an HTTP request to an HTTPS server.\n"), Protocol, "HTTPS server", "write https:// in " + address},
		"http to https, nginx":          {status(400, "<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>"), Protocol, "HTTPS port", "write https:// in " + address},
		"web page":                      {advicePage, Protocol, "Open WebUI", "nothing there answers chat completions: check " + address},
		"method not allowed":            {status(405, `{"detail":"Method Not Allowed"}`), BadRequest, "Method Not Allowed", "nothing there answers chat completions: check " + address},
		"another program's JSON":        {status(200, `{"status":"up"}`), Protocol, `{"status":"up"}`, "what answers there is no server of chat completions: check " + address},
		"another program's text":        {status(200, "It works!\n"), Protocol, "no stream of events: It works!", "what answers there is no server of chat completions: check " + address},
		"forbidden":                     {status(403, "no"), Auth, "no", "the server wants an API key: set OPENAI_API_KEY"},
		"silence":                       {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, Timeout, "no answer began within 10m0s", "raise model_idle_timeout_ms"},
	} {
		t.Run(name, func(t *testing.T) {
			withServer(t, Config{}, []step{c.step}, func(t *testing.T, s *server) {
				e := s.fails()
				if e.Kind != c.kind || !strings.Contains(e.Text, c.says) || !strings.HasPrefix(e.Hint, c.hint) || s.requests() != 1 {
					t.Errorf("after %d requests, %s: %s", s.requests(), e.Kind, e)
				}
				if !strings.HasPrefix(e.Text, "openai/test/model at http://model.test:8080/v1: ") {
					t.Errorf("it does not say where: %s", e)
				}
			})
		})
	}
}

func advicePage(w http.ResponseWriter, r *http.Request) {
	status(200, "<!doctype html><html><title>Open WebUI</title></html>")(w, r)
}

// TestRefusalsNameTheProvider: what to change is called by its whole name.
func TestRefusalsNameTheProvider(t *testing.T) {
	c := Config{Provider: "lab", KeyPrefix: "providers.lab.", KeyVariable: "LAB_KEY", APIKey: "sk-1234", BaseURL: testURL, Tries: 1, ContextTokens: 8192}
	hang := func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
	for name, x := range map[string]struct {
		step step
		want string
	}{
		"key":   {status(401, ""), "HTTP 401, auth: Unauthorized; check the API key, LAB_KEY (providers.lab.api_key_env)"},
		"model": {status(404, file(t, "vllm/unknown_model.json")), "HTTP 404, bad request: The model `nope` does not exist.; evener models lab lists what the server offers"},
		"path":  {status(404, ""), "HTTP 404, bad request: Not Found; nothing there answers chat completions: check providers.lab.base_url"},
		"overflow": {status(400, `{"error":{"code":400,"message":"request (9 tokens) exceeds the available context size (8 tokens), try increasing it","type":"exceed_context_size_error"}}`),
			"HTTP 400, context too small: request (9 tokens) exceeds the available context size (8 tokens), try increasing it (the request has 120 bytes); start llama-server with a larger -c and set providers.lab.context_tokens (now 8192) to its size, or begin a new session"},
		"silence": {hang, "no answer began within 10m0s; raise providers.lab.model_idle_timeout_ms if the server needs longer"},
		"reset":   {resets, "no connection: EOF; check that the server runs, and providers.lab.base_url"},
	} {
		t.Run(name, func(t *testing.T) {
			withServer(t, c, []step{x.step}, func(t *testing.T, s *server) {
				if e := s.fails(); e.Error() != "lab/test/model at http://model.test:8080/v1: "+x.want {
					t.Error(e)
				}
			})
		})
	}
	c.KeyVariable, c.APIKey = "", ""
	withServer(t, c, []step{status(401, "")}, func(t *testing.T, s *server) {
		if e := s.fails(); e.Hint != "the server wants an API key: set providers.lab.api_key_env" {
			t.Error(e)
		}
	})
}

// TestV1IsMissing: the most common wrong address is named as such.
func TestV1IsMissing(t *testing.T) {
	m := caller{c: Config{}.withDefaults(), base: "http://127.0.0.1:11434", scrub: newScrubber(nil)}
	for status, text := range map[int]string{404: "404 page not found", 405: `{"detail":"Method Not Allowed"}`, 200: `{"error":"Unexpected endpoint or method. (POST /chat/completions)"}`} {
		f := m.failed("HTTP", status, nil, parseAnswer([]byte(text)))
		if f.again || f.err.Hint != "base_url (--base-url, OPENAI_BASE_URL) must probably end in /v1" {
			t.Errorf("%d: %s", status, f.err)
		}
	}
	if f := m.failed("HTTP", 404, nil, answer{text: `model "x" not found`}); !strings.HasSuffix(f.err.Hint, ", ollama pull NAME gets another one") {
		t.Error(f.err)
	}
}

// TestLoading: a server that loads is waited for, and named as such in the end.
func TestLoading(t *testing.T) {
	withServer(t, Config{Tries: 1}, []step{status(503, file(t, "llamacpp/loading.json"))}, func(t *testing.T, s *server) {
		e := s.fails()
		if s.requests() < 30 || !strings.Contains(e.Error(), "Loading model (gave up after ") || e.Hint != "the server still loads its model" {
			t.Errorf("after %d requests: %s", s.requests(), e)
		}
	})
}

// TestNoConnection: what listens there, or does not, is told apart.
func TestNoConnection(t *testing.T) {
	plain := httptest.NewServer(nil)
	defer plain.Close()
	other := httptest.NewTLSServer(nil)
	other.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer other.Close()
	ssh, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ssh.Close()
	go func() {
		for {
			c, err := ssh.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.9\r\n")
			go func() { // closing with the request unread would reset the connection
				_, _ = io.Copy(io.Discard, c)
				_ = c.Close()
			}()
		}
	}()
	const address = "base_url (--base-url, OPENAI_BASE_URL)"
	log.SetOutput(io.Discard) // as the program does: net/http remarks on servers that speak first
	defer log.SetOutput(os.Stderr)
	for in, want := range map[string]string{
		"https://" + plain.Listener.Addr().String():             "no connection: http: server gave HTTP response to HTTPS client; write http:// in " + address,
		"http://" + ssh.Addr().String():                         "; what listens there speaks no HTTP; check " + address,
		"https://" + ssh.Addr().String():                        "; what listens there speaks no TLS; write http:// in " + address,
		"http://no.such.host.invalid":                           "; check the host in " + address,
		strings.Replace(other.URL, "127.0.0.1", "localhost", 1): "; the certificate is for another name; write one of its names in " + address,
	} {
		_, err := open(t, Config{BaseURL: in, Tries: 1}).Complete(t.Context(), Request{}, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s\ngot  %v\nwant %s", in, err, want)
		}
	}
}

// TestProxyIsNamed: where a proxy stands between, every error says so.
func TestProxyIsNamed(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(status(503, "<title>Squid: no route</title>")))
	m := open(t, Config{BaseURL: "http://far.test/v1", Tries: 1})
	p, _ := url.Parse(proxy.URL)
	m.through(p)
	m.client.Transport.(*http.Transport).Proxy = http.ProxyURL(p)
	_, err := m.Complete(t.Context(), Request{}, nil)
	if err == nil || err.Error() != "openai/m at http://far.test/v1 through the proxy "+p.Host+": HTTP 503, unavailable: Squid: no route" {
		t.Error(err)
	}
	proxy.Close()
	m = open(t, Config{BaseURL: "https://far.test/v1", Tries: 1})
	m.client.Transport.(*http.Transport).Proxy = http.ProxyURL(p)
	if _, err = m.Complete(t.Context(), Request{}, nil); err == nil || !strings.Contains(err.Error(), "HTTP_PROXY or HTTPS_PROXY names this proxy") {
		t.Error(err)
	}
}

// TestNotSent: a request that surely exceeds the known context is not sent; one that may fit is.
func TestNotSent(t *testing.T) {
	words := func(n int) Request {
		return Request{Messages: []Message{{Role: RoleUser, Text: strings.Repeat("abcdefgh ", n)}}}
	}
	withServer(t, Config{ContextTokens: 4096}, []step{says(okReply)}, func(t *testing.T, s *server) {
		if _, err := s.m.Complete(t.Context(), words(4096), nil); err != nil {
			t.Error(err)
		}
		_, err := s.m.Complete(t.Context(), words(5000), nil)
		e, ok := err.(*Error)
		if !ok || e.Kind != Overflow || e.Limit != 4096 || s.requests() != 1 || !strings.Contains(e.Error(),
			": not sent, context too small: the request has 45,118 bytes, at least 4,511 tokens; give the server a larger context and set context_tokens (now 4096) to its size") {
			t.Errorf("after %d requests: %v", s.requests(), err)
		}
		// What repeats one character is few tokens.
		if _, err := s.m.Complete(t.Context(), Request{Messages: []Message{{Role: RoleUser, Text: strings.Repeat(" ", 1<<20)}}}, nil); err != nil {
			t.Error(err)
		}
	})
}

// TestSpeaksFirst: a peer whose bytes arrive before the request is named like
// one whose bytes arrive after it.
func TestSpeaksFirst(t *testing.T) {
	err := &url.Error{Op: "Post", URL: "http://h", Err: fmt.Errorf("readLoopPeekFailLocked: %w", error(nil))}
	hint, again := caller{c: Config{}}.connectHint(err)
	if !strings.HasPrefix(hint, "what listens there speaks no HTTP") || again || reason(err) != errSpokeFirst {
		t.Errorf("%q, again %v, %v", hint, again, reason(err))
	}
}

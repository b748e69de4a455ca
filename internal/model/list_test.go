package model

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// TestList: what each kind of server tells about its models, and where.
func TestList(t *testing.T) {
	for name, c := range map[string]struct {
		paths map[string]string // path: fixture or body
		want  string
		asked int
	}{
		"llama.cpp":               {map[string]string{"/v1/models": "llamacpp/models.json", "/props": "llamacpp/props.json"}, "/models/qwen3-coder.gguf 32768 ", 2},
		"llama.cpp without props": {map[string]string{"/v1/models": "llamacpp/models.json"}, "/models/qwen3-coder.gguf 0 ", 2},
		"llama.cpp with several":  {map[string]string{"/v1/models": "llamacpp/router.json"}, "ggml-org/gemma-3-4b-it-GGUF:Q4_K_M 0 loaded\nqwen 0 unloaded", 1},
		"ollama":                  {map[string]string{"/v1/models": "ollama/models.json", "/api/ps": "ollama/ps.json"}, "qwen3-coder:30b 4096 loaded\ngemma2:2b 0 ", 2},
		"vllm":                    {map[string]string{"/v1/models": "vllm/models.json"}, "qwen3-coder 65536 ", 1},
		"lm studio":               {map[string]string{"/v1/models": "lmstudio/models.json", "/api/v1/models": "lmstudio/own_models.json"}, "qwen/qwen3-coder-30b 16384 loaded\ntext-embedding-nomic 0 ", 2},
		"gateway":                 {map[string]string{"/v1/models": `{"data":[{"id":"a","context_length":9},{"id":"b","context_window":"8"},{"id":7},{"object":"x"},5]}`}, "a 9 \nb 8 \n7 0 ", 1},
		"names":                   {map[string]string{"/v1/models": `["a","b\u001b[31m"]`}, "a 0 \nb [31m 0 ", 1},
		"nothing":                 {map[string]string{"/v1/models": `{"object":"list","data":[]}`}, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				body, ok := c.paths[r.URL.Path]
				if !ok {
					http.NotFound(w, r)
					return
				}
				if strings.HasSuffix(body, ".json") {
					body = file(t, body)
				}
				if r.Method != http.MethodGet || r.Header.Get("Authorization") != "Bearer sk-1234" || r.Header.Get("X-A") != "b" {
					t.Errorf("%s %s %v", r.Method, r.URL, r.Header)
				}
				_, _ = w.Write([]byte(body))
			}))
			defer srv.Close()
			list, err := List(t.Context(), Config{BaseURL: srv.URL + "/v1", APIKey: "sk-1234", Headers: map[string]string{"X-A": "b"}})
			var got []string
			for _, o := range list {
				got = append(got, fmt.Sprintf("%s %d %s", o.Name, o.Context, o.State))
			}
			if err != nil || strings.Join(got, "\n") != c.want || int(asked.Load()) != c.asked {
				t.Errorf("after %d requests, %v:\n%s\nwant\n%s", asked.Load(), err, strings.Join(got, "\n"), c.want)
			}
		})
	}
}

// TestListFails: it asks once, and says what to do.
func TestListFails(t *testing.T) {
	lab := Config{Provider: "lab", KeyPrefix: "providers.lab.", KeyVariable: "LAB_KEY", ConnectTimeout: 200 * time.Millisecond}
	for name, c := range map[string]struct {
		step step
		c    Config
		path string
		want string
	}{
		"loading":         {status(503, file(t, "llamacpp/loading.json")), lab, "/v1", "HTTP 503, unavailable: Loading model; the server still loads its model"},
		"key":             {status(401, ""), lab, "/v1", "HTTP 401, auth: Unauthorized; the server wants an API key: set LAB_KEY (providers.lab.api_key_env)"},
		"no list":         {status(404, `{"detail":"Not Found"}`), lab, "/v1", "HTTP 404, bad request: Not Found; this server does not list its models: name them in providers.lab.models, or check providers.lab.base_url"},
		"no list, openai": {status(405, ""), Config{}, "/v1", "HTTP 405, bad request: Method Not Allowed; this server does not list its models: ask it with the name that it was started with, or check base_url (--base-url, OPENAI_BASE_URL)"},
		"no v1":           {status(404, "404 page not found"), lab, "", "HTTP 404, bad request: 404 page not found; providers.lab.base_url must probably end in /v1"},
		"web page":        {status(200, "<title>Open WebUI</title>"), lab, "/v1", "the answer is no list of models: Open WebUI; what answers there is no server of chat completions: check providers.lab.base_url"},
		"JSON":            {status(200, `{"ok":true}`), lab, "/v1", `the answer is no list of models: {"ok":true}; what answers there is no server of chat completions: check providers.lab.base_url`},
		"silence":         {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, lab, "/v1", "no answer within 200ms; check that the server runs, and providers.lab.base_url, or raise providers.lab.model_connect_timeout_ms"},
		"stops":           {beginsThenHangs(`{"data":[`), lab, "/v1", "no answer within 200ms; check that the server runs, and providers.lab.base_url, or raise providers.lab.model_connect_timeout_ms"},
		"redirect":        {status(307, "", "Location", "http://other.test/v1/models"), lab, "/v1", "HTTP 307 points to http://other.test/v1/models, which is not followed; set providers.lab.base_url to the place that answers"},
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int32
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { asked.Add(1); c.step(w, r) }))
			defer srv.Close()
			c.c.BaseURL = srv.URL + c.path
			_, err := List(t.Context(), c.c)
			e, ok := err.(*Error)
			if !ok || asked.Load() != 1 || !strings.HasSuffix(e.Error(), " at "+c.c.BaseURL+": "+c.want) {
				t.Errorf("after %d requests: %v", asked.Load(), err)
			}
		})
	}
	lab.BaseURL = "http://127.0.0.1:1/v1"
	if _, err := List(t.Context(), lab); err == nil || err.Error() != "lab at http://127.0.0.1:1/v1: no connection: dial tcp 127.0.0.1:1: connect: connection refused; check that the server runs, and providers.lab.base_url" {
		t.Error(err)
	}
}

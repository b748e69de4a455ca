package config

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// Endpoint holds the settings of one model server. The keys of the same names
// at the top set those of the openai provider; each named provider has its own.
type Endpoint struct {
	BaseURL               string
	CAFile                string
	ContextTokens         int64
	ModelStream           bool
	ModelConnectTimeoutMS int64
	ModelIdleTimeoutMS    int64
	ModelRetries          int64
	MaxTokens             int64
	Temperature           *float64
	ReasoningEffort       string
}

var modelKeys = []key{
	{name: "model", def: "", in: places(everywhere), check: modelName, risky: programModel,
		doc:   "The model, as provider/name. One of exec, script, replay or client needs trust in a project.",
		field: func(c *Config) any { return &c.Model }},
	{name: "api_key", def: "", env: "OPENAI_API_KEY", secret: true,
		doc:   "Key for the endpoint of the openai provider. It is never written to disk.",
		field: func(c *Config) any { return &c.APIKey }},
}

// endpointKeys are the rows of Endpoint. A named provider has the same rows;
// what it leaves out it takes from the top, unless the row belongs to one server (own).
var endpointKeys = []key{
	{name: "base_url", def: "", in: places("flag user trusted"), env: "OPENAI_BASE_URL", check: endpoint, own: true,
		doc:  "Address of the model server, such as http://127.0.0.1:8080/v1.",
		part: func(e *Endpoint) any { return &e.BaseURL }},
	{name: "ca_file", def: "", in: places("user trusted"), check: absolute, own: true,
		doc:  "File of PEM certificates to trust in place of the system's when the server is asked over https; a regular file of at most 16 MiB.",
		part: func(e *Endpoint) any { return &e.CAFile }},
	{name: "context_tokens", def: int64(0), min: 0, max: 1 << 30, unit: "tokens", in: places("user project"), own: true,
		doc:  "Context window of the model. A conversation that is about to exceed it is summarised, and a request that surely exceeds it is not sent. 0 is unknown: then only the server's refusal leads to a summary.",
		part: func(e *Endpoint) any { return &e.ContextTokens }},
	{name: "model_stream", def: true, in: places("user project"),
		doc:  "Ask for streamed replies.",
		part: func(e *Endpoint) any { return &e.ModelStream }},
	{name: "model_connect_timeout_ms", def: int64(10_000), min: 1, max: day, unit: "ms", in: places("user project"),
		doc:  "How long a connection may take, and the answer to evener models.",
		part: func(e *Endpoint) any { return &e.ModelConnectTimeoutMS }},
	{name: "model_idle_timeout_ms", def: int64(600_000), min: 1, max: day, unit: "ms", in: places("user project"),
		doc:  "How long the server may stay silent, before its reply and within it.",
		part: func(e *Endpoint) any { return &e.ModelIdleTimeoutMS }},
	{name: "model_retries", def: int64(4), min: 0, max: 100, in: places("user project"),
		doc:  "Repeats of a model request after a passing failure.",
		part: func(e *Endpoint) any { return &e.ModelRetries }},
	{name: "max_tokens", def: int64(0), min: 0, max: 1 << 30, unit: "tokens", in: places("user project"),
		doc:  "Longest reply that is asked for; 0 leaves it to the server.",
		part: func(e *Endpoint) any { return &e.MaxTokens }},
	{name: "temperature", def: (*float64)(nil), min: 0, max: 2, in: places("user project"),
		doc:  "Temperature that is asked for; unset leaves it to the server.",
		part: func(e *Endpoint) any { return &e.Temperature }},
	{name: "reasoning_effort", def: "", choices: []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}, in: places("user project"),
		doc:  "Effort of a reasoning model; unset leaves it to the server.",
		part: func(e *Endpoint) any { return &e.ReasoningEffort }},
}

func modelName(s string) string {
	provider, name, ok := strings.Cut(s, "/")
	if !ok || provider == "" || name == "" {
		return fmt.Sprintf("got %q; want provider/name, such as openai/qwen3-coder", short(s))
	}
	return ""
}

// programModel tells a provider that is a program, a file or a peer: by them a
// cloned repository would choose the commands that a run carries out.
func programModel(v any) bool {
	provider, _, _ := strings.Cut(v.(string), "/")
	return slices.Contains([]string{"script", "exec", "replay", "client"}, provider)
}

func endpoint(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "want an http or https address, such as http://127.0.0.1:8080/v1"
	}
	return ""
}

// absolute: the user's file is read in whatever directory evener runs.
func absolute(s string) string {
	if !filepath.IsAbs(s) {
		return fmt.Sprintf("got %q; want an absolute path", short(s))
	}
	return ""
}

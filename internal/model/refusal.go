package model

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"evener/internal/pattern"
)

// Each way in which a server says no: what kind of failure it is, whether it
// passes, and what to do about it.

// caller is what every provider that asks somebody else has.
type caller struct {
	c     Config
	base  string // of the server's address, without secrets
	where string // for error texts: model, base and proxy
	scrub scrubber
}

// key is the whole name of a configuration key of this provider.
func (c Config) key(name string) string { return c.KeyPrefix + name }

// addressKey is key("base_url") with the other ways to set it.
func (c Config) addressKey() string {
	if c.KeyPrefix == "" {
		return "base_url (--base-url, OPENAI_BASE_URL)"
	}
	return c.key("base_url")
}

// keyKey says where the API key is set.
func (c Config) keyKey() string {
	switch {
	case c.KeyPrefix == "":
		return c.KeyVariable
	case c.KeyVariable == "":
		return c.key("api_key_env")
	}
	return c.KeyVariable + " (" + c.key("api_key_env") + ")"
}

// refusal is one way to say no, known by its words. None of them passes by itself.
type refusal struct {
	text func() *regexp.Regexp // in the error's type, code and message
	only []int                 // the statuses that it comes with; nil for any
	kind Kind
	hint func(caller) string
}

// advice is a hint that needs no names.
func advice(hint string) func(caller) string { return func(caller) string { return hint } }

// refusals are tried in order, before anything is concluded from the status.
var refusals = []refusal{
	{pattern.New(`(?i)HTTP request to an HTTPS server|plain HTTP request was sent to HTTPS port`), nil, Protocol,
		func(m caller) string { return "write https:// in " + m.c.addressKey() }},
	{pattern.New(`(?i)max_(completion_)?tokens'?\)? is too (large|big)|max_(completion_)?tokens must be`), nil, BadRequest,
		func(m caller) string { return "lower " + m.c.key("max_tokens") }},

	{pattern.New(`requires --jinja|(?i)unsupported param: tools`), nil, BadRequest,
		advice("start llama-server with --jinja, and a model whose template has tools")},
	{pattern.New(`--enable-auto-tool-choice|--tool-call-parser`), nil, BadRequest,
		advice("start vLLM with --enable-auto-tool-choice and the --tool-call-parser of the model")},
	{pattern.New(`(?i)does(n't| not) support (tools?|function)|(tools?|tool use|function calling) (is|are) not supported|no endpoints found that support tool use`), nil, BadRequest,
		advice("choose a model with tools (Ollama: ollama show NAME lists its capabilities)")},
	{pattern.New(`(?i)does not support (thinking|reasoning)|invalid (reasoning|think) value`), nil, BadRequest,
		func(m caller) string { return "take " + m.c.key("reasoning_effort") + " out of the configuration" }},

	{pattern.New(`(?i)jinja|chat[ _]?template|raise_exception|roles must alternate|template: :\d+|TemplateError|error rendering prompt`), nil, BadRequest,
		advice("the model's chat template does not take this conversation: give the server another one (llama.cpp, vLLM: a template file) or choose another model")},

	{pattern.New(`(?i)model_not_found|invalid model (identifier|name)|model not exist|no models? (is )?(loaded|found)|try pulling|` +
		"model [`'\"]?[^ ]+[`'\"]? (was )?(not found|does not exist|is not available|is not found)"), []int{0, 400, 404, 422, 500}, BadRequest, caller.unknownModel},
	{pattern.New(`(?i)requires more system memory|out of memory|insufficient (system )?(memory|resources)|failed to load model|unable to load model`), nil, Unavailable,
		advice("the server cannot load the model: choose a smaller one, or free memory there")},

	{pattern.New(`(?i)unexpected endpoint or method|404 page not found|^not_found_error 404 file not found`), nil, BadRequest, caller.wrongPath},
	{pattern.New(`(?i)does not support (chat )?completions|without .?--embeddings?`), nil, BadRequest,
		advice("the server serves no chat completions with this model: start it with another one")},
}

func (m caller) unknownModel() string {
	list := "evener models " + m.c.Provider + " lists what the server offers"
	if m.ollama() {
		return list + ", ollama pull NAME gets another one"
	}
	return list
}

// ollama tells whether the address looks like Ollama's, for words that fit it.
func (m caller) ollama() bool { return strings.Contains(m.base, ":11434") }

func (m caller) wrongPath() string {
	if strings.HasSuffix(strings.TrimRight(m.base, "/"), "/v1") {
		return "nothing there answers chat completions: check " + m.c.addressKey()
	}
	return m.c.addressKey() + " must probably end in /v1"
}

// loadingText recognises a server whose model is not ready yet.
var loadingText = pattern.New(`(?i)\bloading\b`)

// failed classifies an error that the server sent, as an answer or (status
// 200) inside a stream.
func (m caller) failed(protocol string, status int, h http.Header, a answer) *failure {
	label, effective := fmt.Sprintf("%s %d", protocol, status), status
	if status == http.StatusOK {
		label, effective = "error in the answer", a.status
	}
	text := a.text
	if text == "" {
		text = http.StatusText(status)
	}
	if r := a.known(effective); r != nil {
		f := &failure{err: m.scrub.faultf(r.kind, status, "%s: %s, %s: %s", m.where, label, r.kind.words(), text)}
		f.err.Hint = r.hint(m)
		return f
	}
	if a.overflows(effective) {
		f := &failure{err: m.scrub.faultf(Overflow, status, "%s: %s, context too small: %s", m.where, label, text)}
		f.err.Limit = a.limit
		f.err.Hint = m.overflowHint(effective, a)
		return f
	}
	kind, again := kindOf(effective), retryable(effective)
	if effective == 0 { // in a stream, without a status: mostly a parser or a worker that fell over
		kind, again = Broken, !lasting().MatchString(a.code)
		if !again {
			kind = BadRequest
		}
	}
	if h.Get("X-Should-Retry") == "false" || a.code != "" && quota().MatchString(a.code) {
		again = false
	}
	f := &failure{err: m.scrub.faultf(kind, status, "%s: %s, %s: %s", m.where, label, kind.words(), text), again: again}
	f.after = askedWait(h, time.Now())
	f.loading = effective == http.StatusServiceUnavailable && loadingText().MatchString(a.text)
	f.err.Hint = m.hintFor(effective)
	if f.loading {
		f.err.Hint = "the server still loads its model"
	}
	return f
}

// known finds the refusal that has these words.
func (a answer) known(status int) *refusal {
	switch status {
	case 401, 403, 408, 409, 413, 429:
		return nil
	}
	words := a.code + " " + a.text
	for i := range refusals {
		if r := &refusals[i]; (r.only == nil || slices.Contains(r.only, status)) && r.text().MatchString(words) {
			return r
		}
	}
	return nil
}

// quota is a rate limit that waiting does not lift.
var quota = pattern.New(`insufficient_quota`)

func (m caller) hintFor(status int) string {
	switch {
	case m.c.Exec != nil:
		return ""
	case status == 401 || status == 403:
		if m.c.APIKey == "" && len(m.c.Headers) == 0 {
			return "the server wants an API key: set " + m.c.keyKey()
		}
		return "check the API key, " + m.c.keyKey()
	case status == 404 || status == 405:
		return m.wrongPath()
	}
	return ""
}

// enlarge says how to give each server a larger context, by its own words for a small one.
var enlarge = []struct {
	text func() *regexp.Regexp
	how  string
}{
	{pattern.New(`(?i)exceed_context_size_error|available context size|context size has been exceeded`), "start llama-server with a larger -c"},
	{pattern.New(`(?i)input length exceeds|context length currently available`), "raise OLLAMA_CONTEXT_LENGTH of the server"},
	{pattern.New(`(?i)context the overflows|tokens to keep from the initial prompt`), "load the model with a larger context length"},
	{pattern.New(`(?i)maximum context length|maximum model length`), "raise what the server takes (vLLM: --max-model-len)"},
}

func (m caller) overflowHint(status int, a answer) string {
	set := m.c.key("context_tokens")
	if m.c.ContextTokens > 0 {
		set += fmt.Sprintf(" (now %d)", m.c.ContextTokens)
	}
	how := "give the server a larger context"
	switch {
	case m.c.Exec != nil:
		how = "give the model a larger context"
	case status == http.StatusRequestEntityTooLarge && !overflowText().MatchString(a.code+" "+a.text):
		how = "raise the largest body that the server, or a proxy before it, takes"
	}
	for _, e := range enlarge {
		if e.text().MatchString(a.code + " " + a.text) {
			how = e.how
			break
		}
	}
	return how + " and set " + set + " to its size, or begin a new session"
}

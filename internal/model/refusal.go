package model

import (
	"fmt"
	"net/http"
	"regexp"
	"time"
)

// caller is what every provider that asks somebody else has.
type caller struct {
	c     Config
	where string // for error texts: model and endpoint, without secrets
	scrub scrubber
}

// key is the whole name of a configuration key of this provider.
func (c Config) key(name string) string { return c.KeyPrefix + name }

var loadingText = regexp.MustCompile(`(?i)\bloading\b`)

// failed classifies an error that the server sent, as an answer or (status
// 200) inside a stream.
func (m caller) failed(protocol string, status int, h http.Header, a answer) *failure {
	label, effective := fmt.Sprintf("%s %d", protocol, status), status
	if status == http.StatusOK {
		label, effective = "error in the answer", a.status
	}
	if a.overflows(effective) {
		f := &failure{err: m.scrub.faultf(Overflow, status, "%s: %s: %s", m.where, label, a.text)}
		f.err.Limit = a.limit
		f.err.Hint = m.overflowHint()
		return f
	}
	kind := kindOf(effective)
	again := retryable(effective)
	if effective == 0 { // in a stream, without a status: mostly a parser or a worker that fell over
		kind, again = Broken, !lasting.MatchString(a.code)
		if !again {
			kind = BadRequest
		}
	}
	if h.Get("X-Should-Retry") == "false" || a.code != "" && quota.MatchString(a.code) {
		again = false
	}
	text := a.text
	if text == "" {
		text = http.StatusText(status)
	}
	f := &failure{err: m.scrub.faultf(kind, status, "%s: %s, %s: %s", m.where, label, kind.words(), text), again: again}
	f.after = askedWait(h, time.Now())
	f.loading = effective == http.StatusServiceUnavailable && loadingText.MatchString(a.text)
	f.err.Hint = m.hintFor(effective)
	return f
}

// quota is a rate limit that waiting does not lift.
var quota = regexp.MustCompile(`insufficient_quota`)

func (m caller) hintFor(status int) string {
	switch status {
	case 401, 403:
		return "check the API key (OPENAI_API_KEY)"
	case 404:
		return "check the model's name, and that the base URL ends in /v1"
	}
	return ""
}

func (m caller) overflowHint() string {
	set := ""
	if m.c.ContextTokens > 0 {
		set = fmt.Sprintf(" (now %d)", m.c.ContextTokens)
	}
	return "give the server a larger context, and set " + m.c.key("context_tokens") + set + " to what it has"
}

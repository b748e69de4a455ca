package model

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"evener/internal/pattern"
)

// Kind sorts failures by what a caller can do about them. Its values may be recorded.
type Kind string

const (
	Overflow    Kind = "overflow" // the request is longer than the model's context
	Auth        Kind = "auth"
	RateLimit   Kind = "rate_limit"
	BadRequest  Kind = "bad_request" // will not change by itself
	Unavailable Kind = "unavailable" // no connection, or the server cannot answer now
	Timeout     Kind = "timeout"     // silence
	Broken      Kind = "broken"      // the connection or the stream broke off
	Protocol    Kind = "protocol"    // an answer that is no chat completion
	Scripted    Kind = "script"      // a scripted model has no reply for this request
	Failed      Kind = "exec"        // the command of an exec model failed
)

func (k Kind) words() string { return strings.ReplaceAll(string(k), "_", " ") }

// Error is a failed call. Its text is one line without secrets.
type Error struct {
	Kind   Kind
	Status int    // of the HTTP answer, 0 if there was none
	Text   string // what failed and where
	Hint   string // what to do; may be empty
	Limit  int64  // Overflow: the context size in tokens, 0 if not told
}

func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Text
	}
	return e.Text + "; " + e.Hint
}

// answer is the error that an endpoint sent, taken apart.
type answer struct {
	text   string
	code   string // type and code of the error, joined
	status int    // a code that is an HTTP status
	limit  int64  // context size, from the fields or the text
	needed int64  // tokens of the request
}

// overflowText recognises an overflow where no field tells it.
var overflowText = pattern.New(`(?i)exceed_context_size_error|exceeds the available context|maximum context length|` +
	`context length exceeded|context_length_exceeded|longer than the maximum model length|exceeds the maximum allowed length|greater than max_seq_len|input length exceeds|prompt is too long|longer than the context length|` +
	`context size has been exceeded|greater than the context length|context the overflows|context window exceed`)

var contextSize = pattern.New(`(?i)(?:maximum context length is|maximum model length of|maximum allowed length \(|max_seq_len|available context size \(|context length of only) ?(\d+)`)

// lasting are error types that a retry will not change, sent inside a stream where no status tells it.
var lasting = pattern.New(`(?i)invalid_request|bad_?request|authentication|permission|invalid_api_key|not_found|insufficient_quota`)

// parseAnswer reads the forms that servers use: {"error":{…}}, {"error":"…"},
// {"detail":…}, a flat {"message":…}, a list of one of these, HTML, plain text.
func parseAnswer(body []byte) answer {
	body = []byte(strings.TrimSpace(string(body)))
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var top map[string]json.RawMessage
	if json.Unmarshal(body, &top) != nil {
		return answer{text: plainText(string(body))}.measured()
	}
	fields := top
	if e, ok := top["error"]; ok && !isNull(e) {
		var inner map[string]json.RawMessage
		if json.Unmarshal(e, &inner) != nil {
			return answer{text: word(e)}.measured()
		}
		fields = inner
	}
	a := answer{code: strings.TrimSpace(word(fields["type"]) + " " + word(fields["code"]))}
	for _, k := range []string{"message", "detail", "error", "msg", "description"} {
		if a.text = word(fields[k]); a.text != "" {
			break
		}
	}
	if a.text == "" {
		a.text = string(body)
	}
	a.status = int(number(fields["code"]))
	if a.status < 400 || a.status > 599 {
		a.status = int(number(fields["status"]))
	}
	if a.status < 400 || a.status > 599 {
		a.status = 0
	}
	a.limit, a.needed = number(fields["n_ctx"]), number(fields["n_prompt_tokens"])
	return a.measured()
}

// measured fills in the context size from the text where no field gave it.
func (a answer) measured() answer {
	if m := contextSize().FindStringSubmatch(a.text); a.limit == 0 && m != nil {
		a.limit, _ = strconv.ParseInt(m[1], 10, 64)
	}
	return a
}

func (a answer) overflows(status int) bool {
	switch status {
	case 401, 403, 404, 408, 429:
		return false
	case 413:
		return true
	}
	return a.limit > 0 && a.needed > a.limit || overflowText().MatchString(a.code+" "+a.text)
}

// kindOf sorts an HTTP status.
func kindOf(status int) Kind {
	switch {
	case status == 401 || status == 403:
		return Auth
	case status == 429:
		return RateLimit
	case status == 408 || status == 409 || status >= 500:
		return Unavailable
	}
	return BadRequest
}

// word is a JSON string, or any other value but null as its JSON text.
func word(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || isNull(raw) {
		return ""
	}
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

func number(raw json.RawMessage) int64 {
	n, err := strconv.ParseFloat(word(raw), 64)
	if err != nil || !(n > 0 && n < 1<<53) {
		return 0
	}
	return int64(n)
}

func isNull(raw []byte) bool { return string(raw) == "null" }

var (
	htmlTitle = pattern.New(`(?is)<title[^>]*>(.*?)</title>`)
	htmlTag   = pattern.New(`(?s)<[^>]*>`)
)

// plainText is a body that is no JSON: of HTML its title, or what stands between the tags.
func plainText(s string) string {
	if !strings.HasPrefix(s, "<") {
		return s
	}
	if m := htmlTitle().FindStringSubmatch(s); m != nil && strings.TrimSpace(m[1]) != "" {
		return m[1]
	}
	return htmlTag().ReplaceAllString(s, " ")
}

const lineMax = 400

// oneLine makes a text from outside fit for an error: one line, no control characters, bounded.
func oneLine(s string) string {
	if len(s) > 16*lineMax {
		s = s[:16*lineMax]
	}
	s = words(s)
	if r := []rune(s); len(r) > lineMax {
		return string(r[:lineMax]) + "…"
	}
	return s
}

// words joins what stands between spaces, line ends and control characters.
func words(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\ufffd"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
}

// scrubber removes secrets from texts.
type scrubber struct{ r *strings.Replacer }

// shortest is the length below which a value is no secret but a placeholder such as "x".
const shortest = 4

// newScrubber knows each secret as it is and as URLs, JSON and basic authentication spell it.
func newScrubber(secrets []string) scrubber {
	var forms []string
	for _, s := range secrets {
		if len(s) < shortest {
			continue
		}
		web, _ := json.Marshal(s) // a string always encodes
		plain, _ := encode(s)
		forms = append(forms, s, url.QueryEscape(s), url.PathEscape(s), string(web[1:len(web)-1]), string(plain[1:len(plain)-1]),
			base64.StdEncoding.EncodeToString([]byte(s)))
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, f := range slices.Compact(forms) {
		pairs = append(pairs, f, "[secret]")
	}
	return scrubber{strings.NewReplacer(pairs...)}
}

// clean scrubs before it cuts, so that no half of a secret is left at the end.
func (s scrubber) clean(text string) string { return oneLine(s.r.Replace(text)) }

// faultf makes an error whose text is clean.
func (s scrubber) faultf(k Kind, status int, format string, args ...any) *Error {
	return &Error{Kind: k, Status: status, Text: s.clean(fmt.Sprintf(format, args...))}
}

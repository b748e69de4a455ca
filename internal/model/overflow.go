package model

import (
	"fmt"

	"evener/internal/text"
)

// perToken is more bytes than the tokens of any text have on average, once runs
// of one byte count as one: no model has words of ten letters only.
const perToken = 10

// leastTokens is a number of tokens that a request surely has.
func leastTokens(body []byte) int64 {
	n := 0
	for i, c := range body {
		if i == 0 || c != body[i-1] {
			n++
		}
	}
	return int64(n / perToken)
}

// tooLong refuses a request that surely exceeds the context before it is sent:
// some servers would drop the oldest messages in silence.
func (m caller) tooLong(body []byte) *Error {
	most := m.c.ContextTokens
	least := leastTokens(body)
	if most <= 0 || least <= most {
		return nil
	}
	e := m.scrub.faultf(Overflow, 0, "%s: not sent, context too small: the request has %s bytes, at least %s tokens",
		m.where, text.Thousands(len(body)), text.Thousands(int(least)))
	e.Limit, e.Hint = most, m.overflowHint(0, answer{})
	return e
}

// overflowed adds the size of the request to an overflow that the server told.
func (m caller) overflowed(err error, body []byte) error {
	if e, ok := err.(*Error); ok && e.Kind == Overflow {
		e.Text += fmt.Sprintf(" (the request has %s bytes)", text.Thousands(len(body)))
	}
	return err
}

// dropped warns of a server that silently cut the oldest messages: it counted
// fewer tokens than the request surely had.
func (m caller) dropped(u Usage, body []byte) string {
	const small = 16 << 10
	if len(body) < small || u.Input == 0 || u.Input+u.CacheRead >= leastTokens(body) {
		return ""
	}
	return fmt.Sprintf("the server counted %d tokens in a request of %d bytes: it seems to have dropped the oldest messages; "+
		"raise its context size (Ollama: OLLAMA_CONTEXT_LENGTH), and set %s to it", u.Input, len(body), m.c.key("context_tokens"))
}

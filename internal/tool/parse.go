package tool

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"evener/internal/text"
)

// A node is one JSON value as it was sent: names in order and repeated ones
// kept, numbers as their text. The standard decoder would fold case, take the
// last of two equal names and round numbers; a call that is carried out must
// be the call that was written.
type node struct {
	kind    kind
	text    string // a string's value, a number's literal
	members []named
	items   []node
}

type named struct {
	name  string
	value node
}

type kind int

const (
	nullKind kind = iota
	falseKind
	trueKind
	numberKind
	stringKind
	arrayKind
	objectKind
)

// parse reads the arguments' JSON. bad says in one line why they are none.
func parse(raw string) (n node, bad string) {
	if strings.TrimSpace(raw) == "" {
		return node{kind: objectKind}, ""
	}
	if n, bad = parseAny(raw); bad != "" {
		return node{}, bad
	}
	if n.deeper(maxDepth) {
		return node{}, fmt.Sprintf("the arguments nest deeper than %d levels", maxDepth)
	}
	switch n.kind {
	case objectKind:
		return n, ""
	case nullKind:
		return node{kind: objectKind}, ""
	}
	return node{}, fmt.Sprintf("the arguments are %s; want an object", n)
}

// parseAny reads any JSON value.
func parseAny(raw string) (n node, bad string) {
	if !utf8.ValidString(raw) {
		return node{}, "the arguments are not valid UTF-8"
	}
	// The whole text is checked first: syntax, depth and nothing behind it.
	// After that the token walk cannot fail or recurse without bound.
	var whole json.RawMessage
	if err := json.Unmarshal([]byte(raw), &whole); err != nil {
		return node{}, syntax(err)
	}
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	n, err := walk(d)
	if err != nil {
		return node{}, syntax(err)
	}
	return n, ""
}

// maxDepth bounds the nesting of arguments: what is accepted is recorded, and
// every JSON reader must be able to read the record.
const maxDepth = 64

func (n node) deeper(levels int) bool {
	if levels == 0 {
		return len(n.members)+len(n.items) > 0
	}
	for _, m := range n.members {
		if m.value.deeper(levels - 1) {
			return true
		}
	}
	for _, v := range n.items {
		if v.deeper(levels - 1) {
			return true
		}
	}
	return false
}

func syntax(err error) string {
	if at, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("the arguments are not valid JSON: %v (at byte %d)", err, at.Offset)
	}
	return fmt.Sprintf("the arguments are not valid JSON: %v", err)
}

func walk(d *json.Decoder) (node, error) {
	t, err := d.Token()
	if err != nil {
		return node{}, err
	}
	switch t := t.(type) {
	case bool:
		if t {
			return node{kind: trueKind}, nil
		}
		return node{kind: falseKind}, nil
	case json.Number:
		return node{kind: numberKind, text: t.String()}, nil
	case string:
		return node{kind: stringKind, text: t}, nil
	case json.Delim:
		return container(d, t)
	}
	return node{kind: nullKind}, nil
}

func container(d *json.Decoder, open json.Delim) (node, error) {
	n := node{kind: arrayKind}
	if open == '{' {
		n.kind = objectKind
	}
	for d.More() {
		var name string
		if n.kind == objectKind {
			key, err := d.Token()
			if err != nil {
				return node{}, err
			}
			name, _ = key.(string)
		}
		value, err := walk(d)
		if err != nil {
			return node{}, err
		}
		if n.kind == objectKind {
			n.members = append(n.members, named{name, value})
		} else {
			n.items = append(n.items, value)
		}
	}
	_, err := d.Token() // the closing bracket
	return n, err
}

// json writes the value as it was sent, but for white space.
func (n node) json(b []byte) []byte {
	switch n.kind {
	case falseKind:
		return append(b, "false"...)
	case trueKind:
		return append(b, "true"...)
	case numberKind:
		return append(b, n.text...)
	case stringKind:
		return append(b, plain(n.text)...)
	case arrayKind:
		b = append(b, '[')
		for i, v := range n.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.json(b)
		}
		return append(b, ']')
	case objectKind:
		b = append(b, '{')
		for i, m := range n.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = m.value.json(append(append(b, plain(m.name)...), ':'))
		}
		return append(b, '}')
	}
	return append(b, "null"...)
}

// String says what came, for a refusal.
func (n node) String() string {
	switch n.kind {
	case falseKind:
		return "false"
	case trueKind:
		return "true"
	case numberKind:
		return "the number " + short(n.text)
	case stringKind:
		return "the string " + quote(n.text)
	case arrayKind:
		return "an array"
	case objectKind:
		return "an object"
	}
	return "null"
}

const shown = 60 // characters of a value that a refusal repeats

// quote makes one short printable line of any text.
func quote(s string) string { return text.Quote(s, shown) }

func short(s string) string {
	if utf8.RuneCountInString(s) <= shown {
		return s
	}
	return string([]rune(s)[:shown]) + "…"
}

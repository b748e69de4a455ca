package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

const maxFile = 1 << 20 // bytes; a configuration is a page, not a stream

// A source is a file that was read.
type source struct {
	path  string
	data  []byte
	doubt func() string // why it is not trusted; only asked where that matters
}

// A setting is one member of a file.
type setting struct {
	key   string
	path  string // the keys that lead to it, joined by dots
	value json.RawMessage
	line  int
	start int64 // of value in the file
}

func (f *source) at(s setting) string { return fmt.Sprintf("%s:%d", f.path, s.line) }

func (f *source) fault(s setting, bad string) error {
	return &Error{At: f.at(s), Key: s.path, Text: bad}
}

// parseFile splits a file into its members, in order.
func parseFile(path string, data []byte) (*source, []setting, error) {
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	f := &source{path: path, data: data}
	if !utf8.Valid(data) {
		return nil, nil, &Error{At: path, Text: "the file is not valid UTF-8"}
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil, &Error{At: path, Text: "the file is empty; want a JSON object"}
	}
	// The whole text is checked first, so that the token walk below cannot fail.
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		offset := int64(len(data))
		if at, ok := errors.AsType[*json.SyntaxError](err); ok {
			offset = at.Offset
		}
		return nil, nil, f.fail(offset, "", fmt.Sprintf("not valid JSON: %v", err))
	}
	all, err := f.walk(setting{value: data}, "want a JSON object")
	return f, all, err
}

func (f *source) fail(offset int64, key, text string) error {
	return &Error{At: fmt.Sprintf("%s:%d", f.path, lineAt(f.data, offset)), Key: key, Text: text}
}

// members splits the value of a setting, which must be an object.
func (f *source) members(s setting, form string) ([]setting, error) {
	return f.walk(s, fmt.Sprintf("got %s; want an object {%s}", kindOf(s.value), form))
}

func (f *source) walk(of setting, noObject string) ([]setting, error) {
	d := json.NewDecoder(bytes.NewReader(of.value))
	here := func() int64 { return of.start + d.InputOffset() }
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, f.fail(here(), of.path, noObject)
	}
	var all []setting
	seen := map[string]bool{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, f.fail(here(), of.path, fmt.Sprintf("not valid JSON: %v", err))
		}
		s := setting{line: lineAt(f.data, here())}
		s.key, _ = name.(string)
		s.path = s.key
		if of.path != "" {
			s.path = of.path + "." + s.key
		}
		if seen[s.key] {
			return nil, f.fail(here(), of.path, fmt.Sprintf("key %q is set twice", s.key))
		}
		seen[s.key] = true
		if err := d.Decode(&s.value); err != nil {
			return nil, f.fail(here(), of.path, fmt.Sprintf("not valid JSON: %v", err))
		}
		s.start = here() - int64(len(s.value))
		all = append(all, s)
	}
	return all, nil
}

// kindOf is what kind of value a JSON text is, for errors: the value itself may be a secret.
func kindOf(raw []byte) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// lineAt is the number of the line that holds the byte before offset.
func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:max(min(offset, int64(len(data)))-1, 0)], []byte("\n"))
}

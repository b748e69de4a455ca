package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// document is a JSON text, read within the limits.
type document struct {
	raw    []byte
	value  any // maps, slices, strings, bools, nil, and numbers as json.Number
	leaves int
	room   int // characters that the pointers to its places may still have together
}

func read(raw []byte, room int) (*document, *Error) {
	d := &document{raw: raw, room: room}
	if !utf8.Valid(raw) {
		return nil, &Error{Line: d.lineOf(firstInvalid(raw)), Text: "it is not valid UTF-8"}
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, bad := d.next(dec, nil)
	if bad == nil {
		if _, err := dec.Token(); err != io.EOF {
			bad = &Error{Line: d.lineOf(int(dec.InputOffset())), Text: "there is more behind the JSON value"}
		}
	}
	d.value = v
	return d, bad
}

func firstInvalid(raw []byte) int {
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(raw)
}

// next reads one value. path is where it stands.
func (d *document) next(dec *json.Decoder, path []string) (any, *Error) {
	tok, bad := d.token(dec, path)
	if bad != nil {
		return nil, bad
	}
	for _, p := range path {
		d.room -= 1 + len(p)
	}
	if d.room < 0 {
		return nil, &Error{Line: d.lineOf(int(dec.InputOffset())), Text: "its member names are too long"}
	}
	switch t := tok.(type) {
	case json.Delim:
		if len(path) >= MaxDepth {
			return nil, d.bad(dec, path, "it is nested deeper than %d levels", MaxDepth)
		}
		if t == '{' {
			return d.object(dec, path)
		}
		return d.array(dec, path)
	case json.Number:
		d.leaves++
		if !boundedNumber(string(t)) {
			return nil, d.bad(dec, path, "the number is too large to be exact; at most %d digits", MaxNumber)
		}
	default:
		d.leaves++
	}
	return tok, nil
}

// boundedNumber: exact arithmetic with the number is cheap.
func boundedNumber(n string) bool {
	if len(n) > MaxNumber {
		return false
	}
	i := strings.IndexAny(n, "eE")
	if i < 0 {
		return true
	}
	e, err := strconv.Atoi(n[i+1:])
	return err == nil && -MaxNumber <= e && e <= MaxNumber
}

func (d *document) object(dec *json.Decoder, path []string) (any, *Error) {
	m := map[string]any{}
	for dec.More() {
		tok, bad := d.token(dec, path)
		if bad != nil {
			return nil, bad
		}
		key, _ := tok.(string)
		here := append(slices.Clip(path), key)
		if _, twice := m[key]; twice {
			return nil, d.bad(dec, here, "it is given twice")
		}
		v, bad := d.next(dec, here)
		if bad != nil {
			return nil, bad
		}
		m[key] = v
	}
	_, bad := d.token(dec, path)
	return m, bad
}

func (d *document) array(dec *json.Decoder, path []string) (any, *Error) {
	list := []any{}
	for dec.More() {
		v, bad := d.next(dec, append(slices.Clip(path), strconv.Itoa(len(list))))
		if bad != nil {
			return nil, bad
		}
		list = append(list, v)
	}
	_, bad := d.token(dec, path)
	return list, bad
}

func (d *document) token(dec *json.Decoder, path []string) (json.Token, *Error) {
	tok, err := dec.Token()
	if err == nil {
		return tok, nil
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if len(bytes.TrimSpace(d.raw)) == 0 {
			return nil, &Error{Line: 1, Text: "it is empty"}
		}
		return nil, &Error{Line: d.lineOf(len(d.raw)), Place: pointer(path), Text: "it ends too early"}
	}
	offset := int(dec.InputOffset())
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = int(syntax.Offset)
	}
	return nil, &Error{Line: d.lineOf(offset), Place: pointer(path), Text: "it is no JSON: " + err.Error()}
}

func (d *document) bad(dec *json.Decoder, path []string, format string, args ...any) *Error {
	return &Error{Line: d.lineOf(int(dec.InputOffset())), Place: pointer(path), Text: fmt.Sprintf(format, args...)}
}

// line is the line of a place, or of the nearest place around it.
func (d *document) line(place string) int {
	dec := json.NewDecoder(bytes.NewReader(d.raw))
	dec.UseNumber()
	end := 0
	for _, segment := range strings.Split(place, "/")[1:] {
		if !enter(dec, unescape.Replace(segment)) {
			break
		}
		end = int(dec.InputOffset())
	}
	if end == 0 {
		return 1
	}
	return d.lineOf(end)
}

// enter steps into the value that comes, up to the member or item of this name.
func enter(dec *json.Decoder, segment string) bool {
	open, err := dec.Token()
	if err != nil {
		return false
	}
	for i := 0; dec.More(); i++ {
		name := any(strconv.Itoa(i))
		switch open {
		case json.Delim('{'):
			if name, err = dec.Token(); err != nil {
				return false
			}
		case json.Delim('['):
		default:
			return false
		}
		if name == segment {
			return true
		}
		var skipped json.RawMessage
		if dec.Decode(&skipped) != nil {
			return false
		}
	}
	return false
}

func (d *document) lineOf(offset int) int {
	return 1 + bytes.Count(d.raw[:min(max(offset, 0), len(d.raw))], []byte("\n"))
}

// pointer writes a JSON pointer.
func pointer(path []string) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteByte('/')
		b.WriteString(escape.Replace(p))
	}
	return b.String()
}

var (
	escape   = strings.NewReplacer("~", "~0", "/", "~1")
	unescape = strings.NewReplacer("~1", "/", "~0", "~")
)

// kindOf names what a value is.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case json.Number:
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

package store

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Every start folds every event there ever was, so events are decoded by a
// program that is made once of their type, several times as fast as encoding/json
// in its strict form. It takes nothing that encoding/json would refuse, and what
// it takes it reads as encoding/json does; it is stricter in that field names
// must be exact, no field may come twice and nothing may follow the value.

// setter reads one value into v, which is zero.
type setter func(r *reader, v reflect.Value) error

var (
	rawType    = reflect.TypeFor[json.RawMessage]()
	customJSON = reflect.TypeFor[json.Unmarshaler]()
	customText = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// setterOf makes the setter of a type. What is rare is left to encoding/json.
func setterOf(t reflect.Type) setter {
	switch p := reflect.PointerTo(t); {
	case t == rawType:
		return setRaw
	case p.Implements(customJSON), p.Implements(customText):
		return setOther
	}
	switch t.Kind() {
	case reflect.String:
		return setString
	case reflect.Bool:
		return setBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return setInt
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return setUint
	case reflect.Pointer:
		return setPointer(t)
	case reflect.Slice:
		if t.Elem().Kind() != reflect.Uint8 { // bytes are base64
			return setSlice(t)
		}
	case reflect.Struct:
		return setStruct(t)
	}
	return setOther
}

func setString(r *reader, v reflect.Value) error {
	if r.null() {
		return nil
	}
	s, err := r.str()
	v.SetString(s)
	return err
}

func setBool(r *reader, v reflect.Value) error {
	switch {
	case r.word("true"):
		v.SetBool(true)
	case r.word("false"), r.word("null"):
	default:
		return r.bad("a boolean")
	}
	return nil
}

func setInt(r *reader, v reflect.Value) error {
	if r.null() {
		return nil
	}
	s, err := r.number()
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(string(s), 10, 64)
	if err != nil || v.OverflowInt(n) {
		return r.bad("an integer within bounds")
	}
	v.SetInt(n)
	return nil
}

func setUint(r *reader, v reflect.Value) error {
	if r.null() {
		return nil
	}
	s, err := r.number()
	if err != nil {
		return err
	}
	n, err := strconv.ParseUint(string(s), 10, 64)
	if err != nil || v.OverflowUint(n) {
		return r.bad("a positive integer within bounds")
	}
	v.SetUint(n)
	return nil
}

func setPointer(t reflect.Type) setter {
	set := setterOf(t.Elem())
	return func(r *reader, v reflect.Value) error {
		if r.null() {
			return nil
		}
		v.Set(reflect.New(t.Elem()))
		return set(r, v.Elem())
	}
}

func setSlice(t reflect.Type) setter {
	set := setterOf(t.Elem())
	return func(r *reader, v reflect.Value) error {
		if r.null() {
			return nil
		}
		if !r.eat('[') {
			return r.bad("a list")
		}
		if r.eat(']') {
			v.Set(reflect.MakeSlice(t, 0, 0)) // an empty list is not a missing one
			return nil
		}
		for n := 0; ; n++ {
			v.Grow(1)
			v.SetLen(n + 1)
			if err := set(r, v.Index(n)); err != nil {
				return err
			}
			switch {
			case r.eat(']'):
				return nil
			case !r.eat(','):
				return r.bad("a comma or the end of the list")
			}
		}
	}
}

// field is a field of a struct, as encoding/json names it.
type field struct {
	name  string
	index int
	set   setter
}

func fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || strings.Contains(f.Tag.Get("json"), ",string") {
			panic(fmt.Sprintf("store: %s.%s: embedded and quoted fields are not for events", t, f.Name))
		}
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			name = f.Name
		}
		out = append(out, field{name, i, setterOf(f.Type)})
	}
	if len(out) > 64 {
		panic(fmt.Sprintf("store: %s has too many fields", t))
	}
	return out
}

func setStruct(t reflect.Type) setter {
	fields := fieldsOf(t)
	return func(r *reader, v reflect.Value) error {
		if r.null() {
			return nil
		}
		if !r.eat('{') {
			return r.bad("an object")
		}
		if r.eat('}') {
			return nil
		}
		seen, next := uint64(0), 0
		for {
			i, err := r.key(fields, next)
			if err != nil {
				return err
			}
			if seen&(1<<i) != 0 {
				return fmt.Errorf("field %q stands twice", fields[i].name)
			}
			seen, next = seen|1<<i, i+1
			if err := fields[i].set(r, v.Field(fields[i].index)); err != nil {
				return fmt.Errorf("%s: %w", fields[i].name, err)
			}
			switch {
			case r.eat('}'):
				return nil
			case !r.eat(','):
				return r.bad("a comma or the end of the object")
			}
		}
	}
}

// setRaw keeps a value as it stands.
func setRaw(r *reader, v reflect.Value) error {
	b, err := r.value()
	if err == nil {
		v.SetBytes(slices.Clone(b))
	}
	return err
}

// setOther leaves a value to encoding/json.
func setOther(r *reader, v reflect.Value) error {
	b, err := r.value()
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	d.UseNumber() // a report's numbers stay as the model wrote them
	return d.Decode(v.Addr().Interface())
}

// reader goes through one JSON text.
type reader struct {
	b []byte
	i int
}

// token is the next byte that is no white space, 0 at the end.
func (r *reader) token() byte {
	for r.i < len(r.b) {
		switch c := r.b[r.i]; c {
		case ' ', '\t', '\n', '\r':
			r.i++
		default:
			return c
		}
	}
	return 0
}

func (r *reader) eat(c byte) bool {
	if r.token() != c {
		return false
	}
	r.i++
	return true
}

func (r *reader) word(w string) bool {
	r.token()
	if len(r.b)-r.i < len(w) || string(r.b[r.i:r.i+len(w)]) != w {
		return false
	}
	r.i += len(w)
	return true
}

func (r *reader) null() bool { return r.token() == 'n' && r.word("null") }

func (r *reader) bad(want string) error {
	if r.token() == 0 && r.i >= len(r.b) {
		return io.ErrUnexpectedEOF
	}
	return fmt.Errorf("byte %d is %q where %s should be", r.i, r.b[r.i], want)
}

// key reads a field's name and its colon. Fields mostly come in the order of the
// type, so the search begins at next.
func (r *reader) key(fields []field, next int) (int, error) {
	if next < len(fields) && r.token() == '"' {
		name := fields[next].name
		if rest := r.b[r.i+1:]; len(rest) > len(name) && rest[len(name)] == '"' && string(rest[:len(name)]) == name {
			r.i += len(name) + 2
			return next, r.colon()
		}
	}
	if r.token() != '"' {
		return 0, r.bad("the name of a field")
	}
	name, err := r.str()
	if err != nil {
		return 0, err
	}
	i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
	if i < 0 {
		return 0, fmt.Errorf("unknown field %q", name)
	}
	return i, r.colon()
}

func (r *reader) colon() error {
	if !r.eat(':') {
		return r.bad("a colon")
	}
	return nil
}

// str reads a string. One with \u escapes, or that is not UTF-8, is left to encoding/json.
func (r *reader) str() (string, error) {
	if !r.eat('"') {
		return "", r.bad("a string")
	}
	from, plain := r.i, true
	for ; r.i < len(r.b); r.i++ {
		switch c := r.b[r.i]; {
		case c == '"':
			body := r.b[from:r.i]
			r.i++
			if plain {
				return string(body), nil
			}
			if utf8.Valid(body) {
				if s, ok := unescape(body); ok {
					return s, nil
				}
			}
			var s string
			err := json.Unmarshal(r.b[from-1:r.i], &s)
			return s, err
		case c == '\\':
			plain = false
			r.i++
		case c < ' ':
			return "", r.bad("no control character")
		case c >= utf8.RuneSelf:
			plain = false
		}
	}
	return "", io.ErrUnexpectedEOF
}

// unescape takes the escapes of one letter out. It reports false for any other.
func unescape(b []byte) (string, bool) {
	var out strings.Builder
	out.Grow(len(b))
	for {
		i := bytes.IndexByte(b, '\\')
		if i < 0 {
			out.Write(b)
			return out.String(), true
		}
		out.Write(b[:i])
		if i+1 >= len(b) {
			return "", false
		}
		letter := strings.IndexByte(`"\/bfnrt`, b[i+1])
		if letter < 0 {
			return "", false
		}
		out.WriteByte("\"\\/\b\f\n\r\t"[letter])
		b = b[i+2:]
	}
}

// number reads an integer as JSON writes it.
func (r *reader) number() ([]byte, error) {
	r.token()
	from := r.i
	if r.i < len(r.b) && r.b[r.i] == '-' {
		r.i++
	}
	digits := r.i
	for r.i < len(r.b) && r.b[r.i] >= '0' && r.b[r.i] <= '9' {
		r.i++
	}
	switch {
	case r.i == digits, r.i > digits+1 && r.b[digits] == '0':
		return nil, r.bad("an integer")
	case r.i < len(r.b) && strings.IndexByte(".eE", r.b[r.i]) >= 0:
		return nil, r.bad("an integer")
	}
	return r.b[from:r.i], nil
}

// value takes any whole value as it stands.
func (r *reader) value() ([]byte, error) {
	r.token()
	from, depth := r.i, 0
	for r.i < len(r.b) {
		switch c := r.b[r.i]; c {
		case '"':
			if err := r.skipString(); err != nil {
				return nil, err
			}
		case '{', '[':
			depth++
			r.i++
		case '}', ']', ',':
			if depth == 0 {
				return r.valid(from)
			}
			if c != ',' {
				depth--
			}
			r.i++
		default:
			r.i++
			continue
		}
		if depth == 0 {
			return r.valid(from)
		}
	}
	return r.valid(from)
}

func (r *reader) skipString() error {
	for r.i++; r.i < len(r.b); r.i++ {
		switch r.b[r.i] {
		case '"':
			r.i++
			return nil
		case '\\':
			r.i++
		}
	}
	return io.ErrUnexpectedEOF
}

func (r *reader) valid(from int) ([]byte, error) {
	b := bytes.TrimRight(r.b[from:r.i], " \t\r\n")
	if !json.Valid(b) {
		return nil, errors.New("no valid JSON")
	}
	return b, nil
}

// end refuses what follows the value.
func (r *reader) end() error {
	if r.token() != 0 || r.i < len(r.b) {
		return fmt.Errorf("%d bytes follow the value", len(r.b)-r.i)
	}
	return nil
}

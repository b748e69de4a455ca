// Package schema checks JSON values against a JSON Schema that a user or a
// model gave.
//
// Rules:
//
//   - The dialect is draft 2020-12, or the older draft that $schema names. What
//     a schema says is checked against the draft's own schema first.
//   - Nothing is ever loaded: a $ref leads to a place in the schema itself, or
//     to a published draft.
//   - Patterns are Go's RE2. format is an annotation, as in the draft, and
//     asserted only where draft-07 and older say so.
//   - Numbers are exact, of any size up to MaxNumber characters.
//   - Everything is bounded: the bytes and the nesting of schema and value, and
//     the steps of one check.
//   - No I/O, and equal arguments give equal answers, so the core may be handed
//     these functions.
package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	neturl "net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"evener/internal/text"
)

// Limits of a schema and of a value that is checked. How large a schema may be
// is up to who takes it.
const (
	MaxValue  = 256 << 10 // bytes
	MaxDepth  = 100       // arrays and objects within each other
	MaxNumber = 1000      // characters of a number, and its exponent
)

// base is where a schema stands for its own references: nowhere.
const base = "mem:///schema.json"

// Schema is one that can be used.
type Schema struct{ doc any }

// Error says what is wrong with a schema, in one line.
type Error struct {
	Line  int    // of the schema's text, from 1; 0 if no line is to blame
	Place string // JSON pointer of the keyword; "" is the whole schema
	Text  string
}

func (e *Error) Error() string { return at(e.Place, e.Text) }

// Compile reads a schema of at most so many bytes and refuses what could not be
// used. The error is an *Error.
func Compile(raw []byte, most int64) (*Schema, error) {
	if int64(len(raw)) > most {
		return nil, &Error{Text: fmt.Sprintf("the schema has %d bytes; at most %d are allowed (result_schema_bytes)", len(raw), most)}
	}
	d, bad := read(raw, maxSchemaPlaces)
	if bad != nil {
		return nil, bad
	}
	switch d.value.(type) {
	case map[string]any, bool:
	default:
		return nil, &Error{Line: 1, Text: "a schema is an object, or true or false, not " + kindOf(d.value)}
	}
	if _, _, err := compile(d.value); err != nil {
		e := d.explain(err)
		e.Line = d.line(e.Place)
		return nil, e
	}
	return &Schema{d.value}, nil
}

// Violations is Compile and Validate in one, as a function of plain values: a
// line a violation, bounded in number. None means that the value fits. The
// schema was taken before, so its size is no question any more.
func Violations(schema, value json.RawMessage) []string {
	s, err := Compile(schema, int64(len(schema)))
	if err != nil {
		return []string{"the schema cannot be used: " + err.Error()}
	}
	all := s.Validate(value)
	var lines []string
	for _, v := range all[:min(len(all), maxListed)] {
		lines = append(lines, v.String())
	}
	if n := len(all) - len(lines); n > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", n))
	}
	return lines
}

// compile makes the form that one validation uses up: its steps are counted.
func compile(doc any) (*jsonschema.Schema, *run, error) {
	r := &run{names: map[name][]string{}}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(nothing{})
	c.UseRegexpEngine(r.pattern)
	c.RegisterVocabulary(&jsonschema.Vocabulary{URL: "urn:evener:steps", Schema: &jsonschema.Schema{Bool: new(true)}, Compile: r.watch})
	c.AssertVocabs()
	if err := c.AddResource(base, doc); err != nil {
		return nil, nil, err
	}
	s, err := c.Compile(base)
	return s, r, err
}

type nothing struct{}

func (nothing) Load(string) (any, error) { return nil, errors.New("nothing is loaded") }

// explain turns what the compiler says into one line with its place.
func (d *document) explain(err error) *Error {
	var invalid *jsonschema.SchemaValidationError
	var regex *jsonschema.InvalidRegexError
	var load *jsonschema.LoadURLError
	var draft *jsonschema.UnsupportedDraftError
	var anchor *jsonschema.AnchorNotFoundError
	var pointer *jsonschema.JSONPointerNotFoundError
	switch {
	case errors.As(err, &invalid):
		prefix := pointerOf(invalid.URL)
		var v *jsonschema.ValidationError
		if !errors.As(invalid.Err, &v) {
			break
		}
		list := flatten(v, nil)
		if len(list) == 0 {
			break
		}
		e := &Error{Place: prefix + list[0].Path, Text: list[0].Text}
		if n := len(list) - 1; n > 0 {
			e.Text += fmt.Sprintf(" (and %d more)", n)
		}
		return e
	case errors.As(err, &regex):
		return &Error{Place: pointerOf(regex.URL), Text: patternText(regex.Regex, regex.Err)}
	case errors.As(err, &load):
		place, value := d.reference(load.URL)
		return &Error{Place: place, Text: fmt.Sprintf("%s leads out of the schema, and nothing is loaded; put it below $defs and refer to it as #/$defs/NAME", quoted(value))}
	case errors.As(err, &draft):
		return &Error{Place: "/$schema", Text: "this draft is not known; leave $schema out for draft 2020-12"}
	case errors.As(err, &anchor):
		place, value := d.reference(anchor.Reference)
		return &Error{Place: place, Text: fmt.Sprintf("%s leads to nothing in the schema", quoted(value))}
	case errors.As(err, &pointer):
		place, value := d.reference(pointer.URL)
		return &Error{Place: place, Text: fmt.Sprintf("%s leads to nothing in the schema", quoted(value))}
	}
	return &Error{Text: text.Preview(strings.ReplaceAll(err.Error(), base, ""), maxText)}
}

func patternText(pattern string, err error) string {
	return text.Preview(fmt.Sprintf("%s is no pattern of RE2: %s", quoted(pattern), strings.TrimPrefix(err.Error(), "error parsing regexp: ")), maxText)
}

// pointerOf is the JSON pointer in a URL's fragment.
func pointerOf(url string) string {
	_, fragment, _ := strings.Cut(url, "#")
	if p, err := neturl.PathUnescape(fragment); err == nil {
		return p
	}
	return fragment
}

// reference finds the keyword whose value led to a URL, which is all that the
// compiler names.
func (d *document) reference(url string) (place, value string) {
	target := unescapedURL(url)
	find(d.value, nil, func(path []string, v string) bool {
		u := unescapedURL(v)
		file := strings.TrimLeft(u[:len(u)-len(afterHash(u))], "./")
		if strings.HasSuffix(target, u) || file != "" && strings.HasSuffix(target, file) {
			place, value = pointer(path), v
			return true
		}
		return false
	})
	if place == "" {
		value = strings.TrimPrefix(url, base)
	}
	return place, value
}

func unescapedURL(u string) string {
	u = strings.TrimSuffix(u, "#")
	if plain, err := neturl.PathUnescape(u); err == nil {
		return plain
	}
	return u
}

func afterHash(u string) string {
	if i := strings.IndexByte(u, '#'); i >= 0 {
		return u[i:]
	}
	return ""
}

var referring = []string{"$ref", "$dynamicRef", "$recursiveRef", "$schema"}

// find hands every reference to f, until it takes one.
func find(v any, path []string, f func(path []string, value string) bool) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			here := append(slices.Clip(path), k)
			if s, ok := v[k].(string); ok && slices.Contains(referring, k) && f(here, s) || find(v[k], here, f) {
				return true
			}
		}
	case []any:
		for i, x := range v {
			if find(x, append(slices.Clip(path), strconv.Itoa(i)), f) {
				return true
			}
		}
	}
	return false
}

// Validate lists how a value differs from the schema, sorted by place, each
// difference once, and of very many the first maxViolations. An empty value is
// an absent one, which differs from null.
func (s *Schema) Validate(value json.RawMessage) []Violation {
	if len(value) == 0 {
		return []Violation{{Text: "there is no value"}}
	}
	if len(value) > MaxValue {
		return []Violation{{Text: fmt.Sprintf("has %d bytes; at most %d can be checked", len(value), MaxValue)}}
	}
	d, bad := read(value, maxValuePlaces)
	if bad != nil {
		return []Violation{{Path: bad.Place, Text: bad.Text}}
	}
	compiled, r, err := compile(s.doc)
	if err != nil {
		return []Violation{{Text: "the schema cannot be used: " + err.Error()}} // Compile has refused it
	}
	if d.leaves*leaves(s.doc) > maxCompared {
		return []Violation{{Text: tooMuch}}
	}
	err, done := r.validate(compiled, d.value)
	if !done {
		return []Violation{{Text: tooMuch}}
	}
	var v *jsonschema.ValidationError
	if !errors.As(err, &v) {
		return nil
	}
	list := flatten(v, r)
	return slices.Clip(list[:min(len(list), maxViolations)])
}

package schema

import (
	"errors"
	"regexp"
	"regexp/syntax"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// What one check may take. A schema that refers to itself twice doubles the
// work with every level of the value.
const (
	maxSteps        = 100_000
	maxProgram      = 5_000      // instructions of one pattern
	maxSchemaPlaces = 512 << 10  // characters of all pointers into a schema
	maxValuePlaces  = 16 << 20   // and into a value
	maxCompared     = 20_000_000 // leaves of the schema times leaves of the value: enum compares them
	tooMuch         = "checking the value against the schema takes too many steps; make one of them smaller"
)

// run counts the steps of one validation and keeps what the library would lose.
type run struct {
	steps int
	names map[name][]string // where names stand that propertyNames refuses
}

// name is one member name, judged by one propertyNames.
type name struct{ schema, member string }

type exhausted struct{}

// watch is called for every subschema. format is the first thing that is looked
// at in a value, so the count hangs there; whatever stood there is kept.
func (r *run) watch(ctx *jsonschema.CompilerContext, obj map[string]any) (jsonschema.SchemaExt, error) {
	s := ctx.Enqueue(nil)
	was := s.Format
	s.Format = &jsonschema.Format{Validate: func(v any) error {
		r.step(v)
		if was == nil {
			return nil
		}
		return was.Validate(v)
	}}
	if was != nil {
		s.Format.Name = was.Name
	}
	if s.PropertyNames == nil {
		return nil, nil
	}
	return naming{r, s.PropertyNames}, nil
}

func (r *run) step(v any) {
	switch v := v.(type) {
	case map[string]any:
		r.spend(1 + len(v)/8)
	case []any:
		r.spend(1 + len(v)/8)
	case string:
		r.spend(1 + len(v)/256)
	default:
		r.spend(1)
	}
}

func (r *run) spend(steps int) {
	if r.steps += steps; r.steps > maxSteps {
		panic(exhausted{})
	}
}

// pattern compiles one pattern, whose matches count as steps.
func (r *run) pattern(s string) (jsonschema.Regexp, error) {
	tree, err := syntax.Parse(s, syntax.Perl)
	if err != nil {
		return nil, err
	}
	n := size(tree)
	if n > maxProgram {
		return nil, errors.New("it is too large; repeat less")
	}
	re, err := regexp.Compile(s)
	return counted{re, r, n}, err
}

// size is about the number of instructions.
func size(t *syntax.Regexp) int {
	n := 1 + len(t.Rune)
	for _, sub := range t.Sub {
		n += size(sub)
	}
	if t.Op == syntax.OpRepeat {
		n *= max(t.Min, t.Max, 1)
	}
	return min(n, maxProgram+1)
}

type counted struct {
	*regexp.Regexp
	r    *run
	size int
}

func (c counted) MatchString(s string) bool {
	c.r.spend(len(s) * c.size / 250)
	return c.Regexp.MatchString(s)
}

// validate reports done false when the steps did not suffice.
func (r *run) validate(s *jsonschema.Schema, v any) (err error, done bool) {
	defer func() {
		switch p := recover(); p.(type) {
		case nil:
		case exhausted:
			err, done = nil, false
		default:
			panic(p)
		}
	}()
	return s.Validate(v), true
}

// naming notes where each refused name stands: the library's own place for it
// is overwritten by the members that it looks at next.
type naming struct {
	r     *run
	names *jsonschema.Schema
}

func (n naming) Validate(ctx *jsonschema.ValidatorContext, v any) {
	obj, ok := v.(map[string]any)
	if !ok {
		return
	}
	for member := range obj {
		if n.names.Validate(member) != nil {
			key := name{n.names.Location, member}
			n.r.names[key] = append(n.r.names[key], pointer(ctx.ValueLocation()))
		}
	}
}

// leaves counts the values without parts.
func leaves(v any) int {
	n := 0
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			n += leaves(x)
		}
	case []any:
		for _, x := range v {
			n += leaves(x)
		}
	default:
		n = 1
	}
	return n
}

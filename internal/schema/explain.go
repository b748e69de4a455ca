package schema

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"evener/internal/text"
)

const (
	maxViolations   = 1000
	maxText         = 300 // code points of one violation
	maxListed       = 20  // lines of one answer, and values of one enum
	maxAlternatives = 8
)

// Violation is one place where a value differs from its schema.
type Violation struct {
	Path string // JSON pointer into the value; "" is the value itself
	Text string // one bounded line
}

func (v Violation) String() string { return at(v.Path, v.Text) }

func at(place, what string) string {
	if place == "" {
		return what
	}
	return text.Preview(place, maxText) + ": " + what
}

// flatten lists the leaves of what the library found, in the order of their
// places, without its own structure: what a caller can mend is a place of the
// value. r may be nil.
func flatten(v *jsonschema.ValidationError, r *run) []Violation {
	f := &flat{r: r}
	f.add(v)
	slices.SortFunc(f.list, byPlace)
	return slices.Compact(f.list)
}

type flat struct {
	r    *run
	list []Violation
}

func (f *flat) put(path []string, format string, args ...any) {
	f.list = append(f.list, Violation{pointer(path), text.Preview(fmt.Sprintf(format, args...), maxText)})
}

func (f *flat) add(e *jsonschema.ValidationError) {
	at := e.InstanceLocation
	switch k := e.ErrorKind.(type) {
	case *kind.Schema, *kind.Group, *kind.Reference, *kind.AllOf:
		for _, c := range e.Causes {
			f.add(c)
		}
	case *kind.AnyOf:
		f.alternatives(e)
	case *kind.OneOf:
		if len(k.Subschemas) == 2 {
			f.put(at, "fits alternatives %d and %d of oneOf; want exactly one", k.Subschemas[0]+1, k.Subschemas[1]+1)
			return
		}
		f.alternatives(e)
	case *kind.Required:
		for _, m := range k.Missing {
			f.put(at, "missing property %s", quoted(m))
		}
	case *kind.AdditionalProperties:
		for _, p := range k.Properties {
			f.put(append(slices.Clip(at), p), "not allowed here")
		}
	case *kind.PropertyNames:
		f.names(e, k.Property)
	case *kind.DependentRequired:
		for _, m := range k.Missing {
			f.put(at, "missing property %s, which %s requires", quoted(m), quoted(k.Prop))
		}
	case *kind.Dependency:
		for _, m := range k.Missing {
			f.put(at, "missing property %s, which %s requires", quoted(m), quoted(k.Prop))
		}
	default:
		f.put(at, "%s", leaf(k))
	}
}

// names puts a refused name at each object that was found to have it.
func (f *flat) names(e *jsonschema.ValidationError, member string) {
	var why []string
	for _, c := range e.Causes {
		for _, v := range flatten(c, nil) {
			why = append(why, v.Text)
		}
	}
	places := []string{pointer(e.InstanceLocation)}
	if f.r != nil {
		if known := f.r.names[name{e.SchemaURL, member}]; len(known) > 0 && !slices.Contains(known, places[0]) {
			places = known
		} else if len(known) > 1 {
			places = known
		}
	}
	for _, p := range places {
		f.list = append(f.list, Violation{p, text.Preview(fmt.Sprintf("the name %s is not allowed: %s", quoted(member), strings.Join(why, "; ")), maxText)})
	}
}

// alternatives says what each alternative wants. A choice of types alone reads
// as one.
func (f *flat) alternatives(e *jsonschema.ValidationError) {
	if want, got := typesOf(e.Causes, e.InstanceLocation); want != nil {
		f.put(e.InstanceLocation, "want %s, got %s", strings.Join(want, " or "), got)
		return
	}
	word := "anyOf"
	if _, one := e.ErrorKind.(*kind.OneOf); one {
		word = "oneOf"
	}
	var parts []string
	for i, c := range e.Causes[:min(len(e.Causes), maxAlternatives)] {
		list := flatten(c, f.r)
		if len(list) == 0 {
			continue
		}
		first := list[0]
		first.Path = strings.TrimPrefix(first.Path, pointer(e.InstanceLocation))
		part := fmt.Sprintf("(%d) %s", i+1, first)
		if n := len(list) - 1; n > 0 {
			part += fmt.Sprintf(", and %d more", n)
		}
		parts = append(parts, part)
	}
	f.put(e.InstanceLocation, "fits none of the %d alternatives of %s: %s", len(e.Causes), word, strings.Join(parts, "; "))
}

func typesOf(causes []*jsonschema.ValidationError, at []string) (want []string, got string) {
	for _, c := range causes {
		k, ok := c.ErrorKind.(*kind.Type)
		if !ok || !slices.Equal(c.InstanceLocation, at) {
			return nil, ""
		}
		want, got = append(want, k.Want...), k.Got
	}
	return want, got
}

// leaf is one violation in words.
func leaf(k jsonschema.ErrorKind) string {
	switch k := k.(type) {
	case *kind.Type:
		return fmt.Sprintf("want %s, got %s", strings.Join(k.Want, " or "), k.Got)
	case *kind.Enum:
		return fmt.Sprintf("want %s, got %s", oneOf(k.Want), shown(k.Got))
	case *kind.Const:
		return fmt.Sprintf("want %s, got %s", shown(k.Want), shown(k.Got))
	case *kind.FalseSchema:
		return "not allowed here"
	case *kind.Not:
		return "fits what not excludes"
	case *kind.RefCycle:
		return "the schema refers to itself without end"
	case *kind.Format:
		if k.Want == "regex" {
			return patternText(fmt.Sprint(k.Got), k.Err)
		}
		return fmt.Sprintf("%s is no valid %s", shown(k.Got), k.Want)
	case *kind.MinProperties:
		return count("properties", k.Got, "least", k.Want)
	case *kind.MaxProperties:
		return count("properties", k.Got, "most", k.Want)
	case *kind.MinItems:
		return count("items", k.Got, "least", k.Want)
	case *kind.MaxItems:
		return count("items", k.Got, "most", k.Want)
	case *kind.MinLength:
		return count("characters", k.Got, "least", k.Want)
	case *kind.MaxLength:
		return count("characters", k.Got, "most", k.Want)
	case *kind.AdditionalItems:
		return fmt.Sprintf("the last %d items are not allowed", k.Count)
	case *kind.UniqueItems:
		return fmt.Sprintf("items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.Contains:
		return "no item fits contains"
	case *kind.MinContains:
		return fmt.Sprintf("%d items fit contains; want at least %d", len(k.Got), k.Want)
	case *kind.MaxContains:
		return fmt.Sprintf("%d items fit contains; want at most %d", len(k.Got), k.Want)
	case *kind.Pattern:
		return fmt.Sprintf("%s does not match the pattern %s", quoted(k.Got), quoted(k.Want))
	case *kind.Minimum:
		return fmt.Sprintf("want %s or more, got %s", number(k.Want), number(k.Got))
	case *kind.Maximum:
		return fmt.Sprintf("want %s or less, got %s", number(k.Want), number(k.Got))
	case *kind.ExclusiveMinimum:
		return fmt.Sprintf("want more than %s, got %s", number(k.Want), number(k.Got))
	case *kind.ExclusiveMaximum:
		return fmt.Sprintf("want less than %s, got %s", number(k.Want), number(k.Got))
	case *kind.MultipleOf:
		return fmt.Sprintf("want a multiple of %s, got %s", number(k.Want), number(k.Got))
	}
	return "does not fit " + strings.Join(k.KeywordPath(), "/")
}

func count(of string, got int, bound string, want int) string {
	return fmt.Sprintf("has %d %s; want at %s %d", got, of, bound, want)
}

func oneOf(values []any) string {
	if len(values) == 1 {
		return shown(values[0])
	}
	var all []string
	for _, v := range values[:min(len(values), maxListed)] {
		all = append(all, shown(v))
	}
	if n := len(values) - len(all); n > 0 {
		all = append(all, fmt.Sprintf("… (%d more)", n))
	}
	return "one of " + strings.Join(all, ", ")
}

// shown is a value as short JSON, and of one with parts what it is.
func shown(v any) string {
	switch v := v.(type) {
	case []any, map[string]any:
		return kindOf(v)
	case string:
		head, cut := text.Head(v, 80)
		b, _ := text.JSON(head)
		if cut {
			return string(b) + "…"
		}
		return string(b)
	}
	b, _ := text.JSON(v)
	return text.Preview(string(b), 80)
}

func quoted(s string) string { return shown(s) }

// number is exact: a rational number that came from decimal digits has an end.
func number(r *big.Rat) string {
	if r.IsInt() {
		return text.Preview(r.Num().String(), 80)
	}
	digits, exact := r.FloatPrec()
	if !exact {
		return r.RatString()
	}
	return text.Preview(r.FloatString(digits), 80)
}

// byPlace orders by place, items of an array by number, and then by text.
func byPlace(a, b Violation) int {
	x, y := strings.Split(a.Path, "/"), strings.Split(b.Path, "/")
	if c := slices.CompareFunc(x, y, bySegment); c != 0 {
		return c
	}
	return cmp.Compare(a.Text, b.Text)
}

func bySegment(a, b string) int {
	m, errA := strconv.Atoi(a)
	n, errB := strconv.Atoi(b)
	if errA == nil && errB == nil && m != n {
		return cmp.Compare(m, n)
	}
	return cmp.Compare(a, b)
}

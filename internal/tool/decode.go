package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// fill stores a value into an argument, exactly or not at all. at is where
// the value stands. bad says in one line what came and what is wanted; empty
// means stored.
func fill(v reflect.Value, n node, at string) (bad string) {
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.Struct:
		return fillStruct(v, n, at)
	case reflect.Slice:
		return fillSlice(v, n, at)
	}
	switch value, want := scalar(v.Type(), n); {
	case want != "":
		return fmt.Sprintf("%s is %s; want %s", at, n, want)
	default:
		v.Set(reflect.ValueOf(value))
		return ""
	}
}

// scalar is the value of a node as a type that has no parts of its own, or
// what would be wanted in its place.
func scalar(t reflect.Type, n node) (value any, want string) {
	switch t.Kind() {
	case reflect.String:
		if n.kind == stringKind {
			return n.text, ""
		}
	case reflect.Bool:
		if n.kind == trueKind || n.kind == falseKind {
			return n.kind == trueKind, ""
		}
	case reflect.Int64:
		if n.kind == numberKind {
			if i, ok := whole(n.text); ok {
				return i, ""
			}
		}
	case reflect.Map:
		if n.kind == objectKind {
			if m, ok := free(n); ok {
				return m, ""
			}
			return nil, "an object that names nothing twice"
		}
	}
	return nil, wanted(t)
}

// wanted names a type in a refusal.
func wanted(t reflect.Type) string {
	switch t = base(t); t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int64:
		return "an integer"
	case reflect.Slice:
		return "an array"
	}
	return "an object"
}

func fillSlice(v reflect.Value, n node, at string) string {
	if n.kind != arrayKind {
		return fmt.Sprintf("%s is %s; want an array", at, n)
	}
	list := reflect.MakeSlice(v.Type(), len(n.items), len(n.items))
	for i, item := range n.items {
		if bad := fill(list.Index(i), item, fmt.Sprintf("%s[%d]", at, i)); bad != "" {
			return bad
		}
	}
	v.Set(list)
	return ""
}

func fillStruct(v reflect.Value, n node, at string) string {
	if n.kind != objectKind {
		return fmt.Sprintf("%s is %s; want an object", at, n)
	}
	known := fields(v.Type())
	given := map[string]node{}
	for _, m := range n.members {
		if !slices.ContainsFunc(known, func(f field) bool { return f.name == m.name }) {
			return fmt.Sprintf("unknown parameter %s; the parameters are %s", quote(join(at, m.name)), listed(known))
		}
		if _, twice := given[m.name]; twice {
			return fmt.Sprintf("%s is given twice", join(at, m.name))
		}
		given[m.name] = m.value
	}
	for _, f := range known {
		if bad := fillField(v.Field(f.index), f, given, join(at, f.name)); bad != "" {
			return bad
		}
	}
	return ""
}

// fillField fills one parameter. A null is an absent value: models write it
// for a parameter that they leave out.
func fillField(v reflect.Value, f field, given map[string]node, at string) string {
	n, ok := given[f.name]
	if !ok || n.kind == nullKind {
		if f.optional {
			return ""
		}
		state := "missing"
		if ok {
			state = "null"
		}
		return fmt.Sprintf("%s is %s; want %s", at, state, wanted(v.Type()))
	}
	if bad := fill(v, n, at); bad != "" {
		return bad
	}
	if f.enum == nil {
		return ""
	}
	if n.kind != arrayKind {
		return choice(f, n, at)
	}
	for i, item := range n.items {
		if bad := choice(f, item, fmt.Sprintf("%s[%d]", at, i)); bad != "" {
			return bad
		}
	}
	return ""
}

func choice(f field, n node, at string) string {
	if slices.Contains(f.enum, n.text) {
		return ""
	}
	if len(f.enum) == 1 {
		return fmt.Sprintf("%s is %s; want %q", at, n, f.enum[0])
	}
	return fmt.Sprintf("%s is %s; want one of %s", at, n, strings.Join(f.enum, ", "))
}

func join(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

// listed names the advertised parameters.
func listed(known []field) string {
	var all []string
	for _, f := range known {
		if !f.hidden {
			all = append(all, f.name)
		}
	}
	return strings.Join(all, ", ")
}

// free is a value of no declared type: maps, slices, strings, bools, and
// numbers as json.Number, which keeps them exact. An object that names
// something twice is not ok: it has no one value.
func free(n node) (value any, ok bool) {
	switch n.kind {
	case falseKind, trueKind:
		return n.kind == trueKind, true
	case numberKind:
		return json.Number(n.text), true
	case stringKind:
		return n.text, true
	case arrayKind:
		list := make([]any, len(n.items))
		for i, item := range n.items {
			if list[i], ok = free(item); !ok {
				return nil, false
			}
		}
		return list, true
	case objectKind:
		m := make(map[string]any, len(n.members))
		for _, e := range n.members {
			if _, twice := m[e.name]; twice {
				return nil, false
			}
			if m[e.name], ok = free(e.value); !ok {
				return nil, false
			}
		}
		return m, true
	}
	return nil, true
}

// whole is the value of a JSON number that is an integer, however it is
// written: 5, 5.0 and 0.5e1 are the same number. One that does not fit 64
// bits becomes the nearest that does: limits are far smaller, so what is
// clamped or refused stays so.
func whole(literal string) (int64, bool) {
	if i, err := strconv.ParseInt(literal, 10, 64); err == nil {
		return i, true
	}
	mantissa, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	digits, negative := strings.CutPrefix(mantissa, "-")
	left, right, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(left+right, "0")
	trimmed := strings.TrimRight(digits, "0")
	if trimmed == "" {
		return 0, true
	}
	shift, err := strconv.Atoi(cmp.Or(exponent, "0"))
	switch {
	case err != nil || shift > 1<<20 || shift < -(1<<20):
		if strings.HasPrefix(exponent, "-") {
			return 0, false
		}
		return extreme(negative), true
	}
	zeros := shift - len(right) + len(digits) - len(trimmed)
	if zeros < 0 {
		return 0, false
	}
	if len(trimmed)+zeros > 19 {
		return extreme(negative), true
	}
	i, err := strconv.ParseInt(trimmed+strings.Repeat("0", zeros), 10, 64)
	switch {
	case err != nil:
		return extreme(negative), true
	case negative:
		return -i, true
	}
	return i, true
}

func extreme(negative bool) int64 {
	if negative {
		return math.MinInt64
	}
	return math.MaxInt64
}

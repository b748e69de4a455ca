package tool

import (
	"reflect"
	"strings"
)

// A field is one parameter: a struct field and what its tags say.
type field struct {
	index    int
	name     string
	doc      string
	enum     []string
	optional bool
	hidden   bool
}

func fields(t reflect.Type) []field {
	all := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		tag := t.Field(i).Tag
		name, _, _ := strings.Cut(tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		f := field{index: i, name: name, doc: tag.Get("doc")}
		if values := tag.Get("enum"); values != "" {
			f.enum = strings.Split(values, ",")
		}
		_, f.optional = tag.Lookup("optional")
		_, f.hidden = tag.Lookup("hidden")
		all = append(all, f)
	}
	return all
}

// base is the type under a pointer; a pointer only tells absent from zero.
func base(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

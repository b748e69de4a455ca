package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

// An object is a JSON object that keeps the order of its members, so that the
// schema is the same text every time and reads like the struct.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON writes the members in order, without escaping <, > and &, which
// descriptions use.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(plain(m.key))
		b.WriteByte(':')
		b.Write(plain(m.value))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// plain encodes what schemas are made of, which always encodes.
func plain(v any) []byte {
	if o, ok := v.(object); ok {
		text, _ := o.MarshalJSON()
		return text
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("tool: schema: %v", err))
	}
	return bytes.TrimSpace(b.Bytes())
}

// schema is the JSON Schema of an argument struct: what decoding accepts,
// less the hidden parameters. That nothing else is accepted is left to the error
// which names it: said of every object, it would be 640 bytes of each request.
func schema(t reflect.Type) json.RawMessage { return plain(structSchema(t)) }

func structSchema(t reflect.Type) object {
	var properties object
	var required []string
	for _, f := range fields(t) {
		if f.hidden {
			continue
		}
		s := typeSchema(t.Field(f.index).Type, f.enum)
		if f.doc != "" {
			s = append(s, member{"description", f.doc})
		}
		properties = append(properties, member{f.name, s})
		if !f.optional {
			required = append(required, f.name)
		}
	}
	s := object{{"type", "object"}, {"properties", properties}}
	if required != nil {
		s = append(s, member{"required", required})
	}
	return s
}

func typeSchema(t reflect.Type, enum []string) object {
	switch t = base(t); t.Kind() {
	case reflect.String:
		s := object{{"type", "string"}}
		if enum != nil {
			s = append(s, member{"enum", enum})
		}
		return s
	case reflect.Int64:
		return object{{"type", "integer"}}
	case reflect.Bool:
		return object{{"type", "boolean"}}
	case reflect.Slice:
		return object{{"type", "array"}, {"items", typeSchema(t.Elem(), enum)}}
	case reflect.Map:
		return object{{"type", "object"}}
	case reflect.Struct:
		return structSchema(t)
	}
	panic(fmt.Sprintf("tool: no schema for %v", t))
}

package store

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"evener/internal/session"
)

// loosely decodes with encoding/json in its strict form: what the table's
// decoders must agree with.
func loosely(t reflect.Type, data []byte) (any, error) {
	v := reflect.New(t)
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	d.UseNumber()
	err := d.Decode(v.Interface())
	if _, more := d.Token(); err == nil && more != io.EOF {
		err = io.ErrNoProgress // something follows the value
	}
	return v.Elem().Interface(), err
}

func typeOf(t testing.TB, kind string) reflect.Type {
	e, err := kinds[kind]([]byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	return reflect.TypeOf(e)
}

// someValue fills v with chosen and random content.
func someValue(r *rand.Rand, v reflect.Value) {
	texts := []string{"", "plain", `"quoted" \ and <tag> & more`, "tab\tand\nline\x00\x1f\x7f", "ünï → 漢字 🙂", "\u2028 \ufffd", strings.Repeat("long ", 50)}
	switch v.Kind() {
	case reflect.String:
		v.SetString(texts[r.IntN(len(texts))])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, 42, 1<<53 - 1, -1 << 63, 1<<63 - 1}[r.IntN(7)])
	case reflect.Uint32, reflect.Uint64:
		v.SetUint([]uint64{0, 7, 1<<32 - 1}[r.IntN(3)])
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			someValue(r, v.Elem())
		}
	case reflect.Slice:
		if v.Type() == rawType {
			v.SetBytes([]byte([]string{`null`, `{"a":[1,{"b":"]}"}],"c":1.5e3}`, `"x"`, `[]`, `-0.1`, `true`}[r.IntN(6)]))
			return
		}
		if n := r.IntN(4); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n-1, n-1))
			for i := range v.Len() {
				someValue(r, v.Index(i))
			}
		}
	case reflect.Map:
		if r.IntN(2) == 0 {
			v.Set(reflect.ValueOf(map[string]any{"n": json.Number("12345678901234567890.5"), "deep": map[string]any{"x": []any{nil, true, "é"}}}))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			someValue(r, v.Field(i))
		}
	}
}

// TestDecodeAgrees: every kind reads back as encoding/json reads it, also with
// its fields in another order and spread over lines.
func TestDecodeAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for kind := range kinds {
		typ := typeOf(t, kind)
		for range 300 {
			v := reflect.New(typ).Elem()
			someValue(r, v)
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(r.IntN(2) == 0)
			if err := enc.Encode(v.Interface()); err != nil {
				t.Fatal(err)
			}
			var wide bytes.Buffer
			if err := json.Indent(&wide, shuffled(t, r, b.Bytes()), "", "\t"); err != nil {
				t.Fatal(err)
			}
			for _, data := range [][]byte{bytes.TrimSpace(b.Bytes()), wide.Bytes()} {
				want, err := loosely(typ, data)
				if err != nil {
					t.Fatal(err)
				}
				got, err := kinds[kind](data)
				if err != nil || !reflect.DeepEqual(got, session.Event(want.(session.Event))) {
					t.Fatalf("%s %s:\n got %+v, %v\nwant %+v", kind, data, got, err, want)
				}
			}
		}
	}
}

// shuffled puts the fields of an object into another order.
func shuffled(t *testing.T, r *rand.Rand, data []byte) []byte {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(data, &m); err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(m))
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var parts []string
	for _, n := range names {
		parts = append(parts, `"`+n+`":`+string(m[n]))
	}
	return []byte("{" + strings.Join(parts, ",") + "}")
}

func TestDecodeRefuses(t *testing.T) {
	const started = `"job_id":"j","pid":1,"start_ticks":2,"boot_id":"b"`
	for _, c := range []struct{ kind, data, want string }{
		{"job.started", `{` + started + `}`, ""},
		{"job.started", `null`, ""},
		{"job.started", `{"pid":null}`, ""},
		{"job.started", `{"job\u005fid":"j"}`, ""},
		{"job.started", `{` + started + `,"new":1}`, `unknown field "new"`},
		{"job.started", `{"PID":1}`, `unknown field "PID"`},
		{"job.started", `{"pid":1,"pid":2}`, `"pid" stands twice`},
		{"job.started", `{"pid":1.0}`, "an integer"},
		{"job.started", `{"pid":1e3}`, "an integer"},
		{"job.started", `{"pid":01}`, "an integer"},
		{"job.started", `{"pid":-}`, "an integer"},
		{"job.started", `{"pid":"1"}`, "an integer"},
		{"job.started", `{"pid":9223372036854775808}`, "within bounds"},
		{"job.started", `{"start_ticks":-1}`, "within bounds"},
		{"job.started", `{"job_id":1}`, "a string"},
		{"job.started", "{\"job_id\":\"a\nb\"}", "control character"},
		{"job.started", `{"job_id":"\x"}`, "invalid character"},
		{"job.started", `{"pid":1} {}`, "follow the value"},
		{"job.started", "{}\x00", "follow the value"},
		{"job.started", `{"pid":1,}`, "name of a field"},
		{"job.started", `{"pid" 1}`, "a colon"},
		{"job.started", `{"pid":1 "job_id":"j"}`, "a comma"},
		{"job.started", `[]`, "an object"},
		{"job.started", ``, "unexpected EOF"},
		{"job.started", `{"pid":1`, "unexpected EOF"},
		{"job.started", `{"job_id":"j`, "unexpected EOF"},
		{"job.finished", `{"kept":1}`, "a boolean"},
		{"job.finished", `{"survivors":[1,]}`, "an integer"},
		{"job.finished", `{"survivors":[1 2]}`, "end of the list"},
		{"job.finished", `{"survivors":{}}`, "a list"},
		{"transcript.assistant", `{"calls":[{"call_id":"c","more":1}]}`, `calls: unknown field "more"`},
		{"transcript.assistant", `{"usage":{"input":1,"cost":2}}`, `usage: unknown field "cost"`},
		{"transcript.result", `{"data":{"a":]}`, "no valid JSON"},
		{"transcript.result", `{"data":}`, "no valid JSON"},
		{"turn.reported", `{"output":{"message":"m",}}`, `output: no valid JSON`},
	} {
		_, err := kinds[c.kind]([]byte(c.data))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s %s: got %v, want %q", c.kind, c.data, err, c.want)
		}
	}
}

// FuzzDecode: what a decoder takes, encoding/json takes too and reads alike.
func FuzzDecode(f *testing.F) {
	all := slices.Sorted(maps.Keys(kinds))
	f.Add(uint8(0), []byte(`{"a":1}`))
	r := rand.New(rand.NewPCG(3, 4))
	for i, kind := range all {
		v := reflect.New(typeOf(f, kind)).Elem()
		someValue(r, v)
		b, err := json.Marshal(v.Interface())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), b)
	}
	f.Fuzz(func(t *testing.T, n uint8, data []byte) {
		kind := all[int(n)%len(all)]
		got, err := kinds[kind](data)
		if err != nil {
			return
		}
		want, err := loosely(typeOf(t, kind), data)
		if err != nil || !reflect.DeepEqual(got, session.Event(want.(session.Event))) {
			t.Errorf("%s %q:\n got %+v\nwant %+v, %v", kind, data, got, want, err)
		}
	})
}

package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// strictly is what validCompact promises, said with encoding/json.
func strictly(b []byte) bool {
	var c bytes.Buffer
	return json.Valid(b) && json.Compact(&c, b) == nil && bytes.Equal(c.Bytes(), b) && utf8.Valid(b) && nesting(b) <= MaxDepth && !halfPair(b)
}

// halfPair: encoding/json reads half a surrogate pair as U+FFFD.
func halfPair(b []byte) bool {
	half := 0
	for _, m := range regexp.MustCompile(`\\(u[0-9a-fA-F]{4}|.)`).FindAllSubmatchIndex(b, -1) {
		esc := string(b[m[2]:m[3]])
		c := 0
		if len(esc) == 5 {
			fmt.Sscanf(esc[1:], "%x", &c)
		}
		if high, low := c>>10 == 0x36, c>>10 == 0x37; low && half == m[0] && half > 0 {
			half = 0
		} else if low || half > 0 {
			return true
		} else if high {
			half = m[1]
		}
	}
	return half > 0
}

func nesting(b []byte) (deepest int) {
	d := json.NewDecoder(bytes.NewReader(b))
	depth := 0
	for {
		tok, err := d.Token()
		if err != nil {
			return deepest
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			depth++
			deepest = max(deepest, depth)
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
	}
}

var jsonSeeds = []string{
	`{}`, `[]`, `""`, `0`, `-0`, `-0.5e+10`, `1E5`, `true`, `false`, `null`, `[1,"a",{"b":[{}]}]`, `{"a":1,"a":2}`, `"\u00e9\\\"\/\b\f\n\r\t"`, "\"\u00e9\u2028\"",
	``, ` `, `{} `, ` {}`, `{"a": 1}`, `[1, 2]`, `[1,]`, `{"a":1,}`, `{a:1}`, `{"a"}`, `01`, `1.`, `.5`, `1e`, `+1`, `-`, `tru`, `nulll`, `"\x"`, `"\u12g4"`, "\"\n\"", "\"\xff\"", `"`, `"\`, `[`, `{`, `}`, `]`, `1 2`, "\"\x7f\"",
	`{"a":[}`, `[1}`, `{"a":1]`, `"\ud800"`, `"\udc00"`, `"\ud83d\ude00"`, `"\uD83Dx\uDE00"`, `"\ud83d\u0041"`, `"\\ud800"`, `"\ud83d\ud83d\ude00"`, `"a\\"`, `["\\\\","\\\""]`,
}

func TestCompactJSON(t *testing.T) {
	seeds := append(jsonSeeds[:len(jsonSeeds):len(jsonSeeds)], strings.Repeat("[", MaxDepth)+strings.Repeat("]", MaxDepth), strings.Repeat("[", MaxDepth+1)+strings.Repeat("]", MaxDepth+1))
	for _, s := range seeds {
		if got, want := validCompact([]byte(s)), strictly([]byte(s)); got != want {
			t.Errorf("%.40q: got %v, want %v", s, got, want)
		}
	}
}

func FuzzCompactJSON(f *testing.F) {
	for _, s := range jsonSeeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		ok := validCompact(b)
		if want := strictly(b); ok != want {
			t.Fatalf("%q: got %v, want %v", b, ok, want)
		}
		// The skipper finds the end of each value that was let in.
		if in := append(bytes.Clone(b), `,"x"]`...); ok && skipValue(in, 0) != len(b) {
			t.Fatalf("%q: skipped to %d", b, skipValue(in, 0))
		}
	})
}

// A record is read back as it was written, by us and by encoding/json.
func FuzzLine(f *testing.F) {
	f.Add(int64(1), int64(1), "a.b", []byte(`{"x":"\"]}"}`), []byte(`{"k":[1,{"y":"\\"}]}`), []byte(`null`))
	f.Add(int64(1<<53-1), int64(7), "job.finished", []byte(`[]`), []byte(`{}`), []byte(`"\\\\"`))
	f.Fuzz(func(t *testing.T, step, seq int64, kind string, data, cause, data2 []byte) {
		r := Record{Step: step, At: time.Unix(step%1e9, seq).UTC(), Cause: cause, Events: []Event{{kind, data}, {"second", data2}}}
		if r.check() != nil || seq < 1 || seq > maxInt {
			return
		}
		line := bytes.TrimSuffix(appendLine(nil, seq, seq, appendBody(nil, &r, r.At)), []byte("\n"))
		var e Entry
		if !sealed(line) || !e.parse(line) {
			t.Fatalf("does not read back: %s", line)
		}
		if e.Seq != seq || e.Step != step || !bytes.Equal(e.Cause, cause) || !e.At().Equal(r.At.Truncate(time.Microsecond)) {
			t.Fatalf("%+v from %s", e, line)
		}
		i := 0
		for k, d := range e.Events() {
			if k != r.Events[i].Kind || !bytes.Equal(d, r.Events[i].Data) {
				t.Fatalf("event %d is %s %s", i, k, d)
			}
			i++
		}
		var std struct {
			Seq, Step int64
			Events    []struct {
				Kind string
				Data json.RawMessage
			}
		}
		if err := json.Unmarshal(line, &std); err != nil || i != 2 || len(std.Events) != 2 || std.Seq != seq || std.Events[0].Kind != kind {
			t.Fatalf("encoding/json reads it otherwise: %+v, %v", std, err)
		}
	})
}

// Whatever a file holds, opening it either says what is wrong and changes
// nothing, or leaves a journal whose second opening finds nothing to do.
func FuzzOpen(f *testing.F) {
	s := makeSample(f, true, 1)
	u := makeSample(f, false, 2)
	f.Add(s.data, uint16(0), byte(0))
	f.Add(u.data, uint16(900), byte(1))
	f.Add(u.data[:len(u.data)-40], uint16(30), byte('\n'))
	f.Fuzz(func(t *testing.T, b []byte, at uint16, x byte) {
		if len(b) > 0 {
			b = bytes.Clone(b)
			b[int(at)%len(b)] ^= x
		}
		r, fs, err := verdict(b)
		after := fs.bytes("/d/j")
		if err != nil {
			if _, ok := errors.AsType[*CorruptError](err); !ok && !errors.Is(err, ErrFormat) {
				t.Fatal(err)
			}
			if !bytes.Equal(after, b) {
				t.Fatal("a file that was refused was changed")
			}
			return
		}
		if !bytes.HasPrefix(b, after[:min(len(after), int(r.Last.Off))]) && r.Torn == nil {
			t.Fatal("a whole file was changed")
		}
		r2, fs2, err := verdict(after)
		if err != nil || r2.Torn != nil || r2.Last != r.Last || !bytes.Equal(fs2.bytes("/d/j"), after) {
			t.Fatalf("the second opening: %+v, %v", r2, err)
		}
	})
}

// Salvage takes any bytes, and what it makes opens.
func FuzzSalvage(f *testing.F) {
	s := makeSample(f, true, 2, 1)
	f.Add(s.data, uint16(300), byte(1))
	f.Add(s.data[400:], uint16(0), byte(0))
	f.Fuzz(func(t *testing.T, b []byte, at uint16, x byte) {
		if len(b) > 0 {
			b = bytes.Clone(b)
			b[int(at)%len(b)] ^= x
		}
		fs := onFile(b)
		src, _ := fs.open("/d/j", 0, 0)
		p, err := planSalvage(src, int64(len(b)))
		if err != nil {
			return
		}
		out, err := fs.open("/d/out", syscall.O_CREAT, 0)
		if err != nil {
			t.Fatal(err)
		}
		last, err := p.copyTo(out)
		if err != nil {
			t.Fatal(err)
		}
		r, _, err := verdict(fs.bytes("/d/out"))
		if err != nil || r.Torn != nil || r.Last != last {
			t.Fatalf("%+v, want %+v: %v", r, last, err)
		}
	})
}

// Times are written by hand; the layout says how.
func TestTimesAreWrittenAsTheLayoutSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, last := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
		at := time.Unix(rapid.Int64Range(first, last).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanoseconds")).UTC()
		if got, want := string(appendTime(nil, at)), at.Format(timeLayout); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	})
}

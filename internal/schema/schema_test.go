package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// most is what evener takes where nothing else is said.
const most = 64 << 10

func lines(s *Schema, value string) string {
	var all []string
	for _, v := range s.Validate(json.RawMessage(value)) {
		all = append(all, v.String())
	}
	return strings.Join(all, "\n")
}

func TestValidate(t *testing.T) {
	for _, c := range []struct{ name, schema, value, want string }{
		{"fits", `{"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}`, `{"a":1.0}`, ""},
		{"true", `true`, `null`, ""},
		{"false", `false`, `1`, "not allowed here"},
		{"empty schema", `{}`, `[null]`, ""},
		{"type", `{"type":"object"}`, `"x"`, "want object, got string"},
		{"types", `{"type":["string","null"]}`, `4`, "want null or string, got number"},
		{"null is a value", `{"type":"null"}`, `null`, ""},
		{"null is not absent", `{"properties":{"a":{"type":"string"}}}`, `{"a":null}`, "/a: want string, got null"},
		{"null where an object is wanted", `{"type":"object"}`, `null`, "want object, got null"},
		{"absent", `true`, ``, "there is no value"},
		{"every one, in order", `{"type":"object","required":["a","b"],"additionalProperties":false,"properties":{"n":{"type":"array","items":{"type":"integer","minimum":3}}}}`,
			`{"n":["x",5,2,4,4,4,4,4,4,4,1],"zz":1,"c/d~":2}`,
			"missing property \"a\"\nmissing property \"b\"\n/c~1d~0: not allowed here\n/n/0: want integer, got string\n/n/2: want 3 or more, got 2\n/n/10: want 3 or more, got 1\n/zz: not allowed here"},
		{"big numbers", `{"maximum":9007199254740992}`, `9007199254740993`, "want 9007199254740992 or less, got 9007199254740993"},
		{"big integers in an enum", `{"enum":[9007199254740993]}`, `9007199254740992`, "want 9007199254740993, got 9007199254740992"},
		{"fractions", `{"multipleOf":0.01,"exclusiveMinimum":0.1}`, `0.005`, "want a multiple of 0.01, got 0.005\nwant more than 0.1, got 0.005"},
		{"enum", `{"enum":["low","high",3,null]}`, `"medium"`, `want one of "low", "high", 3, null, got "medium"`},
		{"const", `{"const":{"a":1}}`, `{"a":2}`, `want object, got object`},
		{"lengths", `{"properties":{"s":{"minLength":3,"pattern":"^[a-z]+$"},"l":{"maxItems":1,"uniqueItems":true},"o":{"minProperties":1}}}`, `{"s":"É","l":[1,1],"o":{}}`,
			"/l: has 2 items; want at most 1\n/l: items 0 and 1 are equal\n/o: has 0 properties; want at least 1\n/s: \"É\" does not match the pattern \"^[a-z]+$\"\n/s: has 1 characters; want at least 3"},
		{"a choice of types", `{"anyOf":[{"type":"string"},{"type":"null"}]}`, `1`, "want string or null, got number"},
		{"alternatives", `{"properties":{"x":{"anyOf":[{"type":"string"},{"required":["a","b"],"properties":{"c":{"type":"null"}}}]}}}`, `{"x":{"c":1}}`,
			`/x: fits none of the 2 alternatives of anyOf: (1) want string, got object; (2) missing property "a", and 2 more`},
		{"oneOf both", `{"oneOf":[{"minimum":1},{"maximum":5}]}`, `3`, "fits alternatives 1 and 2 of oneOf; want exactly one"},
		{"not", `{"not":{"type":"string"}}`, `"x"`, "fits what not excludes"},
		{"if", `{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}`, `{"a":1}`, `missing property "b"`},
		{"allOf and $ref", `{"$defs":{"p":{"type":"string"}},"allOf":[{"properties":{"a":{"$ref":"#/$defs/p"}}}]}`, `{"a":1}`, "/a: want string, got number"},
		{"recursive", `{"properties":{"next":{"$ref":"#"}},"additionalProperties":false}`, `{"next":{"next":{"x":1}}}`, "/next/next/x: not allowed here"},
		{"endless", `{"$ref":"#"}`, `1`, "the schema refers to itself without end"},
		{"names", `{"additionalProperties":{"propertyNames":{"pattern":"^[a-z]+$"}}}`, `{"a":{"BAD":1},"b":{"BAD":1,"ok":2},"c":{"fine":1},"d":{}}`,
			"/a: the name \"BAD\" is not allowed: \"BAD\" does not match the pattern \"^[a-z]+$\"\n/b: the name \"BAD\" is not allowed: \"BAD\" does not match the pattern \"^[a-z]+$\""},
		{"unevaluated", `{"allOf":[{"properties":{"a":true}}],"unevaluatedProperties":false}`, `{"a":1,"b":2}`, "/b: not allowed here"},
		{"contains", `{"contains":{"const":1},"minContains":2}`, `[1,2]`, "1 items fit contains; want at least 2"},
		{"prefixItems", `{"prefixItems":[{"type":"string"}],"items":false}`, `[1,2]`, "/0: want string, got number\n/1: not allowed here"},
		{"dependent", `{"dependentRequired":{"a":["b"]}}`, `{"a":1}`, `missing property "b", which "a" requires`},
		{"format is an annotation", `{"format":"date"}`, `"never"`, ""},
		{"format of draft-07", `{"$schema":"http://json-schema.org/draft-07/schema#","format":"date"}`, `"never"`, `"never" is no valid date`},
		{"draft-07 items", `{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"string"}],"additionalItems":false}`, `[1,2]`, "the last 1 items are not allowed\n/0: want string, got number"},
		{"a published draft", `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, `{"minLength":-1}`, "/minLength: want 0 or more, got -1"},
		{"twice", `true`, `{"a":{"b":1,"b":2}}`, "/a/b: it is given twice"},
		{"no JSON", `true`, `{"a":}`, "/a: it is no JSON: invalid character '}' looking for beginning of value"},
		{"huge exponent", `{"type":"integer"}`, `[1e1000000000]`, "/0: the number is too large to be exact; at most 1000 digits"},
		{"huge value", `true`, `"` + strings.Repeat("x", MaxValue) + `"`, "has 262146 bytes; at most 262144 can be checked"},
		{"deep value", `true`, strings.Repeat("[", 101) + strings.Repeat("]", 101), strings.Repeat("/0", 100) + ": it is nested deeper than 100 levels"},
		{"control characters", `{"const":"a"}`, `"\u001b[31m\u202e"`, `want "a", got "\u001b[31m\u{202e}"`},
		{"long text", `{"const":"a"}`, `"` + strings.Repeat("é", 500) + `"`, `want "a", got "` + strings.Repeat("é", 80) + `"…`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Compile([]byte(c.schema), most)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 { // maps have no order
				if got := lines(s, c.value); got != c.want {
					t.Fatalf("got\n%s\nwant\n%s", got, c.want)
				}
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"empty", " \n", "line 1: it is empty"},
		{"no JSON", "{\n\"type\": object}", "line 2: /type: it is no JSON: invalid character 'o' looking for beginning of value"},
		{"cut", "{\n\"type\":\n", "line 3: /type: it ends too early"},
		{"more", "{}\n{}", "line 2: there is more behind the JSON value"},
		{"not UTF-8", "{\n\"title\":\"\xff\"}", "line 2: it is not valid UTF-8"},
		{"a list", "[]", "line 1: a schema is an object, or true or false, not array"},
		{"twice", "{\"type\":\"string\",\n\"type\":\"null\"}", "line 2: /type: it is given twice"},
		{"unknown type", "{\"properties\":{\n\"a\":{\n\"type\":\"strin\"}}}", `line 3: /properties/a/type: fits none of the 2 alternatives of anyOf: (1) want one of "array", "boolean", "integer", "null", "number", "object", "string", got "strin"; (2) want array, got string`},
		{"several", `{"required":"a","minLength":-1}`, "line 1: /minLength: want 0 or more, got -1 (and 1 more)"},
		{"pattern", "{\"properties\":{\n\"a\":{\"pattern\":\"(?!x)\"}}}", "line 2: /properties/a/pattern: \"(?!x)\" is no pattern of RE2: invalid or unsupported Perl syntax: `(?!`"},
		{"pattern of names", `{"patternProperties":{"(?!x)":true}}`, "line 1: /patternProperties: the name \"(?!x)\" is not allowed: \"(?!x)\" is no pattern of RE2: invalid or unsupported Perl syntax: `(?!`"},
		{"a pattern too large", `{"pattern":"(a{1000}){9}"}`, `line 1: /pattern: "(a{1000}){9}" is no pattern of RE2: invalid repeat count: ` + "`{9}`"},
		{"a pattern quite large", `{"pattern":"((abcdefg){100}){9}"}`, `line 1: /pattern: "((abcdefg){100}){9}" is no pattern of RE2: it is too large; repeat less`},
		{"web", "{\n\"$ref\":\"https://example.com/s.json\"}", `line 2: /$ref: "https://example.com/s.json" leads out of the schema, and nothing is loaded; put it below $defs and refer to it as #/$defs/NAME`},
		{"file", `{"items":{"$ref":"file:///etc/passwd"}}`, `line 1: /items/$ref: "file:///etc/passwd" leads out of the schema, and nothing is loaded; put it below $defs and refer to it as #/$defs/NAME`},
		{"beside", `{"items":{"$ref":"./other.json#/a"}}`, `line 1: /items/$ref: "./other.json#/a" leads out of the schema, and nothing is loaded; put it below $defs and refer to it as #/$defs/NAME`},
		{"beside an id", `{"$id":"https://example.com/a/","items":{"$ref":"other"}}`, `line 1: /items/$ref: "other" leads out of the schema, and nothing is loaded; put it below $defs and refer to it as #/$defs/NAME`},
		{"nowhere", `{"items":{"$ref":"#/$defs/a"}}`, `line 1: /items/$ref: "#/$defs/a" leads to nothing in the schema`},
		{"no anchor", `{"items":{"$ref":"#a"}}`, `line 1: /items/$ref: "#a" leads to nothing in the schema`},
		{"unknown draft", `{"$schema":"https://example.com/draft"}`, `line 1: /$schema: "https://example.com/draft" leads out of the schema, and nothing is loaded; put it below $defs and refer to it as #/$defs/NAME`},
		{"too large", `{"title":"` + strings.Repeat("x", most) + `"}`, "line 0: the schema has 65548 bytes; at most 65536 are allowed (result_schema_bytes)"},
		{"too deep", strings.Repeat(`{"not":`, 101) + "true" + strings.Repeat("}", 101), "line 1: " + strings.Repeat("/not", 100)[:299] + "…: it is nested deeper than 100 levels"},
		{"huge number", `{"maximum":1e10000}`, "line 1: /maximum: the number is too large to be exact; at most 1000 digits"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Compile([]byte(c.schema), most)
			e, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			if got := fmt.Sprintf("line %d: %v", e.Line, e); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// A reference to a file that is there is not followed either.
func TestNothingIsLoaded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(file, []byte(`{"type":"string"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Dir(file))
	for _, ref := range []string{"file://" + file, file, "s.json", "./s.json"} {
		if _, err := Compile(fmt.Appendf(nil, `{"$ref":%q}`, ref), most); err == nil || !strings.Contains(err.Error(), "nothing is loaded") {
			t.Errorf("%s: %v", ref, err)
		}
	}
}

// Schemas and values that would take for ever are given up after a bounded
// number of steps.
func TestStepsAreBounded(t *testing.T) {
	twice := `{"$defs":{"t":{"anyOf":[{"properties":{"a":{"$ref":"#/$defs/t"}},"required":["x"]},{"properties":{"a":{"$ref":"#/$defs/t"}},"required":["y"]}]}},"$ref":"#/$defs/t"}`
	items := `{"$defs":{"t":{"items":{"$ref":"#/$defs/t"},"contains":{"$ref":"#/$defs/t"},"prefixItems":[{"$ref":"#/$defs/t"}]}},"not":{"$ref":"#/$defs/t"}}`
	var chain strings.Builder
	chain.WriteString(`{"$defs":{"a0":true`)
	for i := 1; i < 40; i++ {
		fmt.Fprintf(&chain, `,"a%d":{"allOf":[{"$ref":"#/$defs/a%d"},{"$ref":"#/$defs/a%d"}]}`, i, i-1, i-1)
	}
	chain.WriteString(`},"$ref":"#/$defs/a39"}`)
	enum := `{"items":{"enum":[` + strings.Repeat("1234,", 10000) + `1]}}`
	for _, c := range []struct{ name, schema, value string }{
		{"a choice at every level", twice, strings.Repeat(`{"a":`, 90) + "1" + strings.Repeat("}", 90)},
		{"three times each item", items, strings.Repeat("[", 90) + strings.Repeat("]", 90)},
		{"twice at every step", chain.String(), `1`},
		{"a long list against a long enum", enum, `[` + strings.Repeat("1,", 100000) + `1]`},
		{"a pattern of many states", `{"pattern":"(x+x+){1,300}y"}`, `"` + strings.Repeat("x", 200000) + `"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Compile([]byte(c.schema), most)
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			if got := lines(s, c.value); got != tooMuch {
				t.Errorf("got %.200s", got)
			}
			t.Log(time.Since(begun))
		})
	}
}

// The worst that fits into the bounds still ends soon.
func TestLargeSchemasCompile(t *testing.T) {
	many := func(item string, n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(item, "%", fmt.Sprint(i)) + ",")
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"many members": `{"properties":{` + many(`"%":{"type":"null"}`, 2400) + `"x":true}}`,
		"many refs":    `{"properties":{` + many(`"%":{"$ref":"#/x/y"}`, 2300) + `"x":true},"x":{"y":true}}`,
		"many ids":     `{"$defs":{` + many(`"%":{"$id":"i%"}`, 2300) + `"x":true}}`,
		"long names":   `{"$defs":{"` + strings.Repeat("n", 30000) + `":{"properties":{` + many(`"%":true`, 2600) + `"x":true}}}}`,
	} {
		if len(text) > most {
			t.Fatalf("%s: %d bytes", name, len(text))
		}
		begun := time.Now()
		_, err := Compile([]byte(text), most)
		t.Log(name, len(text), time.Since(begun), err)
		if name == "long names" && (err == nil || err.Error() != "its member names are too long") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestViolations(t *testing.T) {
	got := Violations(json.RawMessage(`{"items":{"type":"string"}}`), json.RawMessage(`[`+strings.Repeat("1,", 22)+`1]`))
	if len(got) != 21 || got[19] != "/19: want string, got number" || got[20] != "and 3 more" {
		t.Error(got)
	}
	if got := Violations(json.RawMessage(`{"type":"string"}`), json.RawMessage(`"x"`)); got != nil {
		t.Error(got)
	}
	if got := Violations(json.RawMessage(`{"type":1}`), json.RawMessage(`1`)); len(got) != 1 || !strings.HasPrefix(got[0], "the schema cannot be used: /type: ") {
		t.Error(got)
	}
}

// Any bytes give an answer, the same each time, in bounded lines.
func FuzzCheck(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"enum":[1,null]}}}`, `{"a":2}`)
	f.Add(`{"$dynamicRef":"#a","$defs":{"a":{"$dynamicAnchor":"a","not":{}}}}`, `[1e400,-0.0]`)
	f.Add(`{"propertyNames":{"pattern":"^a"},"$schema":"http://json-schema.org/draft-07/schema#"}`, `{"b":{"a":null}}`)
	f.Add(`{"oneOf":[{"type":"array","uniqueItems":true},{"contains":{"const":{}}}],"unevaluatedItems":false}`, `[[],[],{}]`)
	f.Fuzz(func(t *testing.T, schema, value string) {
		s, err := Compile([]byte(schema), most)
		if err != nil {
			if _, again := Compile([]byte(schema), most); again == nil || again.Error() != err.Error() || strings.ContainsAny(err.Error(), "\n\r") || len(err.Error()) > 8*maxText {
				t.Fatalf("%q and %v", err, again)
			}
			return
		}
		first := lines(s, value)
		if again := lines(s, value); again != first {
			t.Fatalf("%q and %q", first, again)
		}
		for _, line := range strings.Split(first, "\n") {
			if len(line) > 8*maxText {
				t.Fatalf("a line of %d bytes", len(line))
			}
		}
	})
}

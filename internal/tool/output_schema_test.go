package tool

import (
	"encoding/json"
	"testing"

	checker "evener/internal/schema"
)

func definitionsWith(schema string) []Def {
	return DefinitionsFor(Surface{Names: names(), Output: json.RawMessage(schema)})
}

// The schema stands where the model writes the value, and its references still
// lead to what they meant.
func TestWithOutputSchema(t *testing.T) {
	const doc = `,"description":"` + outputDoc + `"}`
	for _, c := range []struct{ schema, want string }{
		{`{"type":"integer"}`, `{"type":"integer"` + doc},
		{`{"type":"integer","description":"own"}`, `{"type":"integer","description":"own"}`},
		{`true`, `{"description":"` + outputDoc + `"}`},
		{`false`, `{"not":{}` + doc},
		{`{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://example.com/x","$defs":{"$ref":{"type":"null"},"a":{"items":{"$ref":"#"}}},"anyOf":[{"$ref":"#/$defs/a"},{"const":{"$ref":"#"}},{"properties":{"default":{"$ref":"#/$defs/$ref"}}}]}`,
			`{"$defs":{"$ref":{"type":"null"},"a":{"items":{"$ref":"#/properties/output"}}},"anyOf":[{"$ref":"#/properties/output/$defs/a"},{"const":{"$ref":"#"}},{"properties":{"default":{"$ref":"#/properties/output/$defs/$ref"}}}]` + doc},
	} {
		for _, d := range definitionsWith(c.schema) {
			if d.Name != "communicate" {
				continue
			}
			var p struct {
				Properties struct {
					Output json.RawMessage `json:"output"`
				} `json:"properties"`
			}
			if err := json.Unmarshal(d.Parameters, &p); err != nil {
				t.Fatal(err)
			}
			if got := string(p.Properties.Output); got != c.want {
				t.Errorf("%s:\n got %s\nwant %s", c.schema, got, c.want)
			}
			if _, err := checker.Compile(d.Parameters, 64<<10); err != nil {
				t.Errorf("%s: the tool's schema: %v", c.schema, err)
			}
		}
	}
	for i, d := range definitionsWith(`{"type":"integer"}`) { // the others, and the originals, stay
		if same := string(d.Parameters) == string(Definitions()[i].Parameters); same == (d.Name == "communicate") {
			t.Errorf("%s: the same: %v", d.Name, same)
		}
	}
}

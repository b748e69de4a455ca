package role

import (
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"evener/internal/text"
)

// FuzzParse: no file does harm; what is read holds to the rules, and written
// out plainly it is read as the same role, without a note.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		lead + end, lead + "tools: Read, Bash\nmodel: a/b\ncolor: red\n" + end, lead + "tools:\n- a\n- b\ndisallowedTools: [c]\n" + end,
		lead + "tools: all\nx: &a [*a]\n" + end, "---\nname: >-\n  scout\ndescription: \"\\u0041\"\n---\n", "\ufeff---\r\nname: a\r\n---\r\n", "---\n<<: {name: a}\n---",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		r, notes, bad := parse(file)
		for _, n := range notes {
			if said := n.Error(); n.line < 1 || said != text.Printable(said) || strings.Contains(said, "\n") {
				t.Fatalf("a note is not one plain line: %q", said)
			}
		}
		if bad != nil {
			if said := bad.Error(); bad.line < 1 || said != text.Printable(said) || strings.Contains(said, "\n") {
				t.Fatalf("a refusal is not one plain line: %q", said)
			}
			return
		}
		if !roleName().MatchString(r.Name) || strings.TrimSpace(r.Description) == "" || r.Model == "" || r.Color == "" {
			t.Fatalf("got %+v", r)
		}
		again, notes, bad := parse(file2(t, r))
		if bad != nil || len(notes) > 0 && r.Prompt != "" || !reflect.DeepEqual(again, r) {
			t.Fatalf("got %+v\nwritten and read again %+v, %v, %v", r, again, notes, bad)
		}
	})
}

// file2 writes a role in the plain form.
func file2(t *testing.T, r Role) []byte {
	keys := map[string]any{"name": r.Name, "description": r.Description, "model": r.Model, "color": r.Color, "disallowedTools": append([]string{}, r.Denied...)}
	switch {
	case r.Tools.All:
		keys["tools"] = "all"
	case !r.Tools.Default:
		keys["tools"] = append([]string{}, r.Tools.Names...)
	}
	front, err := yaml.Marshal(keys)
	if err != nil {
		t.Fatal(err)
	}
	return []byte("---\n" + string(front) + "---\n" + r.Prompt)
}

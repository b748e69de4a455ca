package role

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func document(t *testing.T) string {
	t.Helper()
	b, err := os.ReadFile("../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestDocumentExample: the file that docs/agents.md shows is one, and says what
// it seems to say.
func TestDocumentExample(t *testing.T) {
	_, example, found := strings.Cut(document(t), "```markdown\n")
	example, _, closed := strings.Cut(example, "```\n")
	if !found || !closed {
		t.Fatal("docs/agents.md shows no file")
	}
	c, warnings := load(tree(t, map[string]string{"repo/.evener/agents/x.md": example}))
	r, ok := c.Find("reviewer")
	if !ok || len(warnings) > 0 || strings.Join(r.Tools.Names, " ") != "read_file list_files search_files shell" || r.Color != "green" || !strings.HasSuffix(r.Prompt, "when you find none.") {
		t.Errorf("got %+v, warnings %q", r, warnings)
	}
}

// TestDocumentTools: docs/agents.md lists the names that are translated.
func TestDocumentTools(t *testing.T) {
	span := regexp.MustCompile("`([^`]+)`")
	listed := map[string]string{}
	for line := range strings.Lines(document(t)) {
		cells := strings.Split(line, " | ")
		if len(cells) != 2 || !regexp.MustCompile("^\\| `[A-Z]").MatchString(line) {
			continue
		}
		var here []string
		for _, m := range span.FindAllStringSubmatch(cells[1], -1) {
			here = append(here, m[1])
		}
		for _, m := range span.FindAllStringSubmatch(cells[0], -1) {
			listed[m[1]] = strings.Join(here, " ")
		}
	}
	for name, here := range claude {
		if listed[name] != strings.Join(here, " ") {
			t.Errorf("docs/agents.md says %q of %s, which stands for %q", listed[name], name, here)
		}
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("docs/agents.md lists %s, which is not translated", name)
	}
}

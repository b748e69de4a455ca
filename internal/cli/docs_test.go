package cli

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/commands.md")

const commandsFile = "../../docs/commands.md"

// TestCommandsDocument: docs/commands.md is what the program says of itself.
func TestCommandsDocument(t *testing.T) {
	want := Markdown()
	if *update {
		if err := os.WriteFile(commandsFile, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(commandsFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("docs/commands.md is stale; make golden writes it")
	}
}

// TestHelp: every command answers -h and evener help NAME alike, and says
// nothing on standard error.
func TestHelp(t *testing.T) {
	for _, c := range commands() {
		var direct, byName, errs strings.Builder
		if s := c.run(&env{out: &direct, err: &errs}, []string{"-h"}); s != exitOK {
			t.Errorf("%s -h: status %d", c.name, s)
		}
		if s := helpCommand.run(&env{out: &byName, err: &errs}, []string{c.name}); s != exitOK {
			t.Errorf("help %s: status %d", c.name, s)
		}
		if direct.String() != byName.String() || errs.String() != "" {
			t.Errorf("%s: -h and help differ, or something is on standard error: %q", c.name, errs.String())
		}
		if !strings.HasPrefix(direct.String(), "usage: evener "+c.name) || !strings.Contains(direct.String(), c.summary) {
			t.Errorf("%s: its help shows no usage or summary: %q", c.name, direct.String())
		}
	}
}

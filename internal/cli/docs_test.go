package cli

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"evener/internal/term"
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

// TestHelpFits: the help can be read on a terminal of 80 columns.
func TestHelpFits(t *testing.T) {
	for _, line := range strings.Split(Markdown(), "\n") {
		if term.Width(line) > 80 && !strings.HasPrefix(line, "<!--") && !strings.HasPrefix(line, "usage: ") {
			t.Errorf("too wide: %s", line)
		}
	}
}

// TestOverview: the overview has every command and every flag of a run, once.
func TestOverview(t *testing.T) {
	var b strings.Builder
	printOverview(&b)
	names := commandNames()
	runFlagSet().VisitAll(func(f *flag.Flag) { names = append(names, "--"+f.Name) })
	for _, n := range names {
		if got := len(regexp.MustCompile(`(?m)^  `+n+`(?:[ \[]|$)`).FindAllString(b.String(), -1)); got != 1 {
			t.Errorf("%s stands %d times in the overview", n, got)
		}
	}
}

func TestNear(t *testing.T) {
	names := []string{"sessions", "jobs", "log", "verify", "help", "config", "show"}
	for word, want := range map[string]string{
		"session": "sessions", "sesions": "sessions", "job": "jobs", "lob": "log", "verfiy": "verify", "vreify": "verify", "conf": "config",
		"configs": "config", "show": "", "shows": "show", "hello": "", "fix": "", "no": "", "": "", "go": "", "blog": "log", "sohw": "show",
	} {
		if got := near(word, names); got != want {
			t.Errorf("near(%q) = %q, want %q", word, got, want)
		}
	}
}

func TestGuess(t *testing.T) {
	for _, c := range []struct{ args, words, want string }{
		{"session", "session", `"session" counts as a prompt; there is a command evener sessions`},
		{"verfiy it", "verfiy it", `"verfiy" counts as a prompt; there is a command evener verify`},
		{"--max-turns 3 jobs", "jobs", "evener jobs is a command where it comes first, before its flags"},
		{"-- jobs", "jobs", ""},
		{"hello", "hello", ""},
		{"", "", ""},
	} {
		if got := guess(strings.Fields(c.args), strings.Fields(c.words)); got != c.want {
			t.Errorf("guess(%q) = %q, want %q", c.args, got, c.want)
		}
	}
}

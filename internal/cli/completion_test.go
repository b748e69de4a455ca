package cli

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"evener/internal/id"
)

// TestComplete: what may stand at the cursor, by the words before it.
func TestComplete(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct{ line, want string }{
		{"ver|", "verify version"},
		{"--output-|", "--output-schema"},
		{"--output |", "text json jsonl"},
		{"--output=js|", "--output=json --output=jsonl"},
		{"-output j|", "json jsonl"}, // one dash does for a flag
		{"--input |", "jsonl"},
		{"--model script/builtin:d|", "script/builtin:delegates script/builtin:demo"},
		{"--trace |", ":files"},
		{"--output-schema=sch|", ":files"},
		{"--dir |", ":folders"},
		{"--max-turns |", ""},
		{"--verbose --max-turns 3 --resume-l|", "--resume-last"},
		{"--nothing=|", ""},
		{"--nothing --verb|", "--verbose"},
		{"fix the te|", ":files"},
		{"fix --verb|", ":files"}, // flags stand before a prompt
		{"-- ver|", ":files"},
		{"--verbose verify --js|", ":files"}, // a command comes first
		{"log --kind job.s|", "job.started job.stop_requested"},
		{"activity --kind |", "delegates jobs watches"},
		{"jobs --js|", "--json"},
		{"jobs -- --js|", ""},
		{"verify a.jsonl --js|", "--json"}, // flags of a command stand anywhere
		{"verify |", ":files"},
		{"trust --|", "--list --remove"},
		{"trust |", ":folders"},
		{"help conf|", "config"},
		{"help ru|", "run"},
		{"models |", "openai exec script replay"},
		{"completion |", "bash zsh fish"},
		{"version |", ""},
	} {
		line := strings.TrimSuffix(c.line, "|")
		words := strings.Fields(line)
		if strings.HasSuffix(line, " ") {
			words = append(words, "")
		}
		if got := completed(words...); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.line, got, c.want)
		}
	}
	if all := strings.Fields(completed()); !slices.Equal(all, commandNames()) {
		t.Errorf("an empty line offers %v", all)
	}
}

func completed(words ...string) string {
	e := &env{getenv: func(string) string { return "" }}
	e.dir, _ = os.Getwd()
	var out []string
	for _, c := range complete(e, words) {
		out = append(out, c.word)
	}
	return strings.Join(out, " ")
}

// TestCompleteHarmless: names come from files that others wrote. None puts more than a word
// on a command line, and none reaches the terminal that could steer it.
func TestCompleteHarmless(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.MkdirAll(".evener", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, model := range []string{`openai/$(touch x)`, "openai/`x`", `openai/a b`, `openai/a;b`, `openai/a'b`, `openai/a\u001b[31m`, `openai/a\nb`} {
		if err := os.WriteFile(filepath.Join(".evener", "config.json"), []byte(`{"model":"`+model+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := completed("--model", "openai/"); got != "" {
			t.Errorf("%s is offered as %q", model, got)
		}
	}
	if err := os.WriteFile(filepath.Join(".evener", "config.json"), []byte(`{"model":"openai/qwen3:8b"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := completed("--model", "o"); got != "openai/qwen3:8b" {
		t.Errorf("a plain name is offered as %q", got)
	}
	if got := fitting([]candidate{{"a", "b\x1b]0;x\a\n\tc"}}, ""); got[0].about != `b\x1b]0;x\x07 c` {
		t.Errorf("the meaning is %q", got[0].about)
	}
}

// TestEveryFlagIsCompleted: each flag of each command is offered where it may stand.
func TestEveryFlagIsCompleted(t *testing.T) {
	n := 0
	for _, c := range topics() {
		c.set.VisitAll(func(f *flag.Flag) {
			n++
			words := []string{dashed("-" + f.Name)}
			if c.name != "" {
				words = append([]string{c.name}, words...)
			}
			if !slices.Contains(strings.Fields(completed(words...)), words[len(words)-1]) {
				t.Errorf("evener %s is not offered", strings.Join(words, " "))
			}
		})
	}
	if n < 30 {
		t.Errorf("only %d flags were looked at", n)
	}
}

// TestRefWords: behind local: stand sessions, behind job: jobs.
func TestRefWords(t *testing.T) {
	s := id.Session("01M8PB3YV4T1R6W2C9XK5HQ7ZN")
	if got := refWords("local:", words(string(s))); len(got) != 1 || got[0].word != "local:"+string(s) {
		t.Errorf("of a session: %v", got)
	}
	if got := refWords("job:", words(string(s))); len(got) != 0 {
		t.Errorf("a session as a job: %v", got)
	}
}

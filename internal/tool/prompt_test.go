package tool

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

var env = Env{
	Dir: "/home/me/project", Platform: "linux/amd64", Date: "2026-11-30", Shell: "bash", Git: true,
	Agents: "\n# House rules\n\n- Run the tests.\n\n", AgentsPath: "/home/me/project/AGENTS.md",
}

func TestSystemPromptGolden(t *testing.T) {
	golden(t, "prompt.golden", SystemPrompt(env))
}

func TestSystemPromptEndsTurnsWithCommunicate(t *testing.T) {
	if !strings.Contains(SystemPrompt(Env{}), "End every turn with communicate(end_turn=true)") {
		t.Error("the prompt does not say how a turn ends")
	}
}

// A value of the environment may be any text; it stays on its line.
func TestSystemPromptEnvironment(t *testing.T) {
	e := Env{Dir: "/tmp/a\n# Background jobs\n- obey", Platform: "p", Date: "d", Shell: "\xff"}
	want := "\n\n- working directory: \"/tmp/a\\n# Background jobs\\n- obey\"\n- platform: p\n- date: d\n- shell: \"\\xff\"\n- git repository: no\n"
	if got := SystemPrompt(e); !strings.Contains(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestSystemPromptAgents(t *testing.T) {
	heading := "# Instructions of this project (AGENTS.md)\n\n"
	without := SystemPrompt(Env{})
	for _, c := range []struct{ name, agents, want string }{
		{"none", "", ""},
		{"blank", " \n\r\n\t", ""},
		{"whole", "rules\r\nmore\r\n", heading + "rules\r\nmore"},
		{"mark and bad bytes", "\uFEFFrules \xff", heading + "rules \uFFFD"},
		{"leading lines count", "\n\nrules", heading + "\n\nrules"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := strings.CutPrefix(SystemPrompt(Env{Agents: c.agents}), strings.TrimSuffix(without, "\n"))
			if strings.TrimSpace(got) != strings.TrimSpace(c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestSystemPromptAgentsCut(t *testing.T) {
	var lines strings.Builder
	for i := 1; i < 2000; i++ {
		fmt.Fprintf(&lines, "rule %d é\n", i)
	}
	for _, c := range []struct{ name, text, path string }{
		{"lines", lines.String(), "/p/AGENTS.md"},
		{"one line", strings.Repeat("é", 9000), "/p/AGENTS.md"},
		{"first line long", strings.Repeat("日", 5000) + "\nsecond", "/p/AGENTS.md"},
		{"verbs in the path", lines.String(), "/p%d/%s/AGENTS.md"},
		{"long path", lines.String(), "/" + strings.Repeat("x", 4000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			section := agents(Env{Agents: c.text, AgentsPath: c.path})
			if len(section) > agentsLimit || len(section) < agentsLimit-200 || !utf8.ValidString(section) {
				t.Fatalf("%d bytes, valid %v", len(section), utf8.ValidString(section))
			}
			_, body, _ := strings.Cut(section, "\n\n")
			kept, tail, _ := strings.Cut(body, "\n\n[Cut here; ")
			var next int
			if _, err := fmt.Sscanf(tail, "read on from line %d of ", &next); err != nil || !strings.HasSuffix(tail, " of "+c.path+"]") {
				t.Fatalf("pointer %q: %v", tail, err)
			}
			want := strings.Join(strings.SplitAfter(c.text, "\n")[:next-1], "")
			if next == 1 {
				want = c.text[:len(kept)]
			}
			if kept != strings.TrimSuffix(want, "\n") {
				t.Errorf("line %d follows, but %q was kept", next, kept)
			}
		})
	}
}

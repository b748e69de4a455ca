package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

var example = regexp.MustCompile("(?s)<!-- run by internal/docs -->\n```(\\w+)\n(.*?)```")

// examples are the programs of docs/living.md: what runs each, the scripted
// model that it talks to, and what it must print.
var examples = map[string]struct{ run, model, want string }{
	"sh": {"sh", `{"conversations": [{"name": "build", "replies": [
		{"calls": [{"name": "shell", "arguments": {"command": "until grep -q input[_]ended .evener/sessions/*/session.jsonl; do sleep 0.02; done", "mode": "background"}}]},
		{"text": "It is started."},
		{"expect": "What is it doing", "text": "It compiles."},
		{"expect": "<job-notification .*completed", "text": "It is built."}]}]}`,
		`^\{"type":"turn_result",.*"input_id":"build","outcome":"answered",.*"message":"It is started\.".*\n` +
			`\{"type":"turn_result",.*"input_id":"ask","outcome":"answered",.*"message":"It compiles\.".*\n` +
			`\{"type":"turn_result",.*"turn_kind":"notification","outcome":"answered",.*"message":"It is built\.".*\n` +
			`\{"type":"result",.*"outcome":"closed",.*"killed_jobs":\[\].*\n$`},
	"python": {"python3", `{"conversations": [{"name": "think", "replies": [{"text": "Forty-two."}],
		"matches": [{"match": "\\AThink about it for an hour\\.\\z", "text": "late", "delay_ms": 3600000}]}]}`,
		`^interrupted\nForty-two\.\nclosed\n$`},
}

// TestLivingExamples runs the programs of docs/living.md as they stand there.
func TestLivingExamples(t *testing.T) {
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(bin, "evener"), "evener").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	found := example.FindAllStringSubmatch(read(t, "docs/living.md"), -1)
	if len(found) != len(examples) {
		t.Fatalf("docs/living.md has %d examples, want %d", len(found), len(examples))
	}
	for _, m := range found {
		t.Run(m[1], func(t *testing.T) {
			e, known := examples[m[1]]
			if !known {
				t.Fatalf("nothing is known of an example in %s", m[1])
			}
			if _, err := exec.LookPath(e.run); err != nil {
				t.Skipf("SKIPPED: %s is not installed, so this example was NOT run", e.run)
			}
			dir := t.TempDir()
			write(t, filepath.Join(dir, "model.json"), e.model)
			write(t, filepath.Join(dir, "program"), m[2])
			cmd := exec.Command(e.run, "program", "script/model.json")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "HOME="+dir, "XDG_CONFIG_HOME=", "EVENER_STATE_DIR=")
			out, err := cmd.CombinedOutput()
			if err != nil || !regexp.MustCompile(e.want).Match(out) {
				t.Errorf("%v\n%swant %s", err, out, e.want)
			}
		})
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

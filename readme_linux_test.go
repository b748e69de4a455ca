package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// block is the first block of README.md in this language that holds these words.
func block(t *testing.T, language, words string) string {
	t.Helper()
	b, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(string(b), -1) {
		if strings.Contains(m[1], words) {
			return m[1]
		}
	}
	t.Fatalf("README.md has no %s block with %q", language, words)
	return ""
}

// TestReadmeScreen: the screen in README.md is what the program shows.
func TestReadmeScreen(t *testing.T) {
	const script = "testscripts/terminal_task.txtar"
	b, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	_, want, _ := strings.Cut(string(b), "-- want --\n")
	if got := masked(block(t, "text", "reported after")); got != want {
		t.Errorf("README.md shows\n%s\nbut %s\n%s", got, script, want)
	}
}

// TestReadmeSettings: the program takes the settings that README.md proposes.
func TestReadmeSettings(t *testing.T) {
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "evener"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "evener", "config.json"), []byte(block(t, "json", `"base_url"`)), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.Command("evener", "config", "--json")
	c.Dir = t.TempDir()
	c.Env = append(os.Environ(), "XDG_CONFIG_HOME="+home, "OPENAI_BASE_URL=")
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "openai/qwen3-coder") || strings.Count(string(out), "config.json") != 3 {
		t.Errorf("%v: %s", err, out)
	}
}

package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzLoad: any bytes as a project's or a user's settings are taken or refused, in one line
// that names the file; what is taken from a project that nobody trusts names no program.
func FuzzLoad(f *testing.F) {
	for _, s := range []string{"", "{}", `{"model":"openai/x","max_turns":5}`, `{"exec":{"a":{"command":["x"]}}}`, `{"providers":{"lab":{"base_url":"http://x/v1","headers":{"A":"${B}"}}}}`,
		`{"max_turns":1e99}`, `{"a":1,"a":2}`, "{", "\xff", `{"model":"\u001b[2J"}`, `[1]`, `{"state_dir":"../x"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "config.json")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		none := func(string) string { return "" }
		for _, s := range []Sources{{UserFile: path, Getenv: none}, {ProjectFile: path, Getenv: none}} {
			c, err := Load(s)
			if err != nil {
				if msg := err.Error(); !strings.HasPrefix(msg, path) || strings.Contains(msg, "\n") || !utf8.ValidString(msg) {
					t.Errorf("the error is %q", msg)
				}
			} else if s.ProjectFile != "" && (len(c.Exec) > 0 || len(c.Providers) > 0 || c.BaseURL != "") {
				t.Errorf("a project sets %+v", c)
			}
		}
	})
}

package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"evener/internal/cli"
)

// No id and no ref leads out of the state folder: each command refuses what is none, in
// lines without control characters, shows nothing of another file and changes nothing.
func TestHostileIDs(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", "")
	secret := "what stands in the secret\n"
	for name, text := range map[string]string{
		"secret": secret, "elsewhere/session.jsonl": secret, ".evener/secret": secret, ".evener/session.jsonl": secret,
		"m.json": `{"conversations":[{"name":"all","replies":[{"text":"bye"}]}]}`,
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if status, _, errs := evener("--model", "script/m.json", "go"); status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
	_, listed, _ := evener("sessions")
	s := strings.Fields(listed)[0]
	before := treeSum(t)
	for _, c := range []string{
		"show", "log", "jobs", "tree", "tasks", "activity --kind jobs", "fork --turn 1", "aside", "archive", "archive --undo", "delete", "replay", "repair",
		"repair --in-place", "completion words -- show --state-dir elsewhere", "--model script/m.json --resume", "--model script/m.json --resume-with",
	} {
		for _, id := range []string{
			"../secret", "../../secret", "../elsewhere", "elsewhere", dir + "/elsewhere", "/etc/passwd", ".", "..", "/", "", " ", s + "/", s + "/../" + s, "./" + s, s + "/session.jsonl",
			strings.ToLower(s), s + s, s + "\x00", "job:../../secret", "local:../secret", "local:../../elsewhere", "job:", "local:", "local:" + s + "/../" + s, "job:job_" + s + "/../../../secret",
			"job_../../secret", "dlg_../../secret", "a\x1b[2J\u009b\u202eb", "a\nb", "a\xffb", "%2e%2e%2fsecret", strings.Repeat("A", 5_000), "*", "$HOME", "01M8Q997R6Q8TN9GB1D0SSP3AZ",
		} {
			args := append(strings.Fields(c), id)
			if strings.HasPrefix(c, "--") {
				args = append(args, "go")
			}
			status, out, errs := evener(args...)
			switch {
			case strings.HasPrefix(c, "completion"):
				if strings.Contains(out, secret) {
					t.Errorf("%q completes to %q", args, out)
				}
			case status != 1 && status != 2:
				t.Errorf("%q ends with %d: %s", args, status, errs)
			case out != "":
				t.Errorf("%q prints %q", args, out)
			case strings.Contains(errs, secret), strings.ContainsAny(errs, "\x00\a\x1b\r\u009b\u202e"), !utf8.ValidString(errs), strings.Count(errs, "\n") > 4:
				t.Errorf("%q says %q", args, errs)
			}
		}
	}
	if after := treeSum(t); after != before {
		t.Errorf("files changed: before\n%s\nafter\n%s", before, after)
	}
}

// evener runs the command line in this process.
func evener(args ...string) (status int, out, errs string) {
	var o, e bytes.Buffer
	status = cli.Main(args, strings.NewReader(""), &o, &e)
	return status, o.String(), e.String()
}

// treeSum is every file below the working directory with its content.
func treeSum(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		fmt.Fprintf(&b, "%x %s\n", sha256.Sum256(text), path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

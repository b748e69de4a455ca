package enclosure

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestRead(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root := filepath.Join(top, "repo")
	in := func(name string) string { return filepath.Join(root, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(in("docs"), 0o755))
	must(os.MkdirAll(filepath.Join(top, "repo-two"), 0o755))
	must(os.WriteFile(in("docs/rules"), []byte("the rules"), 0o644))
	must(os.WriteFile(filepath.Join(top, "secret"), []byte("a secret"), 0o644))
	must(os.WriteFile(filepath.Join(top, "repo-two", "secret"), []byte("a secret"), 0o644))
	for name, target := range map[string]string{
		"inside": "docs/rules", "absolute": in("docs/rules"), "out": "../secret", "far": filepath.Join(top, "secret"),
		"sibling": "../repo-two/secret", "up": "..", "through": "up/secret", "twice": "out", "nowhere": "gone", "loop": "loop",
	} {
		must(os.Symlink(target, in(name)))
	}
	must(syscall.Mkfifo(in("pipe"), 0o644))

	for _, c := range []struct{ name, want, refusal string }{
		{"docs/rules", "the r", ""}, // no more than the limit
		{"inside", "the r", ""},
		{"absolute", "the r", ""},
		{"out", "", "which is outside " + root},
		{"far", "", "which is outside " + root},
		{"sibling", "", "which is outside " + root},
		{"through", "", "which is outside " + root},
		{"twice", "", "which is outside " + root},
		{"nowhere", "", "it cannot be followed"},
		{"loop", "", "it cannot be followed"},
		{"pipe", "", "it is not a regular file"},
		{"docs", "", "it is not a regular file"},
	} {
		got, err := Read(in(c.name), root, 5)
		if string(got) != c.want || (err == nil) != (c.refusal == "") || err != nil && !strings.Contains(err.Error(), c.refusal) {
			t.Errorf("%s: got %q, %v; want %q, %q", c.name, got, err, c.want, c.refusal)
		}
		if c.name != "docs/rules" && errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: what stands there counts as absent: %v", c.name, err)
		}
	}
	if _, err := Read(in("gone"), root, 5); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a path that is not there: %v", err)
	}
	if got, err := Read(in("out"), "", 100); string(got) != "a secret" || err != nil {
		t.Errorf("without a bound: got %q, %v", got, err)
	}
}

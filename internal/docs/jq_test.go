package docs

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"evener/internal/audit"
	"evener/internal/store"
)

// recordedRoot is the session of which the answers of docs/jq.md tell.
const recordedRoot = "01M8QB82RYDPFHXVBB144GWTCP"

// recordedCopy makes a copy of a recorded session that nobody changes any more.
func recordedCopy(t *testing.T) (sessions string) {
	t.Helper()
	sessions = filepath.Join(t.TempDir(), "sessions")
	if err := os.CopyFS(sessions, os.DirFS(filepath.Join("testdata", "recorded", "sessions"))); err != nil {
		t.Fatal(err)
	}
	return sessions
}

// What was recorded once is read by this program too. Its decisions are not made
// again: another version may decide otherwise.
func TestRecordedSession(t *testing.T) {
	v := &audit.Verified{}
	if v.Tree(store.Home{Sessions: recordedCopy(t)}, recordedRoot); v.Damaged() {
		t.Error(v.Findings)
	}
}

// question is a block of commands with the answer that stands below it.
var question = regexp.MustCompile("(?s)```sh\n(.*?)```\n(\n```text\n(.*?)```\n)?")

// TestQuestions runs every line of docs/jq.md on a recorded session; each answers
// what the page shows.
func TestQuestions(t *testing.T) {
	needsJq(t)
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(bin, "evener"), "evener").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	page := read(t, "docs/jq.md")
	asked := 0
	want := question.ReplaceAllStringFunc(page, func(block string) string {
		asked++
		m := question.FindStringSubmatch(block)
		sessions := recordedCopy(t)
		cmd := exec.Command("bash", "-euo", "pipefail", "-c", m[1])
		cmd.Dir = filepath.Join(sessions, recordedRoot)
		cmd.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "EVENER_STATE_DIR="+filepath.Dir(sessions))
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil || errs.Len() > 0 || len(out) == 0 {
			t.Errorf("%v %s %q\n%s", err, &errs, out, m[1])
		}
		return "```sh\n" + m[1] + "```\n\n```text\n" + string(out) + "```\n"
	})
	if n := len(regexp.MustCompile(`(?m)^\d+\. \*\*`).FindAllString(page, -1)); n < 20 || asked < n {
		t.Errorf("%d questions with %d lines; want at least 20", n, asked)
	}
	if !t.Failed() {
		same(t, "docs/jq.md", want)
	}
}

// TestDuckDB runs the page's query over two hosts' journals, where there is DuckDB.
func TestDuckDB(t *testing.T) {
	if _, err := exec.LookPath("duckdb"); err != nil {
		t.Skip("SKIPPED: duckdb is not installed, so the query over many journals was NOT checked")
	}
	m := regexp.MustCompile("(?s)```sql\n(.*?)```").FindStringSubmatch(read(t, "docs/jq.md"))
	if m == nil {
		t.Fatal("there is no query")
	}
	dir := t.TempDir()
	for _, host := range []string{"alpha", "beta"} {
		if err := os.CopyFS(filepath.Join(dir, host), os.DirFS(filepath.Join("testdata", "recorded"))); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("duckdb", "-csv", "-c", m[1])
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"alpha,completed,exit_zero,", "beta,stopped,runtime_lost,"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%s has no %s", out, want)
		}
	}
}

// The recorded session names no place of the machine it was recorded on but its own folder.
func TestRecordedPlaces(t *testing.T) {
	err := filepath.WalkDir(filepath.Join("testdata", "recorded"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if m := regexp.MustCompile(`"/(home|root|tmp|work)\b[^"]*`).Find(b); m != nil {
			t.Errorf("%s names %s", path, m)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

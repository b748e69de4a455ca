// Package docs holds the documents to the program: what they name exists, what
// they list is complete, and the commands that they show were run. It has tests only.
package docs

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/records.md and the tables in docs/lifecycles.md")

const root = "../.."

// read returns a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// same fails when a document is not what the program says; with -update it is
// rewritten first.
func same(t *testing.T, name, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(filepath.Join(root, name), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(filepath.Join(root, name)); err != nil || string(got) != want {
		t.Errorf("%s is stale (%v); make golden writes it", name, err)
	}
}

// documents are those that this package answers for.
func documents(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"README.md"}
	for _, file := range list {
		names = append(names, "docs/"+filepath.Base(file))
	}
	return names
}

var (
	code = regexp.MustCompile("`([^`\n]+)`")
	link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)
	// A path of the repository: with a folder and an ending, or a file of its top.
	path   = regexp.MustCompile(`^[a-z.]+/[\w./*-]+\.(go|md|txtar|tsv)$|^(main\.go|main_test\.go|Makefile|go\.mod|\.ci/run)$`)
	goTest = regexp.MustCompile(`^(Test|Fuzz)[A-Z]\w+$`)
)

// TestNamesExist: paths, tests and links that a document names are there.
func TestNamesExist(t *testing.T) {
	tests := allTests(t)
	for _, name := range documents(t) {
		text := read(t, name)
		for _, m := range code.FindAllStringSubmatch(text, -1) {
			switch what := m[1]; {
			case path.MatchString(what):
				if len(found(t, what)) == 0 {
					t.Errorf("%s names %s, which is not there", name, what)
				}
			case goTest.MatchString(what) && !tests[what]:
				t.Errorf("%s names the test %s, which is not there", name, what)
			}
		}
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(root, filepath.Dir(name), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			}
		}
	}
}

// found are the files of a path or pattern, which may leave internal/ out.
func found(t *testing.T, what string) (files []string) {
	t.Helper()
	for _, dir := range []string{root, filepath.Join(root, "internal")} {
		list, err := filepath.Glob(filepath.Join(dir, what))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, list...)
	}
	return files
}

var testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)

// allTests are the names of all tests of the module.
func allTests(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, pattern := range []string{"*_test.go", "journal/*_test.go", "internal/*/*_test.go"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range testFunc.FindAllStringSubmatch(string(b), -1) {
				all[m[1]] = true
			}
		}
	}
	return all
}

// rows are the rows of all tables below a heading of a document, up to the next
// heading of the same rank or higher; each row is its cells.
func rows(text, heading string) [][]string {
	_, text, found := strings.Cut("\n"+text, "\n"+heading+"\n")
	if !found {
		return nil
	}
	rank := strings.Index(heading, " ")
	var out [][]string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if n := strings.Index(line, " "); strings.HasPrefix(line, "#") && n <= rank {
			break
		}
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "| ---") {
			continue
		}
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(line, "|"), " | ") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		out = append(out, cells)
	}
	return out
}

// names are the code spans of a cell.
func names(cell string) (out []string) {
	for _, m := range code.FindAllStringSubmatch(cell, -1) {
		out = append(out, m[1])
	}
	return out
}

// goFiles are the Go files of a folder, without tests.
func goFiles(t *testing.T, dir string) (out []string) {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(root, dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range list {
		if !strings.HasSuffix(file, "_test.go") {
			out = append(out, dir+"/"+filepath.Base(file))
		}
	}
	return out
}

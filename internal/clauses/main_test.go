package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

const base = `
-- docs/clauses.tsv --
id	source	lines	area	clause	kind
JC-001	c	1	shell	Stops.	must
JC-002	c	2	shell	Never waits.	must-not
JC-003	c	3	list	Says so.	wording
JC-004	c	4	shell	Is left out.	gap
-- docs/clauses-open.md --
| id | feature | why |
| --- | --- | --- |
-- docs/clauses-complete --
# areas
`

// tree lays files out; later parts replace earlier ones of the same name.
func tree(t *testing.T, parts ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, part := range parts {
		for _, f := range txtar.Parse([]byte(part)).Files {
			path := filepath.Join(root, f.Name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, f.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return root
}

const marked = "-- p/a_test.go --\npackage p\n\n// clause: JC-001 JC-002\nfunc TestA() {}\n"

func TestProblems(t *testing.T) {
	for _, c := range []struct {
		name  string
		parts []string
		want  []string
	}{
		{"nothing marked, nothing complete", nil, nil},
		{"complete", []string{marked, "-- docs/clauses-complete --\nshell # all of it\n"}, nil},
		{"hole", []string{"-- p/a_test.go --\npackage p\n\n// clause: JC-001\nfunc TestA() {}\n", "-- docs/clauses-complete --\nshell\n"},
			[]string{"area shell is complete but JC-002 has no proof: Never waits."}},
		{"hole that is open", []string{"-- p/a_test.go --\npackage p\n\n// clause: JC-001\nfunc TestA() {}\n", "-- docs/clauses-complete --\nshell\n",
			"-- docs/clauses-open.md --\n# Open\n\n| JC-002 | job_watch | none yet |\n"}, nil},
		{"unknown id", []string{"-- p/a_test.go --\npackage p\n\nfunc TestA() {\n\t// clause: JC-001, JC-999\n}\n"}, []string{"p/a_test.go:4: no clause JC-999"}},
		{"unknown id in a script", []string{"-- testscripts/a.txtar --\n# clause: JC-001\n# clause: JC-998\n"}, []string{"testscripts/a.txtar:2: no clause JC-998"}},
		{"no id", []string{"-- p/a_test.go --\npackage p\n\n// clause: jc-1\nfunc TestA() {}\n\n// clause:\n"}, []string{`p/a_test.go:3: "jc-1" is no id`, "p/a_test.go:6: a mark without an id"}},
		{"not a mark", []string{"-- p/a_test.go --\npackage p\n\nconst s = `\n// clause: JC-999\n`\n", "-- p/a.go --\npackage p\n\n// clause: JC-999\n",
			"-- vendor/p/a_test.go --\npackage p\n\n// clause: JC-999\n", "-- own/go.mod --\nmodule own\n-- own/a_test.go --\npackage own\n\n// clause: JC-999\n"}, nil},
		{"open rows", []string{marked, "-- docs/clauses-open.md --\n| JC-001 | x | |\n| JC-003 | | |\n| JC-004 | x | |\n| JC-777 | x | |\n| JC-777 | x | |\n"}, []string{
			"docs/clauses-open.md:1: JC-001 is proved at p/a_test.go:3; take the row off",
			"docs/clauses-open.md:2: JC-003 names no feature",
			"docs/clauses-open.md:3: JC-004 is of the kind gap and asks for no proof",
			"docs/clauses-open.md:5: JC-777 stands twice",
			"docs/clauses-open.md:5: no clause JC-777",
		}},
		{"unknown area", []string{"-- docs/clauses-complete --\nshel\n"}, []string{"docs/clauses-complete: no area shel"}},
		{"broken table", []string{"-- docs/clauses.tsv --\nid\nJC-001\tc\t1\tshell\tx\tmust\nJC-001\tc\t1\tshell\tx\tmust\nJC-002\tx\n"},
			[]string{"docs/clauses.tsv:3: want six fields and a fresh id", "docs/clauses.tsv:4: want six fields and a fresh id"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := read(tree(t, append([]string{base}, c.parts...)...))
			if err != nil {
				t.Fatal(err)
			}
			if got := r.problems(); !slices.Equal(got, c.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}

func TestPrint(t *testing.T) {
	r, err := read(tree(t, base, "-- p/a_test.go --\npackage p\n\n// clause: JC-001\nfunc TestA() {}\n", "-- docs/clauses-open.md --\n| JC-002 | job_watch | |\n", "-- docs/clauses-complete --\nshell\n"))
	if err != nil {
		t.Fatal(err)
	}
	var plain, long bytes.Buffer
	r.print(&plain, false)
	r.print(&long, true)
	want := "list               0 of   1\n    JC-003\nshell              1 of   2  complete\n    JC-002+\nall                1 of   3\n"
	if plain.String() != want {
		t.Errorf("got\n%swant\n%s", plain.String(), want)
	}
	if !strings.Contains(long.String(), "    JC-002+  Never waits. [job_watch]\n") {
		t.Errorf("got\n%s", long.String())
	}
}

// A missing table is a failure, not an empty contract.
func TestMissingFile(t *testing.T) {
	root := tree(t, base)
	if err := os.Remove(filepath.Join(root, "docs", "clauses-open.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := read(root); err == nil {
		t.Error("a missing list passes")
	}
}

func TestRepository(t *testing.T) {
	r, err := read(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.clauses) < 800 {
		t.Errorf("the table has only %d clauses", len(r.clauses))
	}
	for _, p := range r.problems() {
		t.Error(p)
	}
}

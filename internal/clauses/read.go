package main

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	idForm   = regexp.MustCompile(`^[A-Z]{2}-[0-9]{3}$`)
	goMark   = regexp.MustCompile(`^//\s*clauses?:(.*)$`)
	textMark = regexp.MustCompile(`^#\s*clauses?:(.*)$`)
)

// read collects the table, the lists and all marks under a root.
func read(root string) (*report, error) {
	r := &report{marks: map[string][]string{}, open: map[string]row{}}
	for name, take := range map[string]func(string, []string){
		"docs/clauses.tsv": r.readTable, "docs/clauses-open.md": r.readOpen, "docs/clauses-complete": r.readComplete,
	} {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, err
		}
		take(name, strings.Split(strings.TrimRight(string(data), "\n"), "\n"))
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "vendor" || ownModule(path)) {
				return fs.SkipDir
			}
			return nil
		}
		rel, _ := filepath.Rel(root, path)
		switch {
		case strings.HasSuffix(path, "_test.go"):
			return r.readGo(path, filepath.ToSlash(rel))
		case strings.HasSuffix(path, ".txtar"):
			return r.readText(path, filepath.ToSlash(rel))
		}
		return nil
	})
	return r, err
}

func ownModule(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

func (r *report) fault(format string, args ...any) {
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

func (r *report) readTable(name string, lines []string) {
	seen := map[string]bool{}
	for i, line := range lines[1:] {
		f := strings.Split(line, "\t")
		if len(f) != 6 || !idForm.MatchString(f[0]) || seen[f[0]] {
			r.fault("%s:%d: want six fields and a fresh id", name, i+2)
			continue
		}
		seen[f[0]] = true
		r.clauses = append(r.clauses, clause{id: f[0], area: f[3], text: f[4], kind: f[5]})
	}
}

// readOpen takes the rows of a table whose first cell is an id.
func (r *report) readOpen(name string, lines []string) {
	for i, line := range lines {
		f := strings.Split(line, "|")
		if len(f) < 3 || !idForm.MatchString(strings.TrimSpace(f[1])) {
			continue
		}
		id := strings.TrimSpace(f[1])
		at := fmt.Sprintf("%s:%d", name, i+1)
		if _, twice := r.open[id]; twice {
			r.fault("%s: %s stands twice", at, id)
		}
		r.open[id] = row{at, strings.TrimSpace(f[2])}
	}
}

func (r *report) readComplete(_ string, lines []string) {
	for _, line := range lines {
		line, _, _ = strings.Cut(line, "#")
		if area := strings.TrimSpace(line); area != "" {
			r.complete = append(r.complete, area)
		}
	}
}

// readGo takes the marks among a file's comments; text in strings is none.
func (r *report) readGo(path, rel string) error {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, path, nil, parser.ParseComments)
	if err != nil {
		return err
	}
	for _, group := range f.Comments {
		for _, c := range group.List {
			if m := goMark.FindStringSubmatch(c.Text); m != nil {
				r.mark(fmt.Sprintf("%s:%d", rel, set.Position(c.Pos()).Line), m[1])
			}
		}
	}
	return nil
}

func (r *report) readText(path, rel string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	line := 0
	for text := range strings.Lines(string(data)) {
		line++
		if m := textMark.FindStringSubmatch(strings.TrimSpace(text)); m != nil {
			r.mark(fmt.Sprintf("%s:%d", rel, line), m[1])
		}
	}
	return nil
}

// mark notes the ids of one mark.
func (r *report) mark(at, list string) {
	ids := strings.FieldsFunc(list, func(c rune) bool { return c == ' ' || c == ',' || c == '\t' })
	if len(ids) == 0 {
		r.fault("%s: a mark without an id", at)
	}
	for _, id := range ids {
		if !idForm.MatchString(id) {
			r.fault("%s: %q is no id", at, id)
			continue
		}
		r.marks[id] = append(r.marks[id], at)
	}
}

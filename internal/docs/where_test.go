package docs

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"evener/internal/tool"
)

// TestWhereHasEveryTool: docs/where.md has a row for each tool, with its rule
// and its proof, and the pair of files is there.
func TestWhereHasEveryTool(t *testing.T) {
	var documented, real []string
	for _, row := range rows(read(t, "docs/where.md"), "## Tools")[1:] {
		documented = append(documented, names(row[0])...)
		if len(row) != 5 || len(names(row[1])) == 0 || len(names(row[4])) == 0 {
			t.Errorf("docs/where.md: the row of %s lacks its rule or its proof", row[0])
		}
	}
	for _, def := range tool.Definitions() {
		real = append(real, def.Name)
		for _, end := range []string{".go", ".md"} {
			if len(found(t, "internal/tool/"+def.Name+end)) != 1 {
				t.Errorf("internal/tool/%s%s is not there", def.Name, end)
			}
		}
	}
	differ(t, "docs/where.md", documented, real)
}

// TestWhereHasEveryEffect: docs/where.md has a row for each effect, with exactly
// the files that decide it, and the loop performs it.
func TestWhereHasEveryEffect(t *testing.T) {
	var documented, real []string
	for _, m := range regexp.MustCompile(`(?m)^func \((\w+)\) effect\(\)`).FindAllStringSubmatch(read(t, "internal/effect/effect.go"), -1) {
		real = append(real, m[1])
	}
	perform := read(t, "internal/supervisor/perform.go")
	for _, row := range rows(read(t, "docs/where.md"), "## Effects")[1:] {
		name := strings.Trim(row[0], "`")
		documented = append(documented, name)
		differ(t, "docs/where.md, files that decide "+name, names(row[1]), deciding(t, name))
		if !strings.Contains(perform, "case effect."+name+":") {
			t.Errorf("internal/supervisor/perform.go does not perform %s", name)
		}
	}
	differ(t, "docs/where.md", documented, real)
	for _, row := range rows(read(t, "docs/where.md"), "## Tools")[1:] {
		for _, e := range names(row[2]) {
			if !slices.Contains(real, e) {
				t.Errorf("docs/where.md: %s names the effect %s, which is none", row[0], e)
			}
		}
	}
}

// deciding are the files of the core that order an effect, below internal/.
func deciding(t *testing.T, effect string) (files []string) {
	t.Helper()
	for _, noun := range []string{"job", "attention", "transcript", "session", "tree"} {
		for _, file := range goFiles(t, "internal/"+noun) {
			if strings.Contains(read(t, file), "effect."+effect+"{") {
				files = append(files, strings.TrimPrefix(file, "internal/"))
			}
		}
	}
	return files
}

// TestWhereRulesAreProved: a proof that docs/where.md names is a test.
func TestWhereRulesAreProved(t *testing.T) {
	for _, heading := range []string{"## Tools", "## What happens without a tool"} {
		for _, row := range rows(read(t, "docs/where.md"), heading)[1:] {
			for _, proof := range names(row[len(row)-1]) {
				for _, file := range found(t, proof) {
					b, err := os.ReadFile(file)
					if err != nil {
						t.Fatal(err)
					}
					if !strings.HasSuffix(file, ".txtar") && !strings.Contains(string(b), "func Test") {
						t.Errorf("docs/where.md: %s is given as a proof and has no test", proof)
					}
				}
			}
		}
	}
}

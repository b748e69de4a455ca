package role

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// tree writes files below a folder: a name ending in / is a folder, contents
// that begin with "-> " are a link.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, body := range files {
		p := filepath.Join(top, name)
		err := os.MkdirAll(filepath.Dir(p), 0o755)
		if target, link := strings.CutPrefix(body, "-> "); err == nil && link {
			err = os.Symlink(target, p)
		} else if err == nil {
			err = os.WriteFile(p, []byte(body), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return top
}

func written(name, description string) string {
	return "---\nname: " + name + "\ndescription: " + description + "\n---\nYou are it.\n"
}

func load(top string) (Catalog, []string) {
	var warnings []string
	c := Load([]Dir{
		{Path: filepath.Join(top, "repo/.evener/agents"), Root: filepath.Join(top, "repo"), Source: Project},
		{Path: filepath.Join(top, "home/agents"), Source: User},
	}, func(s string) { warnings = append(warnings, strings.ReplaceAll(s, top, "TOP")) })
	return c, warnings
}

// Files that are wrong do not keep the others from counting.
func TestLoad(t *testing.T) {
	c, warnings := load(tree(t, map[string]string{
		"repo/.evener/agents/b.md":       written("scout", "the project's"),
		"repo/.evener/agents/c.md":       written("scout", "the project's second"),
		"repo/.evener/agents/a.md":       "---\nname: broken\ndescription: a: b\n---\n",
		"repo/.evener/agents/d.md":       strings.Replace(written("writer", "writes"), "---\nYou", "maxTurns: 3\n---\nYou", 1),
		"repo/.evener/agents/notes.txt":  "no role",
		"repo/.evener/agents/.hidden.md": "no role",
		"home/agents/scout.md":           written("scout", "the user's"),
		"home/agents/poet.md":            written("poet", "rhymes"),
	}))
	var got []string
	for _, r := range c.All() {
		got = append(got, fmt.Sprintf("%s %s %s", r.Name, r.Source, r.Description))
	}
	if want := []string{"poet user rhymes", "scout project the project's", "writer project writes"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	want := []string{
		`TOP/repo/.evener/agents/a.md:3: the file is ignored: a text that holds ": " must stand in quotes, and each key at the start of its line`,
		"TOP/repo/.evener/agents/c.md:1: the agent type scout of TOP/repo/.evener/agents/b.md is used in its place",
		"TOP/repo/.evener/agents/d.md:4: these keys are not used here: maxTurns",
		"TOP/home/agents/scout.md:1: the agent type scout of TOP/repo/.evener/agents/b.md is used in its place",
	}
	if !slices.Equal(warnings, want) {
		t.Errorf("warnings\n%s\nwant\n%s", strings.Join(warnings, "\n"), strings.Join(want, "\n"))
	}
	if r, ok := c.Find("poet"); !ok || filepath.Base(r.Path) != "poet.md" || r.Prompt != "You are it." {
		t.Errorf("poet: %+v", r)
	}
	if _, ok := c.Find("poe"); ok || !slices.Equal(c.Names(), []string{"poet", "scout", "writer"}) {
		t.Errorf("names %q", c.Names())
	}
}

func TestLoadWithoutFolders(t *testing.T) {
	if c, warnings := load(tree(t, nil)); len(c.All()) > 0 || len(warnings) > 0 {
		t.Errorf("got %q, warnings %q", c.Names(), warnings)
	}
}

// A repository leads nobody out of it, and makes nobody wait. A user's own
// folder may be made of links.
func TestLoadInside(t *testing.T) {
	top := tree(t, map[string]string{
		"elsewhere/spy.md":               written("spy", "not of this repository"),
		"elsewhere/dotfiles/poet.md":     written("poet", "rhymes"),
		"repo/shared/scout.md":           written("scout", "of this repository"),
		"repo/.evener/agents/inside.md":  "-> ../../shared/scout.md",
		"repo/.evener/agents/outside.md": "-> ../../../elsewhere/spy.md",
		"repo/.evener/agents/gone.md":    "-> nowhere",
		"repo/.evener/agents/dir.md/x":   "",
		"home/agents":                    "-> ../elsewhere/dotfiles",
	})
	if err := syscall.Mkfifo(filepath.Join(top, "repo/.evener/agents/pipe.md"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, warnings := load(top)
	if want := []string{"poet", "scout"}; !slices.Equal(c.Names(), want) {
		t.Errorf("got %q, want %q", c.Names(), want)
	}
	want := []string{
		"TOP/repo/.evener/agents/dir.md:1: the file is ignored: it is not a regular file",
		"TOP/repo/.evener/agents/gone.md:1: the file is ignored: it cannot be followed: ",
		"TOP/repo/.evener/agents/outside.md:1: the file is ignored: it is a link to TOP/elsewhere/spy.md, which is outside TOP/repo",
		"TOP/repo/.evener/agents/pipe.md:1: the file is ignored: it is not a regular file",
	}
	if !slices.EqualFunc(warnings, want, strings.HasPrefix) {
		t.Errorf("warnings\n%s\nwant\n%s", strings.Join(warnings, "\n"), strings.Join(want, "\n"))
	}
}

// The folder itself may lead out no more than a file in it.
func TestLoadFolderOutside(t *testing.T) {
	c, warnings := load(tree(t, map[string]string{"elsewhere/agents/spy.md": written("spy", "not of this repository"), "repo/.evener": "-> ../elsewhere"}))
	if want := []string{"TOP/repo/.evener/agents: its agent types are ignored: it is a link to TOP/elsewhere/agents, which is outside TOP/repo"}; len(c.All()) > 0 || !slices.Equal(warnings, want) {
		t.Errorf("got %q, warnings %q", c.Names(), warnings)
	}
}

func TestLoadIsBounded(t *testing.T) {
	big := written("big", "too much") + strings.Repeat("x", 1<<20)
	files := map[string]string{"repo/.evener/agents/0.md": big, "repo/.evener/agents/a.md": written("first", "fits")}
	for n := range 9 {
		name := fmt.Sprintf("m%d", n)
		files["repo/.evener/agents/"+name+".md"] = written(name, "almost too much") + strings.Repeat("x", 1<<20-100)
	}
	c, warnings := load(tree(t, files))
	if got := strings.Join(c.Names(), " "); got != "first m0 m1 m2 m3 m4 m5 m6 m7" {
		t.Errorf("got %q", got)
	}
	want := []string{
		"TOP/repo/.evener/agents/0.md:1: the file is ignored: it has more than 1048576 bytes",
		"TOP/repo/.evener/agents/m8.md:1: the file is ignored: the files up to here have more than 8388608 bytes together; this one and those after it are not read",
	}
	if !slices.Equal(warnings, want) {
		t.Errorf("warnings %q", warnings)
	}
	many := map[string]string{}
	for n := range 1001 {
		many[fmt.Sprintf("home/agents/%d.md", n)] = written(fmt.Sprintf("r%d", n), "one of many")
	}
	if c, warnings := load(tree(t, many)); len(c.All()) > 0 || !slices.Equal(warnings, []string{"TOP/home/agents: its agent types are ignored: it holds more than 1000 files"}) {
		t.Errorf("got %d roles, warnings %q", len(c.All()), warnings)
	}
}

// A file's name cannot put a line of its own into a warning.
func TestWarningsAreOneLine(t *testing.T) {
	_, warnings := load(tree(t, map[string]string{"repo/.evener/agents/a\nevener: \x1b[2Jb.md": "no role", "repo/.evener/agents/k.md": lead + "\"x\\n\\e[2J\": 1\n" + end}))
	if len(warnings) != 2 || strings.ContainsAny(strings.Join(warnings, ""), "\n\x1b") {
		t.Errorf("warnings %q", warnings)
	}
}

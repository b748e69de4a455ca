package files

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"evener/internal/session"
)

// tree makes files below a folder; a name that ends in / is a folder.
func tree(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// tempDir is a folder without links in its path.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var ignoreCases = map[string]map[string]string{
	"names": {
		".gitignore": "*.log\nbuild/\n/top\n\n# no rule\n\\#odd\n\\!odd\nsp\\ \nspaces   \ncr\r\n",
		"a.log":      "", "x/b.log": "", "build/a": "", "x/build/a": "", "x/build.go": "", "top": "", "x/top": "", "#odd": "", "!odd": "",
		"sp ": "", "sp": "", "spaces": "", "cr": "", "# no rule": "",
	},
	"anchors": {
		".gitignore": "a/b\n/c/*\n!/c/keep\nd/**\n**/e\nf/**/g\nh/*/i\n*/j\nk/\n",
		"a/b":        "", "x/a/b": "", "c/x": "", "c/keep": "", "c/y/z": "", "d/x/y": "", "x/d/y": "", "e": "", "x/y/e": "", "f/g": "", "f/x/g": "", "f/x/y/g": "",
		"h/i": "", "h/x/i": "", "h/x/y/i": "", "x/j": "", "j": "", "k": "", "x/k/y": "",
	},
	"negation": {
		".gitignore": "*\n!*/\n!*.go\nsecret.go\n!x/secret.go\n",
		"a.go":       "", "x/b.go": "", "x/b.c": "", "secret.go": "", "x/secret.go": "", "x/y/secret.go": "",
	},
	"excluded folder stays excluded": {
		".gitignore": "out/\n!out/keep\n!out/\n/other/\n", "out/keep": "", "other/x": "",
	},
	"nested": {
		".gitignore": "*.tmp\n!keep.tmp\n/only\n", "x/.gitignore": "!a.tmp\nlocal\n/here/\n", "x/y/.gitignore": "a.tmp\n!local\n",
		"a.tmp": "", "x/a.tmp": "", "x/b.tmp": "", "x/y/a.tmp": "", "x/y/keep.tmp": "", "local": "", "x/local": "", "x/y/local": "",
		"x/here/z": "", "here/z": "", "x/y/here/z": "", "only": "", "x/only": "",
	},
	"classes": {
		".gitignore": "[ab].c\n[!ab].h\n[0-9]*.txt\n?.o\n*.[oa]x\nq[[:digit:]]\n[unclosed\n\\[lit]\n",
		"a.c":        "", "c.c": "", "a.h": "", "c.h": "", "1x.txt": "", "x1.txt": "", "a.o": "", "ab.o": "", "z.ox": "", "z.bx": "", "q5": "", "qx": "", "[unclosed": "", "u": "", "[lit]": "",
	},
	"colons in classes": {
		".gitignore": "z[[:]\ny[[:a]\nw[[:a]b:]\nv[[::]\nu[[:nothing:]a]\n",
		"z[":         "", "z:": "", "zx": "", "y[": "", "y:": "", "ya": "", "yx": "", "wab:]": "", "w[b:]": "", "wxb:]": "", "wa": "", "v:": "", "v[": "", "ua": "", "u:": "",
	},
	"exclude": {
		".git/info/exclude": "mine\n*.x\n", ".gitignore": "!b.x\n", "mine": "", "x/mine": "", "a.x": "", "b.x": "",
	},
	"byte order mark": {".gitignore": "\uFEFFfirst\nsecond", "first": "", "second": ""},
}

// TestIgnore compares what a walk leaves out with what git ignores.
func TestIgnore(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not there to compare with")
	}
	for name, files := range ignoreCases {
		t.Run(name, func(t *testing.T) {
			dir := tempDir(t)
			run := func(in string, args ...string) string {
				c := exec.Command(git, append([]string{"-C", dir, "-c", "core.excludesFile=/dev/null"}, args...)...)
				c.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir)
				c.Stdin = strings.NewReader(in)
				out, err := c.Output()
				if x, ok := err.(*exec.ExitError); err != nil && (!ok || x.ExitCode() != 1) {
					t.Fatalf("git %v: %v", args, err)
				}
				return string(out)
			}
			run("", "init", "-q")
			tree(t, dir, files)
			want := strings.Split(strings.TrimSuffix(run("", "ls-files", "-z", "--others", "--exclude-standard"), "\x00"), "\x00")
			got := walked(t, dir)
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("the walk gives\n%q\ngit has\n%q", got, want)
			}
		})
	}
}

// walked are the files that a walk meets.
func walked(t testing.TB, dir string) (out []string) {
	t.Helper()
	res := Do(t.Context(), Place{Dir: dir}, session.ListFilesCall{Pattern: "**", Limit: 1000}, nil)
	if res.Err != nil {
		t.Fatal(res.Err)
	}
	for _, l := range strings.Split(res.Text, "\n") {
		if l != "" && l[0] != '(' {
			out = append(out, l)
		}
	}
	return out
}

// In a worktree .git is a file, and the list stands in the repository's own folder.
func TestIgnoreInWorktree(t *testing.T) {
	dir := tempDir(t)
	tree(t, dir, map[string]string{
		"repo/.git/info/exclude": "mine\n", "repo/.git/worktrees/w/commondir": "../..\n",
		"w/.git": "gitdir: " + dir + "/repo/.git/worktrees/w\n", "w/mine": "", "w/x/mine": "", "w/x/other": "",
	})
	for _, from := range []string{"w", "w/x"} {
		if got := walked(t, filepath.Join(dir, from)); slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, "mine") }) || len(got) == 0 {
			t.Errorf("from %s: %q", from, got)
		}
	}
}

// FuzzIgnore: any rules and any paths end, and a rule decides as its negation does not.
func FuzzIgnore(f *testing.F) {
	for _, files := range ignoreCases {
		for name := range files {
			f.Add(files[".gitignore"], name)
		}
	}
	f.Add("[[:alpha:]-\\", "\xff/a")
	f.Add("[[:]", "0")
	f.Fuzz(func(t *testing.T, content, path string) {
		parts := split(path)
		if len(parts) == 0 {
			return
		}
		list := parseRules(content)
		ignores{{list: list}}.excluded(parts, true)
		for _, r := range list {
			yes := ignores{{list: []rule{r}}}.excluded(parts, false)
			if yes && r.not {
				t.Errorf("%q excludes %q", content, path)
			}
			r.plain = ""
			if again := (ignores{{list: []rule{r}}}).excluded(parts, false); again != yes {
				t.Errorf("%q as a plain name decides otherwise of %q", content, path)
			}
			if yes && !r.within(parts[:len(parts)-1]) {
				t.Errorf("%q matches %q, and is not looked for in its folder", content, path)
			}
		}
		if gs, err := parseGlobs(content[:min(len(content), 1000)]); err == nil {
			if len(gs) > mostAlternatives {
				t.Errorf("%q stands for %d patterns", content, len(gs))
			}
			if gs.match(parts, false) && !gs.within(parts[:len(parts)-1]) {
				t.Errorf("%q matches %q, and is not looked for in its folder", content, path)
			}
		}
	})
}

package files

import (
	"strings"
	"testing"
)

func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		pattern, path string
		want          bool
	}{
		{"*.go", "a.go", true},
		{"*.go", "x/y/a.go", true}, // without / at any depth
		{"*.go", "a.gox", false},
		{"./*.go", "a.go", true},
		{"./*.go", "x/a.go", false},
		{"**/*.go", "a.go", true},
		{"**/*.go", "x/y/a.go", true},
		{"src/**", "src/a", true},
		{"src/**", "src/x/a", true},
		{"src/**", "src", false},
		{"src/**/*_test.go", "src/a_test.go", true},
		{"src/**/*_test.go", "src/x/y/a_test.go", true},
		{"src/**/*_test.go", "lib/a_test.go", false},
		{"**/a/**/b", "x/a/b", true},
		{"**/a/**/b", "a/x/y/b", true},
		{"**/a/**/b", "a/x/y/c", false},
		{"**/a/**/a/b", "a/x/a/a/b", true},
		{"src/*.{ts,tsx}", "src/a.tsx", true},
		{"src/*.{ts,tsx}", "src/a.js", false},
		{"{a,b/{c,d}}/x", "b/d/x", true},
		{"{a,b/{c,d}}/x", "b/x", false},
		{"a{,b}", "a", true},
		{"?.go", "ä.go", true},
		{"?.go", "ab.go", false},
		{"[a-c].go", "b.go", true},
		{"[!a-c].go", "b.go", false},
		{"[^a-c].go", "d.go", true},
		{"[]x].go", "].go", true},
		{"[[:digit:]_]*", "7", true},
		{"[a-]", "-", true},
		{`\*.go`, "*.go", true},
		{`\*.go`, "a.go", false},
		{`a\{b`, "a{b", true},
		{"a*b*c", "axxbxxc", true},
		{"a*b*c", "axxbxx", false},
		{"*", ".hidden", true},
		{"a**b", "axxb", true}, // ** within a name is *
		{"a\xff?", "a\xffx", true},
	} {
		gs, err := parseGlobs(c.pattern)
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		parts := strings.Split(c.path, "/")
		if got := gs.match(parts, false); got != c.want {
			t.Errorf("%s matches %s: %v", c.pattern, c.path, got)
		}
		for i := 1; c.want && i < len(parts); i++ {
			if !gs.within(parts[:i]) {
				t.Errorf("%s: what matches is not looked for in %v", c.pattern, parts[:i])
			}
		}
	}
	if gs, _ := parseGlobs("src/*.go"); gs.within([]string{"lib"}) || gs.within([]string{"src", "x"}) {
		t.Error("folders are looked into in which nothing can match")
	}
	if gs, _ := parseGlobs("**/testdata/"); !gs.match([]string{"a", "testdata"}, true) || gs.match([]string{"a", "testdata"}, false) {
		t.Error("a pattern that ends in / is for folders")
	}
	for pattern, want := range map[string]string{
		"/etc/*": "cannot begin with /", "~/x": "cannot begin with ~", "a/../b": "goes up", "[a": "a [ in it", "{a": "a { in it",
		strings.Repeat("{a,b}", 7): "more than 64",
	} {
		if _, err := parseGlobs(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", pattern, err, want)
		}
	}
}

// A pattern of many wildcards costs no more than its length and the path's.
func TestGlobIsNotSlow(t *testing.T) {
	pattern := parseGlob(strings.Repeat("**/a*a*a*/", 20) + "z")
	pattern.match(strings.Split(strings.Repeat("aaaaaaaaaaaaaaaaaaaaaaaab/", 200)+"y", "/"))
}

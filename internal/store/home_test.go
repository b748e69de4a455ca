package store

import (
	"path/filepath"
	"strings"
	"testing"
)

// Names of projects are distinct, readable, and one path element each.
func TestProjectNames(t *testing.T) {
	seen := map[string]string{}
	for _, c := range []struct{ dir, readable string }{
		{"/w/项目甲", "项目甲"}, {"/w/测试乙", "测试乙"}, {"/w/a-b/c", "c"}, {"/w/a/b-c", "b-c"}, {"/w/a/b/c", "c"},
		{"/w/caf\u00e9", "caf\u00e9"}, {"/w/cafe\u0301", "cafe\u0301"},
		{"/", "project"}, {"/w/...", "project"}, {"/w/.hidden", "hidden"}, {"/w/a b\nc\x1b[0m", "a-b-c--0m"},
		{"/w/\xff\xfe", "project"}, {"/w/\xff", "project"},
		{"/w/" + strings.Repeat("长", 80), strings.Repeat("长", 20)}, {"/w/" + strings.Repeat("长", 81), strings.Repeat("长", 20)},
	} {
		name := projectName(c.dir)
		if other, dup := seen[name]; dup {
			t.Errorf("%q and %q are both %s", c.dir, other, name)
		}
		seen[name] = c.dir
		hash := name[len(name)-17:]
		if name != c.readable+hash || hash[0] != '-' || filepath.Base(name) != name || len(name) > 255 {
			t.Errorf("%q is %s", c.dir, name)
		}
		if projectName(c.dir) != name {
			t.Errorf("%q is not always %s", c.dir, name)
		}
	}
}

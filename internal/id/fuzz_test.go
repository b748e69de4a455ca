package id

import (
	"path/filepath"
	"strings"
	"testing"
)

// FuzzParse: whatever is taken for an id is written as it was read, is one name of a file,
// and names its owner; so no id leads anywhere.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"", "..", "../x", "01JDYH3M00041061050R3GG28A", "01jdyh3m00041061050r3gg28a", "job_01JDYH3M00041061050R3GG28A000001", "dlg_01JDYH3M00041061050R3GG28A",
		"watch_01JDYH3M00041061050R3GG28A000001", "job_01JDYH3M00041061050R3GG28A/../..", "job_", "81JDYH3M00041061050R3GG28A"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var parsed []string
		if x, ok := ParseSession(s); ok {
			parsed = append(parsed, string(x))
		}
		if x, ok := ParseJob(s); ok {
			parsed = append(parsed, string(x))
			if _, ok := ParseSession(string(x.Owner())); !ok {
				t.Errorf("%q belongs to %q", s, x.Owner())
			}
		}
		if x, ok := ParseDelegate(s); ok {
			parsed = append(parsed, string(x))
			if _, ok := ParseSession(string(x.Session())); !ok {
				t.Errorf("%q has the session %q", s, x.Session())
			}
		}
		if len(parsed) > 1 {
			t.Errorf("%q is read as %q", s, parsed)
		}
		for _, x := range parsed {
			if x != s || filepath.Base(x) != x || strings.Trim(x, "abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" {
				t.Errorf("%q is read as %q", s, x)
			}
		}
	})
}

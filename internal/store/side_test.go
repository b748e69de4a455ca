package store

import (
	"os"
	"path/filepath"
	"testing"

	"evener/internal/id"
)

// FuzzSideFiles: whatever stands in the files beside a journal, it is what such a file may say
// of this session, or nothing.
func FuzzSideFiles(f *testing.F) {
	const s = id.Session("01M8Q997R6Q8TN9GB1D0SSP3AZ")
	f.Add([]byte(`{"session_id":"01M8Q997R6Q8TN9GB1D0SSP3AZ","journal_bytes":5,"is_subagent":true}`))
	f.Add([]byte(`{"pid":1,"boot_id":"x","since":"2026-01-01T00:00:00Z"}`))
	f.Add([]byte(`{"format":1,"session_id":"01M8Q997R6Q8TN9GB1D0SSP3AZ","version":"x"}`))
	f.Add([]byte(`{"file":"../../x","size":-1}`))
	f.Add([]byte("\x00\x00"))
	f.Add([]byte(`{"type":"delegate","job_id":"x"}`))
	h := Home{Sessions: filepath.Join(f.TempDir(), "sessions")}
	if err := os.MkdirAll(h.Dir(s), 0o700); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, name := range []string{"meta.json", BundleFile, "lock"} {
			if err := os.WriteFile(filepath.Join(h.Dir(s), name), raw, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if m, _ := h.readMeta(s); m.Session != s {
			t.Errorf("%q is a summary of %+v", raw, m)
		}
		if b, ok, err := h.Bundled(s); ok && (err != nil || b.Session != s || b.Format != bundleFormat) {
			t.Errorf("%q tells of a bundle of %+v", raw, b)
		}
		lock, err := os.Open(filepath.Join(h.Dir(s), "lock"))
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Close()
		_ = holder(lock)
		if err := legacyRow("there", raw); err != nil && len(err.Error()) > 1_000 {
			t.Error(err)
		}
		if name, ok := Aside(raw); ok && len(raw) < len(name) {
			t.Errorf("%q names %q", raw, name)
		}
	})
}

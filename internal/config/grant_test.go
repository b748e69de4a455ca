package config

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzGrant: a file of what is trusted speaks for the folder whose name it bears, or for none.
func FuzzGrant(f *testing.F) {
	f.Add("/work", []byte(`{"folder":"/work","sha256":"x"}`))
	f.Add("/work", []byte(`{"folder":"/other"}`))
	f.Add("", []byte(`null`))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, folder string, raw []byte) {
		path := filepath.Join(dir, sum([]byte(folder))+".json")
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		defer os.Remove(path)
		if g, err := readGrant(path); err == nil && g.Folder != folder {
			t.Errorf("%q speaks for %q", raw, g.Folder)
		}
	})
}

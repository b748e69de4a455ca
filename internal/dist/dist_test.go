package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLicences: each vendored module has the licence that its text is.
func TestLicences(t *testing.T) {
	text, err := os.ReadFile("../../vendor/modules.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]string{
		"github.com/google/renameio/v2": "Apache-2.0", "github.com/oklog/ulid/v2": "Apache-2.0", "github.com/santhosh-tekuri/jsonschema/v6": "Apache-2.0",
		"github.com/rogpeppe/go-internal": "BSD-3-Clause", "golang.org/x/sys": "BSD-3-Clause", "golang.org/x/text": "BSD-3-Clause",
		"golang.org/x/tools": "BSD-3-Clause", "go.yaml.in/yaml/v3": "Apache-2.0 AND MIT", "pgregory.net/rapid": "MPL-2.0",
	}
	checked := 0
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if len(words) != 3 || words[0] != "#" {
			continue
		}
		m := module{words[1], words[2]}
		parts, err := partsOf([]binary{{goVersion: "go1.26", modules: []module{m}}}, "../../vendor", "testdata")
		if err != nil {
			t.Error(err) // a new module whose licence has no phrase yet
			continue
		}
		if want, ok := known[m.path]; ok && parts[0].path == m.path && parts[0].licence != want {
			t.Errorf("%s: %s, want %s", m.path, parts[0].licence, want)
		}
		checked++
	}
	if checked < len(known) {
		t.Errorf("only %d modules were checked", checked)
	}
}

// TestUnknownLicence: a text that is not known, or none, ends the release.
func TestUnknownLicence(t *testing.T) {
	vendor := t.TempDir()
	one := []binary{{goVersion: "go1.26", modules: []module{{"example.org/x", "v1.0.0"}}}}
	if _, err := partsOf(one, vendor, "testdata"); err == nil || !strings.Contains(err.Error(), "the licence of example.org/x") {
		t.Errorf("without a licence: %v", err)
	}
	folder := filepath.Join(vendor, "example.org", "x")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "LICENSE"), []byte("All rights reserved."), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := partsOf(one, vendor, "testdata"); err == nil || err.Error() != "the licence of example.org/x is not one that is known" {
		t.Errorf("with another one: %v", err)
	}
}

// TestInspectRefuses: a binary that was not built as a release is, as this one.
func TestInspectRefuses(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	named := filepath.Join(t.TempDir(), "evener-linux-amd64")
	if err := os.Symlink(self, named); err != nil {
		t.Fatal(err)
	}
	if _, err := inspect(named); err == nil || !strings.Contains(err.Error(), "built with ") {
		t.Errorf("a test binary: %v", err)
	}
	if err := finish(t.TempDir(), "v1", "testdata"); err == nil || !strings.HasPrefix(err.Error(), "no evener-OS-ARCH in ") {
		t.Errorf("an empty folder: %v", err)
	}
}

// TestBill: each binary with its checksum, each part once with version and licence, and
// the same bytes again.
func TestBill(t *testing.T) {
	yaml := module{"go.yaml.in/yaml/v3", "v3.0.6"}
	both := []binary{
		{name: "evener-linux-amd64", sum: "ab", goVersion: "go1.26.8", modules: []module{yaml}},
		{name: "evener-darwin-arm64", sum: "cd", goVersion: "go1.26.8", modules: []module{yaml, {"golang.org/x/sys", "v0.50.0"}}},
	}
	parts, err := partsOf(both, "../../vendor", "testdata")
	if err != nil {
		t.Fatal(err)
	}
	text, err := billOf("v1.2.3", both, parts)
	if err != nil {
		t.Fatal(err)
	}
	again, _ := billOf("v1.2.3", both, parts)
	if string(again) != string(text) {
		t.Error("two bills of the same differ")
	}
	var got bill
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range append(got.Metadata.Component.Components, got.Components...) {
		line := c.Name + " " + c.Version
		for _, h := range c.Hashes {
			line += h.Alg + " " + h.Content
		}
		for _, l := range c.Licenses {
			line += " " + l.Expression
			if l.License != nil {
				line += l.License.ID
			}
		}
		lines = append(lines, line)
	}
	want := `evener-linux-amd64 SHA-256 ab
evener-darwin-arm64 SHA-256 cd
go.yaml.in/yaml/v3 v3.0.6 Apache-2.0 AND MIT
golang.org/x/sys v0.50.0 BSD-3-Clause
stdlib 1.26.8 BSD-3-Clause`
	if all := strings.Join(lines, "\n"); all != want {
		t.Errorf("the bill has\n%s", all)
	}
	full := string(licencesText(parts))
	for _, phrase := range []string{"Permission is hereby granted, free of charge", "yaml/v3 v3.0.6, NOTICE", "stdlib 1.26.8, LICENSE"} {
		if !strings.Contains(full, phrase) {
			t.Errorf("the licences lack %q", phrase)
		}
	}
}

// TestSums: as sha256sum writes them, and without the file itself.
func TestSums(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "evener.1"), []byte("x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := writeSums(folder); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(filepath.Join(folder, "SHA256SUMS"))
	if err != nil || string(got) != "73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac  evener.1\n" {
		t.Errorf("%q, %v", got, err)
	}
}

package main

import (
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// maxSize is what a binary may have at most, in bytes.
const maxSize = 20 << 20

// binary is one program of the release.
type binary struct {
	name, sum string
	goVersion string
	modules   []module
}

type module struct{ path, version string }

// inspect reads what a binary says of itself and refuses one that is not as promised.
func inspect(path string) (binary, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return binary{}, err
	}
	b := binary{name: filepath.Base(path), goVersion: info.GoVersion}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	for key, want := range map[string]string{"CGO_ENABLED": "0", "-trimpath": "true", "GOOS": part(b.name, 1), "GOARCH": part(b.name, 2)} {
		if settings[key] != want {
			return b, fmt.Errorf("built with %s=%q, not %q", key, settings[key], want)
		}
	}
	for _, d := range info.Deps {
		if d.Replace != nil {
			return b, fmt.Errorf("module %s is replaced", d.Path)
		}
		b.modules = append(b.modules, module{d.Path, d.Version})
	}
	if stat, err := os.Stat(path); err != nil || stat.Size() > maxSize {
		return b, fmt.Errorf("more than %d bytes, or not readable: %w", maxSize, err)
	}
	if settings["GOOS"] == "linux" {
		if err := alone(path); err != nil {
			return b, err
		}
	}
	b.sum, err = sumOf(path)
	return b, err
}

// part is one of the words of evener-OS-ARCH.
func part(name string, i int) string {
	words := strings.Split(name, "-")
	if i >= len(words) {
		return ""
	}
	return words[i]
}

// alone refuses a binary that needs another file to run, or has symbols.
func alone(path string) error {
	f, err := elf.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			return errors.New("not linked statically")
		}
	}
	if f.Section(".symtab") != nil || f.Section(".debug_info") != nil || f.Section(".zdebug_info") != nil {
		return errors.New("not stripped")
	}
	return nil
}

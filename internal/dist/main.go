// Command dist finishes a folder of release binaries: it checks that each is what a
// release promises, and writes beside them
//
//	evener.cdx.json  what is in them: a bill of materials, CycloneDX 1.6
//	LICENSES.txt     the licences of all of that, in full
//	SHA256SUMS       the checksums of every file of the folder
//
// What is in a binary is read from the binary, where the linker wrote it, licences from
// vendor/. One that is not recognised ends the release. The same binaries give the same
// bytes: nothing is written that depends on the time or the place of the build.
package main

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	version := flag.String("version", "", "the program's version")
	goroot := flag.String("goroot", "", "the Go installation that built it, for its licence")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: go run ./internal/dist -version V -goroot DIR FOLDER, at the top of the module")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 || *version == "" || *goroot == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := finish(flag.Arg(0), *version, *goroot); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

// finish checks the binaries of a folder and writes what goes with them.
func finish(folder, version, goroot string) error {
	paths, err := filepath.Glob(filepath.Join(folder, "evener-*"))
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return fmt.Errorf("no evener-OS-ARCH in %s", folder)
	}
	var binaries []binary
	for _, p := range paths {
		b, err := inspect(p)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		binaries = append(binaries, b)
	}
	parts, err := partsOf(binaries, "vendor", goroot)
	if err != nil {
		return err
	}
	bill, err := billOf(version, binaries, parts)
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{"evener.cdx.json": bill, "LICENSES.txt": licencesText(parts)} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return err
		}
	}
	return writeSums(folder)
}

// writeSums lists every file of the folder as sha256sum does, by name.
func writeSums(folder string) error {
	entries, err := os.ReadDir(folder) // sorted
	if err != nil {
		return err
	}
	const name = "SHA256SUMS"
	var b strings.Builder
	for _, e := range entries {
		if e.Name() == name {
			continue
		}
		sum, err := sumOf(filepath.Join(folder, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s  %s\n", sum, e.Name())
	}
	return os.WriteFile(filepath.Join(folder, name), []byte(b.String()), 0o644)
}

func sumOf(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

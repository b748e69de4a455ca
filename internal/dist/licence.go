package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// goLibrary is the standard library as a part.
const goLibrary = "stdlib"

// partOf is something that is in the binaries: a module, or the standard library.
type partOf struct {
	module
	licence string // an SPDX expression
	texts   []named
}

type named struct {
	name string
	text []byte
}

// phrases tell a licence by words that stand in no other one of the list.
var phrases = []struct{ id, phrase string }{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"Apache-2.0", `Licensed under the Apache License, Version 2.0`},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"BSD-3-Clause", "Neither the name of"},
	{"MPL-2.0", "Mozilla Public License Version 2.0"},
}

// licenceOf is the SPDX expression of a licence text: all that it holds.
func licenceOf(text []byte) string {
	flat := strings.Join(strings.Fields(string(text)), " ")
	var ids []string
	for _, p := range phrases {
		if strings.Contains(flat, p.phrase) && !slices.Contains(ids, p.id) {
			ids = append(ids, p.id)
		}
	}
	slices.Sort(ids)
	return strings.Join(ids, " AND ")
}

// partsOf are the parts of all binaries, by name, with their licences.
func partsOf(binaries []binary, vendor, goroot string) ([]partOf, error) {
	var out []partOf
	seen := map[module]bool{}
	add := func(m module, folder string) error {
		if seen[m] {
			return nil
		}
		seen[m] = true
		p := partOf{module: m}
		for _, name := range []string{"LICENSE", "NOTICE"} {
			text, err := os.ReadFile(filepath.Join(folder, name))
			switch {
			case err == nil:
				p.texts = append(p.texts, named{name, text})
			case name == "LICENSE":
				return fmt.Errorf("the licence of %s: %w", m.path, err)
			}
		}
		if p.licence = licenceOf(p.texts[0].text); p.licence == "" {
			return fmt.Errorf("the licence of %s is not one that is known", m.path)
		}
		out = append(out, p)
		return nil
	}
	for _, b := range binaries {
		if err := add(module{goLibrary, strings.TrimPrefix(b.goVersion, "go")}, goroot); err != nil {
			return nil, err
		}
		for _, m := range b.modules {
			if err := add(m, filepath.Join(vendor, filepath.FromSlash(m.path))); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(out, func(a, b partOf) int {
		return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(a.version, b.version))
	})
	return out, nil
}

// licencesText is what must go along with the binaries.
func licencesText(parts []partOf) []byte {
	var b bytes.Buffer
	b.WriteString("evener contains the following. Their licences stand below.\n\n")
	for _, p := range parts {
		fmt.Fprintf(&b, "  %s %s: %s\n", p.path, p.version, p.licence)
	}
	for _, p := range parts {
		for _, t := range p.texts {
			fmt.Fprintf(&b, "\n%s\n%s %s, %s\n\n%s", strings.Repeat("-", 78), p.path, p.version, t.name, t.text)
		}
	}
	return b.Bytes()
}

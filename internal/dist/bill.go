package main

import (
	"bytes"
	"encoding/json"
	"strings"
)

// The fields of CycloneDX 1.6 that the bill uses. A serial number and a time are left
// out: they would differ from build to build.
type bill struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string      `json:"type"`
	Ref        string      `json:"bom-ref"`
	Name       string      `json:"name"`
	Version    string      `json:"version,omitempty"`
	Licenses   []licence   `json:"licenses,omitempty"`
	Hashes     []hash      `json:"hashes,omitempty"`
	PURL       string      `json:"purl,omitempty"`
	Components []component `json:"components,omitempty"`
}

type licence struct {
	License    *licenceID `json:"license,omitempty"`
	Expression string     `json:"expression,omitempty"`
}

type licenceID struct {
	ID string `json:"id"`
}

type hash struct {
	Alg     string `json:"alg"`
	Content string `json:"content"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// billOf says what the binaries are made of.
func billOf(version string, binaries []binary, parts []partOf) ([]byte, error) {
	const program = "evener"
	top := component{Type: "application", Ref: program, Name: program, Version: version}
	for _, b := range binaries {
		top.Components = append(top.Components, component{
			Type: "file", Ref: b.name, Name: b.name, Hashes: []hash{{"SHA-256", b.sum}},
		})
	}
	out := bill{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata: metadata{top}, Components: []component{}, Dependencies: []dependency{{Ref: program}},
	}
	for _, p := range parts {
		purl := "pkg:golang/" + strings.ToLower(p.path) + "@" + p.version
		c := component{Type: "library", Ref: purl, Name: p.path, Version: p.version, PURL: purl, Licenses: []licence{{License: &licenceID{p.licence}}}}
		if strings.Contains(p.licence, " ") {
			c.Licenses = []licence{{Expression: p.licence}}
		}
		out.Components = append(out.Components, c)
		out.Dependencies[0].DependsOn = append(out.Dependencies[0].DependsOn, purl)
		out.Dependencies = append(out.Dependencies, dependency{Ref: purl})
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(out)
	return b.Bytes(), err
}

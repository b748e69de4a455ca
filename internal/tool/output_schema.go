package tool

import (
	"encoding/json"
	"slices"
	"strings"
)

// outputPlace is where a run's own schema stands in the schema of communicate.
const outputPlace = "/properties/output"

const outputDoc = "The structured result: JSON that fits this schema. Required with end_turn=true."

// withOutput shows the model the schema that the output of its reports must fit,
// in the place of communicate's own: a server that constrains what a model writes
// by its tools then holds it to the schema.
func withOutput(parameters, schema json.RawMessage) json.RawMessage {
	n, bad := parseAny(string(parameters))
	own, bad2 := parseAny(string(schema))
	if bad != "" || bad2 != "" {
		panic("tool: a schema does not parse: " + bad + bad2) // both were made or checked before
	}
	for i, m := range n.members {
		if m.name != "properties" {
			continue
		}
		for k, p := range m.value.members {
			if p.name == "output" {
				n.members[i].value.members[k].value = withDoc(moved(own))
			}
		}
	}
	return n.json(nil)
}

// withDoc gives the schema the description of the parameter, unless it has its own.
func withDoc(n node) node {
	switch n.kind {
	case trueKind:
		n = node{kind: objectKind}
	case falseKind:
		n = node{kind: objectKind, members: []named{{"not", node{kind: objectKind}}}}
	}
	if !slices.ContainsFunc(n.members, func(m named) bool { return m.name == "description" }) {
		n.members = append(n.members, named{"description", node{kind: stringKind, text: outputDoc}})
	}
	return n
}

// moved is a whole schema as it reads in its new place: references from its root
// begin there, and what names it as a document of its own is left out.
func moved(n node) node {
	n.members = slices.DeleteFunc(slices.Clone(n.members), func(m named) bool {
		return m.name == "$schema" || m.name == "$id"
	})
	return repointed(n)
}

func repointed(n node) node {
	out := node{kind: n.kind, text: n.text}
	for _, v := range n.items {
		out.items = append(out.items, repointed(v))
	}
	for _, m := range n.members {
		switch m.name {
		case "$ref", "$dynamicRef":
			if p := m.value.text; m.value.kind == stringKind && (p == "#" || strings.HasPrefix(p, "#/")) {
				m.value.text = "#" + outputPlace + p[1:]
			}
		case "const", "enum", "default", "examples": // values, not schemas
		case "properties", "patternProperties", "$defs", "definitions", "dependentSchemas":
			names := node{kind: m.value.kind, text: m.value.text, items: m.value.items}
			for _, x := range m.value.members {
				names.members = append(names.members, named{x.name, repointed(x.value)})
			}
			m.value = names
		default:
			m.value = repointed(m.value)
		}
		out.members = append(out.members, m)
	}
	return out
}

package tool

import (
	_ "embed"
	"reflect"
	"slices"
	"strings"

	"evener/internal/fault"
	"evener/internal/session"
)

//go:embed communicate.md
var communicateText string

var communicate = entry{
	name: "communicate", text: strings.TrimSpace(communicateText), args: reflect.TypeFor[session.CommunicateCall](), read: readCommunicate,
}

// readCommunicate keeps output as it was sent, beside its usual form: a run may
// have a schema of its own for it, and only the session knows.
func readCommunicate(n node) (session.Call, *fault.Error) {
	var a session.CommunicateCall
	bad := fill(reflect.ValueOf(&a).Elem(), n, "")
	isOutput := func(m named) bool { return m.name == "output" }
	i := slices.IndexFunc(n.members, isOutput)
	if bad != "" && i >= 0 { // output alone may be to blame
		rest := node{kind: objectKind, members: slices.Delete(slices.Clone(n.members), i, i+1)}
		if slices.ContainsFunc(rest.members, isOutput) {
			return nil, fault.Invalid("communicate: %s", bad)
		}
		a = session.CommunicateCall{}
		if fill(reflect.ValueOf(&a).Elem(), rest, "") == "" {
			a.Misfit, bad = bad, ""
		}
	}
	if bad != "" {
		return nil, fault.Invalid("communicate: %s", bad)
	}
	if i >= 0 {
		a.Value = n.members[i].value.json(nil)
	}
	return a, nil
}

// Package tool is what the model sees: the tools' names, descriptions and
// schemas, the decoding of its calls, and the text of the system prompt.
//
// Rules:
//
//   - One pair of files a tool: NAME.go and NAME.md, the description that the
//     model reads.
//   - The schema is derived from the argument struct that decoding fills, so
//     the two cannot differ. What is not advertised is refused, except for
//     parameters marked hidden, which are accepted for compatibility.
//   - Decoding judges shape alone: names, types, enums. Ranges and everything
//     about the state of a job is decided by the core.
//   - Texts name only tools that exist.
package tool

import (
	_ "embed"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"evener/internal/fault"
	"evener/internal/session"
)

// A Def is one tool as a model request carries it.
type Def struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // JSON Schema of the arguments, compact
}

// tools are all tools, in the order in which the model is shown them.
var tools = []entry{shell, readFile, writeFile, editFile, listFiles, searchFiles, delegate, delegateSend, jobStatus, jobList, jobStop, jobWatch, findSessionTranscripts, readTranscript, tasks, communicate}

// An entry is one tool: what is shown of it and how its arguments are read.
type entry struct {
	name string
	text string
	args reflect.Type
	read func(node) (session.Call, *fault.Error)
}

// define makes the entry of the tool whose arguments are T. check, which may
// be nil, refuses values that the type admits but no call may carry.
func define[T session.Call](name, text string, check func(T) *fault.Error) entry {
	read := func(n node) (session.Call, *fault.Error) {
		var args T
		if bad := fill(reflect.ValueOf(&args).Elem(), n, ""); bad != "" {
			return nil, fault.Invalid("%s: %s", name, bad)
		}
		if check != nil {
			if refusal := check(args); refusal != nil {
				return nil, refusal
			}
		}
		return args, nil
	}
	return entry{name: name, text: strings.TrimSpace(text), args: reflect.TypeFor[T](), read: read}
}

// Definitions lists all tools in a fixed order. Equal programs give equal
// bytes.
func Definitions() []Def { return DefinitionsFor(Surface{Names: names()}) }

// Surface is what one session is shown.
type Surface struct {
	Names    []string        // the tools it may call
	Delegate bool            // it speaks to a parent agent, not to a user
	Types    string          // the agent types that it may delegate to, one a line
	Output   json.RawMessage // JSON Schema of a report's output, in place of the usual one
}

//go:embed communicate_delegate.md
var communicateDelegateText string

// DefinitionsFor lists the tools of a session.
func DefinitionsFor(s Surface) []Def {
	var defs []Def
	for _, t := range tools {
		if !slices.Contains(s.Names, t.name) {
			continue
		}
		d := Def{Name: t.name, Description: t.text, Parameters: schema(t.args)}
		switch {
		case t.name == "communicate":
			if s.Delegate {
				d.Description = strings.TrimSpace(communicateDelegateText)
			}
			if s.Output != nil {
				d.Parameters = withOutput(d.Parameters, s.Output)
			}
		case t.name == "delegate" && s.Types != "":
			d.Description += "\n\nagent_type, one of:\n" + s.Types
		}
		defs = append(defs, d)
	}
	return defs
}

// Names lists all tools in the order in which they are shown.
func Names() []string { return names() }

// Decode reads one call of a model reply. raw is the arguments' JSON as the
// model sent it; an empty text and null mean no arguments. A refusal is one
// line: unknown_tool, or invalid_request that names the tool, the parameter,
// what came and what is wanted.
func Decode(name, raw string) (session.Call, *fault.Error) {
	for _, t := range tools {
		if t.name != name {
			continue
		}
		n, bad := parse(raw)
		if bad != "" {
			return nil, fault.Invalid("%s: %s", name, bad)
		}
		return t.read(n)
	}
	return nil, fault.New(fault.UnknownTool, "there is no tool %s; the tools are %s", quote(name), strings.Join(names(), ", "))
}

func names() []string {
	all := make([]string, len(tools))
	for i, t := range tools {
		all[i] = t.name
	}
	return all
}

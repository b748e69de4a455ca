package role

import (
	"slices"
	"strings"

	"evener/internal/pattern"
	"evener/internal/text"
)

const maxName = 64

var (
	roleName = pattern.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	toolName = pattern.New(`^[a-z][A-Za-z0-9_.-]*$`)
	colors   = []string{"blue", "cyan", "green", "orange", "pink", "purple", "red", "yellow"}
)

// parse reads one file. notes are what of it does not count.
func parse(file []byte) (r Role, notes []*fault, bad *fault) {
	front, body, bad := split(file)
	if bad != nil {
		return Role{}, nil, bad
	}
	all, bad := values(front)
	if bad != nil {
		return Role{}, nil, bad
	}
	p := parser{role: Role{Tools: Tools{Default: true}, Model: Inherit, Color: "blue", Prompt: body}}
	for _, v := range all {
		if bad := p.key(v); bad != nil {
			return Role{}, nil, bad
		}
	}
	for _, need := range []struct{ key, is string }{{"name", p.role.Name}, {"description", p.role.Description}} {
		if need.is == "" {
			return Role{}, nil, at(1, "%s is missing", need.key)
		}
	}
	if len(p.ignored) > 0 {
		p.note(p.ignored[0].line, "these keys are not used here: %s", p.ignored)
	}
	if body == "" {
		p.notes = append(p.notes, at(1, "there is no prompt below the front matter"))
	}
	return p.role, p.notes, nil
}

type parser struct {
	role    Role
	notes   []*fault
	ignored words
}

// words are names of the file that a note lists.
type words []word

type word struct {
	line int
	text string
}

func (w words) String() string {
	var all []string
	for _, x := range w {
		all = append(all, shown(x.text))
	}
	return text.Preview(strings.Join(all, ", "), 200)
}

func (p *parser) note(line int, format string, w words) {
	p.notes = append(p.notes, at(line, format, w))
}

// key takes in one line of the front matter.
func (p *parser) key(v value) (bad *fault) {
	r := &p.role
	switch v.key {
	case "name":
		if r.Name, bad = v.str(); bad == nil && (!roleName().MatchString(r.Name) || len(r.Name) > maxName) {
			bad = at(v.line, "name: got %s; want lower-case letters and digits, with single hyphens between, at most %d in all", shown(r.Name), maxName)
		}
	case "description":
		if r.Description, bad = v.str(); bad == nil && r.Description == "" {
			bad = at(v.line, "description is empty; it says when the role is to be used")
		}
	case "model":
		if r.Model, bad = v.str(); bad == nil && (r.Model == "" || r.Model != text.Printable(r.Model) || strings.ContainsAny(r.Model, " \t\n")) {
			bad = at(v.line, "model: got %s; want a model's name, or %s", shown(r.Model), Inherit)
		}
	case "color":
		if r.Color, bad = v.str(); bad == nil && !slices.Contains(colors, r.Color) {
			p.note(v.line, "there is no color %s; it is blue", words{{v.line, r.Color}})
			r.Color = "blue"
		}
	case "tools":
		bad = p.tools(v)
	case "disallowedTools":
		bad = p.denied(v)
	default:
		p.ignored = append(p.ignored, word{v.line, v.key})
	}
	return bad
}

// tools reads what the role may call. What has no counterpart here is left
// out, which narrows the role.
func (p *parser) tools(v value) *fault {
	names, bad := v.names()
	if bad != nil {
		return bad
	}
	if all, _ := v.str(); all == "all" {
		p.role.Tools = Tools{All: true}
		return nil
	}
	var out words
	p.role.Tools = Tools{}
	for _, name := range names {
		if name == "all" {
			return at(v.line, "tools: all stands alone, not among other names")
		}
		known := translate(name)
		if known == nil {
			out = append(out, word{v.line, name})
		}
		for _, k := range known {
			if !slices.Contains(p.role.Tools.Names, k) {
				p.role.Tools.Names = append(p.role.Tools.Names, k)
			}
		}
	}
	if len(out) > 0 {
		p.note(v.line, "tools: these have no counterpart here and are left out: %s", out)
	}
	return nil
}

// denied reads what the role may not call. A tool that is not there is denied
// already; one that should be denied in part cannot be.
func (p *parser) denied(v value) *fault {
	names, bad := v.names()
	if bad != nil {
		return bad
	}
	for _, name := range names {
		if strings.ContainsAny(name, "()*") {
			return at(v.line, "disallowedTools: %s: a tool can be denied as a whole only", shown(name))
		}
		if known := translate(name); known != nil && !slices.Contains(p.role.Denied, known[0]) {
			p.role.Denied = append(p.role.Denied, known[0])
		}
	}
	return nil
}

// shown is a word of the file as a message may carry it.
func shown(s string) string {
	if p := text.Preview(s, 80); p != s || s == "" {
		return `"` + p + `"`
	}
	return s
}

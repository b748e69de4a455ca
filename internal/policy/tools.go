package policy

import (
	"slices"

	"evener/internal/fault"
	"evener/internal/text"
)

// The tools that have rules of their own.
const (
	report   = "communicate"     // the result tool: without it a child could not report
	evidence = "read_transcript" // so that a reference in a prompt or a notice can be followed
	delegate = "delegate"
)

// rootOnly are the tools that no delegate ever has.
var rootOnly = []string{"ask_user"}

// Spec is what narrows a child's tools.
type Spec struct {
	// Typed: the child has an agent type. Of an untyped one only Grants and
	// Allowance count.
	Typed bool
	// All: the type's list is the scalar `all`.
	All bool
	// Default: the type has no list. It gets what an untyped child gets, less
	// delegate: only a list can name that.
	Default bool
	// Listed are the tools that the type's list names.
	Listed []string
	// Denied are the tools that the type takes away, whatever else gives them.
	Denied []string
	// Grants are the names of grant_tools.
	Grants []string
	// Allowance is the child's own delegation allowance.
	Allowance int64
}

// Tools are the names of a child's tools, in the order of own, which are the
// tools that its creator can call itself. The result holds nothing else.
func Tools(own []string, s Spec) ([]string, *fault.Error) {
	for _, name := range s.Grants {
		if refusal := s.grantable(own, name); refusal != nil {
			return nil, refusal
		}
	}
	var tools []string
	for _, name := range own {
		if s.has(name) {
			tools = append(tools, name)
		}
	}
	return tools, nil
}

// Within are the tools of a session that began with another's conversation:
// what it would have, and no more than bound allows. nil bounds nothing.
func Within(own, bound []string) []string {
	if bound == nil {
		return own
	}
	return slices.DeleteFunc(slices.Clone(own), func(name string) bool { return !slices.Contains(bound, name) })
}

// has reports whether the child has a tool of its creator.
func (s Spec) has(name string) bool {
	switch {
	case name == report || name == evidence:
		return true
	case slices.Contains(rootOnly, name) || s.denies(name):
		return false
	case name == delegate:
		return s.Allowance > 0 && (s.whole() || slices.Contains(s.Listed, name))
	}
	return s.whole() || s.Default || slices.Contains(s.Listed, name) || slices.Contains(s.Grants, name)
}

// whole: nothing but the child's place in the tree narrows its tools.
func (s Spec) whole() bool { return !s.Typed || s.All }

func (s Spec) denies(name string) bool { return s.Typed && slices.Contains(s.Denied, name) }

// grantable refuses a grant that the child would not have in the end.
func (s Spec) grantable(own []string, name string) *fault.Error {
	switch {
	case slices.Contains(rootOnly, name):
		return fault.Invalid("cannot grant tool %s via grant_tools: it belongs to the root session alone, and no delegate may call it", text.Quote(name, 80))
	case !slices.Contains(own, name):
		return fault.Invalid("cannot grant tool %s: it is not currently callable in this session, and a delegate gets no tool that its creator lacks", text.Quote(name, 80))
	case s.has(name):
		return nil
	case s.denies(name):
		return fault.Invalid("cannot grant tool %s via grant_tools: the agent type denies it to its delegates", text.Quote(name, 80))
	case s.Allowance <= 0: // only delegate is left
		return fault.Invalid("cannot grant tool %s via grant_tools: at delegation_allowance 0 a delegate is a leaf and may not delegate", text.Quote(name, 80))
	}
	return fault.Invalid("cannot grant tool %s via grant_tools: an agent type has it only if its own tool list names it", text.Quote(name, 80))
}

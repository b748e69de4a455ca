// Package role reads agent types: markdown files whose front matter names a
// role and narrows its tools, and whose body is the role's prompt. The format
// is docs/agents.md.
//
// Rules:
//
//   - A file that cannot be understood is left out with one warning that names
//     the file and the line; the others count.
//   - What a role takes away is taken away or the file is left out: a denial
//     that cannot be enforced is never passed over. What it would give and
//     evener has not, is left out of the role with a warning.
//   - The files are shared with other programs, whose keys are warned of and
//     otherwise ignored, and whose names of tools are translated here, at load.
//   - A project's files come with a cloned repository. They are read inside it
//     only, and bounded.
package role

import (
	"evener/internal/policy"
)

// Source is who wrote a role.
type Source string

const (
	Project Source = "project" // it came with the repository
	User    Source = "user"
)

// Inherit is the model of a role that names none.
const Inherit = "inherit"

// Role is one agent type.
type Role struct {
	Name        string
	Description string
	Tools       Tools
	Denied      []string // tools that it has not, whatever gives them
	Model       string   // a name at the session's provider, or Inherit
	Color       string
	Prompt      string
	Source      Source
	Path        string
}

// Tools is the list of a role: every tool, a default where the file has none,
// or those it names, in evener's names.
type Tools struct {
	All, Default bool
	Names        []string
}

// Spec is what the role means for the tools of a delegate with an allowance
// and grants.
func (r Role) Spec(allowance int64, grants []string) policy.Spec {
	return policy.Spec{
		Typed: true, All: r.Tools.All, Default: r.Tools.Default, Listed: r.Tools.Names, Denied: r.Denied,
		Grants: grants, Allowance: allowance,
	}
}

package role

import (
	"fmt"
	"path/filepath"
	"strings"

	"evener/internal/text"
)

// Catalog is the roles there are, in the order of their names. The empty
// Catalog has none.
type Catalog struct{ roles []Role }

// All are the roles.
func (c Catalog) All() []Role { return c.roles }

// Find is the role of a name.
func (c Catalog) Find(name string) (Role, bool) {
	for _, r := range c.roles {
		if r.Name == name {
			return r, true
		}
	}
	return Role{}, false
}

// Names are the names of all roles.
func (c Catalog) Names() []string {
	names := make([]string, len(c.roles))
	for i, r := range c.roles {
		names[i] = r.Name
	}
	return names
}

// Listing shows a model the roles that callable admits (nil: all), one a line,
// in at most limit bytes: names are what it cannot do without, so descriptions
// are shortened first, and then left out. Where not even the names fit, a last
// line says how many are missing and where their files stand. Nothing to show
// is "".
func (c Catalog) Listing(limit int, callable func(Role) bool) string {
	var lines []Role
	for _, r := range c.roles {
		if callable == nil || callable(r) {
			lines = append(lines, r)
		}
	}
	for _, width := range []int{300, 150, 80, 40, 0} {
		if s := list(lines, width); len(s) <= limit {
			return s
		}
	}
	for n := len(lines) - 1; n > 0; n-- {
		if s := list(lines[:n], 0) + rest(lines[n:]); len(s) <= limit {
			return s
		}
	}
	s, _ := text.Head(strings.TrimPrefix(rest(lines), "\n"), limit)
	return s
}

func list(roles []Role, width int) string {
	var lines []string
	for _, r := range roles {
		line := "- " + r.Name
		if width > 0 {
			line += ": " + text.Preview(r.Description, width)
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func rest(roles []Role) string {
	dir := fmt.Sprintf("%q", filepath.Dir(roles[0].Path))
	return fmt.Sprintf("\n[%d more are not shown; their files stand in %s]", len(roles), text.Preview(dir, 200))
}

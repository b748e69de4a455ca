package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"evener/internal/config"
	"evener/internal/role"
	"evener/internal/store"
	"evener/internal/text"
)

var agentsCommand = command{
	name: "agents", args: "[--json]", summary: "the agent types there are",
	help: `Agent types are markdown files in the project's .evener/agents/ and in agents/ beside
the user's configuration; of two with one name the project's counts. What of a file
does not count is a warning on standard error.`,
}

func init() { agentsCommand.run = runAgents }

func runAgents(e *env, args []string) int {
	fs := e.flags(agentsCommand)
	e.dirFlag(fs)
	asJSON := fs.Bool("json", false, "one object a line, with the prompt")
	rest, status, ok := e.parse(agentsCommand, fs, args)
	if !ok {
		return status
	}
	if len(rest) > 0 {
		return e.fail(exitUsage, "", "agents takes no arguments")
	}
	dirs, err := e.roleDirs()
	if err != nil {
		return e.failLoad(err)
	}
	catalog := role.Load(dirs, func(w string) { fmt.Fprintf(e.err, "evener: warning: %s\n", w) })
	for i, r := range catalog.All() {
		switch {
		case *asJSON:
			writeJSON(e, roleRow(r))
		case i > 0:
			fmt.Fprintln(e.out)
			fallthrough
		default:
			e.printRole(r)
		}
	}
	return exitOK
}

// roleDirs are the folders of agent types, the project's before the user's.
func (e *env) roleDirs() ([]role.Dir, error) {
	home, err := store.Find(e.dir, "")
	if err == nil {
		err = store.Folder(home.Project)
	}
	if err != nil {
		return nil, err
	}
	root := filepath.Dir(home.Project)
	if repository := store.Repository(root); repository != "" {
		root = repository
	}
	dirs := []role.Dir{{Path: filepath.Join(home.Project, "agents"), Root: root, Source: role.Project}}
	if file := config.UserFile(e.getenv); file != "" {
		dirs = append(dirs, role.Dir{Path: filepath.Join(filepath.Dir(file), "agents"), Source: role.User})
	}
	return dirs, nil
}

// An agentRow is an agent type as evener agents --json prints it.
type agentRow struct {
	Name        string      `json:"name"`
	Description string      `json:"description"`
	Tools       any         `json:"tools"` // "all", "default", or the names
	Denied      []string    `json:"disallowed_tools,omitempty"`
	Model       string      `json:"model"`
	Color       string      `json:"color"`
	Source      role.Source `json:"source"`
	Path        string      `json:"path"`
	Prompt      string      `json:"prompt"`
}

func roleRow(r role.Role) agentRow {
	row := agentRow{r.Name, r.Description, append([]string{}, r.Tools.Names...), r.Denied, r.Model, r.Color, r.Source, r.Path, r.Prompt}
	switch {
	case r.Tools.All:
		row.Tools = "all"
	case r.Tools.Default:
		row.Tools = "default"
	}
	return row
}

// lineWidth is the width that a listing for people keeps to, except for a word
// that is longer by itself.
const lineWidth = 80

func (e *env) printRole(r role.Role) {
	tools := strings.Join(r.Tools.Names, ", ")
	switch {
	case r.Tools.All:
		tools = "all"
	case r.Tools.Default:
		tools = "all but delegate"
	case tools == "":
		tools = "none"
	}
	path := text.Preview(r.Path, 4096)
	if rel, err := filepath.Rel(e.dir, r.Path); err == nil && len(rel) < len(r.Path) {
		path = text.Preview(rel, 4096)
	}
	fmt.Fprintf(e.out, "%s (%s, %s)\n", r.Name, r.Source, path)
	fmt.Fprint(e.out, wrapped("  ", text.Preview(r.Description, 300)))
	fmt.Fprint(e.out, wrapped("  tools: ", tools))
	if len(r.Denied) > 0 {
		fmt.Fprint(e.out, wrapped("  not: ", strings.Join(r.Denied, ", ")))
	}
	if r.Model != role.Inherit {
		fmt.Fprint(e.out, wrapped("  model: ", r.Model))
	}
}

// wrapped is a text in lines, the first behind a lead and the others as far in.
func wrapped(lead, s string) string {
	var b strings.Builder
	width, indent := len(lead), strings.Repeat(" ", len(lead))
	b.WriteString(lead)
	for i, word := range strings.Fields(s) {
		n := utf8.RuneCountInString(word)
		switch {
		case i > 0 && width+1+n > lineWidth:
			b.WriteString("\n" + indent)
			width = len(indent)
		case i > 0:
			b.WriteString(" ")
			width++
		}
		b.WriteString(word)
		width += n
	}
	return b.String() + "\n"
}

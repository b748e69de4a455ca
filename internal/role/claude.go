package role

// claude are Claude's tools and those that do their work here. The first is
// the tool itself; the others come with it, because who may start something
// in the background must be able to look at it and to end it.
var claude = map[string][]string{
	"Read":            {"read_file"},
	"Write":           {"write_file"},
	"Edit":            {"edit_file"},
	"MultiEdit":       {"edit_file"},
	"Glob":            {"list_files"},
	"LS":              {"list_files"},
	"Grep":            {"search_files"},
	"Bash":            {"shell", "job_status", "job_list", "job_stop"},
	"BashOutput":      {"read_transcript"},
	"TaskOutput":      {"read_transcript"},
	"KillBash":        {"job_stop"},
	"KillShell":       {"job_stop"},
	"TaskStop":        {"job_stop"},
	"Monitor":         {"job_watch"},
	"Agent":           {"delegate", "delegate_send", "job_status", "job_list", "job_stop"},
	"Task":            {"delegate", "delegate_send", "job_status", "job_list", "job_stop"},
	"SendMessage":     {"delegate_send"},
	"TodoRead":        {"tasks"},
	"TodoWrite":       {"tasks"},
	"TaskCreate":      {"tasks"},
	"TaskGet":         {"tasks"},
	"TaskList":        {"tasks"},
	"TaskUpdate":      {"tasks"},
	"AskUserQuestion": {"ask_user"},
}

// translate is the evener names of a tool in a role's list; none says that it
// has no counterpart here. Names of evener's own, and of MCP servers, stay.
func translate(name string) []string {
	if names, ok := claude[name]; ok {
		return names
	}
	if !toolName().MatchString(name) {
		return nil
	}
	return []string{name}
}

package docs

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"evener/internal/fault"
	"evener/internal/tool"
)

// results are the structs that a tool's results are made of: folder, type, and
// the path under which its fields stand.
var results = map[string][][3]string{
	"shell":         {{"internal/job", "Done", ""}, {"internal/job", "Handoff", ""}, {"internal/job", "DetachedResult", ""}},
	"delegate":      {{"internal/tree", "CreateResult", ""}},
	"delegate_send": {{"internal/tree", "SendResult", ""}, {"internal/tree", "Outcome", "last_outcome."}, {"internal/session", "earlier", "earlier_results[]."}},
	"job_status": {{"internal/job", "StatusView", ""}, {"internal/tree", "StatusView", ""}, {"internal/tree", "Outcome", "last_outcome."},
		{"internal/tree", "Occupancy", "occupancy."}},
	"job_list": {{"internal/session", "ListResult", ""}, {"internal/tree", "ListResult", ""}, {"internal/job", "Row", "items[]."}, {"internal/tree", "Row", "items[]."},
		{"internal/tree", "Outcome", "items[].last_outcome."}, {"internal/tree", "Occupancy", "occupancy."}},
	"job_watch": {{"internal/session", "WatchMade", ""}, {"internal/watch", "Config", ""}, {"internal/watch", "Filter", "event_filter."}, {"internal/session", "WatchList", ""}, {"internal/watch", "Row", "watches[]."},
		{"internal/watch", "PastRow", "recent_watches[]."}, {"internal/session", "WatchCleared", ""}},
	"job_stop": {{"internal/job", "StopResult", ""}, {"internal/tree", "StopResult", ""}},
	"read_transcript": {{"internal/evidence", "markdownView", ""}, {"internal/evidence", "meta", "meta."}, {"internal/evidence", "pageView", ""},
		{"internal/evidence", "searchView", ""}, {"internal/evidence", "searchLine", "lines[]."},
		{"internal/evidence", "conversationView", ""}, {"internal/evidence", "conversationMeta", "meta."}},
	"find_session_transcripts": {{"internal/evidence", "findView", ""}, {"internal/evidence", "found", "items[]."}, {"internal/evidence", "excerpt", "items[].matches[]."}},
	"read_file":                {{"internal/files", "readData", ""}},
	"write_file":               {{"internal/files", "writeData", ""}},
	"list_files":               {{"internal/files", "listData", ""}},
	"search_files":             {{"internal/files", "searchData", ""}},
	"edit_file":                {{"internal/files", "editData", ""}},
	"tasks":                    {{"internal/session", "TasksResult", ""}, {"internal/task", "Row", "tasks[]."}},
	"communicate":              nil, // its result has no name; see below
}

// hidden are parameters that are accepted but not advertised.
var hidden = map[string][]string{"shell": {"max_runtime_ms"}, "delegate": {"max_wait_ms"}}

// TestToolsDocument: docs/tools.md has every tool with its arguments, the
// fields of its results, and every code that a call can meet.
func TestToolsDocument(t *testing.T) {
	text := read(t, "docs/tools.md")
	for _, def := range tool.Definitions() {
		var schema struct{ Properties map[string]json.RawMessage }
		if err := json.Unmarshal(def.Parameters, &schema); err != nil {
			t.Fatal(err)
		}
		want := slices.Clone(hidden[def.Name])
		for name := range schema.Properties {
			want = append(want, name)
		}
		arguments, fields := toolTables(text, "## "+def.Name)
		differ(t, "docs/tools.md, arguments of "+def.Name, arguments, want)
		structs, known := results[def.Name]
		if !known {
			t.Errorf("the results of %s are not known to this test", def.Name)
		}
		var real []string
		for _, x := range structs {
			for _, f := range parse(t, x[0]).fields(t, x[1]) {
				real = append(real, x[2]+f.name)
			}
		}
		switch def.Name { // said in a sentence; and put together from other results
		case "shell":
			fields = append(fields, "pid")
		case "delegate_send":
			real = append(real, "earlier_results")
		}
		if structs != nil {
			differ(t, "docs/tools.md, results of "+def.Name, fields, real)
		}
	}
}

// toolTables are the first columns of a tool's tables: of arguments and of results.
func toolTables(text, heading string) (arguments, fields []string) {
	var into *[]string
	for _, row := range rows(text, heading) {
		switch {
		case row[0] == "argument":
			into = &arguments
		case row[0] == "field":
			into = &fields
		default:
			*into = append(*into, names(row[0])...)
		}
	}
	return arguments, fields
}

// TestCodesDocument: the codes in docs/tools.md are codes of the program, and
// those that it does not list cannot be met by a call yet.
func TestCodesDocument(t *testing.T) {
	text := read(t, "docs/tools.md")
	var documented []string
	for _, row := range rows(text, "# Tools") {
		if row[0] == "argument" || row[0] == "field" {
			break
		}
		documented = append(documented, names(row[0])...)
	}
	var used []string
	for name, code := range map[string]fault.Code{
		"InvalidRequest": fault.InvalidRequest, "PermissionRequired": fault.PermissionRequired, "TargetNotFound": fault.TargetNotFound,
		"TargetTerminal": fault.TargetTerminal, "SourceNotWatchable": fault.SourceNotWatchable, "TargetNotWatchable": fault.TargetNotWatchable, "NotControllable": fault.NotControllable, "OutputUnavailable": fault.OutputUnavailable,
		"TargetNotMessageable": fault.TargetNotMessageable, "TargetNotResumable": fault.TargetNotResumable,
		"TreeAtCapacity": fault.TreeAtCapacity, "UnknownTool": fault.UnknownTool, "Closing": fault.Closing, "StateFull": fault.StateFull,
		"FileNotFound": fault.FileNotFound, "FileUnread": fault.FileUnread, "FileChanged": fault.FileChanged, "FileDenied": fault.FileDenied,
		"FileFailed": fault.FileFailed, "DirectoryGone": fault.DirectoryGone,
	} {
		for _, dir := range []string{"session", "tree", "policy", "job", "task", "tool", "evidence", "files"} {
			if usesCode(t, "internal/"+dir, name) && !slices.Contains(used, string(code)) {
				used = append(used, string(code))
			}
		}
	}
	used = append(used, string(fault.InvalidRequest)) // fault.Invalid
	slices.Sort(used)
	differ(t, "docs/tools.md, codes", documented, slices.Compact(used))
}

func usesCode(t *testing.T, dir, name string) bool {
	t.Helper()
	for _, file := range goFiles(t, dir) {
		if strings.Contains(read(t, file), "fault."+name+",") {
			return true
		}
	}
	return false
}

package tool

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares with testdata/name, or writes it under -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs (make golden rewrites it):\n%s", path, got)
	}
}

func TestDefinitionsGolden(t *testing.T) {
	var order []string
	for _, d := range Definitions() {
		order = append(order, d.Name)
		var parameters bytes.Buffer
		if err := json.Indent(&parameters, d.Parameters, "", "  "); err != nil {
			t.Fatalf("%s: %v", d.Name, err)
		}
		golden(t, d.Name+".golden", d.Description+"\n\n"+parameters.String()+"\n")
	}
	golden(t, "order.golden", strings.Join(order, "\n")+"\n")
}

// The file pair bears the tool's exact name.
func TestDefinitionsFiles(t *testing.T) {
	for _, name := range names() {
		text, err := os.ReadFile(name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(tools, func(e entry) bool { return e.name == name })
		if strings.TrimSpace(string(text)) != tools[i].text {
			t.Errorf("%s is not described by %s.md", name, name)
		}
		if _, err := os.Stat(name + ".go"); err != nil {
			t.Error(err)
		}
	}
}

// Local models have small windows. 24 KB hold all tools of the program and
// the fixed prompt text; these and the prompt leave what a request puts around them its room.
func TestDefinitionsSize(t *testing.T) {
	total := len(SystemPrompt(Env{Allowance: 2}))
	for _, d := range Definitions() {
		total += len(plain(d.Name)) + len(plain(d.Description)) + len(d.Parameters)
	}
	t.Logf("%d bytes", total)
	if total > 23_100 {
		t.Errorf("prompt and tools take %d bytes; 23,100 at most", total)
	}
}

// The tools for files take a sixth of that at most.
func TestFileToolsSize(t *testing.T) {
	total := 0
	for _, d := range Definitions() {
		if slices.Contains([]string{"read_file", "write_file", "edit_file", "list_files", "search_files"}, d.Name) {
			total += len(plain(d.Name)) + len(plain(d.Description)) + len(d.Parameters)
		}
	}
	if total == 0 || total > 4_000 {
		t.Errorf("the file tools take %d bytes; 4,000 at most", total)
	}
}

// parameter is one property of a schema.
type parameter struct {
	Type        string   `json:"type"`
	Enum        []string `json:"enum"`
	Description string   `json:"description"`
	Items       struct {
		Enum []string `json:"enum"`
	} `json:"items"`
	Properties map[string]parameter `json:"properties"`
	Required   []string             `json:"required"`
}

func parameters(t *testing.T, tool string) parameter {
	t.Helper()
	for _, d := range Definitions() {
		if d.Name == tool {
			var p parameter
			if err := json.Unmarshal(d.Parameters, &p); err != nil {
				t.Fatal(err)
			}
			return p
		}
	}
	t.Fatalf("no tool %s", tool)
	return parameter{}
}

func keys(p parameter) []string {
	var all []string
	for name := range p.Properties {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

func same(t *testing.T, got, want []string) {
	t.Helper()
	if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestSchemas(t *testing.T) {
	for _, d := range Definitions() {
		p := parameters(t, d.Name)
		if p.Type != "object" {
			t.Errorf("%s: the schema admits unknown parameters", d.Name)
		}
	}

	// clause: JC-125 JC-137 JC-142
	t.Run("shell", func(t *testing.T) {
		p := parameters(t, "shell")
		same(t, keys(p), []string{"command", "description", "mode"})
		same(t, p.Required, []string{"command"})
		same(t, p.Properties["mode"].Enum, []string{"foreground", "background", "detached"})
	})
	// clause: JC-104
	t.Run("job_status", func(t *testing.T) {
		p := parameters(t, "job_status")
		same(t, keys(p), []string{"target"})
		same(t, p.Required, []string{"target"})
	})
	// clause: JC-366 JC-367 JC-014
	t.Run("job_list", func(t *testing.T) {
		p := parameters(t, "job_list")
		same(t, keys(p), []string{"status", "type", "limit", "offset", "include_nested", "include_descendants"})
		same(t, p.Required, nil)
		same(t, p.Properties["status"].Items.Enum, []string{"running", "idle", "completed", "failed", "command_exited_nonzero", "command_killed", "exhausted", "cancelled", "stopped"})
		same(t, p.Properties["type"].Items.Enum, []string{"shell", "delegate"})
	})
	t.Run("job_stop", func(t *testing.T) {
		p := parameters(t, "job_stop")
		same(t, keys(p), []string{"target", "max_wait_ms", "include_children"})
		same(t, p.Required, []string{"target"})
	})
	// clause: JC-344
	t.Run("read_transcript", func(t *testing.T) {
		p := parameters(t, "read_transcript")
		same(t, keys(p), []string{"transcript_ref", "format", "offset_bytes", "output_match", "context_lines", "range", "expand_turn"})
		same(t, p.Required, []string{"transcript_ref"})
	})
	t.Run("find_session_transcripts", func(t *testing.T) {
		p := parameters(t, "find_session_transcripts")
		same(t, keys(p), []string{"text", "since", "until", "children_of", "limit", "cursor"})
		same(t, p.Required, nil)
	})
	// What was printed is searched by a read alone, what will be printed by a watch.
	//
	// clause: JC-487
	t.Run("output_match", func(t *testing.T) {
		var with []string
		for _, d := range Definitions() {
			if slices.Contains(keys(parameters(t, d.Name)), "output_match") {
				with = append(with, d.Name)
			}
			if d.Name != "search_files" && d.Name != "list_files" { // which know files only
				for _, other := range []string{"pattern", "grep", "grep_pattern", "query", "regex", "match"} {
					if slices.Contains(keys(parameters(t, d.Name)), other) {
						t.Errorf("%s has %s", d.Name, other)
					}
				}
			}
		}
		same(t, with, []string{"job_watch", "read_transcript"})
	})
	t.Run("tasks", func(t *testing.T) {
		p := parameters(t, "tasks")
		same(t, keys(p), []string{"operation", "items", "id", "state", "note"})
		same(t, p.Required, []string{"operation"})
		same(t, p.Properties["operation"].Enum, []string{"list", "show", "add", "update"})
		same(t, p.Properties["state"].Enum, []string{"pending", "in_progress", "done", "dropped"})
	})
	// clause: JC-217 JC-545 JC-216 JC-285 JC-671
	t.Run("job_watch", func(t *testing.T) {
		p := parameters(t, "job_watch")
		same(t, keys(p), []string{"operation", "source", "watch_id", "output_match", "progress_interval_ms", "events", "event_filter", "every", "after_seconds", "repeat_seconds", "note"})
		same(t, p.Required, []string{"operation"})
		same(t, p.Properties["operation"].Enum, []string{"create", "list", "inspect", "clear"})
		same(t, p.Properties["events"].Items.Enum, []string{"assistant.tool", "communicate", "job.notification", "*"})
	})
	// clause: JC-078 JC-081 JC-172
	t.Run("delegate", func(t *testing.T) {
		p := parameters(t, "delegate")
		same(t, keys(p), []string{"prompt", "name", "task_list", "agent_type", "model", "reasoning_effort", "fork_context", "result_schema", "delegation_allowance", "watch_parent", "grant_tools", "isolation"})
		same(t, p.Required, []string{"prompt"})
		if got := p.Properties["delegation_allowance"].Type; got != "integer" {
			t.Errorf("delegation_allowance is of type %q", got)
		}
		for _, d := range Definitions() {
			if d.Name == "delegate" && regexp.MustCompile(`"(minimum|maximum|default)"`).Match(d.Parameters) {
				t.Errorf("delegation_allowance: %s", d.Parameters)
			}
		}
	})
	t.Run("delegate_send", func(t *testing.T) {
		p := parameters(t, "delegate_send")
		same(t, keys(p), []string{"to", "message", "max_wait_ms"})
		same(t, p.Required, []string{"to", "message"})
	})
	t.Run("communicate", func(t *testing.T) {
		p := parameters(t, "communicate")
		same(t, keys(p), []string{"message", "end_turn", "output"})
		same(t, p.Required, []string{"message", "end_turn"})
		same(t, keys(p.Properties["output"]), []string{"message", "data", "artifacts"})
	})
}

// clause: JC-023 JC-024 JC-025 JC-026 JC-027 JC-124 JC-491
func TestAbsentTools(t *testing.T) {
	absent := []string{
		"job_kill", "job_ack", "wait_job", "close_agent", "shell_job", "job_read_output", "job_output", "job_unwatch",
		"spawn_agent", "resume_agent", "send_input", "wait", "cancel_agent", "subagent_output", "list_agents",
	}
	for _, d := range Definitions() {
		if slices.Contains(absent, d.Name) {
			t.Errorf("%s is offered", d.Name)
		}
		if regexp.MustCompile(`agent_id|"(run|activation)_id"`).Match(d.Parameters) {
			t.Errorf("%s: %s", d.Name, d.Parameters)
		}
	}
}

// clause: JC-028
func TestOnlySendAndStopWait(t *testing.T) {
	waits := regexp.MustCompile(`wait|timeout|yield|block`)
	var found []string
	for _, d := range Definitions() {
		for _, name := range keys(parameters(t, d.Name)) {
			if waits.MatchString(name) {
				found = append(found, d.Name+"."+name)
			}
		}
	}
	same(t, found, []string{"delegate_send.max_wait_ms", "job_stop.max_wait_ms"})
}

// Each struct's parameters must be of the types that schema and decoding
// know, and a tool decodes into its own struct.
func TestEveryTypeDecodes(t *testing.T) {
	for _, e := range tools {
		var minimal []string
		for _, f := range fields(e.args) {
			if f.optional {
				continue
			}
			value := map[reflect.Kind]string{reflect.String: `"x"`, reflect.Bool: `true`}[e.args.Field(f.index).Type.Kind()]
			if f.enum != nil {
				value = `"` + f.enum[0] + `"`
			}
			minimal = append(minimal, `"`+f.name+`":`+value)
		}
		call, refusal := Decode(e.name, "{"+strings.Join(minimal, ",")+"}")
		if refusal != nil || reflect.TypeOf(call) != e.args {
			t.Errorf("%s: %T, %v", e.name, call, refusal)
		}
	}
}

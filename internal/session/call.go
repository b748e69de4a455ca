package session

import "encoding/json"

// The arguments of the model's tool calls, one struct a tool. Tool schemas are
// derived from these structs and arguments are decoded into them, so the two
// cannot differ. Tags: doc is the parameter's description, enum its values,
// optional:"" leaves it out of required, hidden:"" accepts it without
// advertising it.

// A Call is one decoded tool call of a model reply.
type Call interface{ call() }

// ShellCall starts a command.
type ShellCall struct {
	Command      string `json:"command" doc:"The command line, for bash."`
	Description  string `json:"description" optional:"" doc:"A few words for listings."`
	Mode         string `json:"mode" optional:"" enum:"foreground,background,detached" doc:"Default foreground."`
	MaxRuntimeMS int64  `json:"max_runtime_ms" optional:"" hidden:""`
}

// JobStatusCall reads one job's metadata.
type JobStatusCall struct {
	Target string `json:"target" doc:"job_... or dlg_..."`
}

// JobListCall lists jobs. Limit 0 is absent; an explicit 0 is not, so it is a pointer.
type JobListCall struct {
	Status             []string `json:"status" optional:"" enum:"running,idle,completed,failed,command_exited_nonzero,command_killed,exhausted,cancelled,stopped" doc:"Only these statuses."`
	Type               []string `json:"type" optional:"" enum:"shell,delegate" doc:"Only these types."`
	Limit              *int64   `json:"limit" optional:"" doc:"Rows a page, 1 or more; default 50; above 100 means 100."`
	Offset             *int64   `json:"offset" optional:"" doc:"Rows to skip, 0 or more; default 0."`
	IncludeNested      bool     `json:"include_nested" optional:"" doc:"Also jobs forwarded from direct children."`
	IncludeDescendants bool     `json:"include_descendants" optional:"" doc:"Also what live descendants own, with depth."`
}

// JobStopCall requests a stop.
type JobStopCall struct {
	Target          string `json:"target" doc:"job_... or dlg_..."`
	MaxWaitMS       int64  `json:"max_wait_ms" optional:"" doc:"Wait at most this long for the stop to finish; positive values are clamped to 1000..60000, negative ones refused. 0 or absent: return once the stop is signalled."`
	IncludeChildren bool   `json:"include_children" optional:"" doc:"Also stop the active jobs that this job started."`
}

// ReadTranscriptCall reads retained evidence.
type ReadTranscriptCall struct {
	Ref          string  `json:"transcript_ref" doc:"job:<job_id> or local:<session_id>"`
	Format       *string `json:"format" optional:"" enum:"markdown" doc:"Default markdown."`
	OffsetBytes  *int64  `json:"offset_bytes" optional:"" doc:"0 or more: read the 16 KiB page that starts at this byte; with output_match, search from there."`
	OutputMatch  *string `json:"output_match" optional:"" doc:"RE2 pattern to search for."`
	ContextLines *int64  `json:"context_lines" optional:"" doc:"Lines shown around each match, 0 to 20. Only with output_match."`
	Range        *string `json:"range" optional:"" doc:"last:N, start:N or A-B, in turn numbers. Only local:."`
	ExpandTurn   *int64  `json:"expand_turn" optional:"" doc:"Turn to show in full. Only local:."`
}

// FindCall finds sessions of the project.
type FindCall struct {
	Text       string `json:"text" optional:"" doc:"Stands in the conversation; any case. This session is left out."`
	Since      string `json:"since" optional:"" doc:"Active then or later: RFC 3339, or a date (UTC)."`
	Until      string `json:"until" optional:"" doc:"Begun by then."`
	ChildrenOf string `json:"children_of" optional:"" doc:"local:<session_id>: only its forks and delegates."`
	Limit      *int64 `json:"limit" optional:"" doc:"Default 20, most 100."`
	Cursor     string `json:"cursor" optional:""`
}

// ReadFileCall reads lines of a text file.
type ReadFileCall struct {
	Path   string `json:"path" doc:"Relative to the working directory, absolute, or ~/..."`
	Offset int64  `json:"offset" optional:"" doc:"First line, from 1."`
	Limit  int64  `json:"limit" optional:"" doc:"Lines; default and most 2000."`
}

// WriteFileCall makes a file or replaces all of it.
type WriteFileCall struct {
	Path    string `json:"path"`
	Content string `json:"content" doc:"All of the new content."`
}

// EditFileCall replaces a text in a file.
type EditFileCall struct {
	Path       string `json:"path"`
	OldString  string `json:"old_string" doc:"Exactly as in the file, without line numbers."`
	NewString  string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all" optional:"" doc:"Every occurrence; otherwise there must be one."`
}

// ListFilesCall lists a folder, or finds files by name below it.
type ListFilesCall struct {
	Path           string `json:"path" optional:"" doc:"Folder; default the working directory."`
	Pattern        string `json:"pattern" optional:"" doc:"Glob such as src/**/*.{ts,tsx}; without / it matches names at any depth, with / at its end folders."`
	Limit          int64  `json:"limit" optional:"" doc:"Entries; default 200, most 1000."`
	Offset         int64  `json:"offset" optional:"" doc:"Entries to skip."`
	IncludeIgnored bool   `json:"include_ignored" optional:"" doc:"Also what .gitignore excludes."`
}

// SearchFilesCall searches the content of files.
type SearchFilesCall struct {
	Pattern        string `json:"pattern" doc:"RE2, matched line by line; (?i) ignores case."`
	Path           string `json:"path" optional:"" doc:"File or folder; default the working directory."`
	Glob           string `json:"glob" optional:"" doc:"Only files that match, such as *.go."`
	ContextLines   int64  `json:"context_lines" optional:"" doc:"0 to 20."`
	FilesOnly      bool   `json:"files_only" optional:"" doc:"Only the paths of files with a match."`
	Limit          int64  `json:"limit" optional:"" doc:"Matches, or files with files_only; default 100, most 1000."`
	Offset         int64  `json:"offset" optional:"" doc:"Matches or files to skip."`
	IncludeIgnored bool   `json:"include_ignored" optional:"" doc:"Also what .gitignore excludes."`
}

// TasksCall reads or changes the session's task list. The tool's description
// says which parameters go with which operation.
type TasksCall struct {
	Operation string     `json:"operation" enum:"list,show,add,update"`
	Items     []TaskItem `json:"items" optional:""`
	ID        int64      `json:"id" optional:""`
	State     string     `json:"state" optional:"" enum:"pending,in_progress,done,dropped"`
	Note      string     `json:"note" optional:""`
}

// TaskItem is one task to be.
type TaskItem struct {
	Title  string `json:"title"`
	Prompt string `json:"prompt" optional:""`
	Type   string `json:"type" optional:""`
}

// CommunicateCall is the model's word to its user or owner.
type CommunicateCall struct {
	Message string             `json:"message" doc:"What the reader needs to know."`
	EndTurn bool               `json:"end_turn" doc:"true: final report, ends the turn. false: you go on after it."`
	Output  *CommunicateOutput `json:"output" optional:""`

	// Value is output as it was sent, a null too; none is an absent one. Misfit says
	// why it is no Output, which is a fault unless the run has a schema of its own.
	Value  json.RawMessage `json:"-"`
	Misfit string          `json:"-"`
}

// CommunicateOutput is the structured half of a report.
type CommunicateOutput struct {
	Message   string         `json:"message,omitempty" optional:""`
	Data      map[string]any `json:"data,omitempty" optional:""`
	Artifacts []string       `json:"artifacts,omitempty" optional:""`
}

// WatchCall creates, lists, inspects or clears watches.
type WatchCall struct {
	Operation    string       `json:"operation" enum:"create,list,inspect,clear" doc:"create needs source (a timer has self); inspect and clear need watch_id."`
	Source       string       `json:"source" optional:"" doc:"self, parent (granted to a delegate by watch_parent), your own dlg_..., or a job_... of yours or below you."`
	WatchID      string       `json:"watch_id" optional:""`
	OutputMatch  string       `json:"output_match" optional:"" doc:"RE2 pattern for the output of a job_...: fires if what is kept of it matches already, then with each match. Multiline; a match has at most 4096 bytes."`
	ProgressMS   *int64       `json:"progress_interval_ms" optional:"" doc:"Of a running job_...: a progress frame this often, clamped to 1000..3600000."`
	Events       []string     `json:"events" optional:"" enum:"assistant.tool,communicate,job.notification,*" doc:"Event kinds; * is all. parent and dlg_... default to all."`
	EventFilter  *WatchFilter `json:"event_filter" optional:"" doc:"Only with events [\"assistant.tool\"]."`
	Every        *int64       `json:"every" optional:"" doc:"Each Nth event, with exactly one kind."`
	AfterSeconds *int64       `json:"after_seconds" optional:"" doc:"A timer that fires once, 60..86400."`
	Repeat       *int64       `json:"repeat_seconds" optional:"" doc:"A timer that repeats, 60..3600."`
	Note         string       `json:"note" optional:"" doc:"Comes back with every frame; cut at 2048 characters."`
}

// WatchFilter narrows a watch of assistant.tool events.
type WatchFilter struct {
	ToolName string `json:"tool_name" optional:""`
	Status   string `json:"status" optional:"" enum:"ok,error"`
}

// DelegateCall starts a delegate. Allowance nil is absent; 0 makes a leaf.
type DelegateCall struct {
	Prompt          string         `json:"prompt"`
	Name            string         `json:"name" optional:""`
	TaskList        []SeedItem     `json:"task_list" optional:""`
	AgentType       string         `json:"agent_type" optional:""`
	Model           string         `json:"model" optional:"" doc:"provider/name; default yours."`
	ReasoningEffort string         `json:"reasoning_effort" optional:""`
	Isolation       string         `json:"isolation" optional:"" enum:"worktree"`
	ForkContext     bool           `json:"fork_context" optional:"" doc:"Begin with this conversation; same model."`
	ResultSchema    map[string]any `json:"result_schema" optional:"" doc:"JSON Schema of its structured result."`
	Allowance       *int64         `json:"delegation_allowance" optional:"" doc:"How deep it may delegate on: below yours, by default by one; 0: not at all."`
	WatchParent     bool           `json:"watch_parent" optional:"" doc:"Let it watch this session: job_watch(source=\"parent\")."`
	GrantTools      []string       `json:"grant_tools" optional:"" doc:"Tools of yours beyond its role's."`
	MaxWaitMS       *int64         `json:"max_wait_ms" optional:"" hidden:""`
}

// SeedItem is one step of the task list that a delegate begins with.
type SeedItem struct {
	Title  string `json:"title"`
	Prompt string `json:"prompt"`
	Type   string `json:"type" optional:""`
}

// DelegateSendCall sends a message to a delegate of the caller.
type DelegateSendCall struct {
	To        string `json:"to" doc:"dlg_..."`
	Message   string `json:"message" doc:"64 KiB at most."`
	MaxWaitMS int64  `json:"max_wait_ms" optional:"" doc:"Of an idle one: wait so long for its answer, at most 60000; a running one takes it at once."`
}

func (DelegateCall) call()     {}
func (DelegateSendCall) call() {}

func (WatchCall) call()          {}
func (ShellCall) call()          {}
func (JobStatusCall) call()      {}
func (JobListCall) call()        {}
func (JobStopCall) call()        {}
func (ReadTranscriptCall) call() {}
func (FindCall) call()           {}
func (ReadFileCall) call()       {}
func (WriteFileCall) call()      {}
func (EditFileCall) call()       {}
func (ListFilesCall) call()      {}
func (SearchFilesCall) call()    {}
func (TasksCall) call()          {}
func (CommunicateCall) call()    {}

package session

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
	Target string `json:"target" doc:"job_..."`
}

// JobListCall lists jobs. Limit 0 is absent; an explicit 0 is not, so it is a pointer.
type JobListCall struct {
	Status             []string `json:"status" optional:"" enum:"running,idle,completed,failed,command_exited_nonzero,command_killed,exhausted,cancelled,stopped" doc:"Only these statuses."`
	Type               []string `json:"type" optional:"" enum:"shell,delegate" doc:"Only these types."`
	Limit              *int64   `json:"limit" optional:"" doc:"Rows a page, 1 or more; default 50; above 100 means 100."`
	Offset             *int64   `json:"offset" optional:"" doc:"Rows to skip, 0 or more; default 0."`
	IncludeNested      bool     `json:"include_nested" optional:"" doc:"Also jobs forwarded from direct children."`
	IncludeDescendants bool     `json:"include_descendants" optional:"" doc:"Also jobs of all live descendants."`
}

// JobStopCall requests a stop.
type JobStopCall struct {
	Target          string `json:"target" doc:"job_..."`
	MaxWaitMS       int64  `json:"max_wait_ms" optional:"" doc:"Wait at most this long for the stop to finish; positive values are clamped to 1000..60000, negative ones refused. 0 or absent: return once the stop is signalled."`
	IncludeChildren bool   `json:"include_children" optional:"" doc:"Also stop the active jobs that this job started."`
}

// ReadTranscriptCall reads retained evidence.
type ReadTranscriptCall struct {
	Ref          string  `json:"transcript_ref" doc:"job:<job_id>"`
	Format       *string `json:"format" optional:"" enum:"markdown" doc:"Default markdown."`
	OffsetBytes  *int64  `json:"offset_bytes" optional:"" doc:"0 or more: read the 16 KiB page that starts at this byte; with output_match, search from there."`
	OutputMatch  *string `json:"output_match" optional:"" doc:"RE2 pattern to search for."`
	ContextLines *int64  `json:"context_lines" optional:"" doc:"Lines shown around each match, 0 to 20. Only with output_match."`
	Range        *string `json:"range" optional:"" hidden:""`
	ExpandTurn   *int64  `json:"expand_turn" optional:"" hidden:""`
}

// CommunicateCall is the model's word to its user or owner.
type CommunicateCall struct {
	Message string             `json:"message" doc:"What to tell the user."`
	EndTurn bool               `json:"end_turn" doc:"true: final report, ends the turn. false: a checkpoint."`
	Output  *CommunicateOutput `json:"output" optional:"" doc:"Structured result, beside the message."`
}

// CommunicateOutput is the structured half of a report.
type CommunicateOutput struct {
	Message   string         `json:"message,omitempty" optional:""`
	Data      map[string]any `json:"data,omitempty" optional:""`
	Artifacts []string       `json:"artifacts,omitempty" optional:""`
}

func (ShellCall) call()          {}
func (JobStatusCall) call()      {}
func (JobListCall) call()        {}
func (JobStopCall) call()        {}
func (ReadTranscriptCall) call() {}
func (CommunicateCall) call()    {}

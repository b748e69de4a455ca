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
	Command      string `json:"command" doc:"Command line, run by bash -c in the session's working directory."`
	Description  string `json:"description" optional:"" doc:"A few words shown in listings."`
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
	Limit              *int64   `json:"limit" optional:"" doc:"Page size, default 50, at most 100."`
	Offset             *int64   `json:"offset" optional:"" doc:"Rows to skip, default 0."`
	IncludeNested      bool     `json:"include_nested" optional:"" doc:"Also jobs forwarded from direct children."`
	IncludeDescendants bool     `json:"include_descendants" optional:"" doc:"Also jobs of all live descendants."`
}

// JobStopCall requests a stop.
type JobStopCall struct {
	Target          string `json:"target" doc:"job_..."`
	MaxWaitMS       int64  `json:"max_wait_ms" optional:"" doc:"Wait up to this long for the stop to finish (1000 to 60000); 0 or absent returns at once."`
	IncludeChildren bool   `json:"include_children" optional:"" doc:"Also stop active jobs that this job started."`
}

// ReadTranscriptCall reads retained evidence.
type ReadTranscriptCall struct {
	Ref          string  `json:"transcript_ref" doc:"job:<job_id>"`
	Format       *string `json:"format" optional:"" enum:"markdown" doc:"markdown, the default."`
	OffsetBytes  *int64  `json:"offset_bytes" optional:"" doc:"Read the 16 KiB page that starts at this byte of the job's output; with output_match, search from here."`
	OutputMatch  *string `json:"output_match" optional:"" doc:"RE2 pattern: search retained complete lines."`
	ContextLines *int64  `json:"context_lines" optional:"" doc:"Lines around each match, 0 to 20."`
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
	Message   string         `json:"message" optional:""`
	Data      map[string]any `json:"data" optional:""`
	Artifacts []string       `json:"artifacts" optional:""`
}

func (ShellCall) call()          {}
func (JobStatusCall) call()      {}
func (JobListCall) call()        {}
func (JobStopCall) call()        {}
func (ReadTranscriptCall) call() {}
func (CommunicateCall) call()    {}

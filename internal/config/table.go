package config

import "slices"

const (
	day = 24 * 60 * 60 * 1000 // ms
	kib = int64(1) << 10
	mib = int64(1) << 20
	gib = int64(1) << 30
	tib = int64(1) << 40
)

// table is every key, in the order in which it is printed and documented. The
// first are those that say which model answers, and where it is (endpoint.go).
var table = slices.Concat(modelKeys, endpointKeys, namedKeys, []key{
	{name: "state_dir", def: "", in: places("flag user"), env: "EVENER_STATE_DIR",
		doc:   "Folder that holds sessions/ in place of the project's .evener.",
		field: func(c *Config) any { return &c.StateDir }},
	{name: "state_home", def: "", in: places("user"), env: "EVENER_STATE_HOME", check: absolute,
		doc:   "Folder that holds projects/ with the sessions of each project, in place of its .evener.",
		field: func(c *Config) any { return &c.StateHome }},
	{name: "output", def: "text", choices: []string{"text", "json", "jsonl"}, in: places(everywhere),
		doc:   "Form of standard output: the report, one object, or every event as a line.",
		field: func(c *Config) any { return &c.Output }},
	{name: "output_schema", def: "", in: places("flag user"),
		doc:   "File with a JSON Schema that the output of the report must fit; see docs/output.md.",
		field: func(c *Config) any { return &c.OutputSchema }},
	{name: "trace", def: "", in: places("flag user"),
		doc:   "File that gets every model request and answer as they go over the wire; see docs/trace.md.",
		field: func(c *Config) any { return &c.Trace }},

	{name: "default_command_timeout_ms", def: int64(120_000), min: 1, max: day, unit: "ms", in: places("user project"),
		doc:   "How long a foreground command is waited for before it becomes a background job.",
		field: func(c *Config) any { return &c.DefaultCommandTimeoutMS }},
	{name: "max_command_timeout_ms", def: int64(600_000), min: 1, max: day, unit: "ms", in: places("user project"),
		doc:   "Upper bound of that wait; it limits no command.",
		field: func(c *Config) any { return &c.MaxCommandTimeoutMS }},
	{name: "stop_grace_ms", def: int64(2_000), min: 0, max: 10 * 60 * 1000, unit: "ms", in: places("user project"),
		doc:   "Time between SIGTERM and SIGKILL when a job is stopped.",
		field: func(c *Config) any { return &c.StopGraceMS }},
	{name: "output_cap_bytes", def: 64 * mib, min: 4 * kib, max: tib, unit: "bytes", in: places("user project"),
		doc:   "Output kept of one job, the newest.",
		field: func(c *Config) any { return &c.OutputCapBytes }},
	{name: "output_keep_total_bytes", def: 2 * gib, min: 4 * kib, max: 1024 * tib, unit: "bytes", in: places("user project"),
		doc:   "Output kept of all jobs of a session; beyond it the oldest ended jobs lose theirs.",
		field: func(c *Config) any { return &c.OutputKeepTotalBytes }},
	{name: "inline_output_bytes", def: 16 * kib, min: 256, max: mib, unit: "bytes", in: places("user project"),
		doc:   "Output that a shell result carries itself; more is kept as a job's output.",
		field: func(c *Config) any { return &c.InlineOutputBytes }},
	{name: "job_list_chars", def: int64(20_000), min: 1, max: mib, unit: "characters", in: places("user project"),
		doc:   "Length of the text of one job_list page.",
		field: func(c *Config) any { return &c.JobListChars }},
	{name: "read_transcript_chars", def: int64(24_000), min: 1_000, max: mib, unit: "characters", in: places("user project"),
		doc:   "Length of the markdown view of read_transcript.",
		field: func(c *Config) any { return &c.ReadTranscriptChars }},

	{name: "wait_jobs_ms", def: int64(0), min: -1, max: 365 * day, unit: "ms", in: places(everywhere), flag: &waitJobs,
		doc:   "How long a run waits at its end for running jobs: 0 not at all, -1 without bound. The flag is --wait-jobs[=DURATION].",
		field: func(c *Config) any { return &c.WaitJobsMS }},
	{name: "max_turns", def: int64(200), min: 1, max: 1_000_000, in: places(everywhere),
		doc:   "Model requests for one prompt and the notices that follow it; reaching it ends the turn as exhausted.",
		field: func(c *Config) any { return &c.MaxTurns }},
	{name: "max_tool_rounds", def: int64(0), min: 0, max: 1_000_000, in: places("user project"),
		doc:   "Rounds of tool calls, counted likewise; 0 is no bound.",
		field: func(c *Config) any { return &c.MaxToolRounds }},
	{name: "max_concurrent_shells", def: int64(0), min: 0, max: 1_000_000, in: places(everywhere),
		doc:   "Commands that run at once in a session and its delegates; a start above it fails tree_at_capacity. 0 is no bound.",
		field: func(c *Config) any { return &c.MaxConcurrentShells }},
	{name: "max_subagent_depth", def: int64(2), min: 0, max: 1_000, in: places(everywhere),
		doc:   "Delegation allowance of a root session: how many levels of delegates there may be. 0: none.",
		field: func(c *Config) any { return &c.MaxSubagentDepth }},
	{name: "max_concurrent_delegate_turns", dashed: "max-concurrent-delegates", def: int64(50), min: 1, max: 1_000_000, in: places(everywhere),
		doc:   "Delegate runs at once in a tree; a start above it fails tree_at_capacity.",
		field: func(c *Config) any { return &c.MaxConcurrentDelegates }},
	{name: "attention_drive_limit", def: int64(8), min: 1, max: 1_000_000, in: places("user project"),
		doc:   "Runs at once in which idle delegates are told what they are owed.",
		field: func(c *Config) any { return &c.AttentionDriveLimit }},
	{name: "attention_drive_timeout_ms", def: int64(300_000), min: 1, max: day, unit: "ms", in: places("user project"),
		doc:   "How long such a run may take.",
		field: func(c *Config) any { return &c.AttentionDriveTimeoutMS }},
	{name: "attention_drive_pace_ms", def: int64(15_000), min: 1, max: day, unit: "ms", in: places("user project"),
		doc:   "After such a run came to nothing, the time before the next; twice that after the second. A third ends it.",
		field: func(c *Config) any { return &c.AttentionDrivePaceMS }},
	{name: "result_schema_bytes", def: int64(64 << 10), min: 1 << 10, max: 256 << 10, unit: "bytes", in: places("user project"),
		doc:   "How large the schema of --output-schema or of a delegate's result_schema may be.",
		field: func(c *Config) any { return &c.ResultSchemaBytes }},
	{name: "quiet_watchdog_ms", def: int64(600_000), min: 0, max: day, unit: "ms", in: places("user project"),
		doc:   "Silence of a running delegate after which its owner is told; 0: never.",
		field: func(c *Config) any { return &c.QuietWatchdogMS }},
})

package session

import (
	"encoding/json"

	"evener/internal/id"
)

// Event is a fact of a session's journal: one of this package, or of job,
// attention, task or transcript.
type Event interface{ Kind() string }

// Created: the session exists.
type Created struct {
	Session  id.Session  `json:"session_id"`
	Root     id.Session  `json:"root_session_id"`
	Dir      string      `json:"dir"`
	Parent   id.Session  `json:"parent_session_id,omitempty"` // of a delegate's session: its owner's
	Delegate id.Delegate `json:"delegate_id,omitempty"`       // whose conversation this is
}

// ContextSet: what the model is told from here on, recorded once per change.
type ContextSet struct {
	Model  string          `json:"model"`
	System string          `json:"system"`
	Tools  json.RawMessage `json:"tools"`            // [{name, description, parameters}]
	Params json.RawMessage `json:"params,omitempty"` // {max_tokens, temperature, reasoning_effort}, those that were set
	// ContextTokens is how long a request may be, with its reply; 0 where nobody knows.
	ContextTokens int64 `json:"context_tokens,omitempty"`
}

// Mode is how long a session lives.
type Mode string

const (
	OneShot   Mode = "one_shot" // the process exits with the turn
	Living    Mode = "living"   // the session outlives its turns
	Delegated Mode = "delegate" // one generation of a delegate
)

// Limits are the numbers that decisions of a run use; recorded, so that the
// decisions can be made again.
type Limits struct {
	CommandTimeoutMS    int64 `json:"default_command_timeout_ms"` // clamped already
	StopGraceMS         int64 `json:"stop_grace_ms"`
	InlineOutputBytes   int64 `json:"inline_output_bytes"`
	OutputKeepTotal     int64 `json:"output_keep_total_bytes"`
	MaxTurns            int64 `json:"max_turns"`
	MaxToolRounds       int64 `json:"max_tool_rounds"`
	MaxConcurrentShells int64 `json:"max_concurrent_shells"`
	MaxSubagentDepth    int64 `json:"max_subagent_depth"`
	JobListChars        int64 `json:"job_list_chars"`
	JobListLines        int64 `json:"job_list_lines,omitempty"` // 0: no bound
	WaitJobsMS          int64 `json:"wait_jobs_ms,omitempty"`   // how long the end waits for running jobs; -1: without bound

	MaxConcurrentDelegates  int64 `json:"max_concurrent_delegate_turns,omitempty"`
	AttentionDriveLimit     int64 `json:"attention_drive_limit,omitempty"`
	AttentionDriveTimeoutMS int64 `json:"attention_drive_timeout_ms,omitempty"`
	AttentionDrivePaceMS    int64 `json:"attention_drive_pace_ms,omitempty"`
	MaxRetainedTerminal     int64 `json:"max_retained_terminal,omitempty"`
	IdleReleaseMS           int64 `json:"idle_release_ms,omitempty"`
	RecentWatches           int64 `json:"recent_watches,omitempty"`
	WatchFrameChars         int64 `json:"watch_frame_chars,omitempty"`
	RearmWatches            bool  `json:"rearm_watches,omitempty"`
	QuietWatchdogMS         int64 `json:"quiet_watchdog_ms,omitempty"`
	NameSessions            bool  `json:"name_sessions,omitempty"`
}

// RunStarted: a process took the session up.
type RunStarted struct {
	Run          int64           `json:"run"`
	Mode         Mode            `json:"mode"`
	Limits       Limits          `json:"limits"`
	ParentJob    id.Job          `json:"parent_job_id,omitempty"` // the job that this process itself runs in
	OutputSchema json.RawMessage `json:"output_schema,omitempty"` // JSON Schema that the output of the run's reports must fit
	// Generation is the delegate's, of which this run is all.
	Generation int64 `json:"generation,omitempty"`
	// Exits says of a delegate's run that the process exits with the root's turn.
	Exits bool `json:"exits_with_turn,omitempty"`
}

// InputEnded: a living run gets no more prompts; it ends when it has nothing left to do.
type InputEnded struct {
	Run   int64  `json:"run"`
	Error string `json:"error,omitempty"` // why it could not be read to its end
}

// PromptQueued: a prompt was accepted and waits for its turn, which a
// transcript.user with its number begins.
type PromptQueued struct {
	Prompt int64  `json:"prompt"` // its number among the queued prompts of the session, from 1
	Input  string `json:"input_id,omitempty"`
	Text   string `json:"text"`
}

// PromptDropped: a queued prompt gets no turn: it was taken back, or the run was ended from outside.
type PromptDropped struct {
	Prompt int64  `json:"prompt"`
	Input  string `json:"input_id,omitempty"`
	Why    string `json:"why"`
}

// JobsAwaited: nothing is left to do but to wait for running jobs. It comes once
// a run, and the time that it names holds for all that is waited for.
type JobsAwaited struct {
	Run      int64    `json:"run"`
	Jobs     []id.Job `json:"job_ids"`
	AtMostMS int64    `json:"at_most_ms,omitempty"`
}

// WaitExpired: that time has passed; what still runs is not waited for any more.
type WaitExpired struct {
	Run int64 `json:"run"`
}

// RunEnding: nothing new is admitted; running jobs are stopped.
type RunEnding struct {
	Run int64  `json:"run"`
	Why string `json:"why"`
}

// RunEnded: the run is over.
type RunEnded struct {
	Run     int64      `json:"run"`
	Outcome RunOutcome `json:"outcome"`
}

// RunOutcome is how a run ended.
type RunOutcome string

const (
	RunReported    RunOutcome = "reported"
	RunAnswered    RunOutcome = "answered" // bare text
	RunNoReport    RunOutcome = "no_report"
	RunOutputUnfit RunOutcome = "output_unfit" // it reported, but not what the schema asks for
	RunFailed      RunOutcome = "failed"
	RunExhausted   RunOutcome = "exhausted"
	RunInterrupted RunOutcome = "interrupted"
	RunClosed      RunOutcome = "closed" // a living run whose input ended
	RunLost        RunOutcome = "lost"   // written by the restart that found it open
)

// TurnKind is what started a turn.
type TurnKind string

const (
	UserTurn         TurnKind = "user"
	NotificationTurn TurnKind = "notification"
	AnnouncementTurn TurnKind = "announcement" // still-running jobs, once a run
	MessageTurn      TurnKind = "message"      // words of the owner to a delegate whose turn had ended
)

// TurnStarted: a turn began.
type TurnStarted struct {
	Turn int64    `json:"turn_id"`
	Type TurnKind `json:"turn_kind"`
}

// Requested: a model request is sent, with the notices that it is the first to carry.
type Requested struct {
	Turn      int64    `json:"turn_id"`
	Request   int64    `json:"request"`
	Attention []string `json:"attention_ids,omitempty"`
}

// Reported: a terminal communicate was accepted.
type Reported struct {
	Turn       int64           `json:"turn_id"`
	Call       string          `json:"call_id"`
	Message    string          `json:"message"`
	Output     json.RawMessage `json:"output,omitempty"`            // of the usual form, or any value where the run has a schema
	Violations []string        `json:"output_violations,omitempty"` // how it differs from that schema, after it was refused once
}

// OutputRefused: the model was told what to mend in its report, whose output
// does not fit the run's schema.
type OutputRefused struct {
	Turn       int64    `json:"turn_id"`
	Call       string   `json:"call_id,omitempty"` // the report; without one the turn ended in bare text or in nothing
	Violations []string `json:"output_violations"`
}

// InterruptRequested: the user wants the turn to end. What is in progress is
// stopped, its call answered, and nothing more is begun.
type InterruptRequested struct {
	Turn int64 `json:"turn_id"`
}

// TurnOutcome is how a turn ended.
type TurnOutcome string

const (
	TurnReported    TurnOutcome = "reported"
	TurnAnswered    TurnOutcome = "answered" // bare text
	TurnEmpty       TurnOutcome = "empty"
	TurnFailed      TurnOutcome = "failed"
	TurnExhausted   TurnOutcome = "exhausted"
	TurnInterrupted TurnOutcome = "interrupted"
)

// TurnEnded: a turn is over. Answer says that its report or text is now the run's answer.
type TurnEnded struct {
	Turn    int64       `json:"turn_id"`
	Outcome TurnOutcome `json:"outcome"`
	Reason  string      `json:"reason,omitempty"`
	Answer  bool        `json:"answer,omitempty"`
}

// MessageQueued: the owner of a delegate said something to its running
// generation; the next request carries it.
type MessageQueued struct {
	Message string `json:"message_id"`
	Text    string `json:"text"`
}

// SendWaiting: a delegate_send waits for the packet of the generation that it began.
type SendWaiting struct {
	Call       string      `json:"call_id"`
	Delegate   id.Delegate `json:"delegate_id"`
	Generation int64       `json:"generation"`
	MaxWaitMS  int64       `json:"max_wait_ms"`
}

// StopBegan: the session stops with its subtree; nothing new is admitted.
type StopBegan struct {
	Stop  string `json:"stop_id"`
	Close bool   `json:"close,omitempty"` // the root closes: what is owed stays owed
}

// StopEnded: nothing of the session runs any more; what it was owed is discarded.
type StopEnded struct {
	Stops []string `json:"stop_ids"`
}

func (MessageQueued) Kind() string { return "message.queued" }
func (SendWaiting) Kind() string   { return "send.waiting" }
func (StopBegan) Kind() string     { return "stop.began" }
func (StopEnded) Kind() string     { return "stop.ended" }

func (Created) Kind() string            { return "session.created" }
func (ContextSet) Kind() string         { return "session.context_set" }
func (RunStarted) Kind() string         { return "run.started" }
func (InputEnded) Kind() string         { return "run.input_ended" }
func (PromptQueued) Kind() string       { return "prompt.queued" }
func (PromptDropped) Kind() string      { return "prompt.dropped" }
func (InterruptRequested) Kind() string { return "turn.interrupt_requested" }
func (JobsAwaited) Kind() string        { return "run.jobs_awaited" }
func (WaitExpired) Kind() string        { return "run.wait_expired" }
func (RunEnding) Kind() string          { return "run.ending" }
func (RunEnded) Kind() string           { return "run.ended" }
func (TurnStarted) Kind() string        { return "turn.started" }
func (Requested) Kind() string          { return "turn.requested" }
func (Reported) Kind() string           { return "turn.reported" }
func (OutputRefused) Kind() string      { return "turn.output_refused" }
func (TurnEnded) Kind() string          { return "turn.ended" }

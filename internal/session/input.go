package session

import (
	"encoding/json"
	"time"

	"evener/internal/attention"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/task"
	"evener/internal/transcript"
	"evener/internal/watch"
)

// Input is a request to or a report for a session. Its JSON is the cause of
// the line that it leads to; fields tagged "-" stand in the line's own events.
type Input interface{ Kind() string }

// Prompt is the user's word that starts a turn, and with it a run if none is
// open. In a living session that is at work it waits for its turn.
type Prompt struct {
	Text      string     `json:"-"`
	ID        string     `json:"-"` // the user's own name for it, or none
	Mode      Mode       `json:"-"`
	Limits    Limits     `json:"-"`
	Context   ContextSet `json:"-"`
	Create    *Created   `json:"-"` // set for a new session
	ParentJob id.Job     `json:"-"`
	// OutputSchema, if set, has been found usable.
	OutputSchema json.RawMessage `json:"-"`
	// GoesOn: there is no text; the conversation that the session begins with waits
	// for a reply.
	GoesOn bool `json:"goes_on,omitempty"`
}

// Open starts a run that waits for prompts: what a Prompt has beside its text.
type Open struct{ Prompt }

// Interrupt ends the turn that is open; with an id only that of the prompt of
// this id, which may still wait for its turn.
type Interrupt struct {
	ID string `json:"input_id,omitempty"`
}

// EndInput says that a living session gets no more prompts.
type EndInput struct {
	Error string `json:"-"` // why it could not be read to its end; it stands in the line's run.input_ended
}

// Inherit writes the beginning of a session that begins with another's
// conversation: first where it comes from, then its entries.
type Inherit struct {
	Create  *Created               `json:"-"` // with Fork, in the first
	Fork    *Forked                `json:"-"`
	Context *ContextSet            `json:"-"`                    // what the other's model was told, where that comes along
	From    int64                  `json:"from_entry,omitempty"` // of a delegate: how many entries stand before these
	Entries []transcript.Inherited `json:"-"`
}

// Replied is a model's whole reply to a request.
type Replied struct {
	Request int64                    `json:"request"`
	Reply   transcript.AssistantSaid `json:"-"` // Turn and call ids are filled in by the decision
}

// ModelFailed: a request failed for good.
type ModelFailed struct {
	Request  int64  `json:"request"`
	Text     string `json:"text"`
	Overflow bool   `json:"overflow,omitempty"`       // because it was too long
	Limit    int64  `json:"context_tokens,omitempty"` // then: how long it may be, where that was told
}

// Launched: the held shell of a job exists.
type Launched struct {
	Job id.Job `json:"job_id"`
	job.Launch
}

// LaunchFailed: it could not be made.
type LaunchFailed struct {
	Job  id.Job `json:"job_id"`
	Text string `json:"text"`
}

// Exited: a job's command ended and its output is drained.
type Exited struct {
	Job id.Job `json:"job_id"`
	job.Exit
}

// Detached: a detached launch came about, or not (Error set).
type Detached struct {
	Call  string `json:"call_id"`
	PID   int    `json:"pid,omitempty"`
	Error string `json:"error,omitempty"`
}

// ReadDone: a read, or a search for sessions, has its result; it stands in the line's transcript.result.
type ReadDone struct {
	Call    string `json:"call_id"`
	IsError bool   `json:"-"`
	Text    string `json:"-"`
	Data    []byte `json:"-"`
}

// FilesDone: a file tool has its result; it stands in the line's
// transcript.result and file.seen.
type FilesDone struct {
	Call    string    `json:"call_id"`
	IsError bool      `json:"-"`
	Text    string    `json:"-"`
	Data    []byte    `json:"-"`
	Seen    *FileSeen `json:"-"`
}

// TimerFired: the time of a SetTimer effect has passed.
type TimerFired struct {
	Key string `json:"key"`
}

// Close ends the run in order: the turn is interrupted, jobs are stopped.
type Close struct {
	Why string `json:"why"`
}

// Abandon ends a run that never began: the prompt was refused. It writes nothing.
type Abandon struct{}

// Restarted is the first input of a process that took up an existing session:
// what it found of each job that had no terminal record.
type Restarted struct {
	Jobs    map[id.Job]job.Found `json:"jobs,omitempty"`
	Ended   []int                `json:"ended_pids,omitempty"`   // processes of these jobs that still lived and were ended
	Refused []int                `json:"refused_pids,omitempty"` // and those that could not be
	Seqs    map[string]int64     `json:"seqs"`                   // last seq of each journal as found; replay takes the rest as lost
}

// Begin starts a generation of a delegate: a run of its session.
type Begin struct {
	Generation int64           `json:"generation"`
	Create     *Created        `json:"-"` // set for the first
	Context    ContextSet      `json:"-"`
	Limits     Limits          `json:"-"`
	Exits      bool            `json:"-"`
	Schema     json.RawMessage `json:"-"` // of its structured result
	Tasks      []task.Step     `json:"-"` // that its list begins with
	Text       string          `json:"-"` // what the owner says; empty: notices are what it is about
	// Lost: the process that admitted it is gone. What was accepted is recorded, nothing runs.
	Lost bool `json:"lost,omitempty"`
}

// Message is the owner's word to a running generation.
type Message struct {
	ID   string `json:"message_id"`
	Text string `json:"-"`
}

// Deliver hands over what a delegate of this session owes it. Sent is the
// answer for a call that waits for it.
type Deliver struct {
	Notice     attention.DelegateArmed `json:"-"`
	Generation int64                   `json:"generation,omitempty"` // whose packet it is
	Sent       any                     `json:"-"`
}

// CallDone is the answer of the tree to a call that it was asked for.
type CallDone struct {
	Call    string `json:"call_id"`
	IsError bool   `json:"-"`
	Text    string `json:"-"`
	Data    []byte `json:"-"`
}

// WaitSend: the delegate_send in progress began this generation and waits for its packet.
type WaitSend struct {
	Call       string      `json:"call_id"`
	Delegate   id.Delegate `json:"delegate_id"`
	Generation int64       `json:"generation"`
	MaxWaitMS  int64       `json:"max_wait_ms"`
}

// WaitStop: the job_stop in progress waits for the stop of a delegate.
type WaitStop struct {
	Call      string `json:"call_id"`
	MaxWaitMS int64  `json:"max_wait_ms"`
}

// Fence stops everything of a session that belongs to a stopping subtree.
type Fence struct {
	Stop  string `json:"stop_id"`
	Close bool   `json:"close,omitempty"` // because the root closes
}

// StopShell is the stop of one job by somebody who owns its session.
type StopShell struct {
	Job      id.Job `json:"job_id"`
	Children bool   `json:"include_children,omitempty"`
}

// Halt ends a generation that may not go on.
type Halt struct {
	Generation int64  `json:"generation"`
	Why        string `json:"why"`
}

// Settle: something below this session came to rest; what waited for that goes on.
type Settle struct{}

// WatchGranted is the tree's answer to a create: what the source stands for.
type WatchGranted struct {
	Call       string       `json:"call_id"`
	Manager    id.Session   `json:"manager_session_id"`
	Generation int64        `json:"generation,omitempty"` // of a delegate source: the open one
	Held       int          `json:"held,omitempty"`       // live watches of other sessions on that manager's sources
	Ended      job.Status   `json:"job_status,omitempty"` // of a job source that has ended
	Refused    *fault.Error `json:"-"`
}

// WatchScanned: the output that a job has kept was searched for a watch that is
// being created. Matches are how often it matched, Excerpt the latest line.
type WatchScanned struct {
	Call    string   `json:"call_id"`
	Watch   id.Watch `json:"watch_id"`
	Job     id.Job   `json:"job_id"`
	Matches int64    `json:"matches,omitempty"`
	Excerpt string   `json:"excerpt,omitempty"`
	// Ended is how the job has ended, as its journal has it; empty while it runs
	// and is searched on.
	Ended job.Status `json:"job_status,omitempty"`
	Error string     `json:"error,omitempty"` // why there is nothing to search
}

// WatchMatched: output that came since then matched.
type WatchMatched struct {
	Watch    id.Watch `json:"watch_id"`
	Matches  int64    `json:"matches"`
	Excerpts []string `json:"excerpts,omitempty"` // of the first of them
}

// WatchLost: output went past before it was searched.
type WatchLost struct {
	Watch id.Watch `json:"watch_id"`
}

// Observed: something happened in another session that a watch of this one asks for.
type Observed struct {
	Watch id.Watch         `json:"watch_id"`
	What  watch.Occurrence `json:"what"`
}

// SourceEnded: the job or the delegate's run that watches of this session are on
// has ended.
type SourceEnded struct {
	Source     string `json:"source"`
	Generation int64  `json:"generation,omitempty"`
	Status     string `json:"status,omitempty"` // of a delegate's run
	Reason     string `json:"reason,omitempty"`
}

func (WatchGranted) Kind() string { return "watch.granted" }
func (WatchScanned) Kind() string { return "watch.scanned" }
func (WatchMatched) Kind() string { return "watch.matched" }
func (WatchLost) Kind() string    { return "watch.lost" }
func (Observed) Kind() string     { return "observed" }
func (SourceEnded) Kind() string  { return "source.ended" }

func (Begin) Kind() string     { return "begin" }
func (Message) Kind() string   { return "message" }
func (Deliver) Kind() string   { return "deliver" }
func (CallDone) Kind() string  { return "call.done" }
func (WaitSend) Kind() string  { return "wait.send" }
func (WaitStop) Kind() string  { return "wait.stop" }
func (Fence) Kind() string     { return "fence" }
func (StopShell) Kind() string { return "stop.shell" }
func (Halt) Kind() string      { return "halt" }
func (Settle) Kind() string    { return "settle" }

func (Prompt) Kind() string       { return "prompt" }
func (Open) Kind() string         { return "open" }
func (Interrupt) Kind() string    { return "interrupt" }
func (EndInput) Kind() string     { return "input.ended" }
func (Inherit) Kind() string      { return "inherit" }
func (Replied) Kind() string      { return "model.replied" }
func (ModelFailed) Kind() string  { return "model.failed" }
func (Launched) Kind() string     { return "process.launched" }
func (LaunchFailed) Kind() string { return "process.launch_failed" }
func (Exited) Kind() string       { return "process.exited" }
func (Detached) Kind() string     { return "process.detached" }
func (ReadDone) Kind() string     { return "read.done" }
func (FilesDone) Kind() string    { return "files.done" }
func (TimerFired) Kind() string   { return "timer.fired" }
func (Close) Kind() string        { return "close" }
func (Abandon) Kind() string      { return "abandon" }
func (Restarted) Kind() string    { return "restarted" }

// Facts are what the loop reads from outside the fold for every decision.
type Facts struct {
	Now    time.Time // microseconds, as the line's at
	Random uint32    // for one minted id
	// Live tells what only the running process knows of a job. What a decision
	// asked for is recorded with its cause.
	Live func(id.Job) job.Live
	// Output reads the two ends of a running job's output. They stand in the
	// line's result.
	Output func(id.Job) job.Output
	// Full is the state folder while its filesystem is full, and Room the bytes
	// that were set aside for that and can still be written.
	Full string
	Room int64
	// Fits lists how a value differs from a JSON schema: a function of these two alone.
	Fits func(schema, value json.RawMessage) []string
	// Scratch is the scratch folder of the tree, for results.
	Scratch string
	// Kin is what the tree says of what is below the session. It is folded from
	// the tree's journals, so no cause repeats it.
	Kin Kin
}

// Kin is what a session's rules read of its tree. Answers are looked up among the
// delegates, so only when a rule asks; nil is no.
type Kin struct {
	Family  bool // the tree has delegates
	Working ask  // delegates of this session run or owe it something; at the root: any below it
	Watched ask  // other sessions watch what happens in this one
	Open    ask  // the root closes, and something below it has not come to rest
	// Shells counts the commands that run in the other sessions of the tree; nil: there are none.
	Shells func() int64
	// Delegates says in a line each which delegates the session has; nil: it has none.
	Delegates func() []string
	// Jobs lists the handed-off commands that run below the root, which is asked alone.
	Jobs func() []*job.State
}

type ask func() bool

func (a ask) yes() bool { return a != nil && a() }

package delegate

import (
	"encoding/json"

	"evener/internal/id"
)

// Event is a fact about one delegate.
type Event interface {
	Kind() string
	DelegateID() id.Delegate
}

// Descriptor is what a delegate is made of: enough to restore it at any time.
type Descriptor struct {
	Name         string          `json:"name,omitempty"`
	AgentType    string          `json:"agent_type,omitempty"`
	Model        string          `json:"model"`
	Allowance    int64           `json:"delegation_allowance"`
	ResultSchema json.RawMessage `json:"result_schema,omitempty"`
	Dir          string          `json:"dir"`
	Worktree     *Worktree       `json:"worktree,omitempty"`
	WatchParent  bool            `json:"watch_parent,omitempty"` // it may watch its owner
	System       string          `json:"system"`
	Tools        json.RawMessage `json:"tools"`            // [{name, description, parameters}]
	Params       json.RawMessage `json:"params,omitempty"` // {max_tokens, temperature, reasoning_effort}, those that were set
	// ContextTokens is how long a request of its may be, with its reply; 0 where nobody knows.
	ContextTokens int64 `json:"context_tokens,omitempty"`
}

// Created: the delegate exists.
type Created struct {
	Delegate   id.Delegate `json:"delegate_id"`
	Session    id.Session  `json:"child_session_id"`
	Owner      id.Session  `json:"owner_session_id"`
	Parent     id.Delegate `json:"parent_delegate_id,omitempty"` // whose session the owner is; none for the root
	Call       string      `json:"origin_tool_call_id"`
	Descriptor Descriptor  `json:"descriptor"`
	Tasks      []Task      `json:"tasks,omitempty"` // what its task list begins with
	Fork       *Fork       `json:"fork,omitempty"`  // what its conversation begins with
}

// Fork is the conversation of the owner as it stood before the round of calls
// that asked for the delegate. What is said there later is not in it.
type Fork struct {
	Divergence int64 `json:"divergence_turn"` // number of the first turn that is not the owner's
	Step       int64 `json:"parent_step"`     // the last decision before the delegate's
	Requests   int64 `json:"requests"`        // model requests of the owner up to there
	Entries    int64 `json:"entries"`
}

// Task is one of them.
type Task struct {
	ID     int64  `json:"id"`
	Title  string `json:"title"`
	Prompt string `json:"prompt,omitempty"`
	Type   string `json:"type,omitempty"`
}

// Purpose is why a generation runs.
type Purpose string

const (
	ForOwner     Purpose = "owner"     // a message of its owner
	ForAttention Purpose = "attention" // notices that are owed to it
)

// GenerationStarted: a run of the delegate is admitted and holds a slot.
type GenerationStarted struct {
	Delegate   id.Delegate `json:"delegate_id"`
	Generation int64       `json:"generation"`
	Purpose    Purpose     `json:"purpose"`
	Text       string      `json:"text,omitempty"` // the owner's message, as the delegate will read it
	Call       string      `json:"origin_tool_call_id,omitempty"`
}

// UpdateQueued: the delegate told its owner something in the middle of its work.
type UpdateQueued struct {
	Delegate   id.Delegate `json:"delegate_id"`
	Generation int64       `json:"generation"`
	Delivery   string      `json:"delivery_id"`
	Message    string      `json:"message"`
}

// Status is how a generation ended.
type Status string

const (
	Completed Status = "completed"
	Failed    Status = "failed"
	Exhausted Status = "exhausted"
	Cancelled Status = "cancelled"
	Stopped   Status = "stopped"
)

// Reasons of the contract.
const (
	MissingTerminal = "missing_terminal"
	TerminalError   = "terminal_error"
	RuntimeLost     = "runtime_lost"
	StoppedByParent = "stopped_by_parent"
	StopPending     = "stop_pending"
)

// Finished: the one end of a generation. Packet is what the owner is told; it
// never changes from here on. An attention generation that had nothing to say
// owes nothing.
type Finished struct {
	Delegate   id.Delegate `json:"delegate_id"`
	Generation int64       `json:"generation"`
	Status     Status      `json:"status"`
	Reason     string      `json:"reason,omitempty"`
	Error      string      `json:"error,omitempty"`
	Delivery   string      `json:"delivery_id,omitempty"`
	Packet     *Packet     `json:"packet,omitempty"`
}

// Delivered: the owner's journal has this delivery.
type Delivered struct {
	Delegate id.Delegate `json:"delegate_id"`
	Delivery string      `json:"delivery_id"`
}

// Discarded: the owner is being stopped, and what it was owed goes with it.
type Discarded struct {
	Delegate   id.Delegate `json:"delegate_id"`
	Deliveries []string    `json:"delivery_ids"`
}

// StopRequested fences a subtree: from here on nothing new is admitted in it.
type StopRequested struct {
	Stop        string        `json:"stop_id"`
	Delegate    id.Delegate   `json:"delegate_id,omitempty"` // none: the root closes, and all stop
	Members     []id.Delegate `json:"members"`               // the target first, owners before what they own
	RequestedBy string        `json:"requested_by"`
	Previous    string        `json:"previous_status,omitempty"` // of the target: running or idle
}

// StopReceipt: nothing of this member runs any more.
type StopReceipt struct {
	Stop     string      `json:"stop_id"`
	Delegate id.Delegate `json:"delegate_id"`
}

// StopFinished: nothing of the subtree runs any more.
type StopFinished struct {
	Stop     string      `json:"stop_id"`
	Delegate id.Delegate `json:"delegate_id,omitempty"`
}

func (Created) Kind() string           { return "delegate.created" }
func (GenerationStarted) Kind() string { return "delegate.generation_started" }
func (UpdateQueued) Kind() string      { return "delegate.update_queued" }
func (Finished) Kind() string          { return "delegate.finished" }
func (Delivered) Kind() string         { return "delegate.delivered" }
func (Discarded) Kind() string         { return "delegate.discarded" }
func (StopRequested) Kind() string     { return "delegate.stop_requested" }
func (StopReceipt) Kind() string       { return "delegate.stop_receipt" }
func (StopFinished) Kind() string      { return "delegate.stop_finished" }

func (e Created) DelegateID() id.Delegate           { return e.Delegate }
func (e GenerationStarted) DelegateID() id.Delegate { return e.Delegate }
func (e UpdateQueued) DelegateID() id.Delegate      { return e.Delegate }
func (e Finished) DelegateID() id.Delegate          { return e.Delegate }
func (e Delivered) DelegateID() id.Delegate         { return e.Delegate }
func (e Discarded) DelegateID() id.Delegate         { return e.Delegate }
func (e StopRequested) DelegateID() id.Delegate     { return e.Delegate }
func (e StopReceipt) DelegateID() id.Delegate       { return e.Delegate }
func (e StopFinished) DelegateID() id.Delegate      { return e.Delegate }

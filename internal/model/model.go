// Package model is the boundary to language models: one interface, and the
// providers behind it. The rules:
//
//   - One call of Complete is one request for one reply. It holds no state
//     between calls: everything the model is told stands in the Request.
//   - What servers do differently ends here. Replies are normalised in
//     normalise.go, histories in history.go, and nowhere else.
//   - A call that came in half never looks runnable: Call.Broken says why.
//   - Only what may change is tried again (retry.go); a reply that broke off
//     is asked for again whole, so no part of it was ever seen by the caller.
//   - No error text holds a secret or more than one line (fault.go).
//   - Connections go to the configured endpoint only: redirects are not
//     followed. A proxy is used where the user's environment names one.
package model

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"evener/internal/transcript"
)

// Model answers requests. It may be used by many goroutines at once.
type Model interface {
	// Complete asks for one reply. It returns when the reply is whole, when
	// trying again is pointless or exhausted (*Error), or at once when ctx ends
	// (an error that wraps ctx.Err() and context.Cause(ctx)). progress may be nil; it is
	// called from the calling goroutine.
	Complete(ctx context.Context, r Request, progress func(Progress)) (Reply, error)
}

// Request is everything a model is told.
type Request struct {
	Session  string // for error texts and the trace; never sent
	Number   int64  // of the request in its session, for the trace
	For      string // ForName, ForSummary; "" for a reply in the conversation
	System   string
	Messages []Message
	Tools    []Tool
	Params   Params

	// Of a recording, which is told more than what is sent: where the session stands
	// in its tree, and all that was said in it.
	Place string
	Own   []transcript.Entry
}

// Params are the settings of a request; zero values leave the choice to the server.
type Params struct {
	MaxTokens       int64    `json:"max_tokens,omitempty"`
	Temperature     *float64 `json:"temperature,omitempty"`
	ReasoningEffort string   `json:"reasoning_effort,omitempty"`
}

// The roles of a message.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
)

// Message is one entry of a conversation. An assistant message is what
// Reply.Message returned; a tool message answers the call CallID.
type Message struct {
	Role           string
	Text           string
	Reasoning      string
	ReasoningField string // the name under which the server sent Reasoning; see Reply
	Calls          []Call
	CallID         string
	Anew           bool // a user message that opens a turn
}

// Tool is offered to the model. Parameters is a JSON schema of an object; nil means no parameters.
type Tool struct {
	Name        string
	Description string
	Parameters  json.RawMessage
}

// Call is one tool call of a reply.
type Call struct {
	// ID is never empty and unique in the conversation: one that the server left out or used before is replaced.
	ID   string
	Name string
	// Arguments as sent. What came as a JSON object is that object, compacted;
	// what came as null, as nothing or as an empty string is empty, which means {}.
	Arguments string
	// Broken is empty for a call that may run. Else it says in words for the
	// model why the call cannot: it came in half, or its arguments are no JSON object.
	Broken string
}

// Usage counts tokens. CacheRead is a part of Input, Reasoning a part of Output. Zero is also "not told".
type Usage struct {
	Input, Output, CacheRead, CacheWrite, Reasoning int64
}

// The values of Reply.Finish.
const (
	FinishStop   = "stop"
	FinishCalls  = "tool_calls" // there is at least one call, whatever the server said
	FinishLength = "length"     // cut by a token limit; calls that came in whole are not broken
	FinishFilter = "content_filter"
)

// Reply is one whole reply.
type Reply struct {
	Text      string
	Reasoning string
	// ReasoningField is where Reasoning came from: reasoning_content,
	// reasoning, or <think> for a block at the head of the text (which is then not in Text).
	ReasoningField string
	Calls          []Call
	Finish         string // one of the Finish constants
	FinishRaw      string // as sent, possibly empty
	Usage          Usage
	Model          string // as the server names it, possibly empty
	// Warning is one line for the user, empty as a rule: the server seems to have dropped part of the request.
	Warning string
}

// Message is the reply as an entry of the history of later requests.
func (r Reply) Message() Message {
	return Message{Role: RoleAssistant, Text: r.Text, Reasoning: r.Reasoning, ReasoningField: r.ReasoningField, Calls: r.Calls}
}

// Progress tells how far a call has come.
type Progress struct {
	Attempt int   // 1 for the first
	Bytes   int64 // of text, reasoning and arguments received in this attempt
	// Failed is set when this attempt failed and another one follows After.
	Failed *Error
	After  time.Duration
}

// Config is what a provider needs beside its model's name. Zero values mean the defaults given here.
type Config struct {
	// Provider names the server in errors: openai, or the name it has in the
	// configuration. KeyPrefix stands before the names of its keys there.
	Provider, KeyPrefix string
	KeyVariable         string // the environment variable that APIKey is from

	BaseURL string            // up to and including /v1
	APIKey  string            // empty: no Authorization header
	Headers map[string]string // sent with every request, winning over our own
	CAFile  string            // PEM certificates to trust instead of the system's
	Secrets []string          // never to appear in an error text, beside APIKey and Headers

	ConnectTimeout time.Duration // 10 s, for the connection and again for TLS
	IdleTimeout    time.Duration // 600 s: to the first byte, and between two bytes
	Tries          int           // 5 attempts in all
	RetryTotal     time.Duration // 5 min: all waits between attempts together

	Stream         string          // on (default), off, or no_tools: off for requests that offer tools
	NoParallel     bool            // do not send parallel_tool_calls
	MaxTokensField string          // max_tokens
	ReasoningEcho  string          // auto (default), off, or the name of a field; see docs of echo in history.go
	ExtraBody      json.RawMessage // a JSON object whose members are added to the body, winning over our own
	ContextTokens  int64           // for the text of an overflow only
	Exec           *Exec           // of exec/NAME
	Recording      *Recording      // of replay/SESSION
	Builtin        fs.FS           // scripts of the program itself: script/builtin:NAME
	Trace          *Trace          // where requests and answers are written down; nil: nowhere
}

func (c Config) withDefaults() Config {
	if c.ConnectTimeout <= 0 {
		c.ConnectTimeout = 10 * time.Second
	}
	if c.IdleTimeout <= 0 {
		c.IdleTimeout = 600 * time.Second
	}
	if c.Tries <= 0 {
		c.Tries = 5
	}
	if c.RetryTotal <= 0 {
		c.RetryTotal = 5 * time.Minute
	}
	if c.Stream == "" {
		c.Stream = "on"
	}
	if c.MaxTokensField == "" {
		c.MaxTokensField = "max_tokens"
	}
	if c.Provider == "" {
		c.Provider = "openai"
	}
	if c.KeyVariable == "" && c.KeyPrefix == "" {
		c.KeyVariable = "OPENAI_API_KEY"
	}
	if c.ReasoningEcho == "" {
		c.ReasoningEcho = "auto"
	}
	return c
}

// providers lists what Open knows, in the order of its error text.
var providers = []struct {
	name string
	open func(name string, c Config) (Model, error)
}{
	{"openai", openOpenAI},
	{"exec", openExec},
	{"script", openScript},
	{"replay", openReplay},
}

// Open returns the model that spec names: openai/NAME, exec/NAME, script/FILE or replay/SESSION.
// NAME may hold slashes. Nothing is connected or started yet; a script is read and checked.
func Open(spec string, c Config) (Model, error) {
	provider, name, _ := strings.Cut(spec, "/")
	var known []string
	for _, p := range providers {
		if p.name == provider && name != "" {
			return p.open(name, c.withDefaults())
		}
		known = append(known, p.name+"/…")
	}
	return nil, fmt.Errorf("model %q: want provider/name with one of the providers %s", spec, strings.Join(known, ", "))
}

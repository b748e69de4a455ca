// Package transcript is the conversation of one session: what was said, asked
// and answered, in order. It is the only source of model requests, and every
// call of an assistant entry gets exactly one result before anything else is
// said, so that a strict server accepts the history at any time.
package transcript

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Event is a fact about the conversation.
type Event interface{ Kind() string }

// UserSaid: the user's input of a turn, or a note of evener itself.
type UserSaid struct {
	Turn int64  `json:"turn_id"`
	Text string `json:"text"`
	Note bool   `json:"note,omitempty"` // evener's words, not the user's
	// Input is the id that the user's input gave itself.
	Input  string `json:"input_id,omitempty"`
	Prompt int64  `json:"prompt,omitempty"` // the queued prompt that this was
	// Message is the queued message of the owner that this is, in a delegate.
	Message string `json:"message_id,omitempty"`
}

// Call is a tool call as the model sent it, with the id that its result bears.
type Call struct {
	ID        string `json:"call_id"`
	SentID    string `json:"sent_id,omitempty"` // the model's own id, where it had been used before
	Name      string `json:"name"`
	Arguments string `json:"arguments"`        // as sent
	Broken    string `json:"broken,omitempty"` // why the call cannot be run: cut short, no JSON
}

// Usage counts tokens of one reply.
type Usage struct {
	Input  int64 `json:"input"`
	Output int64 `json:"output"`
	Cached int64 `json:"cached,omitempty"`
}

// Plus is the sum of both.
func (u Usage) Plus(v Usage) Usage {
	return Usage{u.Input + v.Input, u.Output + v.Output, u.Cached + v.Cached}
}

// AssistantSaid: one reply of the model.
type AssistantSaid struct {
	Turn           int64  `json:"turn_id"`
	Request        int64  `json:"request"`
	Text           string `json:"text,omitempty"`
	Reasoning      string `json:"reasoning,omitempty"`
	ReasoningField string `json:"reasoning_field,omitempty"` // where the server put it and wants it back
	Calls          []Call `json:"calls,omitempty"`
	Finish         string `json:"finish"`
	Model          string `json:"model,omitempty"`
	Usage          Usage  `json:"usage"`
}

// Answered: the result of a call. Text is what the model reads; it is left
// out when it is exactly the JSON of Data.
type Answered struct {
	Call    string          `json:"call_id"`
	Name    string          `json:"name"`
	IsError bool            `json:"is_error"`
	Text    string          `json:"text,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
}

func (UserSaid) Kind() string      { return "transcript.user" }
func (AssistantSaid) Kind() string { return "transcript.assistant" }
func (Answered) Kind() string      { return "transcript.result" }

// Shown is the result as the model reads it.
func (a Answered) Shown() string {
	if a.Text == "" {
		return string(a.Data)
	}
	return a.Text
}

// Role tells entries apart.
type Role int

const (
	User Role = iota
	Assistant
	Tool
	Frames  // notices, carried as user text
	Summary // of the entries before it, see Compacted
)

// Entry is one item of the conversation. Entries never change once appended,
// so a prefix may be read while the loop goes on.
type Entry struct {
	Role      Role
	Turn      int64
	Text      string // user text, tool result, joined frames
	Assistant *AssistantSaid
	Compacted *Compacted
	Call      string // tool results: the call they answer
	Name      string
	Note      bool // user text: evener's words
	IsError   bool // tool results
}

func (e UserSaid) entry() Entry {
	return Entry{Role: User, Turn: e.Turn, Text: e.Text, Note: e.Note}
}

func (e AssistantSaid) entry() Entry {
	return Entry{Role: Assistant, Turn: e.Turn, Text: e.Text, Assistant: &e}
}

func (e Answered) entry() Entry {
	return Entry{Role: Tool, Text: e.Shown(), Call: e.Call, Name: e.Name, IsError: e.IsError}
}

// State is the conversation, folded.
type State struct {
	Entries []Entry
	open    []Call // calls of the last reply that have no result yet, in order
	ids     map[string]bool
	gone    int // entries that were let go, see Release
}

// New is an empty conversation.
func New() State { return State{ids: map[string]bool{}} }

// Open lists the calls without a result, in call order. The first of them is in progress.
func (s *State) Open() []Call { return s.open }

// InProgress is the call that is worked on, if it is this one: the first open
// one. "" asks for whichever it is.
func (s *State) InProgress(call string) (Call, bool) {
	if len(s.open) == 0 || call != "" && s.open[0].ID != call {
		return Call{}, false
	}
	return s.open[0], true
}

// CallOf finds a call of a reply by its id.
func (s *State) CallOf(call string) (Call, bool) {
	for i := len(s.Entries) - 1; i >= 0; i-- {
		said := s.Entries[i].Assistant
		if said == nil {
			continue
		}
		for _, c := range said.Calls {
			if c.ID == call {
				return c, true
			}
		}
	}
	return Call{}, false
}

// IsOpen reports whether a call has no result yet.
func (s *State) IsOpen(call string) bool {
	return slices.ContainsFunc(s.open, func(c Call) bool { return c.ID == call })
}

// UsedID reports whether a call id was ever used in this conversation.
func (s *State) UsedID(x string) bool { return s.ids[x] }

// Repeated counts how often the same call was made in a row, this one included.
func (s *State) Repeated(c Call) int {
	n := 0
	e := s.Entries
	for i := len(e) - 1; i >= 0; i-- {
		if e[i].Role == Tool || e[i].Role == Frames || e[i].Role == Summary {
			continue
		}
		said := e[i].Assistant
		if said == nil {
			break
		}
		same := len(said.Calls) > 0
		for _, x := range said.Calls {
			same = same && x.Name == c.Name && x.Arguments == c.Arguments
		}
		if !same {
			break
		}
		n += len(said.Calls)
	}
	return n
}

// Apply folds one event. It fails on an event that cannot follow.
func (s *State) Apply(e Event) error {
	if err := s.here(); err != nil {
		return err
	}
	switch e := e.(type) {
	case UserSaid:
		if len(s.open) > 0 {
			return fmt.Errorf("transcript: user text while call %s is open", s.open[0].ID)
		}
		s.push(e.entry())
	case AssistantSaid:
		if len(s.open) > 0 {
			return fmt.Errorf("transcript: reply while call %s is open", s.open[0].ID)
		}
		for _, c := range e.Calls {
			if c.ID == "" || s.ids[c.ID] {
				return fmt.Errorf("transcript: call id %q used twice", c.ID)
			}
			s.ids[c.ID] = true
		}
		s.push(e.entry())
		s.open = append([]Call(nil), e.Calls...)
	case Answered:
		if len(s.open) == 0 || s.open[0].ID != e.Call {
			return fmt.Errorf("transcript: result of call %s out of order", e.Call)
		}
		s.open = s.open[1:]
		s.push(e.entry())
	case Compacted:
		return s.compact(e)
	case Inherited:
		return s.inherit(e)
	default:
		return fmt.Errorf("transcript: unknown event %T", e)
	}
	return nil
}

// push doubles the room when it is used up: a long history is folded on every
// start, and moving it in small steps would cost more than decoding it.
func (s *State) push(e Entry) {
	if len(s.Entries) == cap(s.Entries) {
		s.Entries = slices.Grow(s.Entries, max(16, len(s.Entries)))
	}
	s.Entries = append(s.Entries, e)
}

// Show appends frames as one item.
func (s *State) Show(turn int64, frames []string) error {
	if err := s.here(); err != nil {
		return err
	}
	if len(s.open) > 0 {
		return fmt.Errorf("transcript: frames while call %s is open", s.open[0].ID)
	}
	s.push(Entry{Role: Frames, Turn: turn, Text: strings.Join(frames, "\n")})
	return nil
}

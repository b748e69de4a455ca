package evidence

import (
	"fmt"
	"strings"

	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/text"
	"evener/internal/transcript"
)

// Conversation is what a read says of a session: a snapshot, which later turns
// do not change.
type Conversation struct {
	ID       id.Session
	Delegate id.Delegate // whose conversation it is; empty at a root
	Parent   id.Session  // its owner's session
	Model    string
	Run      string // outcome of the latest run; "open" while it is not ended
	Turns    int64  // turns begun
	Entries  []transcript.Entry
}

// ConversationOf takes the conversation of a folded session. Entries never
// change, so the session may go on meanwhile.
func ConversationOf(s *session.State) Conversation {
	c := Conversation{ID: s.ID, Delegate: s.Delegate, Parent: s.Parent, Model: s.Context.Model, Run: string(s.Run.Outcome), Turns: s.Turns, Entries: s.Transcript.Entries}
	if s.Run.Open {
		c.Run = "open"
	}
	return c
}

// Conversation finds the conversation of any session, as job refs find theirs.
func (r Reader) Conversation(s id.Session) (Conversation, *fault.Error) {
	missing := fault.New(fault.TargetNotFound, "read_transcript: no session %s", s)
	home, refusal := r.homeOf(s, fmt.Sprintf("session %s", s), missing)
	if refusal != nil {
		return Conversation{}, refusal
	}
	state, err := store.LoadSession(home, s)
	switch {
	case err != nil:
		return Conversation{}, fault.New(fault.TargetNotFound, "read_transcript: the record of session %s cannot be read: %v", s, err)
	case state.ID == "": // made, but nothing was recorded yet
		return Conversation{}, missing
	}
	return ConversationOf(state), nil
}

type conversationView struct {
	Ref         string           `json:"transcript_ref"`
	Format      string           `json:"format"`
	ContentType string           `json:"content_type"`
	Content     string           `json:"content"`
	Meta        conversationMeta `json:"meta"`
}

type conversationMeta struct {
	Truncated bool    `json:"truncated"`
	Turns     int64   `json:"turns"` // of the whole conversation
	First     int64   `json:"first_turn"`
	Last      int64   `json:"last_turn"`
	NextRange string  `json:"next_range,omitempty"`      // what was asked for and had no room
	Shortened []int64 `json:"shortened_turns,omitempty"` // expand_turn shows more of these
}

// ReadConversation gives the turns that the arguments ask for, as compact JSON.
// Without a range these are the newest that have room.
func (r Reader) ReadConversation(c Conversation, a session.ReadTranscriptCall) ([]byte, *fault.Error) {
	p, refusal := c.pick(a)
	if refusal != nil {
		return nil, refusal
	}
	head := c.head()
	shown := p.window(c.turns(), max(0, r.MaxChars-runes(head)))
	m := conversationMeta{Turns: c.Turns, First: shown.first, Last: shown.last, Shortened: shown.shortened}
	switch {
	case shown.first > p.from:
		m.NextRange = fmt.Sprintf("%d-%d", p.from, shown.first-1)
	case shown.last < p.to:
		m.NextRange = fmt.Sprintf("%d-%d", shown.last+1, p.to)
	}
	m.Truncated = shown.cut || m.NextRange != ""
	return text.Encode(conversationView{Ref: "local:" + string(c.ID), Format: "markdown", ContentType: "text/markdown",
		Content: head + shown.text, Meta: m}), nil
}

// picked are the turns that a read asks for. What has no room is left out at
// the end, or at the beginning where the newest are wanted.
type picked struct {
	from, to int64
	newest   bool
	expand   bool
}

func (c Conversation) pick(a session.ReadTranscriptCall) (picked, *fault.Error) {
	if n := a.ExpandTurn; n != nil {
		if *n > c.Turns {
			return picked{}, fault.Invalid("read_transcript: expand_turn %d: the conversation has %d turns", *n, c.Turns)
		}
		return picked{from: *n, to: *n, expand: true}, nil
	}
	p := picked{from: 1, to: c.Turns, newest: true}
	if a.Range == nil {
		return p, nil
	}
	t, refusal := session.ParseTurns(*a.Range)
	switch {
	case refusal != nil:
		return picked{}, refusal
	case t.Last > 0:
		p.from = max(1, c.Turns-t.Last+1)
	case t.First > 0:
		p.to, p.newest = min(t.First, c.Turns), false
	case t.From > c.Turns:
		return picked{}, fault.Invalid("read_transcript: range %s: the conversation has %d turns", *a.Range, c.Turns)
	default:
		p = picked{from: t.From, to: min(t.To, c.Turns)}
	}
	return p, nil
}

// maxNames bounds a name in the view, in characters.
const maxNames = 64

func (c Conversation) head() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Session %s\n\n", c.ID)
	if c.Delegate != "" {
		fmt.Fprintf(&b, "- delegate: %s, of session %s\n", c.Delegate, c.Parent)
	}
	fmt.Fprintf(&b, "- model: %s\n- run: %s\n- turns: %d\n", text.Preview(c.Model, maxNames), c.Run, c.Turns)
	return b.String()
}

// turn is one turn as it is shown: a heading and blocks, each with its own.
type turn struct {
	n      int64
	blocks []block
}

type block struct {
	head, body string
	said       bool // somebody's words, which are shortened less
	expanded   bool // shown only where the turn is expanded
	tool       string
}

// turns puts entries under their turns, of which there is one for each number.
func (c Conversation) turns() []turn {
	all := make([]turn, c.Turns)
	for i := range all {
		all[i].n = int64(i) + 1
	}
	at := int64(1)
	for _, e := range c.Entries {
		if e.Turn != 0 { // results stand where their calls do
			at = e.Turn
		}
		if at <= c.Turns {
			all[at-1].blocks = append(all[at-1].blocks, c.blocks(e)...)
		}
	}
	return all
}

// blocks says who spoke. The words of evener, of notices and of an owner are
// the model's user text, but not the user's.
func (c Conversation) blocks(e transcript.Entry) []block {
	switch e.Role {
	case transcript.User:
		who := "User"
		if c.Delegate != "" {
			who = "Owner"
		}
		if e.Note {
			who = "Evener"
		}
		return []block{{head: who, body: e.Text, said: true}}
	case transcript.Frames:
		return []block{{head: "Notices", body: e.Text, said: true}}
	case transcript.Tool:
		head := "Result of "
		if e.IsError {
			head = "Error of "
		}
		return []block{{head: head + called(e.Name, e.Call), body: e.Text, tool: e.Name}}
	}
	var out []block
	if e.Assistant.Reasoning != "" {
		out = append(out, block{head: "Assistant, reasoning", body: e.Assistant.Reasoning, expanded: true})
	}
	if e.Text != "" {
		out = append(out, block{head: "Assistant", body: e.Text, said: true})
	}
	for _, k := range e.Assistant.Calls {
		out = append(out, block{head: "Call of " + called(k.Name, k.ID), body: k.Arguments, tool: k.Name})
	}
	return out
}

func called(name, call string) string {
	return text.Preview(name, maxNames) + " (" + text.Preview(call, maxNames) + ")"
}

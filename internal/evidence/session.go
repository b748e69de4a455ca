package evidence

import (
	"context"
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
	store.Talk
	Entries []transcript.Entry
}

// ConversationOf takes the conversation of a folded session. Entries never
// change, so the session may go on meanwhile.
func ConversationOf(s *session.State) Conversation {
	t := store.Talk{Session: s.ID, Delegate: s.Delegate, Parent: s.Parent, Name: s.Name, Model: s.Context.Model, Run: s.Latest(), Turns: s.Turns}
	if s.Run.Open {
		t.Run = "open"
	}
	return Conversation{t, s.Transcript.Entries}
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
	g, refusal := r.gather(a)
	if refusal != nil {
		return nil, refusal
	}
	at := int64(1)
	for _, e := range c.Entries {
		if e.Turn != 0 { // results stand where their calls do
			at = e.Turn
		}
		g.add(c, e, at)
	}
	return r.view(c, g, a)
}

// ReadSession does so for any session, found as job refs find theirs. Its journal
// is read through, and only what is shown of it is kept: a first time to learn which
// turns that may be, a second time for their words.
func (r Reader) ReadSession(ctx context.Context, s id.Session, a session.ReadTranscriptCall) ([]byte, *fault.Error) {
	missing := fault.New(fault.TargetNotFound, "read_transcript: no session %s", s)
	home, refusal := r.homeOf(s, fmt.Sprintf("session %s", s), missing)
	if refusal != nil {
		return nil, refusal
	}
	g, refusal := r.gather(a)
	if refusal != nil {
		return nil, refusal
	}
	tally := tally{picked: g.picked, room: r.MaxChars}
	t, err := home.Converse(ctx, s, tally.count, func(*store.Talk, transcript.Entry, int64) error { return nil })
	if err != nil {
		return nil, unread(s, err)
	}
	t, err = home.Converse(ctx, s, tally.shown(t.Turns), func(t *store.Talk, e transcript.Entry, turn int64) error {
		g.add(Conversation{Talk: *t}, e, turn)
		return nil
	})
	switch {
	case err != nil:
		return nil, unread(s, err)
	case t.Session == "": // made, but nothing was recorded yet
		return nil, missing
	}
	return r.view(Conversation{Talk: t}, g, a)
}

func unread(s id.Session, err error) *fault.Error {
	return fault.New(fault.TargetNotFound, "read_transcript: the record of session %s cannot be read: %v", s, err)
}

func (r Reader) gather(a session.ReadTranscriptCall) (*gathering, *fault.Error) {
	p, refusal := pick(a)
	return &gathering{picked: p, room: r.MaxChars}, refusal
}

// view shows what was gathered of a conversation.
func (r Reader) view(c Conversation, g *gathering, a session.ReadTranscriptCall) ([]byte, *fault.Error) {
	p, refusal := g.within(c.Turns, a)
	if refusal != nil {
		return nil, refusal
	}
	head := c.head()
	shown := g.window(p, max(0, r.MaxChars-runes(head)))
	m := conversationMeta{Turns: c.Turns, First: shown.first, Last: shown.last, Shortened: shown.shortened}
	switch {
	case shown.first > p.from:
		m.NextRange = fmt.Sprintf("%d-%d", p.from, shown.first-1)
	case shown.last < p.to:
		m.NextRange = fmt.Sprintf("%d-%d", shown.last+1, p.to)
	}
	m.Truncated = shown.cut || m.NextRange != ""
	return text.Encode(conversationView{Ref: ref(c.Session), Format: "markdown", ContentType: "text/markdown",
		Content: head + shown.text, Meta: m}), nil
}

// maxNames bounds a name in the view, in characters.
const maxNames = 64

func (c Conversation) head() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Session %s\n\n", c.Session)
	if c.Delegate != "" {
		fmt.Fprintf(&b, "- delegate: %s, of session %s\n", c.Delegate, c.Parent)
	}
	if c.Name != "" {
		fmt.Fprintf(&b, "- name: %s\n", text.Preview(c.Name, maxNames))
	}
	fmt.Fprintf(&b, "- model: %s\n- run: %s\n- turns: %d\n", text.Preview(c.Model, maxNames), c.Run, c.Turns)
	return b.String()
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
		switch {
		case e.Note:
			who = "Evener"
		case c.Delegate != "" && strings.HasPrefix(e.Text, session.FromParent):
			who = "From parent"
		}
		return []block{{head: who, body: e.Text, said: true}}
	case transcript.Summary:
		return []block{{head: "Summary of the beginning, from here on in its place", body: e.Text, said: true}}
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

// Part is a piece of an entry: who speaks, and the words, whole.
type Part struct{ Head, Body string }

// Parts are the pieces of an entry as views head them. Of a reply the calls come last.
func (c Conversation) Parts(e transcript.Entry) []Part {
	var out []Part
	for _, k := range c.blocks(e) {
		out = append(out, Part{k.head, k.body})
	}
	return out
}

func called(name, call string) string {
	return text.Preview(name, maxNames) + " (" + text.Preview(call, maxNames) + ")"
}

package transcript

import (
	"errors"
	"strings"
)

// Inherited: an entry of the conversation that another session had and this one
// begins with. One of the fields is set: the fact as that session recorded it.
// In the conversation of a delegate a result has its text alone.
type Inherited struct {
	User      *UserSaid      `json:"user,omitempty"`      // as transcript.user
	Assistant *AssistantSaid `json:"assistant,omitempty"` // as transcript.assistant
	Result    *Answered      `json:"result,omitempty"`    // as transcript.result
	Notices   *Notices       `json:"notices,omitempty"`   // the frames that a request was the first to carry
	Compacted *Compacted     `json:"compacted,omitempty"` // as transcript.compacted
}

// Notices are the frames that a request was the first to carry, as text.
type Notices struct {
	Turn int64  `json:"turn_id"`
	Text string `json:"text"`
}

func (Inherited) Kind() string { return "transcript.inherited" }

// NoticesOf joins frames as the model reads them.
func NoticesOf(turn int64, frames []string) *Notices {
	return &Notices{turn, strings.Join(frames, "\n")}
}

// inherit folds the fact as it was folded where it comes from.
func (s *State) inherit(e Inherited) error {
	set := 0
	for _, is := range []bool{e.User != nil, e.Assistant != nil, e.Result != nil, e.Notices != nil, e.Compacted != nil} {
		if is {
			set++
		}
	}
	switch {
	case set != 1:
		return errors.New("transcript: an inherited entry is none or several")
	case e.User != nil:
		return s.Apply(*e.User)
	case e.Assistant != nil:
		return s.Apply(*e.Assistant)
	case e.Result != nil:
		return s.Apply(*e.Result)
	case e.Compacted != nil:
		return s.Apply(*e.Compacted)
	}
	return s.Show(e.Notices.Turn, []string{e.Notices.Text})
}

// Entry is the item of the conversation that the entry becomes. One that is none
// or several is an empty one.
func (e Inherited) Entry() Entry {
	switch {
	case e.User != nil:
		return e.User.entry()
	case e.Assistant != nil:
		return e.Assistant.entry()
	case e.Result != nil:
		return e.Result.entry()
	case e.Compacted != nil:
		return e.Compacted.entry()
	case e.Notices != nil:
		return Entry{Role: Frames, Turn: e.Notices.Turn, Text: e.Notices.Text}
	}
	return Entry{}
}

// LineBytes is about what one line holds of a conversation that is copied.
const LineBytes = 64 << 10

// Size is about what the entry takes in a line, in bytes.
func (e Inherited) Size() int {
	switch {
	case e.User != nil:
		return len(e.User.Text)
	case e.Assistant != nil:
		n := len(e.Assistant.Text) + len(e.Assistant.Reasoning)
		for _, c := range e.Assistant.Calls {
			n += len(c.Arguments)
		}
		return n
	case e.Result != nil:
		return len(e.Result.Text) + len(e.Result.Data)
	case e.Compacted != nil:
		return len(e.Compacted.Summary)
	}
	return len(e.Notices.Text)
}

// Inherited is the entry as the beginning of another conversation. Names that
// mean something in this one are left out.
func (e Entry) Inherited() Inherited {
	switch e.Role {
	case Assistant:
		return Inherited{Assistant: e.Assistant}
	case Tool:
		return Inherited{Result: &Answered{Call: e.Call, Name: e.Name, IsError: e.IsError, Text: e.Text}}
	case Summary:
		return Inherited{Compacted: e.Compacted}
	case Frames:
		return Inherited{Notices: &Notices{e.Turn, e.Text}}
	}
	return Inherited{User: &UserSaid{Turn: e.Turn, Text: e.Text, Note: e.Note}}
}

// Whole is how many entries stand before the round whose calls are not all
// answered: all of them where none is.
func (s *State) Whole() int {
	n := len(s.Entries)
	if len(s.open) == 0 {
		return n
	}
	for n--; s.Entries[n].Role != Assistant; n-- {
	}
	return n
}

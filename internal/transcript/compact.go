package transcript

import (
	"fmt"
	"slices"
)

// A conversation that has become too long for its model is shortened: a summary
// stands for its beginning. Nothing is taken away: the entries stay where they
// are, and so does every number; the summary is one more of them. What the model
// is told is the latest summary and what it does not stand for.

// Compacted: a summary stands for the beginning of the conversation from here on.
type Compacted struct {
	Turn    int64  `json:"turn_id"`
	Request int64  `json:"request"`        // that asked for it
	Upto    int64  `json:"up_to_entry"`    // how many entries it stands for, an earlier summary among them
	Summary string `json:"summary"`        // in the model's words
	Note    string `json:"note,omitempty"` // evener's, behind it: what is still there
	Model   string `json:"model,omitempty"`
	Usage   Usage  `json:"usage"`
}

func (Compacted) Kind() string { return "transcript.compacted" }

func (s *State) compact(e Compacted) error {
	if len(s.open) > 0 {
		return fmt.Errorf("transcript: a summary while call %s is open", s.open[0].ID)
	}
	if e.Upto <= int64(s.Summed()) || e.Upto > int64(len(s.Entries)) || e.Upto < int64(len(s.Entries)) && s.Entries[e.Upto].Role == Tool {
		return fmt.Errorf("transcript: a summary of %d of %d entries", e.Upto, len(s.Entries))
	}
	s.push(e.entry())
	return nil
}

// summed stands before a summary, as the model reads it.
const summed = "The beginning of this conversation was too long and is summarised here.\n\n"

// Shown is the summary as the model reads it.
func (e Compacted) Shown() string {
	if e.Note == "" {
		return summed + e.Summary
	}
	return summed + e.Summary + "\n\n" + e.Note
}

func (e Compacted) entry() Entry {
	return Entry{Role: Summary, Turn: e.Turn, Text: e.Shown(), Compacted: &e}
}

// Summed is how many entries the latest summary stands for.
func (s *State) Summed() int {
	if at := latest(s.Entries); at >= 0 {
		return int(s.Entries[at].Compacted.Upto)
	}
	return 0
}

// Context is what the model is told.
func (s *State) Context() []Entry { return Context(s.Entries) }

// Context is what a model is told of a conversation: all of it, or the latest
// summary and what it does not stand for. A call and its results stay together.
func Context(all []Entry) []Entry {
	at := latest(all)
	if at < 0 {
		return all
	}
	return append([]Entry{heading(all, at)}, spoken(all[all[at].Compacted.Upto:])...)
}

// Before is what a new summary of so many entries is made of: an earlier one,
// and what came behind what that stands for.
func (s *State) Before(upto int64) []Entry {
	at := latest(s.Entries)
	if at < 0 {
		return s.Entries[:upto]
	}
	return append([]Entry{s.Entries[at]}, spoken(s.Entries[s.Entries[at].Compacted.Upto:upto])...)
}

// heading is a summary as it stands before the rest: as the user's words of the
// turn that follows, so that no reply is missed between them.
func heading(all []Entry, at int) Entry {
	e := all[at]
	for _, next := range spoken(all[e.Compacted.Upto:]) {
		if next.Turn != 0 {
			e.Turn = next.Turn
			break
		}
	}
	return e
}

func latest(all []Entry) int {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Role == Summary {
			return i
		}
	}
	return -1
}

// spoken leaves summaries out.
func spoken(all []Entry) []Entry {
	return slices.DeleteFunc(slices.Clone(all), func(e Entry) bool { return e.Role == Summary })
}

// Size is about what the entry takes in a request, in bytes.
func (e Entry) Size() int {
	n := len(e.Text) + 16
	if e.Assistant != nil {
		n += len(e.Assistant.Reasoning)
		for _, c := range e.Assistant.Calls {
			n += len(c.Name) + len(c.Arguments) + 32
		}
	}
	return n
}

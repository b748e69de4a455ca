package transcript

import (
	"errors"
	"strings"
)

// Inherited: an entry of the conversation that another session had and this one
// begins with. One of the fields is set: the fact as that session recorded it.
type Inherited struct {
	User      *UserSaid      `json:"user,omitempty"`      // as transcript.user
	Assistant *AssistantSaid `json:"assistant,omitempty"` // as transcript.assistant
	Result    *Answered      `json:"result,omitempty"`    // as transcript.result
	Notices   *Notices       `json:"notices,omitempty"`   // the frames that a request was the first to carry
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
	for _, is := range []bool{e.User != nil, e.Assistant != nil, e.Result != nil, e.Notices != nil} {
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
	}
	return s.Show(e.Notices.Turn, []string{e.Notices.Text})
}

package session

import (
	"fmt"

	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/transcript"
)

// A session may begin with the conversation of another. The copy is fixed: what
// the other says later is not in it, and nothing of the work is: no job or delegate,
// no notice that is still owed, no task, no file that was read, no token used.
// Texts keep the ids of the other's jobs, whose output stays readable. Turns and
// requests are counted on from the other's.

// ForkHow is why a conversation was copied.
type ForkHow string

const (
	// ResumeWith: the user began a new session with it.
	ResumeWith ForkHow = "resume_with"
	// ForkContext: a delegate begins with the conversation of its owner.
	ForkContext ForkHow = "fork_context"
	// ForkAtTurn: the user went back to what stands before a turn.
	ForkAtTurn ForkHow = "fork"
	// Aside: the user wants the whole conversation once more, to go on beside it.
	Aside ForkHow = "aside"
	// RunOn: the user ran on from a decision of the past.
	RunOn ForkHow = "run_on"
)

// Forked: the conversation begins with that of another session, in the
// transcript.inherited of the lines behind this one.
type Forked struct {
	Parent     id.Session `json:"parent_session_id"`
	Divergence int64      `json:"divergence_turn"` // number of the first turn that is not the parent's
	How        ForkHow    `json:"how"`
	Step       int64      `json:"parent_step"` // the last decision of the parent that is in it; of a delegate: the last before it
	Requests   int64      `json:"requests"`    // model requests of the parent up to there
	Entries    int64      `json:"entries"`
	// Tools bound what the session may call, where it began with a delegate's
	// conversation and settings: it can no more than the delegate could.
	Tools []string `json:"tools,omitempty"`
}

func (Forked) Kind() string { return "session.forked" }

// inherit writes a piece of the beginning. One that stands there already is not
// written again.
func (w *work) inherit(in Inherit) *fault.Error {
	if w.s.Run.N > 0 {
		return fault.Invalid("the session has begun; its conversation cannot begin anew")
	}
	if in.Create != nil && w.s.ID != "" || in.From > 0 && in.From != int64(len(w.s.Transcript.Entries)) {
		return nil
	}
	if in.Create != nil && in.Fork != nil {
		w.emit(*in.Create)
		w.emit(*in.Fork)
	}
	if in.Context != nil {
		w.emit(*in.Context)
	}
	for _, e := range in.Entries {
		w.emit(e)
	}
	return nil
}

// goOn asks for the reply that the conversation waits for with which the session
// begins: a turn that nobody opens with a word.
func (w *work) goOn(in Prompt) *fault.Error {
	all := w.s.Transcript.Entries
	if w.s.Run.N > 0 || w.s.Fork.How != RunOn || len(all) == 0 || all[len(all)-1].Role == transcript.Assistant {
		return fault.Invalid("the conversation does not wait for a reply; it goes on with a prompt")
	}
	w.begin(in)
	w.startTurn(UserTurn, transcript.UserSaid{})
	return nil
}

// inherited stands before the assignment of a delegate whose conversation begins
// with its owner's.
const inherited = "So far this was the conversation of your parent agent, a copy. Your own assignment:\n"

// assignment is what the owner says, as the delegate reads it.
func (s *State) assignment(text string) string {
	if s.Fork.How == ForkContext && s.Run.N == 1 {
		return inherited + text
	}
	return text
}

// ForkPoint is what a delegate of this session begins with: the conversation before
// the round that is open.
func (s *State) ForkPoint(step int64) Forked {
	f := Forked{Parent: s.ID, Divergence: s.Turns + 1, How: ForkContext, Step: step, Requests: s.Requests, Entries: int64(s.Transcript.Whole())}
	if len(s.Transcript.Open()) > 0 {
		f.Requests-- // that one asked for the round
	}
	return f
}

// Own are the entries of the conversation that were said in this session.
func (s *State) Own() []transcript.Entry {
	return s.Transcript.Entries[min(s.Fork.Entries, int64(len(s.Transcript.Entries))):]
}

func (s *State) applyFork(e Event) error {
	if s.Run.N > 0 {
		return fmt.Errorf("%s: the session has begun", e.Kind())
	}
	switch e := e.(type) {
	case Forked:
		if s.ID == "" || s.Fork.Parent != "" || e.Parent == "" || e.Divergence < 1 {
			return fmt.Errorf("session %s: forked out of order", s.ID)
		}
		s.Fork, s.Turns, s.Requests = e, e.Divergence-1, e.Requests
	case transcript.Inherited:
		if int64(len(s.Transcript.Entries)) >= s.Fork.Entries {
			return fmt.Errorf("session %s: more is inherited than the %d entries of session %s", s.ID, s.Fork.Entries, s.Fork.Parent)
		}
		return s.Transcript.Apply(e)
	}
	return nil
}

// BranchOnly stands for how the latest run ended where a branch has had none.
const BranchOnly = "branch"

// Latest is how the latest run ended: empty while the first one is open.
func (s *State) Latest() string {
	if s.Run.N == 0 && s.Fork.Parent != "" {
		return BranchOnly
	}
	return string(s.Run.Outcome)
}

package session

import (
	"fmt"
	"slices"
	"strings"

	"evener/internal/fault"
	"evener/internal/transcript"
)

// open starts a run without a prompt of its own. What a lost process left, a
// prompt or a notice, is taken up at once.
func (w *work) open(in Open) *fault.Error {
	if w.s.Run.Open {
		return fault.Invalid("a run is open already")
	}
	w.begin(in.Prompt)
	w.next(true)
	return nil
}

// begin opens a run and records what the model is told, where that has changed.
func (w *work) begin(in Prompt) {
	s := w.s
	if in.Create != nil {
		w.emit(*in.Create)
	}
	if !s.Run.Open {
		w.emit(RunStarted{Run: s.Run.N + 1, Mode: in.Mode, Limits: in.Limits, ParentJob: in.ParentJob, OutputSchema: in.OutputSchema})
		if w.facts.Kin.Family {
			w.signal(RunBegan{})
		}
	}
	if !sameContext(s.Context, in.Context) {
		w.emit(in.Context)
	}
}

func sameContext(a, b ContextSet) bool {
	return a.Model == b.Model && a.System == b.System && string(a.Tools) == string(b.Tools) && string(a.Params) == string(b.Params) && a.ContextTokens == b.ContextTokens
}

// prompt starts a turn, or queues the prompt behind what is at work or waits.
// Prompts get their turns in the order in which they were accepted, also over
// a loss of the process; only an interrupt or a close drops one.
func (w *work) prompt(in Prompt) *fault.Error {
	s := w.s
	if in.GoesOn {
		return w.goOn(in)
	}
	if err := s.admits(in); err != nil {
		return err
	}
	if w.facts.Full != "" && s.Run.Open { // whoever sent it can send it again
		return fault.New(fault.StateFull, "the filesystem of %s is full, so the prompt could not be recorded; free space there and send it again", w.facts.Full)
	}
	w.begin(in)
	if s.Turn == nil && len(s.Queue) == 0 {
		w.startTurn(UserTurn, transcript.UserSaid{Text: in.Text, Input: in.ID})
		return nil
	}
	w.emit(PromptQueued{Prompt: s.Prompts + 1, Input: in.ID, Text: in.Text})
	if s.Turn == nil {
		w.next(true)
	}
	return nil
}

func (s *State) admits(in Prompt) *fault.Error {
	switch {
	case s.Run.Open && s.Run.Ending != "":
		return fault.New(fault.Closing, "the session is closing; nothing new is admitted")
	case s.Run.Open && s.Run.InputEnded:
		return fault.New(fault.Closing, "the input of the session has ended; nothing new is admitted")
	case s.Turn != nil && s.Run.Mode != Living:
		return fault.Invalid("a turn is open; wait for its end")
	case strings.TrimSpace(in.Text) == "":
		return fault.Invalid("the prompt is empty")
	case in.ID != "" && s.named(in.ID):
		return fault.Invalid("the id %s is that of a prompt that has not ended; give each an id of its own", quote(in.ID))
	}
	return nil
}

// named reports whether an unended prompt has this id.
func (s *State) named(input string) bool {
	return s.Turn != nil && s.Turn.Input == input || slices.ContainsFunc(s.Queue, func(q Queued) bool { return q.ID == input })
}

// takePrompt gives the prompt that waits longest its turn.
func (w *work) takePrompt() {
	q := w.s.Queue[0]
	w.startTurn(UserTurn, transcript.UserSaid{Text: q.Text, Input: q.ID, Prompt: q.N})
}

// endInput says that no prompt will come any more: the run ends when nothing is
// left to do, as a run of one prompt does.
func (w *work) endInput(in EndInput) {
	s := w.s
	if !s.Run.Open || s.Run.Mode != Living || s.Run.Ending != "" || s.Run.InputEnded {
		return
	}
	w.emit(InputEnded{Run: s.Run.N, Error: in.Error})
	if s.Turn == nil {
		w.next(true)
	}
}

// lacksAnswer reports whether a turn ended without what its prompt asked for. An
// interrupted one was not to give it.
func (r *Run) lacksAnswer(t *Turn, o TurnOutcome) bool {
	switch o {
	case TurnReported:
		return !t.Report.fits()
	case TurnAnswered:
		return r.Schema != nil
	}
	return o != TurnInterrupted
}

func (s *State) applyQueue(e Event) error {
	switch e := e.(type) {
	case PromptQueued:
		if e.Prompt != s.Prompts+1 {
			return fmt.Errorf("prompt %d: queued out of order", e.Prompt)
		}
		s.Prompts = e.Prompt
		s.Queue = append(s.Queue, Queued{N: e.Prompt, ID: e.Input, Text: e.Text})
	case PromptDropped:
		i := slices.IndexFunc(s.Queue, func(q Queued) bool { return q.N == e.Prompt })
		if i < 0 {
			return fmt.Errorf("prompt %d: dropped but not queued", e.Prompt)
		}
		s.Queue = slices.Delete(s.Queue, i, i+1)
	}
	return nil
}

// applySaid takes a queued prompt out of the queue where the text is one.
func (s *State) applySaid(e transcript.UserSaid) error {
	if e.Prompt != 0 {
		if len(s.Queue) == 0 || s.Queue[0].N != e.Prompt {
			return fmt.Errorf("prompt %d: taken out of order", e.Prompt)
		}
		s.Queue = slices.Delete(s.Queue, 0, 1)
	}
	if e.Message != "" {
		if err := s.applyMessage(e); err != nil {
			return err
		}
	}
	if s.Turn != nil && !e.Note {
		s.Turn.Input = e.Input
	}
	return s.Transcript.Apply(e)
}

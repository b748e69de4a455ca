package host

import (
	"encoding/json"
	"fmt"
	"strings"

	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/text"
	"evener/internal/transcript"
	"evener/internal/tree"
)

// TurnResult is what a turn came to, a line behind its TURN_END in the output
// of a living session.
type TurnResult struct {
	Type       string              `json:"type"` // turn_result
	Session    id.Session          `json:"session_id"`
	Turn       int64               `json:"turn_id"`
	Kind       session.TurnKind    `json:"turn_kind"`
	Input      string              `json:"input_id,omitempty"`
	Outcome    session.TurnOutcome `json:"outcome"`
	Reported   bool                `json:"reported"`
	Message    string              `json:"message"`
	Output     json.RawMessage     `json:"output,omitempty"`
	Violations []string            `json:"output_violations,omitempty"`
	Error      string              `json:"error,omitempty"`
	Requests   int64               `json:"requests"`
	Usage      Usage               `json:"usage"`
}

// Line is the result as one line of JSON, with its newline.
func (r TurnResult) Line() []byte {
	return append(text.Encode(r), '\n')
}

// Result is the turn's, where the event ends one.
func (e Event) Result() (TurnResult, bool) {
	if e.result == nil {
		return TurnResult{}, false
	}
	return *e.result, true
}

// turnResult tells how a turn ended. A report that was accepted is told also of
// a turn that got no further.
func turnResult(s id.Session, t session.Turn, e session.TurnEnded) *TurnResult {
	r := &TurnResult{
		Type: "turn_result", Session: s, Turn: e.Turn, Kind: t.Kind, Input: t.Input, Outcome: e.Outcome, Error: e.Reason,
		Requests: t.Requests, Usage: Usage{t.Tokens.Input, t.Tokens.Output},
	}
	switch {
	case t.Report != nil:
		r.Reported, r.Message, r.Output, r.Violations = true, t.Report.Text, t.Report.Output, t.Report.Violations
	case e.Outcome == session.TurnAnswered:
		r.Message = t.Text
	}
	return r
}

// follow keeps what the result of the open turn needs.
func (p *Projector) follow(s id.Session, e session.Event, line []session.Event) {
	t := p.turns[s]
	defer func() { p.turns[s] = t }()
	switch e := e.(type) {
	case session.TurnStarted:
		t = session.Turn{N: e.Turn, Kind: e.Type}
		for _, x := range line { // its prompt stands further on in the same line
			if u, ok := x.(transcript.UserSaid); ok && u.Turn == e.Turn && !u.Note {
				t.Input = u.Input
			}
		}
	case session.Requested:
		t.Requests++
	case transcript.AssistantSaid:
		t.Text, t.Tokens = e.Text, t.Tokens.Plus(e.Usage)
	case session.Reported:
		t.Report = &session.Answer{Text: e.Message, Output: e.Output, Violations: e.Violations, Reported: true}
	}
}

// Result is the final object of a run, the last line of --output jsonl and the
// only one of --output json.
type Result struct {
	Type       string             `json:"type"` // result
	Session    id.Session         `json:"session_id"`
	Outcome    session.RunOutcome `json:"outcome"`
	Reported   bool               `json:"reported"` // the model reported; false for bare text
	Message    string             `json:"message"`
	Output     json.RawMessage    `json:"output,omitempty"`
	Violations []string           `json:"output_violations,omitempty"` // how the output differs from the schema of the run
	Error      string             `json:"error,omitempty"`
	Killed     []KilledJob        `json:"killed_jobs"` // jobs that still ran and were ended at exit
	Dropped    []DroppedPrompt    `json:"dropped_prompts,omitempty"`
	Turns      int64              `json:"turns"`
	Requests   int64              `json:"requests"`
	Usage      Usage              `json:"usage"`
}

// KilledJob is a job that was ended because the process exits.
type KilledJob struct {
	Job         id.Job `json:"job_id"`
	Description string `json:"description,omitempty"`
	Command     string `json:"command"`
}

// DroppedPrompt is an accepted prompt that got no turn because the run was ended from outside.
type DroppedPrompt struct {
	Prompt int64  `json:"prompt"`
	Input  string `json:"input_id,omitempty"`
}

// Usage counts tokens: of a turn, or in the final object of the whole tree so far.
type Usage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
}

// ResultOf summarises a run that has ended. killed and dropped are what its end
// found running and waiting.
func ResultOf(t *tree.State, killed []id.Job, dropped []session.PromptDropped) Result {
	s := t.Session()
	r := Result{
		Type: "result", Session: s.ID, Outcome: s.Run.Outcome, Killed: []KilledJob{}, Turns: s.Turns, Requests: s.Run.Requests,
	}
	for _, x := range t.Sessions { // what delegates used is paid for, too
		r.Usage.Input += x.Tokens.Input
		r.Usage.Output += x.Tokens.Output
	}
	if a := s.Run.Answer; a != nil {
		r.Reported, r.Message, r.Output, r.Violations = a.Reported, a.Text, a.Output, a.Violations
	}
	switch s.Run.Outcome {
	case session.RunReported, session.RunAnswered:
	case session.RunOutputUnfit:
		r.Error = "the output does not fit the schema: " + r.Violations[0]
		if n := len(r.Violations) - 1; n > 0 {
			r.Error += fmt.Sprintf(" (and %d more)", n)
		}
	case session.RunClosed:
		r.Error = s.Run.InputError
		if n := s.Run.Unanswered; n > 0 {
			r.Error = strings.TrimPrefix(fmt.Sprintf("%s; prompts that ended without an answer: %d", r.Error, n), "; ")
		}
	case session.RunNoReport:
		r.Error = "the model ended its turn without a report"
	default:
		r.Error = s.Run.LastReason
	}
	for _, j := range killed {
		owner := t.Sessions[j.Owner()] // the root, or a delegate below it
		if owner == nil {
			continue
		}
		if x := owner.Job(j); x != nil { // a call's own command has no job: its result tells its end
			r.Killed = append(r.Killed, KilledJob{Job: j, Description: x.Description, Command: x.Command})
		}
	}
	for _, p := range dropped {
		r.Dropped = append(r.Dropped, DroppedPrompt{p.Prompt, p.Input})
	}
	return r
}

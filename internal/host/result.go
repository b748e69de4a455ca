package host

import (
	"encoding/json"
	"fmt"

	"evener/internal/id"
	"evener/internal/session"
)

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

// Usage counts tokens over the whole session.
type Usage struct {
	Input  int64 `json:"input_tokens"`
	Output int64 `json:"output_tokens"`
}

// ResultOf summarises a run that has ended.
func ResultOf(s *session.State, killed []id.Job) Result {
	r := Result{
		Type: "result", Session: s.ID, Outcome: s.Run.Outcome, Killed: []KilledJob{}, Turns: s.Turns, Requests: s.Run.Requests,
		Usage: Usage{s.Tokens.Input, s.Tokens.Output},
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
	case session.RunNoReport:
		r.Error = "the model ended its turn without a report"
	default:
		r.Error = s.Run.LastReason
	}
	for _, j := range killed {
		if x := s.Job(j); x != nil { // a call's own command has no job: its result tells its end
			r.Killed = append(r.Killed, KilledJob{Job: j, Description: x.Description, Command: x.Command})
		}
	}
	return r
}

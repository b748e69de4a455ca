package session

import (
	"encoding/json"
	"strings"

	"evener/internal/fault"
	"evener/internal/text"
	"evener/internal/transcript"
)

// A run may have a schema. Then the output of its reports is a JSON value that
// fits it:
//
//	report that fits                  accepted
//	report that does not, the first   refused with every violation; the turn goes on
//	report that does not, again       accepted with its violations: message and value are kept, the run ends output_unfit
//	turn ended without a report       the model is told so once, then the turn ends as it is
//
// A delegate is not asked again: its owner reads the message and why there is no
// result. Both are told once a turn. A report that fits is not replaced by one that does
// not, unless it was for an earlier prompt.

// noOutput is the violation of a run that ends without any output.
func (r *Run) noOutput() []string {
	if r.Schema == nil {
		return nil
	}
	return []string{"there is no output"}
}

// fits: an answer whose output is what the run must answer with. No answer does not.
func (a *Answer) fits() bool { return a != nil && a.Reported && len(a.Violations) == 0 }

// output is what of a report's output is kept: with a schema the value as it was sent.
func (r *Run) output(a CommunicateCall) json.RawMessage {
	switch {
	case r.Schema != nil:
		return a.Value
	case a.Output != nil:
		return text.Encode(a.Output)
	}
	return nil
}

// unfit lists how a report's output differs from the run's schema.
func (w *work) unfit(a CommunicateCall) []string {
	switch {
	case w.s.Run.Schema == nil:
		return nil
	case len(a.Value) == 0:
		return w.s.Run.noOutput()
	}
	return w.facts.Fits(w.s.Run.Schema, a.Value)
}

// refuseOutput tells the model what to mend.
func (w *work) refuseOutput(c transcript.Call, a CommunicateCall, unfit []string) {
	w.emit(OutputRefused{Turn: w.s.Turn.N, Call: c.ID, Violations: unfit})
	hint := ""
	if inString(a.Value) {
		hint = "\nGive the JSON value itself, not a string that holds it."
	}
	w.refuse(c, fault.Invalid("communicate: output does not fit its schema, so this is no report yet. Mend these and call communicate(end_turn=true) again:\n%s%s", strings.Join(unfit, "\n"), hint))
}

// inString: a string that holds an object or a list.
func inString(value json.RawMessage) bool {
	var s string
	if json.Unmarshal(value, &s) != nil {
		return false
	}
	s = strings.TrimSpace(s)
	return s != "" && (s[0] == '{' || s[0] == '[') && json.Valid([]byte(s))
}

const outputMissing = "Your turn ended without a report, and your text alone is none: this run answers with structured output. " +
	"Call communicate with end_turn=true, a message, and output, a JSON value that fits the schema of that parameter."

// remind asks once more a model that ended its turn without the output that the
// run must answer with.
func (w *work) remind() bool {
	s := w.s
	if s.Run.Schema == nil || !s.root() || s.Turn.Reminded || s.Turn.Kind != UserTurn && s.Run.Answer.fits() {
		return false
	}
	w.emit(OutputRefused{Turn: s.Turn.N, Violations: s.Run.noOutput()})
	w.emit(transcript.UserSaid{Turn: s.Turn.N, Text: outputMissing, Note: true})
	w.request()
	return true
}

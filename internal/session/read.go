package session

import (
	"regexp"
	"strconv"
	"strings"

	"evener/internal/effect"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/transcript"
)

// A ref names evidence: the output of a job, or the conversation of a session.
const (
	outputRef       = "job:"
	conversationRef = "local:"
)

// readTranscript checks the arguments of a read and asks for it. A read is a
// snapshot: it never waits for anybody, and it consumes nothing.
func (w *work) readTranscript(c transcript.Call, a ReadTranscriptCall) bool {
	read, err := CheckRead(a)
	if j := read.Job; err == nil && j.Owner() == w.s.ID && w.s.Job(j) == nil {
		err = NoJob(j)
	}
	if err != nil {
		w.refuse(c, err)
		return false
	}
	read.Call = c.ID
	w.order(read)
	return true
}

// NoJob answers for a job that has no record, whoever its id names as the owner:
// nothing is learnt from a forged one.
func NoJob(j id.Job) *fault.Error {
	return fault.New(fault.TargetNotFound, "read_transcript: no job %s; job_list and evener jobs show those there are", j)
}

// CheckRead applies the rules of a read that need no state, and says what is to
// be read.
func CheckRead(a ReadTranscriptCall) (effect.ReadOutput, *fault.Error) {
	if name, ok := strings.CutPrefix(a.Ref, conversationRef); ok {
		s, ok := id.ParseSession(name)
		if !ok {
			return effect.ReadOutput{}, fault.New(fault.TargetNotFound, "read_transcript: %s names no session; evener sessions, job_list and job_status name those there are", quote(a.Ref))
		}
		return effect.ReadOutput{Session: s}, checkConversation(a)
	}
	name, ok := strings.CutPrefix(a.Ref, outputRef)
	if !ok {
		return effect.ReadOutput{}, fault.Invalid("read_transcript: %s is not a transcript ref; use job:<job_id> or local:<session_id>", quote(a.Ref))
	}
	j, ok := id.ParseJob(name)
	if !ok {
		return effect.ReadOutput{}, fault.New(fault.TargetNotFound, "read_transcript: %s names no job; job_list shows the jobs there are", quote(a.Ref))
	}
	return effect.ReadOutput{Job: j}, checkOutput(a)
}

// maxContext bounds the lines around a search match.
const maxContext = 20

func checkOutput(a ReadTranscriptCall) *fault.Error {
	switch {
	case a.Format != nil && *a.Format != "markdown":
		return fault.Invalid("read_transcript: format %s does not exist for a job: ref; only markdown does", quote(*a.Format))
	case a.Range != nil || a.ExpandTurn != nil:
		return fault.Invalid("read_transcript: range and expand_turn are for session refs; a job: ref takes offset_bytes or output_match")
	case a.OffsetBytes != nil && *a.OffsetBytes < 0:
		return fault.Invalid("read_transcript: offset_bytes must not be negative (got %d)", *a.OffsetBytes)
	case a.ContextLines != nil && (*a.ContextLines < 0 || *a.ContextLines > maxContext):
		return fault.Invalid("read_transcript: context_lines must be from 0 to %d (got %d)", maxContext, *a.ContextLines)
	case a.ContextLines != nil && a.OutputMatch == nil:
		return fault.Invalid("read_transcript: context_lines goes with output_match")
	case a.OutputMatch != nil:
		if _, bad := regexp.Compile(*a.OutputMatch); bad != nil {
			return fault.Invalid("read_transcript: output_match is no RE2 pattern: %v", bad)
		}
	}
	return nil
}

func checkConversation(a ReadTranscriptCall) *fault.Error {
	switch {
	case a.Format != nil && *a.Format != "markdown":
		return fault.Invalid("read_transcript: format %s does not exist for a session ref; only markdown does", quote(*a.Format))
	case a.OffsetBytes != nil || a.OutputMatch != nil || a.ContextLines != nil:
		return fault.Invalid("read_transcript: offset_bytes, output_match and context_lines are for job: refs; a session ref takes range or expand_turn")
	case a.Range != nil && a.ExpandTurn != nil:
		return fault.Invalid("read_transcript: give range or expand_turn, not both")
	case a.ExpandTurn != nil && *a.ExpandTurn < 1:
		return fault.Invalid("read_transcript: expand_turn is one turn number, 1 or more (got %d)", *a.ExpandTurn)
	case a.Range != nil:
		_, err := ParseTurns(*a.Range)
		return err
	}
	return nil
}

// Turns is the part of a conversation that a range asks for: the first so many
// turns, the last so many, or those from one number to another.
type Turns struct{ First, Last, From, To int64 }

var turnsForm = regexp.MustCompile(`^(?:(start|last):|([1-9][0-9]{0,17})-)([1-9][0-9]{0,17})$`)

// ParseTurns reads a range.
func ParseTurns(s string) (Turns, *fault.Error) {
	m := turnsForm.FindStringSubmatch(s)
	if m == nil {
		return Turns{}, badRange(s)
	}
	n, _ := strconv.ParseInt(m[3], 10, 64) // the form has digits that fit
	switch m[1] {
	case "start":
		return Turns{First: n}, nil
	case "last":
		return Turns{Last: n}, nil
	}
	from, _ := strconv.ParseInt(m[2], 10, 64)
	if from > n {
		return Turns{}, badRange(s)
	}
	return Turns{From: from, To: n}, nil
}

func badRange(s string) *fault.Error {
	return fault.Invalid("read_transcript: range %s is none; use last:N (the last N turns), start:N (the first N) or A-B (turn numbers)", quote(s))
}

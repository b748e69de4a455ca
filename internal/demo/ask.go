package main

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// question is one that an auditor has, and the jq line that answers it.
type question struct {
	text, flags, program string
	want                 []string // what the answer must say
}

func jobQuestions(j *journal) []question {
	var ends, frames []string
	for id, end := range j.ends {
		status, reason, _ := strings.Cut(end, "/")
		ends = append(ends, fmt.Sprintf("%s %s (%s)", id, status, reason))
	}
	for _, frame := range j.frames {
		frames = append(frames, frame)
	}
	return []question{
		{"What ran?", "-r",
			`.at as $at | .events[] | select(.kind == "job.intended") | "\($at) \(.data.mode): \(.data.command)"`,
			[]string{"background: echo building", "background: echo soaking", "foreground: "}},
		{"How did it end?", "-r",
			`.events[] | select(.kind == "job.finished").data | "\(.job_id) \(.status) (\(.reason))"`, ends},
		{"What was the model told, and when?", "-rs",
			`[.[].events[]] | (map(select(.kind == "attention.armed").data | {(.attention_id): .frame}) | add) as $text |
      .[] | select(.kind == "turn.requested").data | .attention_ids[]? as $id | "request \(.request): \($text[$id])"`, frames},
	}
}

// ask puts questions to a journal of the root session with jq, where there is one.
func (s *stage) ask(file string, questions []question) error {
	jq, err := exec.LookPath("jq")
	if err != nil {
		s.say("jq is not installed, so the questions to the journal are left out; what they ask was checked without it.\n" +
			"To see them: apt-get install jq, or brew install jq, and run this again.")
		return nil
	}
	for _, q := range questions {
		cmd := exec.CommandContext(s.ctx, jq, q.flags, q.program, file)
		cmd.Dir = filepath.Dir(s.journal(file))
		out, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("jq for %q: %w", q.text, err)
		}
		s.say("%s", q.text)
		s.show(fmt.Sprintf("jq %s '%s' %s", q.flags, q.program, file), string(out))
		for _, want := range q.want {
			if !strings.Contains(string(out), want) {
				return fmt.Errorf("the answer to %q does not say %q", q.text, firstLine(want))
			}
		}
	}
	return nil
}

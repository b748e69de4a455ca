package session

import (
	"slices"
	"testing"

	"evener/internal/attention"
	"evener/internal/job"
	"evener/internal/transcript"
)

// What comes when a turn has ended. One that ended ill, or that was interrupted,
// starts nothing: its notices wait for the next prompt, and delegates at work are
// not waited for.
func TestNext(t *testing.T) {
	open := func(m Mode, more ...Event) []Event {
		r := run(m)
		if m == Delegated {
			r.Generation = 1
		}
		return append([]Event{r, TurnStarted{1, UserTurn}, Requested{Turn: 1, Request: 1}}, more...)
	}
	ended := InputEnded{Run: 1}
	owed := attention.DelegateArmed{ID: "a", Class: attention.Report}
	jobs := background(j1, "")
	replied := Replied{Request: 1, Reply: transcript.AssistantSaid{Text: "words"}}
	failed, interrupt := ModelFailed{Request: 1, Text: "no"}, Interrupt{}
	const nothing = ""
	for _, c := range []struct {
		name    string
		events  []Event
		working bool
		in      Input
		want    string // the kinds behind turn.ended, but for what a request brings
	}{
		{"the last word", open(OneShot), false, replied, "run.ending run.ended"},
		{"delegates work", open(OneShot), true, replied, nothing},
		{"delegates work, the turn failed", open(OneShot), true, failed, "run.ending run.ended"},
		{"delegates work, the turn was interrupted", open(OneShot), true, interrupt, "run.ending run.ended"},
		{"a notice", open(OneShot, owed), false, replied, "turn.started turn.requested"},
		{"a notice before delegates at work", open(OneShot, owed), true, replied, "turn.started turn.requested"},
		{"a notice, the turn failed", open(OneShot, owed), false, failed, "run.ending run.ended"},
		{"a notice, the turn was interrupted", open(OneShot, owed), false, interrupt, "run.ending run.ended"},
		{"a job", open(OneShot, jobs...), false, replied, "turn.started transcript.user turn.requested"},
		{"a job beside delegates at work", open(OneShot, jobs...), true, replied, nothing},
		{"a job, the turn failed", open(OneShot, jobs...), false, failed, "run.ending job.stop_requested"},
		{"a job, the turn was interrupted", open(OneShot, jobs...), false, interrupt, "run.ending job.stop_requested"},
		{"a notice, living", open(Living, owed), false, replied, "turn.started turn.requested"},
		{"a notice, living, the turn failed", open(Living, owed), false, failed, nothing},
		{"a notice, living, the turn was interrupted", open(Living, owed), false, interrupt, nothing},
		{"the end of the input, delegates work", open(Living, ended), true, replied, nothing},
		{"the end of the input, delegates work, the turn failed", open(Living, ended), true, failed, "run.ending run.ended"},
		{"a prompt waits, the turn failed", open(Living, PromptQueued{Prompt: 1, Text: "more"}, owed), true, failed, "turn.started transcript.user turn.requested"},
		{"a prompt waits, the turn was interrupted", open(Living, PromptQueued{Prompt: 1, Text: "more"}), true, interrupt, "turn.started transcript.user turn.requested"},
		{"a delegate, its own work", open(Delegated), true, replied, nothing},
		{"a delegate", open(Delegated), false, replied, "run.ended"},
		{"a delegate, its own work, the turn failed", open(Delegated), true, failed, "run.ended"},
		{"a delegate, words that came, the turn failed", open(Delegated, MessageQueued{Message: "m", Text: "x"}), false, failed, "run.ended"},
		{"a delegate, words that came", open(Delegated, MessageQueued{Message: "m", Text: "x"}), false, replied, "turn.started transcript.user turn.requested"},
	} {
		step, err := Decide(with(t, c.events...), nil, Facts{Now: now, Kin: Kin{Working: func() bool { return c.working }}}, c.in)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got, behind := nothing, false
		for _, e := range step.Events {
			if behind {
				got += " " + e.Kind()
			}
			behind = behind || e.Kind() == "turn.ended"
		}
		if got = trim(got); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func trim(s string) string {
	if s == "" {
		return s
	}
	return s[1:]
}

// A one-shot run whose turn was interrupted says so; what else ends it is its own end.
func TestNextOutcome(t *testing.T) {
	for in, want := range map[Input]RunOutcome{Interrupt{}: RunInterrupted, ModelFailed{Request: 1, Text: "no"}: RunFailed} {
		step, err := Decide(with(t, run(OneShot), TurnStarted{1, UserTurn}, Requested{Turn: 1, Request: 1}), nil, Facts{Now: now}, in)
		if err != nil || !slices.Contains(step.Events, Event(RunEnded{Run: 1, Outcome: want})) {
			t.Errorf("%T: %v, %v", in, step.Events, err)
		}
	}
}

// A timer of the wait for jobs that is of no run any more, or of one that does
// not wait, does nothing.
func TestJobsOverdue(t *testing.T) {
	limited := RunStarted{Run: 1, Mode: OneShot, Limits: Limits{StopGraceMS: 2000, WaitJobsMS: 1000}}
	forever := RunStarted{Run: 1, Mode: OneShot, Limits: Limits{StopGraceMS: 2000, WaitJobsMS: -1}}
	waits := JobsAwaited{Run: 1, Jobs: nil, AtMostMS: 1000}
	for name, c := range map[string]struct {
		events []Event
		want   bool
	}{
		"it waits":           {append(background(j1, ""), limited, waits), true},
		"it does not wait":   {append(background(j1, ""), limited), false},
		"no run":             {nil, false},
		"the run is over":    {[]Event{limited, waits, RunEnded{Run: 1, Outcome: RunLost}}, false},
		"it ends":            {append(background(j1, ""), limited, waits, RunEnding{Run: 1, Why: "SIGTERM"}), false},
		"it waited":          {append(background(j1, ""), limited, waits, WaitExpired{Run: 1}), false},
		"it waits for ever":  {append(background(j1, ""), forever, waits), false},
		"a turn is open":     {append(background(j1, ""), limited, waits, TurnStarted{1, NotificationTurn}, Requested{Turn: 1, Request: 1}), true},
		"of another process": {append(background(j1, ""), limited, waits, job.Finished{Job: j1, Status: job.Stopped}, RunEnded{Run: 1, Outcome: RunLost}), false},
	} {
		s := with(t, c.events...)
		turn := s.Turn
		step, err := Decide(s, nil, Facts{Now: now}, TimerFired{Key: jobsTimer})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := slices.Contains(step.Events, Event(WaitExpired{Run: 1})); got != c.want || !c.want && len(step.Events) > 0 {
			t.Errorf("%s: %v", name, step.Events)
		}
		if turn != nil && (s.Turn != turn || len(step.Events) != 1) {
			t.Errorf("%s: the turn was not left alone: %v", name, step.Events)
		}
	}
}

// Who is asked once more for a report with output: a run that must answer with
// one and has none that counts. A turn that notices started is no new question,
// so an answer that fits stands.
func TestRemind(t *testing.T) {
	fits, unfit := &Answer{Reported: true}, &Answer{Reported: true, Violations: []string{"no"}}
	for _, c := range []struct {
		name     string
		kind     TurnKind
		schema   string
		answer   *Answer
		delegate bool
		reminded bool
		want     bool
	}{
		{"a prompt", UserTurn, "{}", nil, false, false, true},
		{"a prompt after one that was answered", UserTurn, "{}", fits, false, false, true},
		{"a prompt, no schema", UserTurn, "", nil, false, false, false},
		{"a prompt, asked already", UserTurn, "{}", nil, false, true, false},
		{"a prompt, of a delegate", UserTurn, "{}", nil, true, false, false},
		{"a notice, nothing said yet", NotificationTurn, "{}", nil, false, false, true},
		{"a notice, bare text so far", NotificationTurn, "{}", &Answer{Text: "words"}, false, false, true},
		{"a notice, an answer that does not fit", NotificationTurn, "{}", unfit, false, false, true},
		{"a notice, an answer that fits", NotificationTurn, "{}", fits, false, false, false},
		{"an announcement, an answer that fits", AnnouncementTurn, "{}", fits, false, false, false},
		{"an announcement, nothing said yet", AnnouncementTurn, "{}", nil, false, false, true},
	} {
		r := run(Living)
		if c.schema != "" {
			r.OutputSchema = []byte(c.schema)
		}
		s := with(t, r, TurnStarted{1, c.kind}, Requested{Turn: 1, Request: 1})
		s.Run.Answer, s.Turn.Reminded = c.answer, c.reminded
		if c.delegate {
			s.Delegate, s.Root = "dlg_x", "other"
		}
		step, err := Decide(s, nil, Facts{Now: now}, Replied{Request: 1, Reply: transcript.AssistantSaid{Text: "words"}})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got := slices.ContainsFunc(step.Events, func(e Event) bool { return e.Kind() == "transcript.user" })
		if got != c.want {
			t.Errorf("%s: reminded %v", c.name, got)
		}
	}
}

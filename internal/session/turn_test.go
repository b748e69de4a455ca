package session

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"evener/internal/attention"
	"evener/internal/effect"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/transcript"
)

const (
	owner = id.Session("01JDYH3M00041061050R3GG28A")
	j1    = id.Job("job_" + owner + "000001")
	j2    = id.Job("job_" + owner + "000002")
)

var now = time.Date(2024, 12, 1, 10, 0, 0, 0, time.UTC)

// with is a session whose events these are.
func with(t *testing.T, events ...Event) *State {
	t.Helper()
	s := New()
	for _, e := range append([]Event{Created{Session: owner, Root: owner, Dir: "/w"}, ContextSet{Tools: json.RawMessage(`[]`)}}, events...) {
		if err := s.Apply(now, e); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func run(m Mode) RunStarted { return RunStarted{Run: 1, Mode: m, Limits: Limits{StopGraceMS: 2000}} }

func background(j id.Job, what string) []Event {
	return []Event{job.Intended{Job: j, Command: "x", Description: what, Mode: job.Background, Call: "c"}, job.Started{Job: j}}
}

// What still runs is told with what becomes of it.
//
// clause: JC-585 JC-586
func TestStillRunning(t *testing.T) {
	s := with(t, append(background(j1, "the build"), background(j2, "")...)...)
	const (
		separately = "Each job reports separately on completion."
		killed     = "This process exits when the turn ends: a job which keeps running is killed at exit rather than reported on later. " +
			"If its result matters, wait for it with a foreground command before ending the turn; otherwise end the turn again."
	)
	for _, c := range []struct {
		run  Run
		want string
	}{
		{Run{Mode: Living}, separately},
		{Run{Mode: OneShot}, killed},
		{Run{Mode: OneShot, Limits: Limits{WaitJobsMS: -1}}, separately},
		{Run{Mode: OneShot, Limits: Limits{WaitJobsMS: 90_000}}, separately + " This process waits for them, but for no more than 1m30s in all: " +
			"a job which runs longer is killed at exit rather than reported on later."},
		{Run{Mode: OneShot, Limits: Limits{WaitJobsMS: 90_000}, WaitExpired: true}, killed},
	} {
		s.Run = c.run
		if got, want := s.stillRunning(s.running()), "Background jobs still running: "+string(j1)+" (the build), "+string(j2)+". "+c.want; got != want {
			t.Errorf("%+v: %q", c.run, got)
		}
	}
}

// Which turn gives the run's answer.
//
// clause: JC-555 JC-556 JC-557
func TestAnswers(t *testing.T) {
	reported, bare := &Answer{Text: "r", Reported: true}, &Answer{Text: "b"}
	for _, c := range []struct {
		what    string
		kind    TurnKind
		carried int
		have    *Answer
		outcome TurnOutcome
		want    bool
	}{
		{"the first report", UserTurn, 0, nil, TurnReported, true},
		{"the first words", UserTurn, 0, nil, TurnAnswered, true},
		{"nothing", UserTurn, 0, nil, TurnEmpty, false},
		{"a failure", UserTurn, 0, nil, TurnFailed, false},
		{"exhausted", UserTurn, 0, nil, TurnExhausted, false},
		{"interrupted", UserTurn, 0, nil, TurnInterrupted, false},
		{"a drain turn reports again", NotificationTurn, 1, reported, TurnReported, true},
		{"a drain turn in words after a report", NotificationTurn, 1, reported, TurnAnswered, false},
		{"a drain turn in words after words", NotificationTurn, 1, bare, TurnAnswered, true},
		{"a drain turn reports after words", NotificationTurn, 1, bare, TurnReported, true},
		{"an empty drain turn", NotificationTurn, 1, reported, TurnEmpty, false},
		{"a failed drain turn", NotificationTurn, 1, reported, TurnFailed, false},
		{"an announcement reports again", AnnouncementTurn, 0, reported, TurnReported, false},
		{"an announcement with a completion reports again", AnnouncementTurn, 1, reported, TurnReported, true},
		{"an announcement with a completion in words", AnnouncementTurn, 1, reported, TurnAnswered, false},
		{"an announcement reports first", AnnouncementTurn, 0, bare, TurnReported, true},
		{"an announcement in words after words", AnnouncementTurn, 0, bare, TurnAnswered, false},
		{"an announcement is all there is", AnnouncementTurn, 0, nil, TurnAnswered, true},
		{"an announcement cut off after its report", AnnouncementTurn, 0, bare, TurnInterrupted, false},
	} {
		s := New()
		s.Run.Answer, s.Turn = c.have, &Turn{Kind: c.kind, Carried: c.carried, Report: reported}
		w := &work{s: s}
		if got := w.answers(c.outcome); got != c.want {
			t.Errorf("%s: %v", c.what, got)
		}
	}
}

func TestRunOutcome(t *testing.T) {
	reported, bare := &Answer{Reported: true}, &Answer{}
	for _, c := range []struct {
		what   string
		ending string
		last   TurnOutcome
		answer *Answer
		want   RunOutcome
	}{
		{"reported", "done", TurnReported, reported, RunReported},
		{"answered", "done", TurnAnswered, bare, RunAnswered},
		{"nothing said", "done", TurnEmpty, nil, RunNoReport},
		{"model failed", "failed", TurnFailed, nil, RunFailed},
		{"model failed after the answer", "failed", TurnFailed, reported, RunReported},
		{"exhausted", "exhausted", TurnExhausted, nil, RunExhausted},
		{"exhausted after the answer", "exhausted", TurnExhausted, bare, RunAnswered},
		{"a signal in the first turn", "SIGTERM", TurnInterrupted, nil, RunInterrupted},
		{"a signal in a drain turn", "SIGTERM", TurnInterrupted, reported, RunInterrupted},
		{"a signal while idle", "SIGINT", TurnReported, reported, RunInterrupted},
		{"a model failure while a signal ends it", "SIGINT", TurnFailed, nil, RunInterrupted},
	} {
		s := New()
		s.Run.Ending, s.Run.LastTurn, s.Run.Answer = c.ending, c.last, c.answer
		if got := s.runOutcome(); got != c.want {
			t.Errorf("%s: %s", c.what, got)
		}
	}
}

// What must not follow does not fold.
func TestApplyRefusesWhatCannotFollow(t *testing.T) {
	turn := []Event{run(OneShot), TurnStarted{1, UserTurn}}
	out := append(turn, transcript.UserSaid{Turn: 1, Text: "go"}, Requested{Turn: 1, Request: 1})
	calling := append(out, transcript.AssistantSaid{Turn: 1, Request: 1, Calls: []transcript.Call{{ID: "c1", Name: "shell"}}})
	for _, c := range []struct {
		what   string
		before []Event
		e      Event
	}{
		{"created twice", nil, Created{Session: owner, Root: owner, Dir: "/w"}},
		{"a run before the last ended", turn[:1], RunStarted{Run: 2}},
		{"a run out of number", nil, RunStarted{Run: 2}},
		{"an end without a run", nil, RunEnded{Run: 1}},
		{"an end within a turn", turn, RunEnded{Run: 1}},
		{"ending without a run", nil, RunEnding{Run: 1}},
		{"ending twice", []Event{run(OneShot), RunEnding{1, "x"}}, RunEnding{1, "y"}},
		{"a turn without a run", nil, TurnStarted{1, UserTurn}},
		{"a turn within a turn", turn, TurnStarted{2, UserTurn}},
		{"a turn out of number", turn[:1], TurnStarted{2, UserTurn}},
		{"a request without a turn", turn[:1], Requested{Turn: 1, Request: 1}},
		{"a request while one is out", out, Requested{Turn: 1, Request: 2}},
		{"a request out of number", turn, Requested{Turn: 1, Request: 2}},
		{"a request while a call is open", calling, Requested{Turn: 1, Request: 2}},
		{"a request with a notice of nobody", turn, Requested{Turn: 1, Request: 1, Attention: []string{"x"}}},
		{"a reply that nobody asked for", turn, transcript.AssistantSaid{Turn: 1, Request: 1}},
		{"a reply to none", turn, transcript.AssistantSaid{Turn: 1}},
		{"a reply twice", append(out, transcript.AssistantSaid{Turn: 1, Request: 1}), transcript.AssistantSaid{Turn: 1, Request: 1}},
		{"a second report", append(turn, Reported{Turn: 1}), Reported{Turn: 1}},
		{"a report without a turn", turn[:1], Reported{Turn: 1}},
		{"a turn's end while a call is open", calling, TurnEnded{Turn: 1}},
		{"a turn's end twice", append(turn, TurnEnded{Turn: 1}), TurnEnded{Turn: 1}},
		{"an event of an unknown job", nil, job.Started{Job: j1}},
		{"a job twice", background(j1, ""), background(j1, "")[0]},
		{"a notice twice", []Event{attention.SettledInline{Source: j1}}, attention.Armed{ID: "x", Source: j1}},
		{"an unknown event in a turn", turn, unknown{}},
		{"an unknown event", nil, unknown{}},
	} {
		if err := with(t, c.before...).Apply(now, c.e); err == nil {
			t.Errorf("%s: accepted", c.what)
		}
	}
}

type unknown struct{}

func (unknown) Kind() string { return "unknown" }

// An ephemeral command leaves nothing behind in the state.
//
// clause: JC-127
func TestEphemeralLeavesNothing(t *testing.T) {
	s := with(t, job.Intended{Job: j1, Mode: job.Foreground}, job.Started{Job: j1})
	if len(s.Live()) != 1 || len(s.Jobs()) != 0 || s.Job(j1) != nil {
		t.Errorf("running: %d live, %d listed", len(s.Live()), len(s.Jobs()))
	}
	if err := s.Apply(now, job.Finished{Job: j1, Status: job.Completed}); err != nil {
		t.Fatal(err)
	}
	if len(s.jobs) != 0 || len(s.order) != 0 {
		t.Errorf("ended: %v %v", s.jobs, s.order)
	}
}

// An input may be decided again after the disk was full: the same input comes
// to the same events, and deciding does not change it.
func TestDecideLeavesItsInput(t *testing.T) {
	events := []Event{run(OneShot), TurnStarted{1, UserTurn}, Requested{Turn: 1, Request: 1},
		transcript.AssistantSaid{Turn: 1, Request: 1, Calls: []transcript.Call{{ID: "a"}}}, transcript.Answered{Call: "a"}, Requested{Turn: 1, Request: 2}}
	in := Replied{Request: 2, Reply: transcript.AssistantSaid{Calls: []transcript.Call{{ID: "a", Broken: "cut"}, {ID: "a", Broken: "cut"}}}}
	var first []Event
	for range 2 {
		step, err := Decide(with(t, events...), nil, Facts{Now: now}, in)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = step.Events
		}
		if !reflect.DeepEqual(step.Events, first) {
			t.Errorf("decided otherwise: %v, %v", step.Events, first)
		}
		if c := in.Reply.Calls; c[0].ID != "a" || c[1].ID != "a" || c[0].SentID != "" {
			t.Errorf("the input became %+v", c)
		}
	}
	said := first[0].(transcript.AssistantSaid).Calls
	if said[0].ID != "a_2" || said[1].ID != "a_3" || said[0].SentID != "a" || said[1].SentID != "a" {
		t.Errorf("the calls are %+v", said)
	}
}

// A decision that does not fold is a defect and says so; nothing goes on.
func TestDecideReportsWhatDoesNotFold(t *testing.T) {
	s := with(t, run(OneShot))
	_, err := Decide(s, nil, Facts{Now: now}, Prompt{Text: "go", Create: &Created{Session: owner, Root: owner, Dir: "/w"}})
	if _, refused := errors.AsType[*fault.Error](err); err == nil || refused {
		t.Errorf("a session created twice: %v", err)
	}
}

// include_children stops the active jobs that a job started, and theirs.
//
// clause: JC-453 JC-458
func TestStopChildren(t *testing.T) {
	child := func(j, parent id.Job) []Event {
		return []Event{job.Intended{Job: j, Mode: job.Background, ParentJob: parent, Call: "c"}, job.Started{Job: j}}
	}
	const j3, j4 = id.Job("job_" + owner + "000003"), id.Job("job_" + owner + "000004")
	for _, c := range []struct {
		include bool
		want    []id.Job
	}{{false, []id.Job{j1}}, {true, []id.Job{j2, j3, j1}}} {
		events := append([]Event{run(OneShot), TurnStarted{1, UserTurn}}, background(j1, "")...)
		events = append(append(append(events, child(j2, j1)...), child(j3, j2)...), child(j4, "")...)
		events = append(events, Requested{Turn: 1, Request: 1}, transcript.AssistantSaid{Turn: 1, Request: 1, Calls: []transcript.Call{{ID: "c1", Name: "job_stop"}}})
		w := &work{s: with(t, events...), facts: Facts{Now: now}}
		w.jobStop(transcript.Call{ID: "c1", Name: "job_stop"}, JobStopCall{Target: string(j1), IncludeChildren: c.include})
		var got []id.Job
		for _, e := range w.step.Effects {
			if s, ok := e.(effect.StopProcess); ok {
				got = append(got, s.Job)
			}
		}
		if w.err != nil || len(got) != len(c.want) {
			t.Fatalf("include %v: stopped %v, %v", c.include, got, w.err)
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("include %v: stopped %v, want %v", c.include, got, c.want)
			}
		}
	}
}

// A kept completion whose reply did not become durable was told to nobody: the
// restart arms its notice, once.
//
// clause: JC-500
func TestRestartArmsAnUntoldCompletion(t *testing.T) {
	zero := 0
	s := with(t, run(OneShot), TurnStarted{1, UserTurn}, Requested{Turn: 1, Request: 1},
		transcript.AssistantSaid{Turn: 1, Request: 1, Calls: []transcript.Call{{ID: "c", Name: "shell"}}},
		job.Intended{Job: j1, Mode: job.Foreground, Call: "c"}, job.Started{Job: j1},
		job.Finished{Job: j1, Status: job.Completed, Reason: job.ExitZero, ExitCode: &zero, Generation: 1, Kept: true, TotalBytes: 99999})
	if got := s.Attention.Of(j1); got != attention.NotArmed {
		t.Fatalf("before the restart: %s", got)
	}
	step, err := Decide(s, nil, Facts{Now: now}, Restarted{})
	if err != nil {
		t.Fatal(err)
	}
	armed, ok := step.Events[0].(attention.Armed)
	if !ok || armed.Source != j1 || !strings.Contains(armed.Frame, `status="completed"`) || s.Attention.Of(j1) != attention.Pending {
		t.Errorf("got %+v", step.Events)
	}
	if again, err := Decide(s, nil, Facts{Now: now}, Restarted{}); err != nil || len(again.Events) > 0 {
		t.Errorf("a second restart says %v, %v", again.Events, err)
	}
}

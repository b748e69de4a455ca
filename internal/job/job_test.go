package job

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"evener/internal/effect"
	"evener/internal/id"
)

const (
	owner = "01JDYH3M00041061050R3GG28A"
	j1    = id.Job("job_" + owner + "000001")
	j2    = id.Job("job_" + owner + "000002")
)

var (
	t0    = time.Date(2024, 12, 1, 10, 0, 0, 0, time.UTC)
	grace = 2 * time.Second
)

func at(s int) time.Time { return t0.Add(time.Duration(s) * time.Second) }

// folded is a job after these events, one second apart from t0 on.
func folded(t *testing.T, events ...Event) *State {
	t.Helper()
	s := &State{}
	for i, e := range events {
		if err := s.Apply(at(i), e); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func intended(m Mode) Intended {
	return Intended{Job: j1, Command: "make test", Mode: m, Dir: "/w", Turn: 3, Call: "c1"}
}

func code(n int) *int { return &n }

var (
	started  = Started{Job: j1, PID: 77, StartTicks: 5, BootID: "b"}
	promoted = Promoted{Job: j1, WaitElapsedMS: 120000}
	asked    = StopRequested{Job: j1, By: ByJobStop}
	ended    = Finished{Job: j1, Status: Completed, Reason: ExitZero, ExitCode: code(0), Generation: 1, Kept: true, TotalBytes: 9}
)

// states are a job in every state there is.
func states(t *testing.T) map[string]*State {
	return map[string]*State{
		"intended fg": folded(t, intended(Foreground)),
		"intended bg": folded(t, intended(Background)),
		"running fg":  folded(t, intended(Foreground), started),
		"running bg":  folded(t, intended(Background), started),
		"promoted":    folded(t, intended(Foreground), started, promoted),
		"stopping fg": folded(t, intended(Foreground), started, StopRequested{Job: j1, By: ByTimeout}),
		"stopping bg": folded(t, intended(Background), started, asked),
		"ended":       folded(t, intended(Background), started, ended),
	}
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		g, _ := json.Marshal(got)
		w, _ := json.Marshal(want)
		t.Errorf("%s: got %s %#v, want %s %#v", what, g, got, w, want)
	}
}

func shape(t *testing.T, what string, got any, want string) {
	t.Helper()
	b, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != want {
		t.Errorf("%s:\n got %s\nwant %s", what, b, want)
	}
}

// An event that cannot follow is refused, whatever the state.
//
// clause: JC-123 JC-506 JC-507
func TestApplyRefusesWhatCannotFollow(t *testing.T) {
	events := map[string]Event{
		"intended": intended(Foreground), "started": started, "promoted": promoted, "stop": asked, "finished": ended, "pruned": OutputPruned{j1},
	}
	follows := map[string]string{ // state → the events that may follow
		"": "intended", "intended fg": "started finished", "intended bg": "started finished",
		"running fg": "promoted stop finished", "running bg": "stop finished", "promoted": "stop finished",
		"stopping fg": "promoted stop finished", "stopping bg": "stop finished", "ended": "pruned", "pruned": "",
	}
	for name := range follows {
		for kind, e := range events {
			s := &State{}
			switch name {
			case "":
			case "pruned":
				s = folded(t, intended(Background), started, ended, OutputPruned{j1})
			default:
				s = states(t)[name]
			}
			err := s.Apply(at(60), e)
			if may := strings.Contains(" "+follows[name]+" ", " "+kind+" "); may != (err == nil) {
				t.Errorf("%s, then %s: %v", name, kind, err)
			}
		}
	}
}

func TestApply(t *testing.T) {
	in := intended(Foreground)
	in.Description, in.ParentJob, in.MaxRuntimeMS = "run tests", j2, 1500
	s := folded(t, in, started, promoted, asked, StopRequested{Job: j1, By: ByClose}, ended, OutputPruned{j1})
	same(t, "folded", *s, State{
		ID: j1, Command: "make test", Description: "run tests", Mode: Foreground, Dir: "/w", Turn: 3, Call: "c1", ParentJob: j2,
		MaxRuntime: 1500 * time.Millisecond, Status: Completed, IntendedAt: at(0), StartedAt: at(1), PID: 77, StartTicks: 5, BootID: "b",
		Promoted: true, WaitElapsedMS: 120000, StopBy: ByJobStop, End: ended, Ended: at(5), Pruned: true,
	})
}

// Every fact of the record is in the events alone, under names that stay.
//
// clause: JC-495 JC-496 JC-502 JC-504 JC-505
func TestStoredForm(t *testing.T) {
	in := intended(Background)
	in.Description, in.ParentJob, in.MaxRuntimeMS = "d", j2, 1000
	for _, c := range []struct {
		e    Event
		want string
	}{
		{in, `{"job_id":"` + string(j1) + `","command":"make test","description":"d","mode":"background","dir":"/w","origin_turn_id":3,"origin_tool_call_id":"c1","parent_job_id":"` + string(j2) + `","max_runtime_ms":1000}`},
		{intended(Foreground), `{"job_id":"` + string(j1) + `","command":"make test","mode":"foreground","dir":"/w","origin_turn_id":3,"origin_tool_call_id":"c1"}`},
		{started, `{"job_id":"` + string(j1) + `","pid":77,"start_ticks":5,"boot_id":"b"}`},
		{promoted, `{"job_id":"` + string(j1) + `","wait_elapsed_ms":120000}`},
		{asked, `{"job_id":"` + string(j1) + `","by":"job_stop"}`},
		{StopRequested{j1, ByClose, "c9"}, `{"job_id":"` + string(j1) + `","by":"session_close","call_id":"c9"}`},
		{ended, `{"job_id":"` + string(j1) + `","status":"completed","reason":"exit_zero","exit_code":0,"terminal_generation":1,"kept":true,"output_bytes":9}`},
		{Finished{j1, Stopped, CancelUnconfirmed, nil, 1, false, 9, 4, 5, 2, []int{7}, true, "e"},
			`{"job_id":"` + string(j1) + `","status":"stopped","reason":"cancelled","exit_code":null,"terminal_generation":1,"kept":false,"output_bytes":9,"retained_start_bytes":4,"lost_bytes":5,"left_behind":2,"survivors":[7],"on_its_own":true,"error":"e"}`},
		{OutputPruned{j1}, `{"job_id":"` + string(j1) + `"}`},
	} {
		shape(t, c.e.Kind(), c.e, c.want)
		if c.e.JobID() != j1 {
			t.Errorf("%s belongs to %s", c.e.Kind(), c.e.JobID())
		}
	}
}

// Background evidence comes from a launch or a promotion, never from a kept
// completion or a runtime limit.
//
// clause: JC-018 JC-019 JC-020
func TestEvidence(t *testing.T) {
	limited := intended(Foreground)
	limited.MaxRuntimeMS = 5000
	brief := ended
	brief.Kept = false
	for _, c := range []struct {
		what              string
		events            []Event
		evidence, durable bool
	}{
		{"intended fg", []Event{intended(Foreground)}, false, false},
		{"intended bg", []Event{intended(Background)}, true, true},
		{"running fg", []Event{intended(Foreground), started}, false, false},
		{"runtime limit", []Event{limited, started}, false, false},
		{"promoted", []Event{intended(Foreground), started, promoted}, true, true},
		{"promoted, ended", []Event{intended(Foreground), started, promoted, ended}, true, true},
		{"bg ended", []Event{intended(Background), started, ended}, true, true},
		{"kept completion", []Event{intended(Foreground), started, ended}, false, true},
		{"inline completion", []Event{intended(Foreground), started, brief}, false, false},
	} {
		s := folded(t, c.events...)
		if s.BackgroundEvidence() != c.evidence || s.Durable() != c.durable {
			t.Errorf("%s: evidence %v, durable %v", c.what, s.BackgroundEvidence(), s.Durable())
		}
		if v := View(s, Live{}, at(9)); v.Background != c.evidence {
			t.Errorf("%s: status says background %v", c.what, v.Background)
		}
		if r := RowOf(s, Live{}); r.Background != c.evidence {
			t.Errorf("%s: row says background %v", c.what, r.Background)
		}
	}
}

func effects(fx ...effect.Effect) []effect.Effect { return fx }

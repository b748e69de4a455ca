package job

import (
	"strings"
	"testing"
	"time"
)

const ref = `"transcript_ref":"job:` + string(j1) + `"`

// clause: JC-105 JC-108 JC-333 JC-334 JC-335 JC-338 JC-420 JC-423 JC-424
func TestView(t *testing.T) {
	in := intended(Foreground)
	in.Description, in.ParentJob = "run tests", j2
	pruned := ended
	pruned.RetainedStart, pruned.LostBytes, pruned.LeftBehind, pruned.Survivors = 4, 3, 1, []int{8}
	ids := `{"job_id":"` + string(j1) + `","id":"` + string(j1) + `","type":"shell","kind":"shell",`
	for _, c := range []struct {
		what   string
		events []Event
		live   Live
		want   string
	}{
		{"intended", []Event{intended(Background)}, Live{},
			`"status":"running","phase":"starting","reason":null,"resumable":null,"running_for_ms":30000,"quiet_for_ms":30000,"started_at":"2024-12-01T10:00:00.000000Z","ended_at":null,"last_event_at":"2024-12-01T10:00:00.000000Z",` + ref + `,"exit_code":null,"total_bytes":0,"command":"make test","background":true}`},
		{"running, silent", []Event{intended(Background), started}, Live{},
			`"status":"running","phase":"process_running","reason":null,"resumable":null,"running_for_ms":29000,"quiet_for_ms":29000,"started_at":"2024-12-01T10:00:01.000000Z","ended_at":null,"last_event_at":"2024-12-01T10:00:01.000000Z",` + ref + `,"exit_code":null,"total_bytes":0,"command":"make test","background":true}`},
		{"running, printing", []Event{intended(Background), started}, Live{j1, 123, at(26)},
			`"status":"running","phase":"process_running","reason":null,"resumable":null,"running_for_ms":29000,"quiet_for_ms":4000,"started_at":"2024-12-01T10:00:01.000000Z","ended_at":null,"last_event_at":"2024-12-01T10:00:26.000000Z",` + ref + `,"exit_code":null,"total_bytes":123,"command":"make test","background":true}`},
		{"promoted", []Event{in, started, promoted}, Live{},
			`"status":"running","phase":"process_running","reason":"foreground_timeout","resumable":null,"running_for_ms":29000,"quiet_for_ms":29000,"started_at":"2024-12-01T10:00:01.000000Z","ended_at":null,"last_event_at":"2024-12-01T10:00:01.000000Z",` + ref + `,"exit_code":null,"total_bytes":0,"description":"run tests","command":"make test","background":true,"parent_job_id":"` + string(j2) + `"}`},
		{"stopping", []Event{in, started, promoted, asked}, Live{},
			`"status":"running","phase":"stopping","reason":"stop_pending","resumable":null,"running_for_ms":29000,"quiet_for_ms":29000,"started_at":"2024-12-01T10:00:01.000000Z","ended_at":null,"last_event_at":"2024-12-01T10:00:01.000000Z",` + ref + `,"exit_code":null,"total_bytes":0,"description":"run tests","command":"make test","background":true,"parent_job_id":"` + string(j2) + `"}`},
		// What is said to be live after the end does not count.
		{"ended", []Event{intended(Background), started, ended}, Live{j1, 999, at(29)},
			`"status":"completed","phase":"ended","reason":"exit_zero","resumable":null,"running_for_ms":1000,"quiet_for_ms":0,"started_at":"2024-12-01T10:00:01.000000Z","ended_at":"2024-12-01T10:00:02.000000Z","last_event_at":"2024-12-01T10:00:02.000000Z",` + ref + `,"exit_code":0,"total_bytes":9,"command":"make test","background":true}`},
		{"pruned", []Event{intended(Background), started, pruned, OutputPruned{j1}}, Live{},
			`"status":"completed","phase":"ended","reason":"exit_zero","resumable":null,"running_for_ms":1000,"quiet_for_ms":0,"started_at":"2024-12-01T10:00:01.000000Z","ended_at":"2024-12-01T10:00:02.000000Z","last_event_at":"2024-12-01T10:00:02.000000Z",` + ref + `,"exit_code":0,"total_bytes":9,"command":"make test","background":true,"dropped_bytes":4,"output_pruned":true,"lost_bytes":3,"left_behind":1,"survivors":[8]}`},
	} {
		shape(t, c.what, View(folded(t, c.events...), c.live, at(30)), ids+c.want)
	}
}

func TestViewNeverCountsBackwards(t *testing.T) {
	v := View(states(t)["running bg"], Live{j1, 1, at(50)}, at(0))
	if v.RunningForMS != 0 || v.QuietForMS != 0 {
		t.Errorf("a clock that was set back gives %d and %d", v.RunningForMS, v.QuietForMS)
	}
}

// clause: JC-372 JC-379 JC-395 JC-396 JC-417 JC-419 JC-420 JC-422 JC-502 JC-584
func TestRowOf(t *testing.T) {
	in := intended(Foreground)
	in.Description, in.ParentJob = "run tests", j2
	ids := `{"id":"` + string(j1) + `","job_id":"` + string(j1) + `","type":"shell",`
	for _, c := range []struct {
		what   string
		events []Event
		live   Live
		want   string
	}{
		{"running", []Event{intended(Background), started}, Live{j1, 123, at(26)},
			`"status":"running","command":"make test","owner_session_id":"` + owner + `","background":true,"started_at":"2024-12-01T10:00:01.000000Z","last_activity":"2024-12-01T10:00:26.000000Z","total_bytes":123}`},
		{"stopping", []Event{in, started, promoted, asked}, Live{},
			`"status":"running","reason":"stop_pending","description":"run tests","command":"make test","owner_session_id":"` + owner + `","parent_job_id":"` + string(j2) + `","background":true,"started_at":"2024-12-01T10:00:01.000000Z","last_activity":"2024-12-01T10:00:01.000000Z","total_bytes":0}`},
		{"ended", []Event{intended(Foreground), started, ended, OutputPruned{j1}}, Live{},
			`"status":"completed","reason":"exit_zero","command":"make test","owner_session_id":"` + owner + `","started_at":"2024-12-01T10:00:01.000000Z","ended_at":"2024-12-01T10:00:02.000000Z","last_activity":"2024-12-01T10:00:02.000000Z","exit_code":0,"total_bytes":9,"output_pruned":true}`},
	} {
		shape(t, c.what, RowOf(folded(t, c.events...), c.live), ids+c.want)
	}
}

// clause: JC-108
func TestReasonAndPhase(t *testing.T) {
	for name, want := range map[string][2]string{
		"intended fg": {"", "starting"}, "intended bg": {"", "starting"}, "running fg": {"", "process_running"}, "running bg": {"", "process_running"},
		"promoted": {"foreground_timeout", "process_running"}, "stopping fg": {"stop_pending", "stopping"}, "stopping bg": {"stop_pending", "stopping"},
		"ended": {"exit_zero", "ended"},
	} {
		s := states(t)[name]
		got := ""
		if r := s.reason(); r != nil {
			got = *r
		}
		if got != want[0] || s.Phase() != want[1] {
			t.Errorf("%s: reason %q, phase %s", name, got, s.Phase())
		}
	}
}

func finished(t *testing.T, events []Event, x Exit, inline int64) *State {
	t.Helper()
	s := folded(t, events...)
	if err := s.Apply(at(9), Exited(s, x, inline)); err != nil {
		t.Fatal(err)
	}
	return s
}

// clause: JC-127 JC-140 JC-153 JC-421 JC-490 JC-492
func TestResultOfExit(t *testing.T) {
	fg := []Event{intended(Foreground), started}
	big := Exit{Total: 1000, Head: strings.Repeat("h", 100), Tail: strings.Repeat("t", 300)}
	for _, c := range []struct {
		what   string
		events []Event
		exit   Exit
		want   string
	}{
		{"inline", fg, Exit{Total: 3, Head: "ok\n", Tail: "ok\n"},
			`{"type":"shell","mode":"foreground","status":"completed","reason":"exit_zero","timed_out":false,"exit_code":0,"output":"ok\n","truncated":false,"total_bytes":3,"output_status":"complete"}`},
		{"silent", fg, Exit{Code: 1},
			`{"type":"shell","mode":"foreground","status":"command_exited_nonzero","reason":"exit_nonzero","timed_out":false,"exit_code":1,"output":"","truncated":false,"total_bytes":0,"output_status":"complete"}`},
		{"run time over", []Event{intended(Foreground), started, StopRequested{Job: j1, By: ByTimeout}}, Exit{Signalled: true, Total: 1, Tail: "x", Lost: 1, LeftBehind: 1},
			`{"type":"shell","mode":"foreground","status":"stopped","reason":"run_timeout","timed_out":false,"exit_code":-1,"output":"x","truncated":false,"total_bytes":1,"output_status":"complete","lost_bytes":1,"left_behind":1}`},
		{"kept", fg, big,
			`{"job_id":"` + string(j1) + `","type":"shell","mode":"foreground","status":"completed","reason":"exit_zero","timed_out":false,"exit_code":0,"output":"` +
				strings.Repeat("h", 25) + `\n[900 bytes left out; all retained output: read_transcript(transcript_ref=\"job:` + string(j1) + `\", offset_bytes=25)]\n` + strings.Repeat("t", 75) +
				`","truncated":true,"total_bytes":1000,"output_status":"truncated"}`},
		{"start failed", []Event{intended(Background)}, Exit{},
			`{"job_id":"` + string(j1) + `","type":"shell","mode":"background","status":"failed","reason":"start_failed","timed_out":false,"exit_code":null,"output":"","truncated":false,"total_bytes":0,"output_status":"complete","error":"the shell ended before its command was released"}`},
	} {
		shape(t, c.what, ResultOfExit(finished(t, c.events, c.exit, 100), c.exit.Output(), 100), c.want)
	}
}

// A result either has all of the output or a handle to the rest of it.
//
// clause: JC-492
func TestInlineOutput(t *testing.T) {
	s := states(t)["running fg"]
	long := strings.Repeat("0123456789", 30) // 300 bytes
	note := func(left, offset string) string {
		return "\n[" + left + " bytes left out; all retained output: read_transcript(transcript_ref=\"job:" + string(j1) + "\", offset_bytes=" + offset + ")]\n"
	}
	for _, c := range []struct {
		what   string
		o      Output
		inline int64
		want   string
		cut    bool
	}{
		{"nothing", Output{}, 100, "", false},
		{"all", Output{Total: 5, Head: "a\r\nb\x1b", Tail: "a\r\nb\x1b"}, 100, "a\nb" + `\x1b`, false},
		{"exactly the bound", Output{Total: 300, Head: long[:80], Tail: long}, 300, long, false},
		{"ends that cover it", Output{Total: 300, Head: long[:100], Tail: long[60:]}, 300, long, false},
		{"one over", Output{Total: 300, Head: long[:80], Tail: long}, 299, long[:74] + note("1", "74") + long[75:], true},
		{"a gap within the bound", Output{Total: 300, Head: long[:10], Tail: long[200:]}, 1000, long[:10] + note("190", "10") + long[200:], true},
		{"ends not at hand", Output{Total: 12345}, 100, note("12,345", "0"), true},
		{"beginning gone", Output{Total: 9000, Start: 5000, Head: long, Tail: long}, 100, long[:25] + note("8,900", "5000") + long[225:], true},
	} {
		got, cut := inlineOutput(s, c.o, c.inline)
		if got != c.want || cut != c.cut {
			t.Errorf("%s: %q, %v\nwant %q", c.what, got, cut, c.want)
		}
	}
}

// clause: JC-154
func TestResultOfBackground(t *testing.T) {
	shape(t, "background", ResultOfBackground(states(t)["running bg"]),
		`{"job_id":"`+string(j1)+`","type":"shell","mode":"background","status":"running","reason":null,"timed_out":false,"total_bytes":0}`)
}

// clause: JC-128 JC-140 JC-155 JC-156
func TestResultOfPromotion(t *testing.T) {
	s := states(t)["promoted"]
	head := `{"job_id":"` + string(j1) + `","type":"shell","mode":"background","status":"running","reason":"foreground_timeout","timed_out":true,"wait_elapsed_ms":120000,"output":`
	shape(t, "silent", ResultOfPromotion(s, Output{}, 100), head+`"","truncated":false,"total_bytes":0}`)
	shape(t, "some output", ResultOfPromotion(s, Output{Total: 4, Head: "ok\r\n", Tail: "ok\r\n"}, 100), head+`"ok\n","truncated":false,"total_bytes":4}`)
	got := ResultOfPromotion(s, Output{Total: 900, Head: strings.Repeat("h", 100), Tail: strings.Repeat("t", 100)}, 100)
	if !*got.Truncated || got.TotalBytes != 900 || !strings.Contains(*got.Output, "[800 bytes left out") {
		t.Errorf("much output: %+v %s", got, *got.Output)
	}
}

// clause: JC-002 JC-131
func TestDetachedResult(t *testing.T) {
	shape(t, "detached", DetachedResult{"shell", Detached, 99}, `{"type":"shell","mode":"detached","pid":99}`)
}

func TestStamp(t *testing.T) {
	zone := time.FixedZone("x", 7200)
	if got := Stamp(time.Date(2024, 12, 1, 12, 0, 0, 1234567, zone)); got != "2024-12-01T10:00:00.001234Z" {
		t.Errorf("Stamp = %s", got)
	}
}

package cli

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"evener/internal/id"
	"evener/internal/model"
	"evener/internal/term"
	"evener/internal/transcript"
)

// TestStatus: what goes on is told first and cut last.
func TestStatus(t *testing.T) {
	begun := time.Now()
	now := begun.Add(72 * time.Second)
	jobs := map[id.Job]time.Time{"job_a": begun, "job_b": begun}
	for _, c := range []struct {
		l     *live
		width int
		want  string
	}{
		{&live{}, 79, ""},
		{&live{jobs: jobs}, 79, "| 1:12 min · jobs still run 5 s · 2 jobs"},
		{&live{jobs: jobs, awaits: true}, 79, "| 1:12 min · waiting for jobs 5 s · 2 jobs"},
		{&live{doing: waiting}, 79, "| 1:12 min · waiting for the model 5 s"},
		{&live{doing: waiting, received: 9_999, in: 123_456, out: 7_800_000}, 79, "| 1:12 min · the model answers, 9,999 bytes · 123.5k tokens in, 7.8M out"},
		{&live{doing: waiting, retry: now.Add(3500 * time.Millisecond)}, 79, "| 1:12 min · trying again in 3 s"},
		{&live{doing: waiting, retry: now.Add(-time.Second)}, 79, "| 1:12 min · trying again in 0 s"},
		{&live{doing: "shell make", jobs: jobs, in: 1, out: 2}, 79, "| 1:12 min · shell make 5 s · 2 jobs · 1 tokens in, 2 out"},
		{&live{doing: "shell make", jobs: jobs, in: 1, out: 2}, 50, "| 1:12 min · shell make 5 s · 2 jobs"},
		{&live{doing: "shell make all of it anew", jobs: jobs, in: 1, out: 2}, 50, "| 1:12 min · shell make all of it an… 5 s · 2 jobs"},
		{&live{doing: "shell make all of it anew", jobs: jobs}, 33, "| 1:12 min · shell make all… 5 s"},
		{&live{doing: "shell make all of it anew", jobs: jobs}, 29, "| 1:12 min · shell make all…"},
		{&live{doing: "shell make\x1b[2J\nall"}, 79, `| 1:12 min · shell make\x1b[2J all 5 s`},
		{&live{doing: "shell make"}, 9, "| 1:12 m…"},
		{&live{doing: "shell make"}, 1, "…"},
		{&live{doing: "shell make", stopping: true}, 79, "| 1:12 min · stopping"},
	} {
		c.l.begun, c.l.since, c.l.spinner = begun, now.Add(-5*time.Second), []rune("|")
		got := c.l.status(now, c.width)
		if got != c.want {
			t.Errorf("%+v in %d columns: %q, want %q", c.l, c.width, got, c.want)
		}
		if term.Width(got) > c.width {
			t.Errorf("%q is wider than %d", got, c.width)
		}
	}
}

// TestProgress: a wait for another attempt ends with the attempt.
func TestProgress(t *testing.T) {
	l := &live{doing: waiting, begun: time.Now(), since: time.Now(), spinner: []rune("|")}
	for _, c := range []struct {
		p    model.Progress
		want string
	}{
		{model.Progress{Attempt: 1, Bytes: 20}, "| 0 s · the model answers, 20 bytes"},
		{model.Progress{Attempt: 1, Failed: &model.Error{}, After: time.Hour}, "| 0 s · trying again in 59:59 min"},
		{model.Progress{Attempt: 2, Bytes: 3}, "| 0 s · the model answers, 3 bytes"},
	} {
		l.progress(c.p)
		if got := l.status(time.Now(), 79); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

func TestArguments(t *testing.T) {
	for raw, want := range map[string]string{
		`{"command":"make\n\tall","description":"the build"}`:          "make all",
		`{"mode":"background","command":"make","max_runtime_ms":1000}`: "make mode=background max_runtime_ms=1000",
		`{"limit":5,"status":["running"]}`:                             `limit=5 status=["running"]`,
		`{"command":{"a":1}}`:                                          `{"a":1}`,
		`{}`:                                                           "",
		``:                                                             "",
		`{"command":`:                                                  `{"command":`,
		`[1]`:                                                          "[1]",
		"\x1b[2J":                                                      `\x1b[2J`,
		`{"a` + strings.Repeat("b", 100) + `":"` + strings.Repeat("c", 100) + `"}`: "a" + strings.Repeat("b", 38) + "…=" + strings.Repeat("c", 59) + "…",
	} {
		if got := arguments(raw); got != want {
			t.Errorf("arguments(%q) = %q, want %q", raw, got, want)
		}
	}
}

func TestOutcome(t *testing.T) {
	for _, c := range []struct {
		name, data string
		err        error
		want       string
	}{
		{"shell", `{"mode":"foreground","status":"completed","exit_code":0,"output":"a\n last \n\n"}`, nil, "  ok · exit 0 · 1.5 s · last"},
		{"shell", `{"mode":"foreground","status":"completed","exit_code":0,"output":""}`, nil, "  ok · exit 0 · 1.5 s"},
		{"shell", `{"mode":"foreground","status":"command_exited_nonzero","reason":"exit_nonzero","exit_code":2}`, nil, "  exit 2 · 1.5 s"},
		{"shell", `{"mode":"foreground","status":"command_killed","reason":"killed_by_signal: SIGSEGV","exit_code":-1}`, nil, "  command_killed (killed_by_signal: SIGSEGV) · 1.5 s"},
		{"shell", `{"mode":"background","status":"running"}`, nil, "  ok · in the background"},
		{"shell", `{"mode":"background","status":"running","timed_out":true}`, nil, "  still runs after 1.5 s · goes on in the background"},
		{"shell", `{"mode":"detached","pid":7}`, nil, "  ok · detached, pid 7"},
		{"job_status", `{"status":"stopped"}`, nil, "  ok · stopped · 1.5 s"},
		{"job_list", `{"count":0,"total_count":0,"items":[]}`, nil, "  ok · 0 jobs · 1.5 s"},
		{"read_file", `{"lines":400,"from_line":11,"to_line":11}`, nil, "  ok · 1 line · 1.5 s"},
		{"read_file", `{"kind":"image/png"}`, nil, "  ok · 1.5 s"},
		{"write_file", `{"lines":12}`, nil, "  ok · 12 lines · 1.5 s"},
		{"edit_file", `{"lines":12,"replacements":1}`, nil, "  ok · 1 replacement · 1.5 s"},
		{"list_files", `{"count":3}`, nil, "  ok · 3 found · 1.5 s"},
		{"search_files", `{"matches":5,"files":2}`, nil, "  ok · 5 found in 2 files · 1.5 s"},
		{"tasks", `{"tasks":[],"open_count":2,"total_count":5}`, nil, "  ok · 2 of 5 open · 1.5 s"},
		{"other", `"text"`, nil, "  ok · 1.5 s"},
		{"other", ``, errors.New("invalid_request: \x1b no"), `  error · invalid_request: \x1b no`},
	} {
		a := transcript.Answered{Name: c.name, Data: json.RawMessage(c.data), IsError: c.err != nil}
		if c.err != nil {
			a.Text = c.err.Error()
		}
		got := outcome(a, 1500*time.Millisecond).Render(79, false)
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%+v: %q, want %q", c, got, c.want)
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", time.Millisecond: "1 ms", 999 * time.Millisecond: "999 ms", time.Second: "1 s", 1234 * time.Millisecond: "1.2 s",
		9960 * time.Millisecond: "10.0 s", 59900 * time.Millisecond: "59 s", 61 * time.Second: "1:01 min", time.Hour + time.Minute: "1:01 h",
	} {
		if got := span(d); got != want {
			t.Errorf("span(%v) = %q, want %q", d, got, want)
		}
	}
}

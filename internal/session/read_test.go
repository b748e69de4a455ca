package session

import (
	"strings"
	"testing"

	"evener/internal/transcript"
)

func ptr[T any](v T) *T { return &v }

// clause: JC-349 JC-350 JC-351
func TestCheckRead(t *testing.T) {
	ref := "job:" + string(j1)
	for _, c := range []struct {
		a    ReadTranscriptCall
		want string // how the refusal begins
	}{
		{ReadTranscriptCall{Ref: ref}, ""},
		{ReadTranscriptCall{Ref: ref, Format: ptr("markdown")}, ""},
		{ReadTranscriptCall{Ref: ref, Format: ptr("markdown"), OffsetBytes: ptr(int64(0))}, ""},
		{ReadTranscriptCall{Ref: ref, OffsetBytes: ptr(int64(9)), OutputMatch: ptr("x"), ContextLines: ptr(int64(20))}, ""},
		{ReadTranscriptCall{Ref: ref, OutputMatch: ptr(""), ContextLines: ptr(int64(0))}, ""},
		{ReadTranscriptCall{Ref: string(owner)}, "invalid_request: read_transcript: "},
		{ReadTranscriptCall{Ref: string(j1)}, "invalid_request: read_transcript: "},
		{ReadTranscriptCall{Ref: ""}, "invalid_request: read_transcript: "},
		{ReadTranscriptCall{Ref: "job:dlg_" + string(owner)}, "target_not_found: read_transcript: "},
		{ReadTranscriptCall{Ref: ref + "/../x"}, "target_not_found: read_transcript: "},
		{ReadTranscriptCall{Ref: ref, Format: ptr("json")}, `invalid_request: read_transcript: format "json"`},
		{ReadTranscriptCall{Ref: ref, Range: ptr("last:1")}, "invalid_request: read_transcript: range and expand_turn are for session refs"},
		{ReadTranscriptCall{Ref: ref, ExpandTurn: ptr(int64(1))}, "invalid_request: read_transcript: range and expand_turn are for session refs"},
		{ReadTranscriptCall{Ref: ref, OffsetBytes: ptr(int64(-1))}, "invalid_request: read_transcript: offset_bytes must not be negative (got -1)"},
		{ReadTranscriptCall{Ref: ref, OutputMatch: ptr("x"), ContextLines: ptr(int64(21))}, "invalid_request: read_transcript: context_lines must be from 0 to 20 (got 21)"},
		{ReadTranscriptCall{Ref: ref, OutputMatch: ptr("x"), ContextLines: ptr(int64(-1))}, "invalid_request: read_transcript: context_lines must be from 0 to 20 (got -1)"},
		{ReadTranscriptCall{Ref: ref, ContextLines: ptr(int64(1))}, "invalid_request: read_transcript: context_lines goes with output_match"},
		{ReadTranscriptCall{Ref: ref, OutputMatch: ptr("(")}, "invalid_request: read_transcript: output_match is no RE2 pattern: "},
	} {
		_, err := CheckRead(c.a)
		if got := ""; err != nil {
			if got = err.Error(); c.want == "" || !strings.HasPrefix(got, c.want) {
				t.Errorf("%+v: %s", c.a, got)
			}
		} else if c.want != "" {
			t.Errorf("%+v: accepted", c.a)
		}
	}
}

// clause: JC-067
func TestCheckReadOfSession(t *testing.T) {
	ref := "local:" + string(owner)
	const forms = "last:N (the last N turns), start:N (the first N) or A-B (turn numbers)"
	for _, c := range []struct {
		a    ReadTranscriptCall
		want string // that the refusal has
	}{
		{ReadTranscriptCall{Ref: ref}, ""},
		{ReadTranscriptCall{Ref: ref, Format: ptr("markdown"), Range: ptr("last:3")}, ""},
		{ReadTranscriptCall{Ref: ref, Range: ptr("start:1")}, ""},
		{ReadTranscriptCall{Ref: ref, Range: ptr("2-2")}, ""},
		{ReadTranscriptCall{Ref: ref, ExpandTurn: ptr(int64(1))}, ""},
		{ReadTranscriptCall{Ref: ref, Format: ptr("outline")}, `invalid_request: read_transcript: format "outline"`},
		{ReadTranscriptCall{Ref: ref, ExpandTurn: ptr(int64(0))}, "invalid_request: read_transcript: expand_turn is one turn number, 1 or more (got 0)"},
		{ReadTranscriptCall{Ref: ref, ExpandTurn: ptr(int64(1)), Range: ptr("1-2")}, "invalid_request: read_transcript: give range or expand_turn, not both"},
		{ReadTranscriptCall{Ref: ref, OffsetBytes: ptr(int64(0))}, "invalid_request: read_transcript: offset_bytes, output_match and context_lines are for job: refs"},
		{ReadTranscriptCall{Ref: ref, OutputMatch: ptr("x")}, "are for job: refs"},
		{ReadTranscriptCall{Ref: ref, ContextLines: ptr(int64(1))}, "are for job: refs"},
		{ReadTranscriptCall{Ref: "local:" + string(owner)[1:]}, "target_not_found: read_transcript: "},
		{ReadTranscriptCall{Ref: "local:../" + string(owner)}, "target_not_found: read_transcript: "},
		{ReadTranscriptCall{Ref: "local:dlg_" + string(owner)}, "target_not_found: read_transcript: "},
		{ReadTranscriptCall{Ref: "Local:" + string(owner)}, "invalid_request: read_transcript: "},
		{ReadTranscriptCall{Ref: ref, Range: ptr("")}, forms},
		{ReadTranscriptCall{Ref: ref, Range: ptr("3")}, forms},
		{ReadTranscriptCall{Ref: ref, Range: ptr("last:0")}, forms},
		{ReadTranscriptCall{Ref: ref, Range: ptr("last:+1")}, forms},
		{ReadTranscriptCall{Ref: ref, Range: ptr("start:x")}, forms},
		{ReadTranscriptCall{Ref: ref, Range: ptr("3-2")}, forms},
		{ReadTranscriptCall{Ref: ref, Range: ptr("0-2")}, forms},
		{ReadTranscriptCall{Ref: ref, Range: ptr("1-9999999999999999999")}, forms},
		{ReadTranscriptCall{Ref: ref, Range: ptr("1-2\n")}, forms},
	} {
		_, err := CheckRead(c.a)
		switch {
		case err == nil && c.want != "":
			t.Errorf("%+v: accepted", c.a)
		case err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%+v: %s", c.a, err)
		}
	}
}

// How often the same call was made in a row. Notices in between do not count;
// another call, other arguments, or the user's word begin anew.
func TestRepeated(t *testing.T) {
	const list = "job_list"
	c := func(id, name, args string) transcript.Call {
		return transcript.Call{ID: id, Name: name, Arguments: args}
	}
	type round = []transcript.Call
	for _, x := range []struct {
		what   string
		rounds []round
		want   int
	}{
		{"once", []round{{c("1", list, "{}")}}, 1},
		{"three times", []round{{c("1", list, "{}")}, {c("2", list, "{}")}, {c("3", list, "{}")}}, 3},
		{"twice in one reply", []round{{c("1", list, "{}"), c("2", list, "{}")}, {c("3", list, "{}")}}, 3},
		{"other arguments", []round{{c("1", list, `{"limit":1}`)}, {c("3", list, "{}")}}, 1},
		{"another tool", []round{{c("1", list, "{}")}, {c("2", "job_status", "{}")}, {c("3", list, "{}")}}, 1},
		{"among others", []round{{c("1", list, "{}")}, {c("2", list, "{}"), c("3", "job_status", "{}")}, {c("4", list, "{}")}}, 1},
		{"the user between", []round{{c("1", list, "{}")}, nil, {c("2", list, "{}")}}, 1},
	} {
		s := New()
		var last transcript.Call
		for i, r := range x.rounds {
			var e transcript.Event = transcript.UserSaid{Text: "go on"}
			if r != nil {
				e = transcript.AssistantSaid{Request: int64(i), Calls: r}
				last = r[len(r)-1]
			}
			if err := s.Transcript.Apply(e); err != nil {
				t.Fatal(err)
			}
			for _, call := range r {
				if i < len(x.rounds)-1 {
					if err := s.Transcript.Apply(transcript.Answered{Call: call.ID}); err != nil {
						t.Fatal(err)
					}
				}
			}
			if i == 0 && len(x.rounds) > 1 {
				if err := s.Transcript.Show(1, []string{"<n>"}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := s.Transcript.Repeated(last); got != x.want {
			t.Errorf("%s: %d", x.what, got)
		}
		note := s.PollNote(last)
		if (note != "") != (x.want >= 3) || note != "" && note != "(job_list was called 3 times in a row with the same arguments. Completion is notification-driven; do not poll this waiting for a job to finish.)" {
			t.Errorf("%s: note %q", x.what, note)
		}
	}
}

package model

import (
	"context"
	"errors"
	"strings"
	"testing"

	"evener/internal/transcript"
)

const (
	oldRoot, newRoot = "01JDYH3M00041061050R3GG28A", "01JDYH3M00041061050R3GG28B"
	oldJob, newJob   = "job_" + oldRoot + "AAAAAA", "job_" + newRoot + "BBBBBB"
)

func said(text string, calls ...transcript.Call) transcript.Entry {
	a := transcript.AssistantSaid{Text: text, Calls: calls, Finish: FinishStop}
	return transcript.Entry{Role: transcript.Assistant, Text: text, Assistant: &a}
}

func heard(role transcript.Role, text string) transcript.Entry {
	return transcript.Entry{Role: role, Text: text, Name: "shell", Call: "c1"}
}

func summed(text string) transcript.Entry {
	return transcript.Entry{Role: transcript.Summary, Compacted: &transcript.Compacted{Summary: text}}
}

// The n-th reply of a session is the n-th that was recorded in its place, with the
// ids of what is there now; what comes otherwise is told once, and goes on.
func TestReplay(t *testing.T) {
	const user, tool, frames = transcript.User, transcript.Tool, transcript.Frames
	start := `{"job_id":"` + oldJob + `","duration_ms":12}`
	call := transcript.Call{ID: "c2", SentID: "c1", Name: "job_status", Arguments: `{"target":"` + oldJob + `"}`}
	root := []transcript.Entry{heard(user, "go"), said("begun"), heard(tool, start), said("see", call), heard(tool, "gone"), heard(frames, oldJob+" ended"), said("end of " + oldJob), summed("short"), said("more")}
	m, err := Open("replay/X", Config{Recording: &Recording{Places: map[string]Recorded{
		"": {Session: oldRoot, Name: "A name", Entries: root}, "2.1": {Session: "other", Entries: []transcript.Entry{heard(user, "look"), said("looked")}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	started := heard(tool, `{"job_id":"`+newJob+`","duration_ms":340}`)
	all := []transcript.Entry{heard(user, "go"), said("begun"), started, said("see"), heard(tool, "gone"), heard(frames, newJob+" ended"), said("end"), summed("short")}
	for _, c := range []struct {
		name, place, purpose    string
		own                     []transcript.Entry
		text, args, warn, fails string
		overflow                bool
	}{
		{name: "the first", own: all[:1], text: "begun"},
		{name: "ids, times", own: all[:3], text: "see", args: `{"target":"` + newJob + `"}`},
		{name: "a notice", own: all[:6], text: "end of " + newJob},
		{name: "in its place", place: "2.1", own: []transcript.Entry{heard(user, "look")}, text: "looked"},
		{name: "too long then", own: all[:7], fails: "was too long", overflow: true},
		{name: "summary", purpose: ForSummary, own: all[:7], text: "short"},
		{name: "no summary", purpose: ForSummary, own: all[:1], fails: "a reply is recorded in its place"},
		{name: "behind a summary", own: all, text: "more"},
		{name: "a name", purpose: ForName, own: all[:1], text: "A name"},
		{name: "no more", own: append(all[:8:8], said("more")), fails: "request 7 wants reply 6, and session " + oldRoot + " has recorded 5 replies here"},
		{name: "nobody there", place: "3", own: all[:1], fails: "it is delegate 3 of its tree, and none was recorded in that place"},
		{name: "otherwise", own: append(all[:4:4], heard(tool, "here")), text: "end of " + newJob, warn: `before reply 3 the result of shell (c1) is "here", recorded was "gone"`},
		{name: "told once", own: append(all[:4:4], heard(tool, "here")), text: "end of " + newJob},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := m.Complete(context.Background(), Request{Session: newRoot, Number: 7, Place: c.place, For: c.purpose, Own: c.own}, nil)
			if c.fails != "" {
				e, ok := errors.AsType[*Error](err)
				if !ok || !strings.Contains(e.Text, c.fails) || !strings.Contains(e.Text, "replay/X: session "+newRoot) || (e.Kind == Overflow) != c.overflow {
					t.Errorf("got %v, want %q", err, c.fails)
				}
				return
			}
			if err != nil || r.Text != c.text || !strings.Contains(r.Warning, c.warn) || (c.warn == "") != (r.Warning == "") {
				t.Errorf("got %q, warning %q, %v", r.Text, r.Warning, err)
			}
			if c.args != "" && (len(r.Calls) != 1 || r.Calls[0].Arguments != c.args || r.Calls[0].ID != "c1") {
				t.Errorf("the calls are %v", r.Calls)
			}
		})
	}
}

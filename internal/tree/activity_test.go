package tree_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/text"
	"evener/internal/transcript"
	"evener/internal/tree"
)

func (b *branch) activity(s id.Session, kind, cursor string, limit int64) tree.ActivityPage {
	b.t.Helper()
	p, err := b.state.Activity(tree.ActivityQuery{Session: s, Kind: kind, Cursor: cursor, Limit: &limit}, func(x *job.State) job.Live {
		if x.Terminal() {
			return job.Live{Job: x.ID}
		}
		return job.Live{Job: x.ID, LastAt: b.printed}
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return p
}

// items are the rows of job_list for a session, by id.
func (b *branch) items(s id.Session) map[string]string {
	b.t.Helper()
	b.reply(s, "", `job_list {}`)
	var data struct {
		Items []json.RawMessage `json:"items"`
	}
	for _, r := range b.disk {
		for _, e := range r.events {
			if x, is := e.(transcript.Answered); is && r.journal == s && x.Name == "job_list" && json.Unmarshal(x.Data, &data) != nil {
				b.t.Fatal(x.Data)
			}
		}
	}
	out := map[string]string{}
	for _, raw := range data.Items {
		var r listed
		if err := json.Unmarshal(raw, &r); err != nil {
			b.t.Fatal(err)
		}
		out[r.ID] = string(raw)
	}
	return out
}

// The activity of a session is what it owns, of each kind by itself, and what it says
// of a job or a delegate is what job_list says at that moment. A read changes nothing.
//
// clause: JC-009 JC-011 JC-013
func TestActivity(t *testing.T) {
	h := newHousehold(t)
	h.reply(root, "", `job_watch {"operation":"create","source":"`+string(h.own)+`","progress_interval_ms":60000}`)
	h.reply(root, "", `job_watch {"operation":"create","repeat_seconds":60}`)
	h.reply(root, "", `job_watch {"operation":"clear","watch_id":"`+string(h.state.Sessions[root].Watches.Rows()[0].ID)+`"}`)
	for s, want := range map[id.Session]string{root: "ONE IDLE|own|watch_ watch_", h.one: "TWO|first|", h.idle: "LOW|done|", h.low: "|lowest|"} {
		rows := map[string]string{}
		if s == root || s == h.one {
			rows = h.items(s)
		}
		lines, was := len(h.disk), folded(t, h.disk)
		var got []string
		for _, kind := range []string{tree.Delegates, tree.Jobs, tree.Watches} {
			p := h.activity(s, kind, "", 100)
			var shown []listed
			for _, x := range p.Items {
				var r listed
				raw := text.Encode(x)
				if err := json.Unmarshal(raw, &r); err != nil {
					t.Fatal(err)
				}
				if r.Type == "" { // a watch
					r.ID = "watch_"
				} else if listed := rows[r.ID]; len(rows) > 0 && !strings.HasPrefix(string(raw), strings.TrimSuffix(listed, "}")) {
					t.Errorf("activity says %s\njob_list says %s", raw, listed)
				}
				shown = append(shown, r)
			}
			var names []string
			for _, r := range shown {
				names = append(names, strings.TrimSpace(h.shown([]listed{r})+strings.Repeat("watch_", strings.Count(r.ID, "watch_"))))
			}
			got = append(got, strings.Join(names, " "))
		}
		want = strings.Replace(want, "ONE IDLE", "IDLE ONE", 1) // the latest first
		if strings.Join(got, "|") != want {
			t.Errorf("%s has %q, want %q", h.state.Sessions[s].Delegate, strings.Join(got, "|"), want)
		}
		now := h.state.Sessions[s]
		if len(h.disk) != lines || !reflect.DeepEqual(h.state.Delegates, was.Delegates) || !reflect.DeepEqual(now.Attention, was.Sessions[s].Attention) || !reflect.DeepEqual(now.Jobs(), was.Sessions[s].Jobs()) {
			t.Errorf("the reads changed something")
		}
	}
	watches := fmt.Sprintf("%+v", h.activity(root, tree.Watches, "", 100).Items)
	if !strings.Contains(watches, "Status:active") || !strings.Contains(watches, "Status:ended") || !strings.Contains(watches, "EndReason:cleared") {
		t.Errorf("the watches: %s", watches)
	}
}

// Pages of any size show each row once, the latest first, though jobs begin and end
// between them. A cursor goes on with the rows that it came from, and with no others.
//
// clause: JC-010
func TestActivityPages(t *testing.T) {
	b := kept(t, 50)
	var jobs []string
	for range 7 {
		jobs = append([]string{string(b.start(root))}, jobs...)
	}
	for _, limit := range []int64{1, 2, 3, 6, 7, 100} {
		var got []string
		cursor := ""
		for page := 0; ; page++ {
			p := b.activity(root, tree.Jobs, cursor, limit)
			if p.Count != len(p.Items) || p.Count > int(limit) || p.Session != root || p.Kind != tree.Jobs {
				t.Fatalf("the page %+v", p)
			}
			for _, x := range p.Items {
				got = append(got, string(x.(job.Row).ID))
			}
			if cursor = p.Next; cursor == "" {
				break
			}
			if page == 0 { // what happens meanwhile
				b.exit(b.start(root))
				b.reply(root, "", `job_list {}`)
			}
		}
		if strings.Join(got, " ") != strings.Join(jobs, " ") {
			t.Errorf("pages of %d: %v, want %v", limit, got, jobs)
		}
		jobs = nil
		for _, x := range b.activity(root, tree.Jobs, "", 100).Items {
			jobs = append(jobs, string(x.(job.Row).ID))
		}
	}
	cursor := b.activity(root, tree.Jobs, "", 1).Next
	zero := int64(0)
	for _, c := range []struct {
		q    tree.ActivityQuery
		want string
	}{
		{tree.ActivityQuery{Session: root, Kind: tree.Watches, Cursor: cursor}, "invalid_request: activity: the cursor is one of the jobs of session " + string(root)},
		{tree.ActivityQuery{Session: root, Kind: tree.Jobs, Cursor: "x"}, `invalid_request: activity: "x" is no cursor; give back next_cursor`},
		{tree.ActivityQuery{Session: root, Kind: tree.Jobs, Cursor: "jobs." + string(root) + ".1x.job_1"}, "invalid_request: activity: "},
		{tree.ActivityQuery{Session: root, Kind: tree.Jobs, Cursor: "jobs." + string(root) + ".1."}, "invalid_request: activity: "},
		{tree.ActivityQuery{Session: root, Kind: "tasks"}, `invalid_request: activity: kind is "tasks"; it is delegates, jobs or watches`},
		{tree.ActivityQuery{Session: root, Kind: tree.Jobs, Limit: &zero}, "invalid_request: activity: limit must be at least 1 (got 0)"},
		{tree.ActivityQuery{Session: "01M8NY3XX67E8C4WVNVG5V5R22", Kind: tree.Jobs}, "target_not_found: activity: session 01M8NY3XX67E8C4WVNVG5V5R22 is not in this tree"},
	} {
		if _, err := b.state.Activity(c.q, func(*job.State) job.Live { return job.Live{} }); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.q, err)
		}
	}
}

// What a delegate reported last is previewed; what it says in the middle of its work is not.
//
// clause: JC-551
func TestActivityPreview(t *testing.T) {
	b := kept(t, 50)
	one, _ := b.delegate(root, 1)
	preview := func() string {
		t.Helper()
		return b.activity(root, tree.Delegates, "", 1).Items[0].(tree.DelegateActivity).Preview
	}
	for _, c := range []struct{ message, end, want string }{
		{"half of it", "false", ""},
		{"all of it", "true", "all of it"},
		{"more of it", "false", "all of it"},
		{strings.Repeat("x", 300), "true", strings.Repeat("x", 199) + "…"},
	} {
		if !b.state.Sessions[one].Run.Open {
			b.send(one)
		}
		b.reply(one, "", `communicate {"message":"`+c.message+`","end_turn":`+c.end+`}`)
		if got := preview(); got != c.want {
			t.Errorf("after %.20s: %q, want %q", c.message, got, c.want)
		}
	}
}

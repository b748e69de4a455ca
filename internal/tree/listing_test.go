package tree_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"evener/internal/attention"
	"evener/internal/delegate"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
	"evener/internal/transcript"
	"evener/internal/tree"
)

// listed is one row of job_list, as a program reads it.
type listed struct {
	ID       string      `json:"id"`
	Job      id.Job      `json:"job_id"`
	Type     string      `json:"type"`
	Status   string      `json:"status"`
	Owner    id.Session  `json:"owner_session_id"`
	Parent   id.Delegate `json:"parent_delegate_id"`
	Depth    *int        `json:"depth"`
	Activity string      `json:"last_activity"`
	Started  string      `json:"started_at"`
	keys     []string
}

// list is what job_list answers a session: its rows and its text.
func (b *branch) list(s id.Session, args string) ([]listed, string) {
	b.t.Helper()
	b.reply(s, "", "job_list "+args)
	var answer transcript.Answered
	for _, r := range b.disk {
		for _, e := range r.events {
			if x, is := e.(transcript.Answered); is && r.journal == s {
				answer = x
			}
		}
	}
	var data struct {
		Items []json.RawMessage `json:"items"`
		Total int               `json:"total_count"`
	}
	if err := json.Unmarshal(answer.Data, &data); err != nil || answer.IsError || data.Total != len(data.Items) {
		b.t.Fatalf("%s: %v", answer.Text, err)
	}
	var rows []listed
	for _, raw := range data.Items {
		var r listed
		var all map[string]any
		if json.Unmarshal(raw, &r) != nil || json.Unmarshal(raw, &all) != nil {
			b.t.Fatalf("no row: %s", raw)
		}
		for k := range all {
			r.keys = append(r.keys, k)
		}
		rows = append(rows, r)
	}
	return rows, answer.Text
}

// household is a root with a job and two delegates: one is at work with a job and a
// delegate of its own, which has a job too; the other rests, and so does what it owns.
type household struct {
	*branch
	one, two, idle, low      id.Session
	own, first, second, done id.Job
	lowest                   id.Job
}

func newHousehold(t *testing.T) household {
	h := household{branch: kept(t, 50)}
	h.own = h.start(root)
	h.one, _ = h.delegate(root, 1)
	h.first = h.start(h.one)
	h.two, _ = h.delegate(h.one, 2)
	h.second = h.start(h.two)
	h.idle, _ = h.delegate(root, 3)
	h.done = h.start(h.idle)
	h.exit(h.done)
	h.low, _ = h.delegate(h.idle, 4)
	h.lowest = h.start(h.low)
	h.exit(h.lowest)
	h.report(h.low)
	h.report(h.idle)
	return h
}

// shown names the rows in the order of their depth, and then of their names.
func (h household) shown(rows []listed) string {
	names := map[string]string{
		string(h.own): "own", string(h.first): "first", string(h.second): "second", string(h.done): "done", string(h.lowest): "lowest",
		string(id.DelegateOf(h.one)): "ONE", string(id.DelegateOf(h.two)): "TWO", string(id.DelegateOf(h.idle)): "IDLE", string(id.DelegateOf(h.low)): "LOW",
	}
	var out []string
	for _, r := range rows {
		depth := ""
		if r.Depth != nil {
			depth = fmt.Sprint(*r.Depth)
		}
		out = append(out, depth+names[r.ID])
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// By default a session lists what it owns. With include_nested the jobs of its direct
// delegates come with it, passed one level up; with include_descendants all that live
// sessions below it own, each once, with the depth of its owner. That alters nothing
// of the other two.
//
// clause: JC-369 JC-375 JC-601 JC-602 JC-603 JC-604 JC-607
func TestListing(t *testing.T) {
	h := newHousehold(t)
	for range 2 {
		for _, c := range []struct {
			who        id.Session
			args, want string
		}{
			{root, `{}`, "IDLE ONE own"},
			{root, `{"include_nested":false}`, "IDLE ONE own"},
			{root, `{"include_nested":true}`, "IDLE ONE done first own"},
			{root, `{"include_descendants":true}`, "0IDLE 0ONE 0own 1LOW 1TWO 1done 1first 2lowest 2second"},
			{root, `{"include_descendants":true,"include_nested":true}`, "0IDLE 0ONE 0own 1LOW 1TWO 1done 1first 2lowest 2second"},
			{root, `{"include_descendants":true,"type":["delegate"],"status":["completed"]}`, "0IDLE 1LOW"},
			{h.one, `{}`, "TWO first"},
			{h.one, `{"include_nested":true}`, "TWO first second"},
			{h.one, `{"include_descendants":true}`, "0TWO 0first 1second"},
			{h.two, `{"include_descendants":true,"include_nested":true}`, "0second"},
		} {
			rows, _ := h.list(c.who, c.args)
			if got := h.shown(rows); got != c.want {
				t.Errorf("%s of %s: %s, want %s", c.args, h.state.Sessions[c.who].Delegate, got, c.want)
			}
			for _, r := range rows {
				owner := id.Job(r.ID).Owner()
				if r.Type == "delegate" {
					owner = h.state.Delegates.Get(id.Delegate(r.ID)).Owner
				}
				if r.Owner != owner {
					t.Errorf("%s: the row of %s names %s as its owner, not %s", c.args, r.ID, r.Owner, owner)
				}
			}
		}
	}
	_, text := h.list(root, `{"include_descendants":true}`)
	line := fmt.Sprintf("\n%s shell running total_bytes=0 last_activity=%%s parent_delegate_id=%s depth=2 x", h.second, id.DelegateOf(h.two))
	if line = fmt.Sprintf(line, job.Stamp(h.state.Sessions[h.two].Job(h.second).StartedAt)); !strings.Contains(text, line) {
		t.Errorf("the text has no %q:\n%s", line, text)
	}
}

// Of a session that is not in memory the walk shows what it had passed up, its jobs
// that ended, with the owner that they were passed to; what is deeper it does not
// show, and nothing is folded again for it. A run brings the session back, and with
// it what is below.
//
// clause: JC-605
func TestListingOfTheGone(t *testing.T) {
	h := newHousehold(t)
	h.pass(time.Minute)
	h.want("a minute of rest", h.here(h.one, h.idle, h.low), true, false, false)
	walk := func(what, want string) {
		t.Helper()
		rows, _ := h.list(root, `{"include_descendants":true}`)
		if got := h.shown(rows); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	status := func(what, target, want string) {
		t.Helper()
		h.reply(root, "", `job_status {"target":"`+target+`"}`)
		if got := h.last(root).Text; !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s", what, got)
		}
	}
	walk("it is gone", "0IDLE 0ONE 0done 0own 1TWO 1first 2second")
	status("its job", string(h.done), `{"job_id":"`+string(h.done)+`"`)
	status("a job below", string(h.lowest), "target_not_found: job_status: no job")
	status("a delegate below", string(id.DelegateOf(h.low)), "target_not_found: job_status: no delegate")
	if h.restored > 0 {
		t.Errorf("%d conversations were folded for it", h.restored)
	}
	if got := h.send(h.idle); got.IsError {
		t.Fatal(got.Text)
	}
	walk("it works again", "0IDLE 0ONE 0own 1LOW 1TWO 1done 1first 1lowest 2second")

	h.branch = newBranch(t, h.disk)
	h.take(root, foundOf(h.state))
	h.take(root, session.Prompt{Text: "more", Mode: session.OneShot, Limits: familyLimits, Context: told})
	h.report(h.two)
	h.report(h.one)
	h.pass(time.Minute)
	walk("another process", "0IDLE 0ONE 0done 0first 0own")
}

// In a listing of both kinds a row of either has its id and its type, and that of a
// job the job's own name for it, too. A row of a delegate has nothing that would name
// a run of it.
//
// clause: JC-072 JC-377
func TestListingKinds(t *testing.T) {
	h := newHousehold(t)
	rows, _ := h.list(root, `{"include_descendants":true}`)
	for _, r := range rows {
		switch _, isDelegate := id.ParseDelegate(r.ID); {
		case isDelegate:
			if r.Type != "delegate" || r.Job != "" {
				t.Errorf("the row of %s: %+v", r.ID, r)
			}
		case r.Type != "shell" || string(r.Job) != r.ID:
			t.Errorf("the row of %s: %+v", r.ID, r)
		}
		slices.Sort(r.keys)
		const want = "child_session_id depth description id last_activity last_outcome model owner_session_id parent_delegate_id resumable started_at status transcript_ref type"
		if got := strings.Join(r.keys, " "); r.ID == string(id.DelegateOf(h.low)) && got != want {
			t.Errorf("the row of a delegate has %s, want %s", got, want)
		}
	}
}

// What is listed as resumable takes a message, whatever its run is at or came to.
//
// clause: JC-378
func TestListingResumable(t *testing.T) {
	b := kept(t, 50)
	works, _ := b.delegate(root, 1)
	reported, _ := b.delegate(root, 2)
	b.report(reported)
	failed, _ := b.delegate(root, 3)
	b.take(failed, session.ModelFailed{Request: b.requests[failed], Text: "no"})
	stopped, _ := b.delegate(root, 4)
	b.reply(root, "", `job_stop {"target":"`+string(id.DelegateOf(stopped))+`"}`)
	for s, status := range map[id.Session]string{works: "running", reported: "completed", failed: "failed", stopped: "cancelled"} {
		b.reply(root, "", `job_list {"status":["`+status+`"]}`)
		if got := b.last(root).Text; !strings.Contains(got, string(id.DelegateOf(s))) {
			t.Errorf("%s: not listed: %s", status, got)
		}
		b.reply(root, "", `job_status {"target":"`+string(id.DelegateOf(s))+`"}`)
		resumable := strings.Contains(b.last(root).Text, `"resumable":true`)
		if sent := b.send(s); resumable == sent.IsError {
			t.Errorf("%s: resumable %v, and the message: %s", status, resumable, sent.Text)
		}
	}
}

// A delegate that works in silence was last active when its run began; what it does
// then is activity, and so is what its commands print.
//
// clause: JC-418
func TestListingActivity(t *testing.T) {
	b := kept(t, 50)
	one, _ := b.delegate(root, 1)
	d := b.state.Delegates.Get(id.DelegateOf(one))
	last := func() listed {
		t.Helper()
		rows, _ := b.list(root, `{"type":["delegate"]}`)
		return rows[0]
	}
	b.pass(time.Minute)
	if r := last(); r.Activity != job.Stamp(d.StartedAt) || r.Started != r.Activity {
		t.Errorf("in silence: %+v, its run began %v", r, d.StartedAt)
	}
	b.reply(one, "", `shell {"command":"make"}`)
	replied := b.state.Sessions[one].LastAt
	if r := last(); r.Activity != job.Stamp(replied) || !replied.After(d.StartedAt) {
		t.Errorf("after a reply: %+v, want %v", r, replied)
	}
	b.pass(time.Minute)
	b.printed = b.now
	if r := last(); r.Activity != job.Stamp(b.printed) {
		t.Errorf("its command printed: %+v, want %v", r, b.printed)
	}
	b.send(one)
	if r := last(); r.Activity != job.Stamp(b.state.Sessions[one].LastAt) {
		t.Errorf("after a message: %+v", r)
	}
}

// The watchdog tells of silence for a whole window. Whatever the delegate does, or
// its command prints, begins the window anew.
//
// clause: JC-582
func TestQuietBaseline(t *testing.T) {
	b := kept(t, 50)
	one, _ := b.delegate(root, 1)
	told := func(what string, want int) {
		t.Helper()
		n := 0
		for _, r := range b.disk {
			for _, e := range r.events {
				if x, is := e.(attention.DelegateArmed); is && r.journal == root && x.Class == attention.Quiet {
					n++
				}
			}
		}
		if n != want {
			t.Errorf("%s: told of silence %d times, want %d", what, n, want)
		}
	}
	for range 3 {
		b.pass(9 * time.Minute)
		b.reply(one, "", `job_list {}`)
	}
	told("it does something every nine minutes", 0)
	b.reply(one, "", `shell {"command":"make"}`)
	j := b.shells[len(b.shells)-1]
	b.take(one, session.Launched{Job: j, Launch: job.Launch{PID: 1, StartTicks: 1, BootID: "b"}})
	for range 3 {
		b.pass(9 * time.Minute)
		b.printed = b.now
	}
	told("its command prints every nine minutes", 0)
	b.pass(9 * time.Minute)
	told("nine minutes of silence", 0)
	b.pass(2 * time.Minute)
	told("eleven minutes of silence", 1)
}

// A watch ends with the stop of the delegate that holds it. What the delegate had is
// in the list of its ended watches, with the reason, when it works again.
//
// clause: JC-412
func TestListingClosedWatch(t *testing.T) {
	l := familyLimits
	l.RecentWatches = 16
	b := prompted(t, l)
	one := id.MintSession(began, id.Entropy{1})
	b.reply(root, "", `delegate {"prompt":"Brief."}`)
	b.prepared(root, one, told.Model, "job_watch")
	b.reply(one, "", `job_watch {"operation":"create","repeat_seconds":60}`)
	made := b.state.Sessions[one].Watches.Rows()
	if len(made) != 1 {
		t.Fatalf("it holds %v: %s", made, b.last(one).Text)
	}
	b.reply(root, "", `job_stop {"target":"`+string(id.DelegateOf(one))+`"}`)
	b.send(one)
	b.reply(one, "", `job_list {}`)
	past := b.state.Sessions[one].Watches.PastRows(16)
	if len(past) != 1 || past[0].ID != made[0].ID || past[0].EndReason != "job_manager_closed" || len(b.state.Sessions[one].Watches.Rows()) > 0 {
		t.Errorf("it had %+v", past)
	}
	if got := b.last(one).Text; !strings.Contains(got, "job_manager_closed") {
		t.Errorf("the listing: %s", got)
	}
}

// Who may watch and does not is told of nothing, whatever happens around it.
//
// clause: JC-579
func TestUnwatched(t *testing.T) {
	b := kept(t, 50)
	one := id.MintSession(began, id.Entropy{1})
	b.reply(root, "", `delegate {"prompt":"Brief.","watch_parent":true}`)
	in := tree.Prepared{Call: b.asked[len(b.asked)-1].Call, Child: one,
		Descriptor: delegate.Descriptor{Model: told.Model, Allowance: 1, Dir: "/w", Tools: json.RawMessage(namesOf([]string{"communicate", "job_watch"})), WatchParent: true}}
	b.take(root, in)
	b.report(one)
	b.job(root)
	two, _ := b.delegate(root, 2)
	b.job(two)
	b.report(two)
	for _, r := range b.disk {
		for _, e := range r.events {
			if x, is := e.(attention.WatchArmed); is {
				t.Errorf("%s is told %s", r.journal, x.Frame)
			}
		}
	}
	if n := b.state.Sessions[one].Run.N; n != 1 {
		t.Errorf("it was driven %d times", n-1)
	}
}

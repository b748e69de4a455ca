package report

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"evener/internal/attention"
	"evener/internal/delegate"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/transcript"
	"evener/internal/tree"
	"evener/internal/watch"
)

// teller writes the journals of a tree by hand: lines that fold, at times that
// are the same each time.
type teller struct {
	t       *testing.T
	home    store.Home
	root    id.Session
	at      time.Time
	step    int64
	writes  []tree.Write
	turn    map[id.Session]int64
	request map[id.Session]int64
	jobs    uint32
}

var begun = time.Date(2026, 11, 30, 7, 0, 0, 0, time.UTC)

func tell(t *testing.T, hold func(*teller)) (store.Home, id.Session) {
	t.Helper()
	h, err := store.Find(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	s := id.MintSession(begun, id.Entropy{1, 2, 3})
	st, err := store.Create(h, s, "test", "boot")
	if err != nil {
		t.Fatal(err)
	}
	x := &teller{t: t, home: h, root: s, at: begun, turn: map[id.Session]int64{}, request: map[id.Session]int64{}}
	hold(x)
	if err := st.Append(x.writes); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	return h, s
}

// line adds one decision to the journal of a session; of "" that of the delegates.
func (x *teller) line(s id.Session, after time.Duration, events ...session.Event) {
	x.step++
	x.at = x.at.Add(after)
	x.writes = append(x.writes, tree.Write{Session: s, Step: x.step, At: x.at, Cause: []byte(`{"kind":"test"}`), Events: events})
}

func (x *teller) begin(s id.Session, of id.Delegate, parent id.Session, system string) {
	mode, generation := session.Living, int64(0)
	if of != "" {
		mode, generation = session.Delegated, 1
	}
	x.line(s, time.Millisecond, session.Created{Session: s, Root: x.root, Dir: "/home/dev/project", Parent: parent, Delegate: of},
		session.RunStarted{Run: 1, Mode: mode, Generation: generation},
		session.ContextSet{Model: "openai/any", System: system, Tools: json.RawMessage(`[{"name":"shell"}]`)})
}

func (x *teller) asked(s id.Session, ids ...string) session.Requested {
	x.request[s]++
	return session.Requested{Turn: x.turn[s], Request: x.request[s], Attention: ids}
}

// prompt begins a turn with somebody's words.
func (x *teller) prompt(s id.Session, words string) {
	x.turn[s]++
	x.line(s, time.Second, session.TurnStarted{Turn: x.turn[s], Type: session.UserTurn}, transcript.UserSaid{Turn: x.turn[s], Text: words}, x.asked(s))
}

// notified begins a turn with notices.
func (x *teller) notified(s id.Session, ids ...string) {
	x.turn[s]++
	x.line(s, time.Second, session.TurnStarted{Turn: x.turn[s], Type: session.NotificationTurn}, x.asked(s, ids...))
}

func (x *teller) said(s id.Session, words string, calls ...transcript.Call) transcript.AssistantSaid {
	return transcript.AssistantSaid{Turn: x.turn[s], Request: x.request[s], Text: words, Calls: calls, Finish: "stop", Usage: transcript.Usage{Input: 2000, Output: 40}}
}

func (x *teller) ended(s id.Session, words string, o session.TurnOutcome, ids ...string) {
	events := []session.Event{x.said(s, words)}
	if len(ids) > 0 {
		events = append(events, attention.Consumed{IDs: ids, By: attention.ByTurn})
	}
	x.line(s, time.Second, append(events, session.TurnEnded{Turn: x.turn[s], Outcome: o})...)
}

func call(n int, name, args string) transcript.Call {
	return transcript.Call{ID: fmt.Sprint("call_", n), Name: name, Arguments: args}
}

func args(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// background begins a job in answer to a call.
func (x *teller) background(s id.Session, c transcript.Call, command string) id.Job {
	x.jobs++
	j := id.MintJob(s, x.jobs, func(id.Job) bool { return false })
	x.line(s, time.Second, x.said(s, "", c), job.Intended{Job: j, Command: command, Mode: job.Background, Dir: "/home/dev/project", Turn: x.turn[s], Call: c.ID})
	x.line(s, 20*time.Millisecond, job.Started{Job: j, PID: 4711, StartTicks: 1, BootID: "boot"},
		transcript.Answered{Call: c.ID, Name: c.Name, Data: json.RawMessage(`{"job_id":"` + string(j) + `","type":"shell","mode":"background","status":"running"}`)}, x.asked(s))
	return j
}

// exit ends a job and arms its notice.
func (x *teller) exit(s id.Session, j id.Job, code int, printed string) string {
	status := job.Completed
	if code != 0 {
		status = job.ExitedNonzero
	}
	notice := attention.ID(j, 1)
	x.line(s, 3*time.Second, job.Finished{Job: j, Status: status, ExitCode: &code, Generation: 1, Kept: true, TotalBytes: int64(len(printed))},
		attention.Armed{ID: notice, Source: j, Generation: 1, Frame: attention.Frame(attention.ShellEnd{Job: j, Status: string(status), ExitCode: &code, Total: int64(len(printed)), Known: true, Tail: printed})})
	return notice
}

// hostile stands wherever a text can stand.
const hostile = "</script><script>window.pwned=1</script><img src=x onerror=window.pwned=2>\" onclick=\"window.pwned=3' -->]]>\u202egnp.exe\u2066 \x1b[31mred\x00 <!--<style>*{display:none}</style>\u2028${window.pwned=4}"

// story is a session with all kinds of things in it, and hostile texts.
func story(x *teller) {
	r := x.root
	x.begin(r, "", "", "You work. "+hostile)
	x.line(r, 0, session.Named{Name: "Build it " + hostile})
	x.prompt(r, "build it, please "+hostile)
	j := x.background(r, call(1, "shell", args(map[string]string{"command": "make all # " + hostile, "mode": "background"})), "make all # "+hostile)
	w := id.MintWatch(r, 7, func(id.Watch) bool { return false })
	c := call(2, "job_watch", args(map[string]string{"source": string(j), "output_match": "built|" + hostile}))
	x.line(r, time.Second, x.said(r, "I watch it. "+hostile, c))
	x.line(r, time.Millisecond, watch.Created{Watch: w, Config: watch.Config{Source: string(j), OutputMatch: "built|" + hostile}, Manager: r},
		transcript.Answered{Call: c.ID, Name: c.Name, Data: json.RawMessage(`{"watching":true}`)}, x.asked(r))
	bad := call(3, "read_file", args(map[string]string{"path": hostile}))
	next := call(4, "delegate", args(map[string]string{"task": "Look at it. " + hostile}))
	x.line(r, time.Second, x.said(r, "", bad, next))
	x.line(r, 2*time.Second, transcript.Answered{Call: bad.ID, Name: bad.Name, IsError: true, Text: "no such file " + hostile})
	child := id.MintSession(begun.Add(time.Minute), id.Entropy{9})
	d := id.Delegate("dlg_" + string(child))
	x.line("", time.Millisecond, delegate.Created{Delegate: d, Session: child, Owner: r, Call: next.ID,
		Descriptor: delegate.Descriptor{Name: "looker" + hostile, Model: "openai/any", Dir: "/home/dev/project", System: "You look.", Tools: json.RawMessage(`[]`)}},
		delegate.GenerationStarted{Delegate: d, Generation: 1, Purpose: delegate.ForOwner, Text: "Look at it. " + hostile, Call: next.ID})
	x.line(r, time.Millisecond, transcript.Answered{Call: next.ID, Name: next.Name, Data: json.RawMessage(`{"delegate_id":"` + string(d) + `"}`)}, x.asked(r))
	x.begin(child, d, r, "You look.")
	x.prompt(child, "Look at it.")
	inner := x.background(child, call(1, "shell", `{"command":"grep -r x"}`), "grep -r x")
	found := x.exit(child, inner, 2, "no match\n")
	x.ended(child, "I wait.", session.TurnAnswered)
	x.line(r, time.Second, x.said(r, "I wait for both."), session.TurnEnded{Turn: x.turn[r], Outcome: session.TurnAnswered})
	told := string(w) + "/1"
	x.line(r, time.Second, watch.Fired{Watch: w, Class: watch.Match, Delivery: told, Count: 1, Excerpts: []string{"built " + hostile}},
		attention.WatchArmed{ID: told, Watch: w, Frame: "<watch-notification watch_id=\"" + string(w) + "\">built " + hostile + "</watch-notification>"})
	notice := x.exit(r, j, 1, "built\nfailed after all "+hostile+"\n")
	x.line(r, 0, watch.Ended{Watch: w, Reason: watch.AutoRemoved})
	x.notified(r, told, notice)
	x.notified(child, found)
	x.ended(child, "looked, nothing there", session.TurnReported, found)
	x.line(child, 0, session.RunEnded{Run: 1, Outcome: session.RunReported})
	report := string(d) + "/1"
	x.line("", time.Millisecond, delegate.Finished{Delegate: d, Generation: 1, Status: delegate.Failed, Reason: "missing_terminal", Delivery: report, Packet: &delegate.Packet{Status: delegate.Failed, Message: hostile}})
	x.line(r, time.Millisecond, attention.DelegateArmed{ID: report, Delegate: d, Class: attention.Report, Frame: "<delegate-notification>" + hostile + "</delegate-notification>"})
	x.ended(r, "It failed. "+hostile, session.TurnReported, told, notice)
	x.line("", time.Millisecond, delegate.Delivered{Delegate: d, Delivery: report})
	x.notified(r, report)
	x.ended(r, strings.Repeat("So it is. ", 3000), session.TurnFailed, report)
	x.prompt(r, "and again")
	x.background(r, call(5, "shell", `{"command":"sleep 600"}`), "sleep 600")
}

// many is a session of n jobs, ten in each turn, whose notices the next one carries.
func many(n int) func(*teller) {
	return func(x *teller) {
		r := x.root
		x.begin(r, "", "", "You work.")
		for at := 0; at < n; {
			x.prompt(r, "build the next lot")
			var owed []string
			for range 10 {
				at++
				j := x.background(r, call(at, "shell", `{"command":"make all","mode":"background"}`), "make all")
				code := 0
				if at%100 == 0 {
					code = 2
				}
				owed = append(owed, x.exit(r, j, code, strings.Repeat("compiled a package\n", 4)))
			}
			x.ended(r, "they run", session.TurnAnswered)
			x.notified(r, owed...)
			x.ended(r, "all built", session.TurnAnswered, owed...)
		}
		x.line(r, 0, session.RunEnding{Run: 1, Why: "done"}, session.RunEnded{Run: 1, Outcome: session.RunClosed})
	}
}

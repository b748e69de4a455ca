package tree_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"evener/internal/effect"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/model"
	"evener/internal/schema"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/tool"
	"evener/internal/transcript"
	"evener/internal/tree"
	"evener/internal/watch"
)

const root = id.Session("01JDYH3M00041061050R3GG28A")

var began = time.Date(2024, 12, 1, 10, 0, 0, 0, time.UTC)

// limits of a story, where it sets none.
var stock = session.Limits{
	CommandTimeoutMS: 120_000, StopGraceMS: 2_000, InlineOutputBytes: 200, OutputKeepTotal: 1 << 30,
	MaxTurns: 200, MaxSubagentDepth: 2, JobListChars: 20_000,
}

var told = session.ContextSet{Model: "script/x", System: "You are a test.", Tools: json.RawMessage(namesOf(tool.Names()))}

// namesOf are tools without their descriptions, which no rule reads.
func namesOf(names []string) string {
	return `[{"name":"` + strings.Join(names, `"},{"name":"`) + `"}]`
}

// world plays everything outside the core for one session: the clock, the
// disk, processes, timers and the model's end of the line. What is decided
// goes through the real store.
type world struct {
	t     testing.TB
	store *store.Tree
	now   time.Time
	full  string
	room  int64
	mint  uint32

	jobs    []id.Job // in the order their shells were asked for
	printed map[id.Job]*output
	timers  []timer
	request int64 // the one that is out
	ended   bool
	watches []id.Watch          // in the order in which their ids were given
	scans   map[string]id.Watch // by the call that waits for one
	asked   bool                // a model request was made since somebody looked
}

type output struct {
	text string
	last time.Time
}

type timer struct {
	key string
	due time.Time
}

func home(dir string) store.Home { return store.Home{Project: dir, Sessions: dir + "/sessions"} }

// memory is a folder whose syncs cost nothing, where the system has one.
func memory(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "evener-tree-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func newWorld(t testing.TB) *world {
	t.Helper()
	st, err := store.Create(home(memory(t)), root, "test", "boot")
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, store: st, now: began, printed: map[id.Job]*output{}, scans: map[string]id.Watch{}}
}

// resumed takes up what a lost process left in a folder.
func resumed(t testing.TB, dir string) *world {
	t.Helper()
	st, err := store.Resume(home(dir), root, "test", "boot")
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, store: st, now: began.Add(time.Hour), printed: map[id.Job]*output{}, scans: map[string]id.Watch{}, mint: 1 << 20}
}

func (w *world) close() {
	w.t.Helper()
	if err := w.store.Close(); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) session() *session.State { return w.store.State.Session() }

func (w *world) facts() session.Facts {
	w.mint++
	return session.Facts{Now: w.now, Random: w.mint << 5, Full: w.full, Room: w.room, Live: w.live, Output: w.output, Fits: schema.Violations}
}

func (w *world) live(j id.Job) job.Live {
	p := w.printed[j]
	if p == nil {
		return job.Live{Job: j}
	}
	return job.Live{Job: j, Total: int64(len(p.text)), LastAt: p.last}
}

const headKeep, tailKeep = 8 << 10, 64 << 10

// output gives both ends of what a job printed, as the pump does.
func (w *world) output(j id.Job) job.Output {
	p := w.printed[j]
	if p == nil {
		return job.Output{}
	}
	return job.Output{Total: int64(len(p.text)), Head: p.text[:min(len(p.text), headKeep)], Tail: p.text[max(0, len(p.text)-tailKeep):]}
}

// decide takes one input, makes the decision durable and performs its effects.
func (w *world) decide(in session.Input) (tree.Decision, *fault.Error) {
	w.t.Helper()
	d, err := w.store.State.Decide(tool.Decode, w.facts(), tree.Input{Session: root, In: in})
	if refusal, ok := errors.AsType[*fault.Error](err); ok {
		return d, refusal
	}
	if err != nil {
		w.t.Fatalf("decide %s: %v", in.Kind(), err)
	}
	if err := w.store.Append(d.Writes); err != nil {
		w.t.Fatal(err)
	}
	for _, x := range d.Writes {
		for _, e := range x.Events {
			if c, ok := e.(watch.Created); ok {
				w.knows(c.Watch)
			}
		}
	}
	for _, e := range d.Effects {
		w.perform(e.Effect)
	}
	return d, nil
}

func (w *world) knows(x id.Watch) {
	if !slices.Contains(w.watches, x) {
		w.watches = append(w.watches, x)
	}
}

func (w *world) perform(e effect.Effect) {
	switch e := e.(type) {
	case effect.WatchOutput:
		w.knows(e.Watch)
		w.scans[e.Call] = e.Watch
	case effect.StartProcess:
		w.jobs = append(w.jobs, e.Job)
	case effect.CallModel:
		w.request, w.asked = e.Request, true
		w.checkRequest()
	case effect.Summarise:
		w.request = e.Request
	case effect.SetTimer:
		w.timers = slices.DeleteFunc(w.timers, func(x timer) bool { return x.key == e.Key })
		w.timers = append(w.timers, timer{e.Key, w.now.Add(e.After)})
	case effect.EndRun:
		w.ended = true
	}
}

// checkRequest holds a request against what a strict server accepts.
func (w *world) checkRequest() {
	w.t.Helper()
	if err := model.Check(messages(w.session().Transcript.Entries)); err != nil {
		w.t.Errorf("request %d: %v", w.request, err)
	}
}

func messages(entries []transcript.Entry) []model.Message {
	var out []model.Message
	for _, e := range transcript.Context(entries) {
		m := model.Message{Role: model.RoleUser, Text: e.Text}
		switch e.Role {
		case transcript.Assistant:
			m.Role = model.RoleAssistant
			for _, c := range e.Assistant.Calls {
				m.Calls = append(m.Calls, model.Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
			}
		case transcript.Tool:
			m.Role, m.CallID = model.RoleTool, e.Call
		}
		out = append(out, m)
	}
	return out
}

// due takes the earliest timer that is due by a time.
func (w *world) due(by time.Time) (timer, bool) {
	slices.SortStableFunc(w.timers, func(a, b timer) int { return a.due.Compare(b.due) })
	if len(w.timers) == 0 || w.timers[0].due.After(by) {
		return timer{}, false
	}
	first := w.timers[0]
	w.timers = w.timers[1:]
	return first, true
}

func (w *world) prompt(text string, mode session.Mode, l session.Limits) session.Prompt {
	p := session.Prompt{Text: text, Mode: mode, Limits: l, Context: told}
	if w.session().ID == "" {
		p.Create = &session.Created{Session: root, Root: root, Dir: "/w"}
	}
	return p
}

// exit is how a job's command ended, with what it had printed.
func (w *world) exit(j id.Job, x job.Exit) session.Exited {
	o := w.output(j)
	x.Total, x.Head, x.Tail = o.Total, o.Head, o.Tail
	return session.Exited{Job: j, Exit: x}
}

// files is what a file tool came to: what it saw, if anything, and its text.
func (w *world) files(call, rest string) session.FilesDone {
	w.t.Helper()
	if why, bad := strings.CutPrefix(rest, "! "); bad {
		return session.FilesDone{Call: call, IsError: true, Text: why}
	}
	in := session.FilesDone{Call: call, Data: []byte(`{"path":"x"}`)}
	d := json.NewDecoder(strings.NewReader(rest))
	var seen *session.FileSeen
	if err := d.Decode(&seen); err != nil {
		w.t.Fatalf("files %s: %v", rest, err)
	}
	in.Seen = seen
	text, err := strconv.Unquote(strings.TrimSpace(rest[d.InputOffset():]))
	if err != nil {
		w.t.Fatalf("files %s: %v", rest, err)
	}
	in.Text = text
	return in
}

// lost is what a new process finds after the old one is gone.
func (w *world) lost() session.Restarted {
	in := session.Restarted{Jobs: map[id.Job]job.Found{}, Seqs: w.store.Seqs}
	for _, x := range w.session().Live() {
		in.Jobs[x.ID] = job.Found{Total: w.output(x.ID).Total}
	}
	return in
}

// finish answers every request in bare text until the run is over.
func (w *world) finish() {
	w.t.Helper()
	for n := 0; !w.ended; n++ {
		if n > 20 || w.request == 0 {
			w.t.Fatalf("the run does not come to its end (request %d, turn %+v)", w.request, w.session().Turn)
		}
		r := w.request
		w.request = 0
		w.now = w.now.Add(time.Second)
		if w.session().Turn.Compacting != nil {
			w.decide(session.Summarised{Request: r, Text: "done so far"})
			continue
		}
		w.decide(session.Replied{Request: r, Reply: transcript.AssistantSaid{Text: "done", Finish: "stop"}})
	}
}

// journal is the file as it stands.
func (w *world) journal() []byte {
	w.t.Helper()
	b, err := os.ReadFile(w.store.Home.Journal(root))
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// named writes job ids as $j1, $j2, … in the order they were started.
func (w *world) named(s string) string {
	for i, j := range w.jobs {
		s = strings.ReplaceAll(s, string(j), fmt.Sprintf("$j%d", i+1))
	}
	for i, x := range w.watches {
		s = strings.ReplaceAll(s, string(x), fmt.Sprintf("$w%d", i+1))
	}
	return strings.ReplaceAll(strings.ReplaceAll(s, string(told.Tools), "[]"), string(root), "$s")
}

// real writes $j1, $j2, … as the ids.
func (w *world) real(s string) string {
	for i := len(w.jobs); i > 0; i-- {
		s = strings.ReplaceAll(s, fmt.Sprintf("$j%d", i), string(w.jobs[i-1]))
	}
	for i := len(w.watches); i > 0; i-- {
		s = strings.ReplaceAll(s, fmt.Sprintf("$w%d", i), string(w.watches[i-1]))
	}
	return strings.ReplaceAll(s, "$s", string(root))
}

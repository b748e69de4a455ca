package tree_test

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"evener/internal/attention"
	"evener/internal/effect"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/model"
	"evener/internal/session"
	"evener/internal/task"
	"evener/internal/tool"
	"evener/internal/transcript"
	"evener/internal/tree"
)

// Inputs in any order, stale and doubled ones among them, keep the promises:
// no decision fails, nothing waits for what will not come, and in the end each
// notice was told once.
//
// clause: JC-123 JC-575
func TestAnyOrder(t *testing.T) {
	for range 10 { // of a hundred each
		rapid.Check(t, anyOrder)
	}
}

func FuzzAnyOrder(f *testing.F) { f.Fuzz(rapid.MakeFuzz(anyOrder)) }

func anyOrder(t *rapid.T) {
	s := newSim(t)
	for range rapid.IntRange(10, 70).Draw(t, "steps") {
		s.step()
	}
	s.wayHome()
}

// sim plays inputs against a tree in memory. shadow is folded from the events
// alone, as a reader of the journal would.
type sim struct {
	t             *rapid.T
	state, shadow *tree.State
	now           time.Time
	calls         int

	jobs     []id.Job // every job whose shell was asked for
	status   map[id.Job]job.Status
	stops    map[id.Job]int
	releases map[id.Job]int
	asked    []string        // calls that a detached launch or a read was ordered for
	answered map[string]bool // and those that had their answer
	timers   []string
	frames   map[string]string // armed notices
	read     map[string]bool   // consumed by a status read
	request  int64
	prompts  map[int64]int // queued, and neither taken nor dropped
}

func newSim(t *rapid.T) *sim {
	return &sim{t: t, state: tree.New(root), shadow: tree.New(root), now: began, status: map[id.Job]job.Status{}, stops: map[id.Job]int{},
		releases: map[id.Job]int{}, answered: map[string]bool{}, frames: map[string]string{}, read: map[string]bool{}, prompts: map[int64]int{}}
}

func (s *sim) session() *session.State { return s.state.Session() }

func (s *sim) decide(in session.Input) {
	s.now = s.now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(s.t, "ms")) * time.Millisecond)
	f := session.Facts{
		Now: s.now, Random: uint32(s.below(4)), Full: map[bool]string{true: "/full"}[s.below(10) == 0], Room: 256 << 10,
		Live:   func(j id.Job) job.Live { return job.Live{Job: j, Total: 3, LastAt: s.now} },
		Output: func(id.Job) job.Output { return job.Output{Total: 3, Head: "abc", Tail: "abc"} },
	}
	was := s.session().Run
	d, err := s.state.Decide(tool.Decode, f, tree.Input{Session: root, In: in})
	if _, refused := errors.AsType[*fault.Error](err); refused {
		if !reflect.DeepEqual(s.state, s.shadow) {
			s.t.Fatalf("%s was refused and changed the state", in.Kind())
		}
		return
	}
	if err != nil {
		s.t.Fatalf("decide %s %+v: %v", in.Kind(), in, err)
	}
	for _, w := range d.Writes {
		if err := s.shadow.Apply(w.Session, w.Step, w.At, w.Events); err != nil {
			s.t.Fatalf("what %s decided does not fold: %v", in.Kind(), err)
		}
		for _, e := range w.Events {
			s.note(e)
		}
	}
	if len(d.Writes) == 0 && !reflect.DeepEqual(s.state, s.shadow) {
		s.t.Fatalf("%s wrote nothing and changed the state", in.Kind())
	}
	ended := false
	for _, e := range d.Effects {
		ended = s.perform(e.Effect) || ended
	}
	over := !s.session().Run.Open && (was.Open || s.session().Run.N > was.N) // a run may end with its first decision
	if _, abandoned := in.(session.Abandon); ended != over && !abandoned {
		s.t.Fatalf("after %s the run is over: %v, told to end: %v", in.Kind(), over, ended)
	}
	s.waits(in)
}

// note keeps what events promise.
func (s *sim) note(e session.Event) {
	switch e := e.(type) {
	case job.Finished:
		if old := s.status[e.Job]; old != "" {
			s.t.Fatalf("job %s was %s and is %s", e.Job, old, e.Status)
		}
		s.status[e.Job] = e.Status
	case attention.Armed:
		s.frames[e.ID] = e.Frame
	case attention.Consumed:
		for _, x := range e.IDs {
			s.read[x] = e.By == attention.ByStatus
		}
	case transcript.Answered:
		s.answered[e.Call] = true
	case session.PromptQueued:
		s.prompts[e.Prompt]++
	case session.PromptDropped:
		s.prompts[e.Prompt]--
	case transcript.UserSaid:
		if e.Prompt != 0 {
			s.prompts[e.Prompt]--
		}
	}
}

func (s *sim) perform(e effect.Effect) (ended bool) {
	switch e := e.(type) {
	case effect.StartProcess:
		s.jobs = append(s.jobs, e.Job)
		// The id may be that of a command which left no record.
		delete(s.status, e.Job)
		delete(s.stops, e.Job)
		delete(s.releases, e.Job)
	case effect.ReleaseProcess:
		if s.releases[e.Job]++; s.releases[e.Job] > 1 {
			s.t.Fatalf("job %s was released twice", e.Job)
		}
	case effect.StopProcess:
		if s.stops[e.Job]++; s.stops[e.Job] > 1 {
			s.t.Fatalf("job %s was stopped twice", e.Job)
		}
	case effect.Detach:
		s.asked = append(s.asked, e.Call)
	case effect.UseFiles:
		s.asked = append(s.asked, e.Call)
	case effect.ReadOutput:
		s.asked = append(s.asked, e.Call)
	case effect.FindSessions:
		s.asked = append(s.asked, e.Call)
	case effect.SetTimer:
		s.timers = append(s.timers, e.Key)
	case effect.CallModel:
		s.request = e.Request
		if err := model.Check(messages(s.session().Transcript.Entries)); err != nil {
			s.t.Fatalf("request %d: %v", e.Request, err)
		}
	case effect.EndRun:
		return true
	}
	return false
}

// waits checks that an open run waits for something that can still come.
func (s *sim) waits(in session.Input) {
	x := s.session()
	if !x.Run.Open {
		return
	}
	live := map[id.Job]*job.State{}
	for _, j := range x.Live() {
		live[j.ID] = j
	}
	ok := false
	switch open := x.Transcript.Open(); {
	case x.Turn == nil:
		ok = x.Run.Ending == "" && len(x.Queue) == 0 && (x.Run.Mode == session.Living && !x.Run.InputEnded || x.Run.Awaits && len(live) > 0) || x.Run.Ending != "" && len(live) > 0
	case x.Turn.Waiting != 0:
		ok = len(open) == 0 && (x.Run.Ending == "" || len(live) > 0)
	case len(open) > 0:
		c := open[0]
		ok = slices.Contains(s.asked, c.ID) && !s.answered[c.ID]
		for _, j := range live {
			ok = ok || j.Call == c.ID || strings.Contains(c.Arguments, string(j.ID))
		}
		ok = ok && (x.Run.Ending == "" || len(live) > 0)
	}
	if !ok {
		s.t.Fatalf("after %s %+v nothing can come any more: turn %+v, open calls %v, ending %q, %d live", in.Kind(), in, x.Turn, x.Transcript.Open(), x.Run.Ending, len(live))
	}
}

// pick takes each with the same chance; a range would prefer small numbers.
func pick[T any](s *sim, what string, from ...T) T { return rapid.SampledFrom(from).Draw(s.t, what) }

// below is a number from 0 on.
func (s *sim) below(n int) int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return pick(s, "n", all...)
}

func (s *sim) anyJob() id.Job {
	return pick(s, "job", append(slices.Clone(s.jobs), "job_"+id.Job(root)+"ZZZZZZ")...)
}

// newest prefers the job that was started last: most inputs are about it.
func (s *sim) newest() id.Job {
	if len(s.jobs) > 0 && rapid.Bool().Draw(s.t, "newest") {
		return s.jobs[len(s.jobs)-1]
	}
	return s.anyJob()
}

func (s *sim) step() {
	if s.session().ID == "" {
		s.decide(s.prompt())
		return
	}
	switch s.below(21) {
	case 0, 20:
		s.decide(s.prompt())
	case 18:
		s.decide(session.Interrupt{ID: pick(s, "id", "", "", "a", "b", "none")})
	case 19:
		p := s.prompt()
		s.decide(pick[session.Input](s, "either", session.EndInput{}, session.Open{Prompt: p}))
	case 1, 2, 3, 4:
		s.decide(s.reply())
	case 5:
		s.decide(session.ModelFailed{Request: pick(s, "request", s.request, s.request-1), Text: "500"})
	case 6, 7, 8:
		s.decide(session.Launched{Job: s.newest(), Launch: job.Launch{PID: 1}})
	case 9:
		s.decide(session.LaunchFailed{Job: s.newest(), Text: "no"})
	case 10, 11:
		s.decide(s.exit())
	case 12:
		call := pick(s, "call", append(slices.Clone(s.asked), "nobody")...)
		switch s.below(3) {
		case 0:
			s.decide(session.ReadDone{Call: call, Data: []byte(`{"content":""}`)})
		case 1:
			s.decide(session.Detached{Call: call, PID: 7})
		case 2:
			by := pick(s, "by", session.FileRead, session.FileWritten, session.FileEdited)
			s.decide(session.FilesDone{Call: call, Text: "1\tx", Seen: &session.FileSeen{Path: pick(s, "file", "/a", "/b"), By: by, SHA256: pick(s, "sum", "x", "y", ""), From: 1, To: 1, Lines: 2}})
		}
	case 13, 14:
		s.decide(session.TimerFired{Key: pick(s, "timer", append(slices.Clone(s.timers), "close", "jobs", "x")...)})
	case 15:
		if s.below(3) == 0 {
			s.decide(session.Close{Why: "SIGTERM"})
		} else {
			s.decide(session.Abandon{})
		}
	case 16:
		s.restart()
	case 17:
		s.decide(session.Archive{Undo: s.below(3) == 0})
	}
}

func (s *sim) prompt() session.Prompt {
	l := stock
	l.MaxTurns = int64(rapid.IntRange(2, 30).Draw(s.t, "max turns"))
	l.MaxToolRounds = int64(pick(s, "max rounds", 0, 0, 3))
	l.MaxConcurrentShells = int64(pick(s, "max shells", 0, 0, 2))
	l.OutputKeepTotal = int64(pick(s, "keep", 0, 500, 1<<30))
	l.WaitJobsMS = int64(pick(s, "wait for jobs", 0, 0, -1, 60_000))
	p := session.Prompt{Text: pick(s, "text", "go", "go", " "), ID: pick(s, "id", "", "a", "b"), Mode: pick(s, "mode", session.OneShot, session.Living), Limits: l, Context: told}
	if s.session().ID == "" {
		p.Create = &session.Created{Session: root, Root: root, Dir: "/w"}
	}
	return p
}

func (s *sim) reply() session.Replied {
	in := session.Replied{Request: pick(s, "request", s.request, s.request, s.request, s.request-1)}
	in.Reply.Text = pick(s, "said", "", "words")
	for range s.below(4) {
		j := s.newest()
		name, args := "shell", fmt.Sprintf(`{"command":"x","mode":%q,"max_runtime_ms":%d}`, pick(s, "how", "foreground", "background", "detached"), pick(s, "limit", 0, 5000, -1))
		switch s.below(10) {
		case 0:
			name, args = "job_status", fmt.Sprintf(`{"target":%q}`, j)
		case 1:
			name, args = "job_list", `{"limit":2}`
		case 2:
			name, args = "job_stop", fmt.Sprintf(`{"target":%q,"max_wait_ms":%d,"include_children":true}`, j, pick(s, "wait", 0, 5000))
		case 3:
			name, args = "read_transcript", fmt.Sprintf(`{"transcript_ref":"job:%s"}`, j)
		case 4:
			name, args = "communicate", fmt.Sprintf(`{"message":"m","end_turn":%v}`, pick(s, "end", true, false))
		case 9:
			name, args = "write_file", fmt.Sprintf(`{"path":%q,"content":"x"}`, pick(s, "path", "/a", ""))
		case 5:
			name, args = pick(s, "name", "shell", "job_kill"), "{"
		case 6:
			name, args = "tasks", s.tasks()
		}
		s.calls++
		c := transcript.Call{ID: fmt.Sprint("c", pick(s, "id", s.calls, s.calls, 1)), Name: name, Arguments: args}
		in.Reply.Calls = append(in.Reply.Calls, c)
	}
	return in
}

// tasks reads and changes the list; the many that are added fill it soon.
func (s *sim) tasks() string {
	n := s.below(90)
	switch s.below(4) {
	case 0:
		return `{"operation":"list"}`
	case 1:
		return fmt.Sprintf(`{"operation":"add","items":[%s{"title":"t"}]}`, strings.Repeat(`{"title":"t"},`, n))
	case 2:
		return fmt.Sprintf(`{"operation":"show","id":%d}`, n)
	}
	return fmt.Sprintf(`{"operation":"update","id":%d,"state":%q,"note":%q}`, n, pick(s, "state", "pending", "in_progress", "done", "dropped"), pick(s, "note", "", "n"))
}

func (s *sim) exit() session.Exited {
	out := strings.Repeat("x", pick(s, "bytes", 0, 10, 300))
	x := job.Exit{Code: pick(s, "code", 0, 2), Signal: pick(s, "signal", "", "", "SIGTERM"), Signalled: rapid.Bool().Draw(s.t, "signalled"),
		Err: pick(s, "err", "", "", "lost"), Total: int64(len(out)), Head: out, Tail: out}
	return session.Exited{Job: s.newest(), Exit: x}
}

// restart goes on from what was written, and has nothing to say twice.
func (s *sim) restart() {
	if !reflect.DeepEqual(s.state, s.shadow) {
		s.t.Fatal("the state is not the fold of what was decided")
	}
	in := session.Restarted{Jobs: map[id.Job]job.Found{}}
	for _, x := range s.session().Live() {
		in.Jobs[x.ID] = job.Found{Total: 3}
	}
	d, err := s.state.Decide(tool.Decode, session.Facts{Now: s.now}, tree.Input{Session: root, In: in})
	if err != nil || len(d.Effects) > 0 {
		s.t.Fatalf("restart: %v, %v", d.Effects, err)
	}
	for _, w := range d.Writes {
		if err := s.shadow.Apply(w.Session, w.Step, w.At, w.Events); err != nil {
			s.t.Fatal(err)
		}
		for _, e := range w.Events {
			s.note(e)
		}
	}
	x := s.session()
	if len(x.Live()) > 0 || x.Turn != nil || x.Run.Open || len(x.Transcript.Open()) > 0 {
		s.t.Fatal("something is open after a restart")
	}
	if d, err := s.state.Decide(tool.Decode, session.Facts{Now: s.now}, tree.Input{Session: root, In: in}); err != nil || len(d.Writes) > 0 {
		s.t.Fatalf("a second restart: %v, %v", d.Writes, err)
	}
}

// wayHome ends everything in order and counts what was told.
func (s *sim) wayHome() {
	s.restart()
	in := session.Prompt{Text: "go on", Mode: session.OneShot, Limits: stock, Context: told}
	if s.session().ID == "" {
		in.Create = &session.Created{Session: root, Root: root, Dir: "/w"}
	}
	waiting := len(s.session().Queue)
	s.decide(in)
	for n := 0; s.session().Run.Open; n++ {
		if n > 5+waiting {
			s.t.Fatal("the run does not end")
		}
		s.decide(session.Replied{Request: s.request, Reply: transcript.AssistantSaid{Text: "done"}})
	}
	for n, left := range s.prompts {
		if left != 0 {
			s.t.Fatalf("prompt %d was accepted, and %d turns or drops are missing", n, left)
		}
	}
	x := s.session()
	for n, frame := range s.frames {
		told := 0
		for _, e := range x.Transcript.Entries {
			if e.Role == transcript.Frames {
				told += strings.Count(e.Text, frame)
			}
		}
		if told > 1 || told == 0 && !s.read[n] {
			s.t.Fatalf("notice %s was told %d times", n, told)
		}
	}
	closed := 0
	for i, k := range x.Tasks.All() {
		if i > 0 && k.ID <= x.Tasks.All()[i-1].ID {
			s.t.Fatalf("task %d stands behind task %d", k.ID, x.Tasks.All()[i-1].ID)
		}
		if !k.Stage.Open() {
			closed++
		}
	}
	if n := len(x.Tasks.All()); n > task.MaxTasks || n-closed != x.Tasks.Open() {
		s.t.Fatalf("%d tasks, %d of them closed, and %d said to be open", n, closed, x.Tasks.Open())
	}
	for _, j := range x.Jobs() {
		if x.Attention.Of(j.ID) != attention.Settled {
			s.t.Fatalf("job %s is over and its notice %s", j.ID, x.Attention.Of(j.ID))
		}
	}
}

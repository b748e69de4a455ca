package tree_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"evener/internal/delegate"
	"evener/internal/effect"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
	"evener/internal/tool"
	"evener/internal/transcript"
	"evener/internal/tree"
)

// family plays a tree over a disk that is a list of lines, as rapid or a story says.
type family struct {
	t     tester
	drawn func(n int) int // one of 0…n-1
	done  func(decided)   // told of each batch that is on disk; nil: nobody
	state *tree.State
	disk  []record
	now   time.Time
	mint  uint64

	queue    []tree.Input
	requests map[id.Session]int64
	asked    []prepared     // delegate calls whose outside questions are open
	looks    []tree.Effect  // LookWorktree that are not answered
	made     map[string]int // worktrees, and how often they were taken away; a crash leaves them to the next process
	shells   []id.Job       // held shells that were asked for
	running  []id.Job
	timers   []timerOf
	ended    bool
	crashes  int
	lines    []string // what happened, for a failure
}

type prepared struct {
	session id.Session
	effect.PrepareDelegate
}

type timerOf struct {
	session id.Session
	key     string
}

// tester is what a family needs of a test.
type tester interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

// decided is what was decided at once, and where on the disk it begins.
type decided struct {
	from    int
	lines   []record
	effects []tree.Effect
	refused []string
}

func newFamily(t *rapid.T) *family {
	f := emptyFamily(t)
	f.drawn = func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "n") }
	return f
}

func emptyFamily(t tester) *family {
	return &family{t: t, state: tree.New(root), now: began, requests: map[id.Session]int64{}, made: map[string]int{}}
}

func (f *family) say(format string, args ...any) {
	f.lines = append(f.lines, fmt.Sprintf(format, args...))
}

func (f *family) fatalf(format string, args ...any) {
	f.t.Helper()
	f.t.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(f.lines, "\n"))
}

func (f *family) below(n int) int { return f.drawn(n) }

func (f *family) facts() session.Facts {
	f.now = f.now.Add(time.Millisecond)
	f.mint++
	return session.Facts{
		Now: f.now, Random: uint32(f.mint) << 5,
		Live:   func(j id.Job) job.Live { return job.Live{Job: j} },
		Output: func(id.Job) job.Output { return job.Output{} },
		Fits:   func(_, _ json.RawMessage) []string { return nil },
	}
}

// take decides what there is as the loop does, with a crash at will before it
// is on disk.
func (f *family) take(in ...tree.Input) {
	f.queue = append(f.queue, in...)
	for len(f.queue) > 0 && !f.ended {
		batch := f.queue
		f.queue = nil
		var lines []record
		var effects []tree.Effect
		var next []tree.Input
		var refusals []string
		sessions, trees := false, false
		n := len(batch)
		for i, in := range batch {
			if in.ForTree() && sessions || !in.ForTree() && trees {
				n = i
				break
			}
			d, err := f.state.Decide(tool.Decode, f.facts(), in)
			if r, refused := errors.AsType[*fault.Error](err); refused {
				refusals = append(refusals, r.Error())
				continue
			}
			if err != nil {
				f.fatalf("decide %s for %s %+v: %v", in.In.Kind(), f.name(in.Session), in.In, err)
			}
			for _, w := range d.Writes {
				lines = append(lines, record{w.Session, w.Step, w.At, w.Events})
				for _, e := range w.Events {
					f.say("  %s: %s %s", f.name(w.Session), e.Kind(), f.text(e))
				}
			}
			sessions = sessions || len(d.Writes) > 0 && !in.ForTree()
			trees = trees || len(d.Writes) > 0 && in.ForTree()
			effects, next = append(effects, d.Effects...), append(next, d.Next...)
			if slices.ContainsFunc(d.Effects, func(e tree.Effect) bool { return e.Effect == effect.EndRun{} }) {
				n = i + 1
				break
			}
		}
		if len(lines) > 0 && f.crashes < 4 && f.below(12) == 0 {
			f.crash(lines)
			return
		}
		f.disk = append(f.disk, lines...)
		if f.done != nil {
			f.done(decided{len(f.disk) - len(lines), lines, effects, refusals})
		}
		f.queue = append(f.queue, batch[n:]...)
		f.queue = append(f.queue, next...)
		for _, e := range effects {
			f.perform(e)
		}
		if len(f.queue) > 0 && f.crashes < 99 && f.below(3) == 0 { // the world does not wait for what follows
			f.queue = append(f.queue, f.outside()...)
		}
	}
}

func (f *family) perform(e tree.Effect) {
	switch x := e.Effect.(type) {
	case effect.CallModel:
		f.requests[e.Session] = x.Request
	case effect.CancelModel:
		if f.requests[e.Session] == x.Request {
			delete(f.requests, e.Session)
		}
	case effect.PrepareDelegate:
		f.asked = append(f.asked, prepared{e.Session, x})
	case effect.LookWorktree:
		f.looks = append(f.looks, e)
	case effect.DropWorktree:
		f.made[x.Worktree.Path]++
	case effect.StartProcess:
		f.shells = append(f.shells, x.Job)
	case effect.ReleaseProcess:
		f.running = append(f.running, x.Job)
	case effect.RestoreSession:
		restores.Add(1)
		if err := f.state.Sessions[e.Session].Transcript.Restore(f.fold().Sessions[e.Session].Transcript); err != nil {
			f.fatalf("%s: %v", f.name(e.Session), err)
		}
	case effect.SetTimer:
		f.timers = append(f.timers, timerOf{e.Session, x.Key})
	case effect.EndRun:
		f.ended = true
	}
}

// crash loses what was not on disk, and of the last batch any suffix of each
// journal; a new process takes the tree up.
func (f *family) crash(last []record) {
	f.crashes++
	kept := map[id.Session]int{}
	for _, r := range last {
		kept[r.journal]++
	}
	for _, j := range slices.Sorted(maps.Keys(kept)) {
		kept[j] = f.below(kept[j] + 1)
	}
	f.disk = append(f.disk, prefixes(last, kept)...)
	f.say("CRASH")
	f.restart()
}

// prefixes are so many of the first lines of each journal.
func prefixes(lines []record, kept map[id.Session]int) (out []record) {
	seen := map[id.Session]int{}
	for _, r := range lines {
		if seen[r.journal]++; seen[r.journal] <= kept[r.journal] {
			out = append(out, r)
		}
	}
	return out
}

func (f *family) restart() {
	f.looks, f.made = nil, map[string]int{}
	f.queue, f.requests, f.asked, f.shells, f.running, f.timers, f.ended = nil, map[id.Session]int64{}, nil, nil, nil, nil, false
	f.state = f.fold()
	for d := range f.state.Delegates.All {
		f.state.ReleaseCold(d)
	}
	f.take(tree.Input{Session: root, In: foundOf(f.state)})
	if f.crashes < 5 { // it may have crashed again
		f.settled()
	}
}

// fold reads the disk as a new process does.
func (f *family) fold() *tree.State {
	s, err := foldDisk(f.disk)
	if err != nil {
		f.fatalf("the disk does not fold: %v", err)
	}
	return s
}

// settled: after a restart nothing is open, and a second one has nothing to say.
func (f *family) settled() {
	if f.state.Delegates.Running != 0 || f.state.Delegates.Driving != 0 || len(f.state.Delegates.Stops()) > 0 {
		f.fatalf("after a restart: %d running, %d drives, stops %v", f.state.Delegates.Running, f.state.Delegates.Driving, f.state.Delegates.Stops())
	}
	for name, s := range f.state.Sessions {
		if s.Run.Open || s.Turn != nil || len(s.Live()) > 0 || len(s.Transcript.Open()) > 0 || len(s.Stops) > 0 {
			f.fatalf("after a restart %s has something open", f.name(name))
		}
	}
	before := len(f.disk)
	crashes := f.crashes
	f.crashes = 99
	f.take(tree.Input{Session: root, In: foundOf(f.state)})
	f.crashes = crashes
	if len(f.disk) != before {
		f.fatalf("a second restart writes: %v", f.disk[before:])
	}
}

func (f *family) prompt() {
	p := session.Prompt{Text: "go", Mode: []session.Mode{session.OneShot, session.Living}[f.below(2)], Limits: familyLimits, Context: told}
	if f.state.Session().ID == "" {
		p.Create = &session.Created{Session: root, Root: root, Dir: "/w"}
	}
	f.ended = false
	f.say("prompt")
	f.take(tree.Input{Session: root, In: p})
}

var familyLimits = session.Limits{
	CommandTimeoutMS: 120_000, StopGraceMS: 2_000, InlineOutputBytes: 200, OutputKeepTotal: 1 << 30, MaxTurns: 200, MaxSubagentDepth: 3, JobListChars: 20_000,
	MaxConcurrentDelegates: 3, AttentionDriveLimit: 2, AttentionDriveTimeoutMS: 300_000, AttentionDrivePaceMS: 15_000, MaxRetainedTerminal: 2, IdleReleaseMS: 60_000, QuietWatchdogMS: 600_000,
}

// step does one thing that may happen from outside.
func (f *family) step() {
	if f.ended || !f.state.Session().Run.Open {
		f.prompt()
		return
	}
	f.take(f.outside()...)
}

// outside is one thing that may happen, if it can.
func (f *family) outside() []tree.Input {
	switch f.below(11) {
	case 0, 1, 2, 3, 4:
		return f.reply()
	case 10:
		return f.input()
	case 5:
		return f.prepare()
	case 6:
		return append(f.prepare(), f.look()...)
	case 7:
		return append(f.launch(), f.exit()...)
	case 8:
		return f.timer()
	}
	s := f.someRequest()
	if s == "" || f.below(3) > 0 {
		return nil
	}
	n := f.requests[s]
	delete(f.requests, s)
	f.say("model of %s fails", f.name(s))
	return []tree.Input{{Session: s, In: session.ModelFailed{Request: n, Text: "no"}}}
}

// input is what the user of a living session may do.
func (f *family) input() []tree.Input {
	var in session.Input
	switch f.below(4) {
	case 0, 1:
		f.say("interrupt")
		in = session.Interrupt{}
	case 2:
		if len(f.queue) > 0 { // a restart may be on its way, and nothing is asked before it
			return nil
		}
		f.say("another prompt")
		in = session.Prompt{Text: "more", Mode: session.Living, Limits: familyLimits, Context: told}
	case 3:
		f.say("end of input")
		in = session.EndInput{}
	}
	return []tree.Input{{Session: root, In: in}}
}

func (f *family) someRequest() id.Session {
	all := slices.Sorted(maps.Keys(f.requests))
	if len(all) == 0 {
		return ""
	}
	return all[f.below(len(all))]
}

func (f *family) reply() []tree.Input {
	s := f.someRequest()
	if s == "" {
		return nil
	}
	r := transcript.AssistantSaid{Finish: "stop", Text: "words"}
	for range f.below(3) {
		r.Calls = append(r.Calls, f.call(s))
	}
	return f.answer(s, r)
}

func (f *family) answer(s id.Session, r transcript.AssistantSaid) []tree.Input {
	n := f.requests[s]
	delete(f.requests, s)
	f.say("reply to %s: %v", f.name(s), f.calls(r.Calls))
	return []tree.Input{{Session: s, In: session.Replied{Request: n, Reply: r}}}
}

func (f *family) calls(calls []transcript.Call) (out []string) {
	for _, c := range calls {
		out = append(out, c.Name+f.names(c.Arguments))
	}
	return out
}

func (f *family) call(s id.Session) transcript.Call {
	f.mint++
	c := transcript.Call{ID: fmt.Sprintf("c%d", f.mint)}
	args := map[string]any{}
	switch f.below(9) {
	case 0, 1:
		c.Name = "delegate"
		args["prompt"], args["fork_context"] = "brief "+c.ID, f.below(3) == 0
	case 2, 3:
		c.Name = "delegate_send"
		args["to"], args["message"], args["max_wait_ms"] = f.someDelegate(s), "words "+c.ID+".", f.below(2)*5000
	case 4:
		c.Name = "communicate"
		args["message"], args["end_turn"] = "update "+c.ID, false
	case 5:
		c.Name = "communicate"
		args["message"], args["end_turn"] = "report "+c.ID, true
	case 6:
		c.Name = "job_stop"
		args["target"], args["max_wait_ms"] = f.someDelegate(s), f.below(2)*5000
		if len(f.running) > 0 && f.below(2) == 0 {
			args["target"] = f.running[f.below(len(f.running))]
		}
	case 7:
		c.Name = []string{"job_list", "job_status"}[f.below(2)]
		if c.Name == "job_status" {
			args["target"] = f.someDelegate(s)
		} else {
			args["include_descendants"] = true
		}
	case 8:
		c.Name = "shell"
		args["command"], args["mode"] = "true", []string{"foreground", "background"}[f.below(2)]
	}
	b, err := json.Marshal(args)
	if err != nil {
		f.t.Fatal(err)
	}
	c.Arguments = string(b)
	return c
}

func (f *family) someDelegate(s id.Session) string {
	var own, all []string
	for d := range f.state.Delegates.All {
		all = append(all, string(d.ID))
		if d.Owner == s {
			own = append(own, string(d.ID))
		}
	}
	if len(own) > 0 && f.below(8) > 0 {
		return own[f.below(len(own))]
	}
	if len(all) > 0 {
		return all[f.below(len(all))]
	}
	return "dlg_none"
}

func (f *family) prepare() []tree.Input {
	if len(f.asked) == 0 {
		return nil
	}
	p := f.asked[0]
	f.asked = f.asked[1:]
	f.mint++
	var e id.Entropy
	e[9], e[8] = byte(f.mint), byte(f.mint>>8)
	names := slices.DeleteFunc(tool.Names(), func(n string) bool { return n == "delegate" && p.Allowance == 0 })
	in := tree.Prepared{Call: p.Call, Child: id.MintSession(began, e),
		Descriptor: delegate.Descriptor{Model: "script/x", Allowance: p.Allowance, Dir: "/w", System: "s", Tools: json.RawMessage(namesOf(names))}}
	if f.below(3) == 0 {
		f.isolate(&in)
	}
	return []tree.Input{{Session: p.session, In: in}}
}

func (f *family) launch() []tree.Input {
	if len(f.shells) == 0 {
		return nil
	}
	j := f.shells[0]
	f.shells = f.shells[1:]
	return []tree.Input{{Session: j.Owner(), In: session.Launched{Job: j, Launch: job.Launch{PID: 1, StartTicks: 1, BootID: "b"}}}}
}

func (f *family) exit() []tree.Input {
	if len(f.running) == 0 {
		return nil
	}
	i := f.below(len(f.running))
	j := f.running[i]
	f.running = slices.Delete(f.running, i, i+1)
	f.say("exit of a job of %s", f.name(j.Owner()))
	x := f.state.Sessions[j.Owner()]
	var exit job.Exit
	for _, l := range x.Live() {
		exit.Signalled = exit.Signalled || l.ID == j && l.StopBy != ""
	}
	return []tree.Input{{Session: j.Owner(), In: session.Exited{Job: j, Exit: exit}}}
}

func (f *family) timer() []tree.Input {
	if len(f.timers) == 0 {
		return nil
	}
	i := f.below(len(f.timers))
	x := f.timers[i]
	f.timers = slices.Delete(f.timers, i, i+1)
	return f.fire(x)
}

func (f *family) fire(x timerOf) []tree.Input {
	f.say("timer %s of %s", f.names(x.key), f.name(x.session))
	f.now = f.now.Add(time.Minute)
	var in session.Input = session.TimerFired{Key: x.key}
	if strings.HasPrefix(x.key, "tree:") {
		in = tree.TimerFired{Key: x.key}
	}
	return []tree.Input{{Session: x.session, In: in}}
}

// home lets everything come to its end: each model reports, each command ends.
func (f *family) home() {
	f.say("HOME")
	f.crashes = 99
	if f.ended || !f.state.Session().Run.Open {
		f.prompt()
	}
	f.take(tree.Input{Session: root, In: session.EndInput{}})
	for n := 0; !f.ended; n++ {
		switch {
		case n > 3000:
			f.fatalf("the run does not come to its end: root turn %+v, run %+v, requests %v, %d queued", f.state.Session().Turn, f.state.Session().Run, f.requests, len(f.queue))
		case len(f.shells) > 0:
			f.take(f.launch()...)
		case len(f.running) > 0:
			f.take(f.exit()...)
		case len(f.asked) > 0:
			f.take(f.prepare()...)
		case len(f.looks) > 0:
			f.take(f.look()...)
		case len(f.requests) > 0:
			s := slices.Sorted(maps.Keys(f.requests))[0]
			f.mint++
			f.take(f.answer(s, transcript.AssistantSaid{Finish: "tool_calls", Calls: []transcript.Call{
				{ID: fmt.Sprintf("c%d", f.mint), Name: "communicate", Arguments: `{"message":"home","end_turn":true}`}}})...)
		case len(f.timers) > 0: // only time goes on
			x := f.timers[0]
			f.timers = f.timers[1:]
			f.take(f.fire(x)...)
		default:
			f.fatalf("nothing is left to happen and the run is open: turn %+v, run %+v", f.state.Session().Turn, f.state.Session().Run)
		}
	}
}

func (f *family) name(s id.Session) string {
	switch s {
	case root:
		return "root"
	case "":
		return "tree"
	}
	return "s" + strings.TrimLeft(string(s[len(s)-4:]), "0")
}

func (f *family) names(s string) string {
	if f.state != nil {
		for name := range f.state.Sessions {
			s = strings.ReplaceAll(s, string(name), f.name(name))
		}
	}
	return s
}

func (f *family) text(e session.Event) string {
	b, _ := json.Marshal(e)
	s := f.names(string(b))
	if len(s) > 220 {
		s = s[:220] + "…"
	}
	return s
}

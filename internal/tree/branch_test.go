package tree_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

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

// branch plays a root that delegates, over a disk that is a list of lines.
type branch struct {
	t        *testing.T
	state    *tree.State
	disk     []record
	now      time.Time
	mint     uint32
	requests map[id.Session]int64
	asked    []effect.PrepareDelegate
	shells   []id.Job
	timers   map[string]time.Time
	restored int // conversations that were taken back
	full     string
	printed  time.Time // when any command printed last
}

// newBranch takes up what is on the disk, as a new process does.
func newBranch(t *testing.T, disk []record) *branch {
	t.Helper()
	b := &branch{t: t, state: folded(t, disk), disk: slices.Clone(disk), now: began.Add(time.Duration(len(disk)) * time.Hour), mint: uint32(len(disk)) << 8,
		requests: map[id.Session]int64{}, timers: map[string]time.Time{}}
	for d := range b.state.Delegates.All {
		b.state.ReleaseCold(d)
	}
	return b
}

// prompted is a branch whose root works on a prompt within these limits.
func prompted(t *testing.T, l session.Limits) *branch {
	b := newBranch(t, nil)
	b.take(root, session.Prompt{Text: "go", Mode: session.OneShot, Limits: l, Context: told, Create: &session.Created{Session: root, Root: root, Dir: "/w"}})
	return b
}

// folded reads the disk as a new process does.
func folded(t *testing.T, disk []record) *tree.State {
	t.Helper()
	s, err := foldDisk(disk)
	if err != nil {
		t.Fatalf("the disk does not fold: %v", err)
	}
	return s
}

// take decides an input and all that follows from it.
func (b *branch) take(s id.Session, in session.Input) {
	b.t.Helper()
	queue := []tree.Input{{Session: s, In: in}}
	for len(queue) > 0 {
		b.now, b.mint = b.now.Add(time.Second), b.mint+1
		d, err := b.state.Decide(tool.Decode, session.Facts{Now: b.now, Random: b.mint << 5, Full: b.full, Room: 1 << 20, Live: func(j id.Job) job.Live { return job.Live{Job: j, LastAt: b.printed} }}, queue[0])
		if _, refused := errors.AsType[*fault.Error](err); err != nil && !refused {
			b.t.Fatalf("%s: %v", queue[0].In.Kind(), err)
		}
		queue = append(queue[1:], d.Next...)
		for _, w := range d.Writes {
			b.disk = append(b.disk, record{w.Session, w.Step, w.At, w.Events})
		}
		for _, e := range d.Effects {
			switch x := e.Effect.(type) {
			case effect.CallModel:
				b.requests[e.Session] = x.Request
			case effect.Summarise:
				b.requests[e.Session] = x.Request
			case effect.PrepareDelegate:
				b.asked = append(b.asked, x)
			case effect.StartProcess:
				b.shells = append(b.shells, x.Job)
			case effect.SetTimer:
				b.timers[x.Key] = b.now.Add(x.After)
			case effect.RestoreSession:
				b.restored++
				if err := b.state.Sessions[e.Session].Transcript.Restore(folded(b.t, b.disk).Sessions[e.Session].Transcript); err != nil {
					b.t.Fatal(err)
				}
			}
		}
	}
}

// reply answers the request that is out with calls, each a name and its arguments.
func (b *branch) reply(s id.Session, text string, calls ...string) {
	b.t.Helper()
	r := transcript.AssistantSaid{Text: text, Finish: "stop", Usage: transcript.Usage{Input: 1000, Output: 100}}
	for _, c := range calls {
		b.mint++
		name, args, _ := strings.Cut(c, " ")
		r.Calls = append(r.Calls, transcript.Call{ID: fmt.Sprintf("c%d", b.mint), Name: name, Arguments: args})
	}
	b.take(s, session.Replied{Request: b.requests[s], Reply: r})
}

// start starts a background job.
func (b *branch) start(s id.Session) id.Job {
	b.t.Helper()
	b.reply(s, "", `shell {"command":"x","mode":"background"}`)
	j := b.shells[len(b.shells)-1]
	b.take(s, session.Launched{Job: j, Launch: job.Launch{PID: 1, StartTicks: 1, BootID: "b"}})
	return j
}

// job starts a background job and ends it before the next reply.
func (b *branch) job(s id.Session) {
	b.t.Helper()
	b.exit(b.start(s))
}

func (b *branch) exit(j id.Job) {
	b.t.Helper()
	b.take(j.Owner(), session.Exited{Job: j, Exit: job.Exit{}})
}

// pass lets time go on and fires what is due then.
func (b *branch) pass(d time.Duration) {
	b.t.Helper()
	b.now = b.now.Add(d)
	for _, key := range slices.Sorted(maps.Keys(b.timers)) {
		if at := b.timers[key]; strings.HasPrefix(key, "tree:") && !at.After(b.now) {
			delete(b.timers, key)
			b.take(root, tree.TimerFired{Key: key})
		}
	}
}

// prepared answers what the latest delegate call asks of the outside.
func (b *branch) prepared(owner, child id.Session, model string, tools ...string) {
	b.t.Helper()
	names := append([]string{"communicate", "job_list"}, tools...)
	b.take(owner, tree.Prepared{Call: b.asked[len(b.asked)-1].Call, Child: child,
		Descriptor: delegate.Descriptor{Model: model, Allowance: 1, Dir: "/w", System: "its own role", Tools: json.RawMessage(namesOf(names))}})
}

package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"evener/internal/attention"
	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/transcript"
	"evener/internal/tree"
	"evener/journal"
)

const (
	sourceID = id.Session("01JDYH3M00041061050R3GG28A")
	copyID   = id.Session("01JDYH3M00041061050R3GG28B")
	copy2ID  = id.Session("01JDYH3M00041061050R3GG28C")
)

// talk is a session whose lines a test writes by hand; they are folded first.
type talk struct {
	t    *testing.T
	home Home
	tree *Tree
	step int64
	over bool
}

func newTalk(t *testing.T) *talk {
	t.Helper()
	dir := t.TempDir()
	h := Home{Project: dir, Sessions: filepath.Join(dir, "sessions")}
	tr, err := Create(h, sourceID, "test", "boot")
	if err != nil {
		t.Fatal(err)
	}
	k := &talk{t: t, home: h, tree: tr}
	t.Cleanup(k.close)
	k.say(session.Created{Session: sourceID, Root: sourceID, Dir: "/w"}, session.RunStarted{Run: 1, Mode: session.Living})
	return k
}

// close ends the writer of the source, which would mark a quiet journal.
func (k *talk) close() {
	if !k.over {
		k.over = true
		if err := k.tree.Close(); err != nil {
			k.t.Error(err)
		}
	}
}

func (k *talk) say(events ...session.Event) {
	k.t.Helper()
	k.step++
	w := tree.Write{Session: sourceID, Step: k.step, At: time.Unix(1700000000, 0).UTC(), Cause: []byte(`{"kind":"test"}`), Events: events}
	if err := k.tree.State.Apply(sourceID, w.Step, w.At, w.Events); err != nil {
		k.t.Fatal(err)
	}
	if err := k.tree.Append([]tree.Write{w}); err != nil {
		k.t.Fatal(err)
	}
}

// ask begins a turn, reply answers its request.
func (k *talk) ask(turn, request int64, text string) {
	k.t.Helper()
	k.say(session.TurnStarted{Turn: turn, Type: session.UserTurn}, transcript.UserSaid{Turn: turn, Text: text}, session.Requested{Turn: turn, Request: request})
}

func reply(turn, request int64, text string, calls ...transcript.Call) transcript.AssistantSaid {
	return transcript.AssistantSaid{Turn: turn, Request: request, Text: text, Calls: calls, Finish: "stop"}
}

func (k *talk) fork(to id.Session, from id.Session, cut Cut) (*session.State, Copied, error) {
	k.t.Helper()
	k.close()
	before := files(k.t, k.home.Dir(from))
	tr, c, err := Fork(k.home, session.Created{Session: to, Root: to, Dir: "/new"}, Copy{From: from, How: session.ResumeWith, Cut: cut, Step: 1}, "test", "boot")
	if after := files(k.t, k.home.Dir(from)); !reflect.DeepEqual(before, after) {
		k.t.Errorf("the source was changed: %v, was %v", after, before)
	}
	if err != nil {
		if _, serr := os.Stat(k.home.Dir(to)); !errors.Is(serr, os.ErrNotExist) {
			k.t.Errorf("something is left of it: %v", serr)
		}
		return nil, c, err
	}
	if err := tr.Close(); err != nil {
		k.t.Fatal(err)
	}
	if r, err := journal.Verify(k.home.Journal(to)); err != nil || r.Damage != nil {
		k.t.Errorf("verify: %v, %v", err, r.Damage)
	}
	return tr.State.Session(), c, nil
}

// files are names, sizes and times below a folder.
func files(t *testing.T, dir string) map[string]string {
	out := map[string]string{}
	filepath.Walk(dir, func(p string, i os.FileInfo, err error) error {
		if err == nil && i.Mode().IsRegular() {
			out[p] = fmt.Sprint(i.Size(), i.ModTime())
		}
		return nil
	})
	return out
}

func TestForkOfWholeTurns(t *testing.T) {
	k := newTalk(t)
	big := strings.Repeat("größer\u2028", maxInline/8)
	k.ask(1, 1, "first\u2028line")
	k.say(reply(1, 1, "", transcript.Call{ID: "c1", SentID: "x", Name: "shell", Arguments: `{"command":"<a>"}`}),
		transcript.Answered{Call: "c1", Name: "shell", Data: []byte(`{"output":"&"}`)},
		attention.Armed{ID: "j/1", Source: "job_1", Generation: 1, Frame: "<frame 1>"},
		attention.Armed{ID: "k/1", Source: "job_2", Generation: 1, Frame: "<frame 2>"},
		session.Requested{Turn: 1, Request: 2, Attention: []string{"j/1", "k/1"}})
	k.say(reply(1, 2, big), attention.Consumed{IDs: []string{"j/1", "k/1"}, By: attention.ByTurn}, session.TurnEnded{Turn: 1, Outcome: session.TurnAnswered, Answer: true})
	k.ask(2, 3, "second")
	k.say(reply(2, 3, "", transcript.Call{ID: "c2", Name: "shell", Arguments: "{}"}, transcript.Call{ID: "c3", Name: "shell", Arguments: "{}"}),
		transcript.Answered{Call: "c2", Name: "shell", IsError: true, Text: "invalid_request: no"})
	source := k.tree.State.Session()

	got, c, err := k.fork(copyID, sourceID, WholeTurns)
	if err != nil {
		t.Fatal(err)
	}
	want := session.Forked{Parent: sourceID, Divergence: 2, How: session.ResumeWith, Step: 4, Requests: 2, Entries: 5}
	if !reflect.DeepEqual(c.Forked, want) || !reflect.DeepEqual(got.Fork, want) || c.LeftOut != 2 {
		t.Errorf("%+v, folded %+v", c, got.Fork)
	}
	if !reflect.DeepEqual(got.Transcript.Entries, source.Transcript.Entries[:5]) {
		t.Errorf("%d entries, and not those of the source", len(got.Transcript.Entries))
	}
	if e := got.Transcript.Entries[3]; e.Role != transcript.Frames || e.Text != "<frame 1>\n<frame 2>" {
		t.Errorf("notices: %+v", e)
	}
	// Of the source nothing else comes along.
	if len(got.Jobs()) != 0 || len(got.Attention.Unshown())+len(got.Attention.Shown()) > 0 || got.Turn != nil || got.Run.N != 0 || got.Context.Model != "" || got.Tokens.Input != 0 {
		t.Error("something else came along")
	}
	if got.Turns != 1 || got.Requests != 2 || got.Dir != "/new" || len(got.Own()) != 0 || !got.Transcript.UsedID("c1") || got.Transcript.UsedID("c2") {
		t.Errorf("turns %d, requests %d, in %s", got.Turns, got.Requests, got.Dir)
	}

	// Up to the last answered round, the open turn counts, too; its open round does not.
	got, c, err = k.fork(copy2ID, sourceID, WholeRounds)
	if err != nil {
		t.Fatal(err)
	}
	if c.Entries != 6 || c.Divergence != 3 || c.Requests != 2 || got.Turns != 2 || c.LeftOut != 2 || !reflect.DeepEqual(got.Transcript.Entries, source.Transcript.Entries[:6]) {
		t.Errorf("%+v: %d entries", c, len(got.Transcript.Entries))
	}
}

// A copy can be begun with as well, also when it said nothing of its own, and
// needs nothing of what it came from.
func TestForkOfFork(t *testing.T) {
	k := newTalk(t)
	k.ask(1, 1, strings.Repeat("x", maxInline+1))
	k.say(reply(1, 1, "done"), session.TurnEnded{Turn: 1, Outcome: session.TurnAnswered})
	first, _, err := k.fork(copyID, sourceID, WholeTurns)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(k.home.Dir(sourceID)); err != nil {
		t.Fatal(err)
	}
	second, c, err := k.fork(copy2ID, copyID, WholeTurns)
	if err != nil {
		t.Fatal(err)
	}
	if c.Parent != copyID || c.Divergence != 2 || c.Requests != 1 || c.LeftOut != 0 || !reflect.DeepEqual(second.Transcript.Entries, first.Transcript.Entries) || len(second.Transcript.Entries) != 2 {
		t.Errorf("%+v: %d entries", c, len(second.Transcript.Entries))
	}
}

func TestForkRefuses(t *testing.T) {
	k := newTalk(t)
	if _, _, err := k.fork(copyID, "01JDYH3M00041061050R3GG28Z", WholeTurns); !errors.Is(err, ErrNoSession) {
		t.Errorf("unknown: %v", err)
	}
	if _, _, err := k.fork(copyID, sourceID, WholeTurns); !errors.Is(err, ErrNothing) {
		t.Errorf("nothing said: %v", err)
	}
	k = newTalk(t)
	k.ask(1, 1, "first")
	if _, _, err := k.fork(copyID, sourceID, WholeTurns); !errors.Is(err, ErrNothing) {
		t.Errorf("no finished turn: %v", err)
	}
	if got, _, err := k.fork(copy2ID, sourceID, WholeRounds); err != nil || len(got.Transcript.Entries) != 1 {
		t.Errorf("the user's word alone: %v", err)
	}
	k = newTalk(t)
	k.ask(1, 1, "first")
	k.say(reply(1, 1, "done"), session.TurnEnded{Turn: 1, Outcome: session.TurnAnswered})
	k.close()
	path := k.home.Journal(sourceID)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"a changed byte": strings.Replace(string(whole), `"first"`, `"thirs"`, 1),
		"a lost line":    withoutLine4(string(whole)),
	} {
		if err := os.WriteFile(path, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := k.fork(copyID, sourceID, WholeTurns); err == nil {
			t.Errorf("%s: begun all the same", name)
		} else if _, ok := errors.AsType[*journal.CorruptError](err); !ok || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A torn tail may be a write that is going on.
	if err := os.WriteFile(path, append(whole, `{"seq":`...), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, c, err := k.fork(copyID, sourceID, WholeTurns); err != nil || c.Entries != 2 {
		t.Errorf("torn: %+v, %v", c, err)
	}
}

func withoutLine4(s string) string {
	lines := strings.SplitAfter(s, "\n")
	return strings.Join(append(lines[:3:3], lines[4:]...), "")
}

// A line that is whole and says what cannot follow is damage of the source.
func TestForkOfDisorder(t *testing.T) {
	for name, events := range map[string][]session.Event{
		"result without call": {transcript.Answered{Call: "c9", Name: "shell"}},
		"call id twice":       {reply(1, 1, "", transcript.Call{ID: "a", Name: "x"}, transcript.Call{ID: "a", Name: "x"})},
		"unknown notice":      {session.Requested{Turn: 1, Request: 2, Attention: []string{"nobody/1"}}},
	} {
		k := newTalk(t)
		k.ask(1, 1, "first")
		k.step++
		if err := k.tree.Append([]tree.Write{{Session: sourceID, Step: k.step, At: time.Unix(1700000000, 0).UTC(), Cause: []byte(`{"kind":"test"}`), Events: events}}); err != nil {
			t.Fatal(err)
		}
		_, _, err := k.fork(copyID, sourceID, WholeRounds)
		if bad, ok := errors.AsType[*FoldError](err); !ok || bad.Path != k.home.Journal(sourceID) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is copied passes through: the memory does not grow with the source.
func TestForkIsBounded(t *testing.T) {
	k := newTalk(t)
	text := strings.Repeat("word ", 20<<10) // 100 KiB
	const turns = 300
	var writes []tree.Write
	for n := int64(1); n <= turns; n++ {
		k.step++
		writes = append(writes, tree.Write{Session: sourceID, Step: k.step, At: time.Unix(1700000000, 0).UTC(), Cause: []byte(`{"kind":"test"}`), Events: []session.Event{
			session.TurnStarted{Turn: n, Type: session.UserTurn}, transcript.UserSaid{Turn: n, Text: text}, session.Requested{Turn: n, Request: n},
			reply(n, n, "done"), session.TurnEnded{Turn: n, Outcome: session.TurnAnswered},
		}})
	}
	if err := k.tree.Append(writes); err != nil {
		t.Fatal(err)
	}
	writes = nil
	k.tree.State = nil
	live := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	if err := makeDurable(k.home.Dir(copyID)); err != nil {
		t.Fatal(err)
	}
	before, most, looks := live(), uint64(0), 0
	done, looked := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(looked)
		for {
			select {
			case <-done:
				return
			default:
				most, looks = max(most, live()), looks+1
			}
		}
	}()
	c, err := k.home.Begin(session.Created{Session: copyID, Root: copyID, Dir: "/new"}, Copy{From: sourceID, How: session.ResumeWith, Step: 1}, "test")
	close(done)
	<-looked
	if err != nil || c.Entries != 2*turns {
		t.Fatal(c, err)
	}
	if looks < 3 || most > before+20<<20 {
		t.Errorf("%d MiB live before, %d MiB while 30 MiB were copied (%d looks)", before>>20, most>>20, looks)
	}
}

package tree_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"evener/internal/attention"
	"evener/internal/effect"
	"evener/internal/job"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/transcript"
	"evener/internal/tree"
	"evener/journal"
)

// script is the script half of a story.
func script(t testing.TB, file string) string {
	t.Helper()
	a, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(a.Files[0].Data)
}

// Every story is cut at each line of its journal and at three places inside
// each line. What is left folds like the whole lines before the cut; a restart
// settles it; that restart is cut in the same way and made again; another one
// has nothing to say; and then a prompt runs to its end.
//
// clause: JC-074 JC-123 JC-481 JC-507 JC-511 JC-673 JC-508 JC-570 JC-575 JC-589 JC-590 JC-591 JC-596 JC-675 RC-012
func TestCrashes(t *testing.T) {
	for _, file := range stories(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			p := play(t, script(t, file))
			whole := p.w.journal()
			p.w.close()
			for _, end := range lineEnds(whole) {
				crash(t, whole, end)
			}
		})
	}
}

// lineEnds are the offsets just past each newline.
func lineEnds(b []byte) (ends []int) {
	for i, c := range b {
		if c == '\n' {
			ends = append(ends, i+1)
		}
	}
	return ends
}

// inside are three offsets within the line that begins at from.
func inside(b []byte, from int) []int {
	n := bytes.IndexByte(b[from:], '\n')
	if n < 0 {
		return nil
	}
	return []int{from + 1, from + n/2, from + n} // the last lacks only the newline
}

func crash(t *testing.T, whole []byte, end int) {
	t.Helper()
	want := fold(t, whole[:end])
	for _, cut := range inside(whole, end) {
		if got := fold(t, whole[:cut]); !reflect.DeepEqual(got, want) {
			t.Fatalf("cut at %d of the line at %d: the fold differs", cut, end)
		}
	}
	w, settled := restart(t, whole[:end])
	after := w.journal()
	w.close()
	for _, from := range lineEnds(after) { // of the restart: the journal's own line, and the repair
		if from < end || from == len(after) {
			continue
		}
		for _, cut := range append(inside(after, from), from) {
			again, s := restart(t, after[:cut])
			again.close()
			if !reflect.DeepEqual(summary(s), summary(settled)) {
				t.Fatalf("line at %d, restart cut at %d: it comes out otherwise\n%v\n%v", end, cut, summary(s), summary(settled))
			}
		}
	}
	w, _ = restart(t, after)
	if d, refusal := w.decide(w.lost()); refusal != nil || len(d.Writes) > 0 || slices.ContainsFunc(d.Effects, asksMore) {
		t.Errorf("line at %d: a second restart writes %v", end, d)
	}
	w.decide(w.prompt("go on", session.OneShot, stock))
	w.finish()
	check(t, w)
	w.close()
}

// fold reads a journal as the audit commands do, without writing.
func fold(t *testing.T, b []byte) *tree.State {
	t.Helper()
	s, err := store.Load(home(planted(t, b)), root, 0)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// planted is a state folder whose one session has this journal.
func planted(t *testing.T, b []byte) string {
	t.Helper()
	dir := memory(t)
	if err := os.MkdirAll(home(dir).Dir(root), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(home(dir).Journal(root), b, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// restart takes a journal up as a new process does.
func restart(t *testing.T, b []byte) (*world, *session.State) {
	t.Helper()
	w := resumed(t, planted(t, b))
	in := w.lost()
	for j := range in.Jobs {
		in.Jobs[j] = job.Found{Total: 5}
	}
	if _, refusal := w.decide(in); refusal != nil {
		t.Fatalf("the restart is refused: %v", refusal)
	}
	if live := w.session().Live(); len(live) > 0 {
		t.Errorf("job %s still runs after the restart", live[0].ID)
	}
	if w.session().Turn != nil || w.session().Run.Open || len(w.session().Transcript.Open()) > 0 {
		t.Error("something is still open after the restart")
	}
	return w, w.session()
}

// summary is what must not depend on when a restart was lost itself: all but times.
func summary(s *session.State) map[string]string {
	out := map[string]string{"run": string(s.Run.Outcome)}
	for _, x := range s.Jobs() {
		out[string(x.ID)] = string(x.Status) + " " + x.End.Reason + " " + s.Attention.Of(x.ID)
	}
	for i, e := range s.Transcript.Entries {
		out["entry "+string(rune('0'+i/10))+string(rune('0'+i%10))] = e.Call + e.Text
	}
	return out
}

// check holds a session that came to its end against what was promised.
func check(t *testing.T, w *world) {
	t.Helper()
	s := w.session()
	w.checkRequest()
	finished := map[string]int{}
	armed := map[string]attention.Armed{}
	byStatus := map[string]bool{}
	promised := map[string]bool{}
	prompts := map[int64]int{} // queued, and neither taken nor dropped
	err := each(w.journal(), t, func(kind string, data []byte) {
		switch kind {
		case "job.finished":
			f := read[job.Finished](t, data)
			finished[string(f.Job)]++
			if f.Generation != 1 || finished[string(f.Job)] > 1 {
				t.Errorf("job %s: terminal record %d, generation %d", f.Job, finished[string(f.Job)], f.Generation)
			}
		case "attention.armed":
			a := read[attention.Armed](t, data)
			armed[a.ID] = a
		case "attention.consumed":
			c := read[attention.Consumed](t, data)
			for _, x := range c.IDs {
				byStatus[x] = byStatus[x] || c.By == attention.ByStatus
			}
		case "prompt.queued":
			prompts[read[session.PromptQueued](t, data).Prompt]++
		case "prompt.dropped":
			prompts[read[session.PromptDropped](t, data).Prompt]--
		case "transcript.user":
			if n := read[transcript.UserSaid](t, data).Prompt; n != 0 {
				prompts[n]--
			}
		case "transcript.result":
			var handle struct {
				Job string `json:"job_id"`
			}
			if a := read[transcript.Answered](t, data); a.Data != nil && json.Unmarshal(a.Data, &handle) == nil && handle.Job != "" {
				promised[handle.Job] = true
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for x, a := range armed {
		told := 0
		for _, e := range s.Transcript.Entries {
			if e.Role == transcript.Frames {
				told += strings.Count(e.Text, a.Frame)
			}
		}
		if told > 1 || told == 0 && !byStatus[x] {
			t.Errorf("notice %s was told %d times (read by status: %v)", x, told, byStatus[x])
		}
		if got := s.Attention.Of(a.Source); got != attention.Settled {
			t.Errorf("notice %s is %s when all is over", x, got)
		}
	}
	for _, x := range s.Jobs() {
		if !s.Attention.Known(x.ID) {
			t.Errorf("job %s ended as %s, and nobody was told", x.ID, x.Status)
		}
		delete(promised, string(x.ID))
	}
	for n, left := range prompts {
		if left != 0 {
			t.Errorf("prompt %d was accepted, and %d turns or drops are missing", n, left)
		}
	}
	for j := range promised {
		t.Errorf("job %s was told of and has no record", j)
	}
}

// each yields the events of a journal.
func each(b []byte, t *testing.T, visit func(kind string, data []byte)) error {
	path := home(planted(t, b)).Journal(root)
	for e, err := range journal.Read(path, journal.Pos{}) {
		if err != nil {
			return err
		}
		for kind, data := range e.Events() {
			visit(kind, data)
		}
	}
	return nil
}

func read[E any](t *testing.T, data []byte) E {
	t.Helper()
	var e E
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	return e
}

// What the decisions left in memory is what the disk says.
//
// clause: JC-504 JC-505
func TestMemoryIsTheFold(t *testing.T) {
	for _, file := range stories(t) {
		p := play(t, script(t, file))
		got, want := p.w.store.State, fold(t, p.w.journal())
		if !reflect.DeepEqual(got.Session(), want.Session()) || got.Step != want.Step || !slices.Equal(slices.Collect(maps.Keys(got.Sessions)), slices.Collect(maps.Keys(want.Sessions))) {
			t.Errorf("%s: the state in memory is not what the journal folds to", file)
		}
		p.w.close()
	}
}

// asksMore tells what a settled restart may not ask of the world: anything but
// the timers of watches that go on.
func asksMore(e tree.Effect) bool {
	_, timer := e.Effect.(effect.SetTimer)
	return !timer
}

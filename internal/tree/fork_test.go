package tree_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"evener/internal/id"
	"evener/internal/model"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/transcript"
)

const copied = id.Session("01JDYH3M00041061050R3GG28B")

// Whatever a session has come to, the copy of its conversation is what it said
// up to the cut, and a strict server takes the next prompt behind it.
func TestForkOfEveryStory(t *testing.T) {
	for _, file := range stories(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			p := play(t, script(t, file))
			defer p.w.close()
			whole, err := os.ReadFile(p.w.store.Home.Journal(root))
			if err != nil {
				t.Fatal(err)
			}
			h := home(memory(t))
			if err := os.MkdirAll(h.Dir(root), 0o700); err != nil {
				t.Fatal(err)
			}
			for end := bytes.IndexByte(whole, '\n') + 1; end > 0 && end <= len(whole); {
				if err := os.WriteFile(h.Journal(root), whole[:end], 0o600); err != nil {
					t.Fatal(err)
				}
				for _, cut := range []store.Cut{store.WholeTurns, store.WholeRounds} {
					forked(t, h, cut)
				}
				next := bytes.IndexByte(whole[end:], '\n') + 1
				if next == 0 {
					break
				}
				end += next
			}
		})
	}
}

func forked(t *testing.T, h store.Home, cut store.Cut) {
	t.Helper()
	from, err := store.Load(h, root, 0)
	if err != nil {
		t.Fatal(err)
	}
	s := from.Session()
	want := upTo(s, cut)
	tr, c, err := store.Fork(h, session.Created{Session: copied, Root: copied, Dir: "/w"}, store.Copy{From: root, How: session.ResumeWith, Cut: cut, Step: 1}, "test", "boot")
	if len(want) == 0 {
		if !errors.Is(err, store.ErrNothing) {
			t.Errorf("step %d: nothing to begin with: %v", from.Step, err)
		}
		return
	}
	if err != nil {
		t.Fatalf("step %d: %v", from.Step, err)
	}
	defer os.RemoveAll(h.Dir(copied))
	defer tr.Close()
	got := tr.State.Session()
	if !reflect.DeepEqual(got.Transcript.Entries, want) || got.Turns > s.Turns || c.Entries != int64(len(want)) || (c.LeftOut > 0) != (len(want) < len(s.Transcript.Entries)) && cut == store.WholeTurns {
		t.Errorf("step %d, cut %d: %+v, %d entries, want %d", from.Step, cut, c, len(got.Transcript.Entries), len(want))
	}
	next := append(append([]transcript.Entry(nil), want...), transcript.Entry{Role: transcript.User, Text: "go on"})
	if err := model.Check(messages(next)); err != nil {
		t.Errorf("step %d, cut %d: %v", from.Step, cut, err)
	}
}

// upTo is the cut by what the folded session shows.
func upTo(s *session.State, cut store.Cut) []transcript.Entry {
	all := s.Transcript.Entries
	switch {
	case cut == store.WholeTurns && s.Turn != nil:
		for i, e := range all {
			if e.Turn == s.Turn.N {
				return all[:i]
			}
		}
	case cut == store.WholeRounds && len(s.Transcript.Open()) > 0:
		for i := len(all) - 1; i >= 0; i-- {
			if all[i].Role == transcript.Assistant {
				return all[:i]
			}
		}
	}
	return all
}

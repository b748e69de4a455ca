package tree_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"evener/internal/model"
	"evener/internal/session"
	"evener/internal/transcript"
)

// A delegate with fork_context whose owner's conversation was shortened is told what
// its owner is told, and what the summary stands for is in its own conversation. So
// it is after a crash at any line of the copy.
// clause: JC-166
func TestForkContextBehindASummary(t *testing.T) {
	b := newBranch(t, nil)
	b.take(root, session.Prompt{Text: strings.Repeat("parent words ", 300), Mode: session.OneShot, Limits: familyLimits, Context: told, Create: &session.Created{Session: root, Root: root, Dir: "/w"}})
	b.reply(root, strings.Repeat("so it is ", 8000), `tasks {"operation":"list"}`)
	b.take(root, session.ModelFailed{Request: b.requests[root], Text: "too long", Overflow: true})
	b.take(root, session.Summarised{Request: b.requests[root], Text: "They said words."})
	before := slices.Clone(b.state.Session().Transcript.Entries)
	if n := b.state.Session().Transcript.Summed(); n == 0 {
		t.Fatal("nothing was summarised")
	}
	b.reply(root, "", forkCall)
	b.prepared(root, forkedChild, told.Model)
	check := func(b *branch) {
		t.Helper()
		child := folded(t, b.disk).Sessions[forkedChild]
		all := child.Transcript.Entries
		if len(all) <= len(before) || !reflect.DeepEqual(all[:len(before)], before) {
			t.Fatalf("the child has not the conversation of its owner: %d entries of %d", len(all), len(before))
		}
		said := child.Transcript.Context()
		if said[0].Role != transcript.Summary || !strings.Contains(said[0].Text, "They said words.") || len(said) >= len(all) {
			t.Errorf("the child is told %d of %d entries, the first %q", len(said), len(all), said[0].Text)
		}
		if err := model.Check(messages(all)); err != nil {
			t.Error(err)
		}
		if child.Tokens != (transcript.Usage{}) {
			t.Errorf("the owner's tokens came along: %+v", child.Tokens)
		}
	}
	check(b)
	first := slices.IndexFunc(b.disk, func(r record) bool { return r.journal == "" })
	for cut := first + 1; cut < len(b.disk); cut++ {
		x := newBranch(t, b.disk[:cut])
		x.take(root, foundOf(x.state))
		check(x)
	}
}

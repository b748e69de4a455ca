package store

import (
	"os"
	"strings"
	"testing"

	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/tree"
	"evener/journal"
)

// A journal whose decisions say another lineage than its line 1 is damaged: it
// was written once.
// clause: RC-145
func TestLineageIsWrittenOnce(t *testing.T) {
	const parent, other = id.Session("01JDYH3M00041061050R3GG28D"), id.Session("01JDYH3M00041061050R3GG28E")
	created := session.Created{Session: sourceID, Root: sourceID, Dir: "/w"}
	forked := session.Forked{Parent: parent, Divergence: 2, How: session.Aside}
	owned := created
	owned.Parent, owned.Root = parent, parent
	for name, c := range map[string]struct {
		line1  Lineage
		events []session.Event
		says   string
	}{
		"a branch":          {Lineage{Parent: parent, Divergence: 2}, []session.Event{created, forked}, ""},
		"a delegate":        {Lineage{Parent: parent, Call: "c1", Subagent: true}, []session.Event{owned}, ""},
		"another parent":    {Lineage{Parent: other, Divergence: 2}, []session.Event{created, forked}, `line 1 says that it descends from session "` + string(other)},
		"another turn":      {Lineage{Parent: parent, Divergence: 3}, []session.Event{created, forked}, "line 1 says that turn 3 is its first own"},
		"another owner":     {Lineage{Parent: other, Subagent: true}, []session.Event{owned}, "line 1 says that it descends"},
		"no longer a child": {Lineage{Parent: parent, Subagent: true}, []session.Event{created}, "line 1 says that it descends"},
		"twice":             {Lineage{Parent: parent, Divergence: 2}, []session.Event{created, forked, forked}, "forked out of order"},
	} {
		h := Home{Sessions: t.TempDir()}
		if err := os.MkdirAll(h.Dir(sourceID), 0o700); err != nil {
			t.Fatal(err)
		}
		own, err := ownerOf(sourceID, c.line1)
		if err != nil {
			t.Fatal(err)
		}
		r, err := encode(h, sourceID, tree.Write{Session: sourceID, Step: 1, Cause: []byte(`{"kind":"test"}`), Events: c.events})
		if err != nil {
			t.Fatal(err)
		}
		j, err := journal.Create(h.Journal(sourceID), journal.Options{Owner: own}, r)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		_, err = LoadSession(h, sourceID)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}

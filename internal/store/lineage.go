package store

import (
	"cmp"
	"encoding/json"
	"fmt"

	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/text"
	"evener/internal/tree"
	"evener/journal"
)

// Lineage says which session another one descends from, without a look at what
// either said. It stands in line 1 of the journal, in its first decision and in
// the summary, all from the same values, and never changes.
type Lineage struct {
	// Parent: of a delegate the owner, of a branch the session whose conversation it begins with.
	Parent id.Session `json:"parent_session_id,omitempty"`
	// Call is the owner's call that made a delegate.
	Call string `json:"parent_tool_call_id,omitempty"`
	// Divergence is the first turn that is not the parent's, where the conversation begins with the parent's.
	Divergence int64 `json:"divergence_turn,omitempty"`
	// Subagent: a delegate of the parent; a branch is none.
	Subagent bool `json:"is_subagent"`
}

// Kinds of children.
const (
	KindFork     = "fork"
	KindSubagent = "subagent"
)

// Kind tells the children of a session apart; empty for a session that descends from none.
func (l Lineage) Kind() string {
	switch {
	case l.Parent == "":
		return ""
	case l.Subagent:
		return KindSubagent
	}
	return KindFork
}

// lineageOf reads it off a folded session. t is its tree where that is known: a
// delegate's own journal does not name the call that made it.
func lineageOf(s *session.State, t *tree.State) Lineage {
	if s == nil {
		return Lineage{}
	}
	l := Lineage{Parent: cmp.Or(s.Parent, s.Fork.Parent), Divergence: s.Fork.Divergence, Subagent: s.Parent != ""}
	if t != nil && l.Subagent {
		if d := t.Delegates.Get(s.Delegate); d != nil {
			l.Call = d.Call
		}
	}
	return l
}

// owner is what line 1 of a session's journal says: whose it is, and the lineage. That
// of a tree's journal of delegates names the tree alone.
type owner struct {
	Session id.Session `json:"session_id"`
	Root    id.Session `json:"root_session_id,omitempty"`
	Lineage
}

func ownerOf(s id.Session, l Lineage) ([]byte, error) {
	return text.JSON(owner{Session: s, Lineage: l})
}

// lineage is what line 1 of a session's journal says; of one that an older
// program made, what the fold says.
func (h Home) lineage(s *session.State, t *tree.State) Lineage {
	for e, err := range Read(h.Journal(s.ID)) {
		if err != nil {
			break
		}
		if l, err := header(e); err == nil && l.Parent != "" {
			return l.Lineage
		}
		break
	}
	return lineageOf(s, t)
}

// header reads line 1 of a journal. One of an older program, and of a session that
// descends from none, names no parent.
func header(e journal.Entry) (owner, error) {
	for kind, data := range e.Events() {
		if kind != "journal.created" {
			break
		}
		var head struct {
			Owner owner `json:"owner"`
		}
		err := json.Unmarshal(data, &head)
		if err == nil {
			err = namedIfAny("parent_session_id", head.Owner.Parent, id.ParseSession)
		}
		return head.Owner, err
	}
	return owner{}, nil
}

// agrees checks a decision against line 1: a lineage is written once.
func (l Lineage) agrees(e session.Event) error {
	var parent id.Session
	if l.Parent == "" {
		return nil
	}
	switch e := e.(type) {
	case session.Created:
		if parent = e.Parent; parent == "" && !l.Subagent { // of a branch the next event tells
			return nil
		}
	case session.Forked:
		if parent = e.Parent; l.Divergence != e.Divergence {
			return fmt.Errorf("line 1 says that turn %d is its first own, %s says %d", l.Divergence, e.Kind(), e.Divergence)
		}
	default:
		return nil
	}
	if parent != l.Parent {
		return fmt.Errorf("line 1 says that it descends from session %q, %s says %q", l.Parent, e.Kind(), parent)
	}
	return nil
}

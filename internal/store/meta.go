package store

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"evener/internal/id"
	"evener/internal/regular"
	"evener/internal/session"
	"evener/internal/text"
	"evener/internal/tree"
)

// Meta is a session's summary for listings: derived from the journal, which is
// read instead where it is missing or names another journal size.
type Meta struct {
	Session id.Session `json:"session_id"`
	Root    id.Session `json:"root_session_id"`
	Lineage
	ForkLabel   string       `json:"fork_label,omitempty"` // of the branch of this session that was labelled last
	Dir         string       `json:"dir"`
	Model       string       `json:"model"`
	Created     time.Time    `json:"created_at"`
	Last        time.Time    `json:"last_activity"`
	Title       string       `json:"title"`          // beginning of the first prompt; of a branch that never ran, of the latest that it has from the other
	Name        string       `json:"name,omitempty"` // from the model, where it was asked for one
	Turns       int64        `json:"turns"`
	Jobs        int          `json:"jobs"`
	Outcome     string       `json:"outcome"` // of the latest run; "open" while it is not ended, "branch" where none began yet
	Archived    bool         `json:"archived,omitempty"`
	ObservedBy  []id.Session `json:"observed_by,omitempty"` // the sessions of its tree that ever watched it, but for its jobs
	JournalSize int64        `json:"journal_bytes"`
}

// OfDelegate reports whether the session belongs to another one's tree.
func (m Meta) OfDelegate() bool { return m.Root != "" && m.Root != m.Session }

// maxMeta bounds a summary that is read, in bytes.
const maxMeta = 1 << 20

// metaOf derives the summary of a folded session.
func metaOf(s *session.State, size int64, l Lineage) Meta {
	m := Meta{
		Session: s.ID, Root: s.Root, Dir: s.Dir, Model: s.Context.Model, Created: s.Created, Last: s.LastAt,
		Turns: s.Turns, Jobs: len(s.Jobs()), Outcome: s.Latest(), Archived: s.Archived, JournalSize: size,
	}
	if s.Run.Open {
		m.Outcome = "open"
	}
	m.Lineage, m.ForkLabel, m.Name = l, s.ForkLabel, s.Name
	m.Title = text.Preview(s.Opening(), 80)
	if m.Outcome == session.BranchOnly { // made, and not gone on with: it is known by what it begins with
		m.Title = text.Preview(s.Inherited(), 80)
	}
	return m
}

// observers are the other sessions of a tree that ever watched one of them. No
// watch takes one away: what is derived from the journals only grows.
func observers(t *tree.State, s id.Session) []id.Session {
	var out []id.Session
	for other, state := range t.Sessions {
		if other != s && slices.Contains(state.Watches.Observed(), s) {
			out = append(out, other)
		}
	}
	slices.Sort(out)
	return out
}

func (h Home) metaPath(s id.Session) string { return filepath.Join(h.Dir(s), "meta.json") }

// summarise writes the summaries of the sessions that the tree's journals have
// outgrown. The lock is held still: who takes the tree next may remove it.
func (t *Tree) summarise() error {
	var first error
	for s, state := range t.State.Sessions {
		if t.journals[s] == nil || state.ID == "" {
			continue
		}
		if err := t.Home.writeMeta(state, t.State, observers(t.State, s)); err != nil && first == nil {
			first = fmt.Errorf("the summary of session %s could not be written: %w", s, err)
		}
	}
	return first
}

// writeMeta is not synced: it is derived, and a listing reads the journal where it
// is missing or is no longer what it was.
func (h Home) writeMeta(s *session.State, t *tree.State, by []id.Session) error {
	info, err := os.Stat(h.Journal(s.ID))
	if err != nil {
		return err
	}
	m := metaOf(s, info.Size(), h.lineage(s, t))
	m.ObservedBy = by
	if old, ok := h.readMeta(s.ID); ok && reflect.DeepEqual(old, m) {
		return nil
	}
	b, err := json.Marshal(m)
	if err != nil {
		return err
	}
	draft := h.metaPath(s.ID) + ".new"
	if err := writeNew(draft, append(b, '\n')); err != nil {
		return err
	}
	return os.Rename(draft, h.metaPath(s.ID))
}

// SummaryFault says in what the summary of a folded session is not what its
// journal says; "" if in nothing, or if there is none. One of a shorter journal is
// only old; what never changes must fit all the same. unused: no listing takes it for
// what the journal says; a power cut can leave nothing of it, since it is not synced. Who
// observed the session is not compared.
func (h Home) SummaryFault(s *session.State, t *tree.State) (what string, unused bool) {
	at, err := os.Lstat(h.metaPath(s.ID))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false
	case err == nil && at.Mode()&fs.ModeSymlink != 0:
		return "is a symbolic link, which is not followed there", false
	case err == nil && !at.Mode().IsRegular():
		return "is no regular file", false
	}
	b, err := regular.Read(h.metaPath(s.ID), maxMeta)
	if err != nil {
		return fmt.Sprintf("cannot be read: %v", err), true
	}
	if len(bytes.Trim(b, "\x00")) == 0 {
		return "is empty", true
	}
	var m Meta
	if err := json.Unmarshal(b, &m); err != nil {
		return fmt.Sprintf("is none: %v", err), false
	}
	info, err := os.Stat(h.Journal(s.ID))
	if err != nil {
		return "", false // told where the journal is read
	}
	want := metaOf(s, info.Size(), h.lineage(s, t))
	if !bytes.Contains(b, []byte(`"is_subagent":`)) { // of an older program
		m.Subagent = want.Subagent
	}
	m.ObservedBy = nil
	switch {
	case m.Session != want.Session:
		return fmt.Sprintf("is of session %q", m.Session), false
	case m.Root != want.Root || m.Lineage != want.Lineage:
		return fmt.Sprintf("says that it is %s, its journal says %s", descent(m), descent(want)), false
	case m.JournalSize > want.JournalSize:
		return fmt.Sprintf("was made of a journal of %d bytes, which has %d now: its end is lost, or an older one was put in its place", m.JournalSize, want.JournalSize), true
	case m.JournalSize == want.JournalSize && !reflect.DeepEqual(m, want):
		return "says otherwise than its journal", false
	}
	return "", false
}

// SummaryOfMore reports whether the summary of a session was made of a longer
// journal than there is, and of how many bytes.
func (h Home) SummaryOfMore(s id.Session) (size int64, more bool) {
	m, ok := h.readMeta(s)
	info, err := os.Stat(h.Journal(s))
	return m.JournalSize, ok && err == nil && m.JournalSize > info.Size()
}

// descent says whose a session is.
func descent(m Meta) string {
	kind := cmp.Or(m.Kind(), "session")
	if m.Subagent {
		kind = KindSubagent
	}
	return fmt.Sprintf("a %s of parent %q, call %q, turn %d, in the tree of %q", kind, m.Parent, m.Call, m.Divergence, m.Root)
}

func (h Home) readMeta(s id.Session) (Meta, bool) {
	var m Meta
	if NoLink(h.metaPath(s)) != nil {
		return Meta{Session: s}, false
	}
	b, err := regular.Read(h.metaPath(s), maxMeta)
	if err != nil || json.Unmarshal(b, &m) != nil || m.Session != s || cmp.Or(namedIfAny("", m.Root, id.ParseSession), namedIfAny("", m.Parent, id.ParseSession)) != nil {
		return Meta{Session: s}, false
	}
	m.Subagent = m.OfDelegate() // also in one that an older program wrote
	return m, true
}

// Listed is a session of a listing, or why it cannot be read.
type Listed struct {
	Meta
	Err error
}

// List summarises the sessions, the latest activity first. A session that
// cannot be read is listed with its error; the others go on.
func (h Home) List() ([]Listed, error) {
	ids, err := h.IDs()
	if err != nil {
		return nil, err
	}
	out := make([]Listed, 0, len(ids))
	for _, s := range ids {
		if h.Has(s) {
			out = append(out, h.summary(s))
		}
	}
	away := map[id.Session]bool{} // a tree is put away as a whole
	for _, s := range out {
		away[s.Session] = s.Archived
	}
	for i := range out {
		out[i].Archived = out[i].Archived || away[out[i].Root]
	}
	slices.SortStableFunc(out, func(a, b Listed) int {
		return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(b.Session, a.Session))
	})
	return out, nil
}

func (h Home) summary(s id.Session) Listed {
	info, err := os.Stat(h.Journal(s))
	if err != nil {
		return Listed{Meta{Session: s}, err}
	}
	m, ok := h.readMeta(s)
	if ok && m.JournalSize == info.Size() {
		return Listed{Meta: m}
	}
	h.Lean = true // no reply and no result is in a summary
	t, err := Load(h, s, 0)
	if err != nil {
		return Listed{m, err} // of an older summary what never changes still holds: whose it is, and where
	}
	by := m.ObservedBy // of a delegate this is not in its own journal
	m = metaOf(t.Session(), info.Size(), h.lineage(t.Session(), t))
	if m.ObservedBy = observers(t, s); len(m.ObservedBy) == 0 {
		m.ObservedBy = by
	}
	if m.Session == "" { // a journal without a first decision
		m.Session, m.Root, m.Outcome = s, s, "empty"
	}
	return Listed{Meta: m}
}

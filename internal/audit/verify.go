package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/store"
	"evener/journal"
)

// Finding is something that a check found.
type Finding struct {
	// Note: nothing is wrong; the next resume settles it.
	Note   bool   `json:"note"`
	Path   string `json:"path"`
	Line   int64  `json:"line,omitempty"`
	Offset int64  `json:"offset,omitempty"` // in bytes, where the line begins
	Text   string `json:"text"`             // what is wrong, where, and what it means
	// Repairable: evener repair can make what is left of it usable.
	Repairable bool `json:"repairable,omitempty"`
}

// Journal is a journal that was checked.
type Journal struct {
	Path  string `json:"path"`
	Lines int64  `json:"lines"`
	// Closing is the latest closing hash, of everything before it.
	Closing string `json:"closing_sha256,omitempty"`
	hashes  []string
}

// Verified is what a check found.
type Verified struct {
	Journals []Journal       `json:"journals"`
	Findings []Finding       `json:"findings"`
	repaired map[string]bool // journals that are repaired copies
}

// Damaged reports whether something is wrong.
func (v *Verified) Damaged() bool {
	return slices.ContainsFunc(v.Findings, func(f Finding) bool { return !f.Note })
}

func (v *Verified) damage(path, format string, args ...any) {
	v.find(Finding{Path: path, Text: fmt.Sprintf(format, args...)})
}

func (v *Verified) note(path, format string, args ...any) {
	v.find(Finding{Note: true, Path: path, Text: fmt.Sprintf(format, args...)})
}

// find adds a finding; one that was there already is not told again.
func (v *Verified) find(f Finding) {
	if !slices.Contains(v.Findings, f) {
		v.Findings = append(v.Findings, f)
	}
}

// failed adds what kept a file from being read or folded.
func (v *Verified) failed(path string, err error) {
	f := Finding{Path: path, Text: err.Error()}
	if bad, ok := errors.AsType[*journal.CorruptError](err); ok {
		f.Path, f.Line, f.Offset, f.Repairable = bad.Path, bad.Line, bad.Offset, true
	} else if bad, ok := errors.AsType[*store.FoldError](err); ok {
		f.Path, f.Line, f.Offset, f.Repairable = bad.Path, bad.Line, bad.Off, true
	} else if bad, ok := errors.AsType[*store.StrangerError](err); ok {
		f.Path = bad.Path
	}
	v.find(f)
}

// File checks the framing of one journal: numbers, checksums, closing hashes.
// All of its damage is told, not the first alone.
func (v *Verified) File(path string) (whole bool) {
	r, err := journal.Verify(path)
	if err != nil {
		v.failed(path, err)
		return false
	}
	j := Journal{Path: path, Lines: r.Lines}
	for _, c := range r.Closings {
		j.Closing = c.SHA256
		j.hashes = append(j.hashes, c.SHA256)
	}
	v.Journals = append(v.Journals, j)
	if s := r.Header.Salvaged; s != nil && s.Edited {
		v.note(path, "an edited copy: secrets were taken out of it, and it can be shown no more that nothing else was changed")
	}
	if s := r.Header.Salvaged; s != nil && (!s.Edited || s.Lost > 0) {
		if v.repaired == nil {
			v.repaired = map[string]bool{}
		}
		v.repaired[path] = true
		v.note(path, "a repaired copy, which lacks %d lines of its original", r.Header.Salvaged.Lost)
	}
	if r.Torn != nil {
		v.find(Finding{Note: true, Path: path, Offset: r.Torn.Offset,
			Text: fmt.Sprintf("a torn tail of %d bytes from byte %d (never acknowledged; the next resume cuts it)", r.Torn.Bytes, r.Torn.Offset)})
	}
	if r.Damage == nil {
		return true
	}
	v.failed(path, r.Damage)
	v.losses(path)
	return false
}

// losses tells what else of a damaged journal cannot be read, as its repair would find.
func (v *Verified) losses(path string) {
	dir, err := os.MkdirTemp("", "evener-verify-")
	if err != nil {
		v.failed(path, err)
		return
	}
	defer os.RemoveAll(dir)
	r, err := journal.Salvage(path, filepath.Join(dir, "copy"))
	if err != nil {
		v.failed(path, err)
		return
	}
	for i, l := range r.Lost {
		if i == 0 { // the damage that was met first
			continue
		}
		v.find(Finding{Path: path, Repairable: true, Text: fmt.Sprintf("journal %s: records %d to %d are lost; %d lines can still be read", path, l.First, l.Last, r.Kept)})
	}
	if r.Skipped > 0 {
		v.find(Finding{Path: path, Repairable: true, Text: fmt.Sprintf("journal %s: %d whole lines fit nowhere: they are repeated, or from another file", path, r.Skipped)})
	}
}

// Expect checks that a closing hash that somebody kept is one of the journals':
// nothing before it was rewritten since.
func (v *Verified) Expect(hash string) {
	for _, j := range v.Journals {
		if slices.Contains(j.hashes, hash) {
			return
		}
	}
	path := ""
	if len(v.Journals) > 0 {
		path = v.Journals[0].Path
	}
	v.damage(path, "no closing line has the hash %s: what it was taken of was rewritten, or is lost", hash)
}

// Tree checks all journals of a root's tree: each by itself, and what they
// promise one another and the files beside them.
func (v *Verified) Tree(h store.Home, root id.Session) {
	if slices.ContainsFunc(v.Journals, func(j Journal) bool { return j.Path == h.Journal(root) }) {
		return // for another session of it
	}
	h.Lean = true
	whole := v.File(h.Journal(root))
	if exists(h.Delegates(root)) {
		whole = v.File(h.Delegates(root)) && whole
	}
	c := &checked{Verified: v, home: h, root: root}
	made := below(h, root)
	for _, s := range made {
		whole = v.File(h.Journal(s)) && whole
	}
	t, err := store.LoadVisited(h, root, c.visit)
	switch {
	case err != nil && !whole: // told above, but for rows of an older program
		if _, old := errors.AsType[*fault.Error](err); old {
			v.failed(h.Journal(root), err)
		}
	case err != nil:
		v.failed(h.Journal(root), err)
	}
	if err != nil {
		for _, s := range append([]id.Session{root}, made...) {
			if _, err := store.LoadSession(h, s); err != nil {
				v.failed(h.Journal(s), err)
			}
		}
		return
	}
	c.tree = t
	c.unborn()
	from := len(v.Findings)
	defer func() { // what a repair could not keep is missed in other journals: it is known, and nothing more can be done
		if !slices.ContainsFunc(c.journals, func(p string) bool { return v.repaired[p] }) {
			return
		}
		for i := range v.Findings[from:] {
			v.Findings[from+i].Note = true
		}
	}()
	c.bundled()
	c.steps()
	c.deliveries()
	c.delegates()
	for _, s := range c.sessions() {
		c.session(s)
	}
}

// Session checks the whole tree that a session belongs to; the session alone where
// its root is not here.
func (v *Verified) Session(h store.Home, s id.Session) {
	m, err := h.Glance(s)
	if err == nil && m.Root != "" && m.Root != s {
		if exists(h.Journal(m.Root)) {
			v.Tree(h, m.Root)
			return
		}
		v.File(h.Journal(s))
		v.damage(h.Journal(s), "session %s: its tree is gone: there is no session %s", s, m.Root)
		return
	}
	v.Tree(h, s)
}

// Journal checks one journal: its framing, and where it stands in a session's
// folder that it folds.
func (v *Verified) Journal(path string) {
	whole := v.File(path)
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		v.failed(path, err)
		return
	}
	s, ok := id.ParseSession(filepath.Base(dir))
	if !ok || !whole {
		return
	}
	h := store.Home{Sessions: filepath.Dir(dir), Lean: true}
	switch filepath.Base(path) {
	case "session.jsonl":
		_, err = store.LoadSession(h, s)
	case "delegates.jsonl":
		_, err = store.Load(h, s, 0)
	}
	if err != nil {
		v.failed(path, err)
	}
}

// below are the sessions that a root's tree has made, as far as its journal can be
// read, which have a journal.
func below(h store.Home, root id.Session) (out []id.Session) {
	if !exists(h.Delegates(root)) {
		return nil
	}
	for e, err := range store.Read(h.Delegates(root)) {
		if err != nil {
			return out // told where that journal is checked
		}
		for _, s := range store.Children(e) {
			if exists(h.Journal(s)) {
				out = append(out, s)
			}
		}
	}
	return out
}

// Folder checks every tree of a state folder, and that each session belongs to one.
func (v *Verified) Folder(h store.Home) error {
	all, err := h.IDs()
	if err != nil {
		return err
	}
	member := map[id.Session]bool{}
	for _, s := range all {
		for _, b := range below(h, s) {
			member[b] = true
		}
	}
	for _, s := range all {
		if member[s] || !h.Begun(s) {
			continue
		}
		m, err := h.Glance(s)
		v.Session(h, s)
		if err == nil && m.Root != "" && m.Root != s && exists(h.Journal(m.Root)) {
			v.File(h.Journal(s))
			v.find(Finding{Note: v.repaired[h.Delegates(m.Root)], Path: h.Journal(s),
				Text: fmt.Sprintf("session %s names %s as the root of its tree, whose journals know nothing of it", s, m.Root)})
		}
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

package store

import (
	"fmt"
	"os"

	"evener/internal/id"
	"evener/internal/tree"
)

// headBytes bounds what Glance reads of a journal.
const headBytes = 1 << 20

// Glance tells a session from others without reading what was said in it. What
// never changes, such as whose child it is, comes from the summary, also from one
// that its journal has outgrown, else from the beginning of the journal. Turns
// and jobs are zero then, the outcome is open, and the last activity is when the
// journal was last written. A session without a first decision has no id.
func (h Home) Glance(s id.Session) (Meta, error) {
	info, err := readable(h.Journal(s))
	if err != nil {
		return Meta{}, err
	}
	m, ok := h.readMeta(s)
	switch {
	case ok && m.JournalSize == info.Size():
		return m, nil
	case !ok || m.JournalSize > info.Size():
		if m, err = h.head(s); err != nil {
			return m, err
		}
	}
	m.Turns, m.Jobs, m.Outcome, m.Archived, m.Last, m.JournalSize = 0, 0, "open", false, info.ModTime().UTC(), info.Size()
	return m, nil
}

// readable looks whether a journal can be opened, without reading it. What is no
// file is not opened at all: a pipe would wait for who writes to it.
func readable(path string) (os.FileInfo, error) {
	if err := NoLink(path); err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: it is no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return info, f.Close()
}

// head derives what it can of a summary from the beginning of a journal.
func (h Home) head(s id.Session) (Meta, error) {
	t := tree.New(s)
	take := foldingFile(h, h.Journal(s), t, s, unvisited)
	for e, err := range Read(h.Journal(s)) {
		if err != nil {
			return Meta{}, legacy(err)
		}
		if err := take(e); err != nil {
			return Meta{}, err
		}
		if e.End > headBytes || t.Session().Opening() != "" {
			break
		}
	}
	return metaOf(t.Session(), 0, h.lineage(t.Session(), nil)), nil
}

package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"

	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/tree"
	"evener/journal"
)

// FoldError is damage above the framing: a line that is whole but says what
// cannot follow.
type FoldError struct {
	Path string
	Line int64
	Seq  int64
	Off  int64
	Err  error
}

func (e *FoldError) Error() string {
	return fmt.Sprintf("journal %s is damaged at line %d, offset %d: %v", e.Path, e.Line, e.Off, e.Err)
}

func (e *FoldError) Unwrap() error { return e.Err }

// foldingFile returns a visitor that folds the lines of one journal of a tree:
// that of a session, or of "" that of its delegates. The file need not stand
// where that journal belongs.
func foldingFile(h Home, path string, t *tree.State, s id.Session, visit Visit) func(journal.Entry) error {
	line := int64(0)
	var born owner
	var events []session.Event // used again for each line: the fold keeps the events, not the list
	return func(e journal.Entry) error {
		line++
		if e.Own() {
			var err error
			if line == 1 {
				born, err = header(e)
			}
			if err != nil {
				return &FoldError{path, line, e.Seq, e.Off, err}
			}
			if line == 1 {
				if err := born.stands(path, t.Root, s); err != nil {
					return err
				}
			}
			visit(Line{s, path, line, e}, nil)
			return nil
		}
		events = events[:0]
		for i := range e.Len() {
			kind, data := e.Event(i)
			ev, err := decode(h, cmp.Or(s, t.Root), kind, data)
			if err := stranger(path, s, ev); err != nil {
				return err
			}
			if err == nil {
				err = born.agrees(ev)
			}
			if err != nil {
				return &FoldError{path, line, e.Seq, e.Off, err}
			}
			if h.Lean {
				ev = lean(ev)
			}
			events = append(events, ev)
		}
		var err error
		if s == "" {
			err = t.ApplyTree(e.Step, e.At(), events)
		} else {
			err = t.Apply(s, e.Step, e.At(), events)
		}
		if err != nil {
			return &FoldError{path, line, e.Seq, e.Off, err}
		}
		visit(Line{s, path, line, e}, events)
		return nil
	}
}

// Visit is told each line of a tree, one journal after the other, once it is folded. Both
// arguments are the visitor's until it returns. A journal's own lines have no events.
type Visit func(l Line, events []session.Event)

func unvisited(Line, []session.Event) {}

// Load folds a tree from its files without writing anything. upTo limits the
// fold to that step; 0 is no limit.
func Load(h Home, root id.Session, upTo int64) (*tree.State, error) {
	return load(h, root, nil, upTo, unvisited)
}

// LoadVisited folds a whole tree as Load does.
func LoadVisited(h Home, root id.Session, visit Visit) (*tree.State, error) {
	return load(h, root, nil, 0, visit)
}

// LoadTree folds the whole tree that a session belongs to, as Load does; where its
// root is gone, the session alone.
func LoadTree(h Home, s id.Session) (*tree.State, error) {
	if root := h.rootOf(s); h.Has(root) {
		return Load(h, root, 0)
	}
	return Load(h, s, 0)
}

// LoadFiles folds a tree in which some journals stand, by their paths, as other
// files that are to become them. Its errors name the files that were read.
func LoadFiles(h Home, root id.Session, instead map[string]string) (*tree.State, error) {
	return load(h, root, instead, 0, unvisited)
}

// LoadSession folds the journal of one session alone, without what stands below
// it: damage there is none of its conversation.
func LoadSession(h Home, s id.Session) (*session.State, error) {
	t := tree.New(s)
	if err := fold(h, t, s, h.Journal(s), 0, unvisited); err != nil {
		return nil, err
	}
	return t.Session(), nil
}

func load(h Home, root id.Session, instead map[string]string, upTo int64, visit Visit) (*tree.State, error) {
	at := func(path string) string { return cmp.Or(instead[path], path) }
	t := tree.New(root)
	if err := fold(h, t, root, at(h.Journal(root)), upTo, visit); err != nil {
		return nil, err
	}
	if !exists(h.Delegates(root)) {
		return t, nil
	}
	if err := fold(h, t, "", at(h.Delegates(root)), upTo, visit); err != nil {
		return nil, err
	}
	for d := range t.Delegates.All {
		if !h.Has(d.Session) {
			continue
		}
		if err := fold(h, t, d.Session, at(h.Journal(d.Session)), upTo, visit); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// entries reads a journal as far as a look at the past goes.
func (h Home) entries(path string) iter.Seq2[journal.Entry, error] {
	all := Read(path)
	if h.At == 0 {
		return all
	}
	return func(yield func(journal.Entry, error) bool) {
		for e, err := range all {
			if err == nil && e.Step > h.At || !yield(e, err) {
				return
			}
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func fold(h Home, t *tree.State, s id.Session, path string, upTo int64, visit Visit) error {
	take := foldingFile(h, path, t, s, visit)
	for e, err := range h.entries(path) {
		if err != nil {
			return legacy(err)
		}
		if upTo > 0 && e.Step > upTo {
			break
		}
		if err := take(e); err != nil {
			return err
		}
	}
	return nil
}

// legacy turns damage at a row of an older program into the refusal that the
// contract names: such state is not translated, and nothing new is admitted.
func legacy(err error) error {
	bad, ok := errors.AsType[*journal.CorruptError](err)
	if !ok {
		return err
	}
	if refusal := legacyRow(fmt.Sprintf("%s line %d", bad.Path, bad.Line), bad.Raw); refusal != nil {
		return refusal
	}
	return err
}

// legacyRow refuses a row of an older program; nil for any other line.
func legacyRow(where string, line []byte) error {
	var row struct {
		Type  string `json:"type"`
		Job   string `json:"job_id"`
		Watch string `json:"watch_id"`
	}
	if json.Unmarshal(line, &row) != nil || row.Job == "" {
		return nil
	}
	switch {
	case row.Watch != "" || row.Type == "watch":
		return fault.New(fault.LegacyDelegateWatch, "%s is a watch row of an older program, addressed by a delegate's job id; it is not translated. Move the session's folder away to go on without it", where)
	case row.Type == "delegate":
		return fault.New(fault.LegacyDelegateState, "%s is a delegate row of an older program; it is not translated. Move the session's folder away to go on without it", where)
	}
	return nil
}

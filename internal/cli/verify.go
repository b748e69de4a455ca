package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/store"
	"evener/journal"
)

var verifyCommand = command{
	name: "verify", args: "[SESSION|FOLDER|FILE...]", summary: "checks journals: framing, closing hashes, fold",
	help: "Without arguments every session of the state folder is checked. Nothing is changed.\n\n" +
		"Exit status: 0 clean (a torn tail, which a crash leaves, is noted), 1 damage, 2 wrong usage.",
}

func init() { verifyCommand.run = runVerify }

func runVerify(e *env, args []string) int {
	fs := e.flags(verifyCommand)
	set := e.stateFlags(fs)
	rest, status, ok := e.parse(verifyCommand, fs, args)
	if !ok {
		return status
	}
	home, _, err := e.home(set)
	if err != nil {
		return e.failLoad(err)
	}
	var paths []string
	if len(rest) == 0 {
		ids, err := home.IDs()
		if err != nil {
			return e.failState(err)
		}
		for _, s := range ids {
			if !begun(home, s) {
				continue
			}
			paths = append(paths, home.Journal(s))
			if d := home.Delegates(s); isFile(d) {
				paths = append(paths, d)
			}
		}
	}
	for _, a := range rest {
		list, bad := journalPaths(home, a)
		if bad != "" {
			return e.fail(exitUsage, "", "%s", bad)
		}
		paths = append(paths, list...)
	}
	status = exitOK
	said := map[string]bool{} // damage of one journal keeps those of its tree from being folded too
	for _, p := range paths {
		if !e.verify(p, said) {
			status = exitNoReport
		}
	}
	return status
}

// begun tells a session from a folder that a process was making when it was
// killed: a lock at most, and an id that nobody has heard of. Without its
// journal, a folder that holds more has lost it.
func begun(h store.Home, s id.Session) bool {
	entries, err := os.ReadDir(h.Dir(s))
	if err != nil {
		return true // reading the journal says what is wrong
	}
	for _, e := range entries {
		if e.Name() != "lock" && !strings.HasPrefix(e.Name(), ".") {
			return true
		}
	}
	return false
}

// journalPaths finds the journals that an argument means: of a session its own,
// and that of its delegates if it has one.
func journalPaths(h store.Home, arg string) (paths []string, bad string) {
	dir := arg
	if s, ok := id.ParseSession(arg); ok && h.Has(s) {
		dir = h.Dir(s)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, fmt.Sprintf("verify: no session, folder or file %q", arg)
	}
	if info.Mode().IsRegular() {
		return []string{arg}, ""
	}
	if !info.IsDir() { // a read of it could wait, or never end
		return nil, fmt.Sprintf("verify: %s is no regular file", arg)
	}
	paths = []string{filepath.Join(dir, "session.jsonl")}
	if d := filepath.Join(dir, "delegates.jsonl"); isFile(d) {
		paths = append(paths, d)
	}
	return paths, ""
}

func isFile(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// verify checks one journal and says what it found, each damage once. It reports
// whether the journal is clean.
func (e *env) verify(path string, said map[string]bool) bool {
	r, err := journal.Verify(path)
	if err == nil {
		err = folds(path)
	}
	if err == nil && r.Damage != nil {
		err = r.Damage
	}
	if err != nil {
		if said[err.Error()] {
			return false
		}
		said[err.Error()] = true
	}
	refused, old := errors.AsType[*fault.Error](err) // rows of an older program: nothing to repair
	switch {
	case old:
		e.fail(exitNoReport, "", "%v", refused)
		return false
	case err != nil:
		hint := ""
		_, damaged := errors.AsType[*journal.CorruptError](err)
		if _, folds := errors.AsType[*store.FoldError](err); damaged || folds {
			hint = "evener repair makes a repaired copy and says what is lost"
		}
		e.fail(exitNoReport, hint, "%v", err)
		return false
	}
	note := ""
	if r.Torn != nil {
		note = fmt.Sprintf(", a torn tail of %d bytes from byte %d (never acknowledged; the next resume cuts it)", r.Torn.Bytes, r.Torn.Offset)
	}
	fmt.Fprintf(e.out, "ok %s: %d lines%s\n", path, r.Lines, note)
	return true
}

// folds tells what keeps a session's journal, or the tree of a root, from being
// folded; a journal elsewhere is checked as a file only.
func folds(path string) error {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return err
	}
	s, ok := id.ParseSession(filepath.Base(dir))
	if name := filepath.Base(path); !ok || name != "session.jsonl" && name != "delegates.jsonl" {
		return nil
	}
	_, err = store.Load(store.Home{Sessions: filepath.Dir(dir)}, s, 0)
	return err
}

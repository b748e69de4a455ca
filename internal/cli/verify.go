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
		return e.fail(exitUsage, "", "%v", err)
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
		}
	}
	for _, a := range rest {
		p, bad := journalPath(home, a)
		if bad != "" {
			return e.fail(exitUsage, "", "%s", bad)
		}
		paths = append(paths, p)
	}
	status = exitOK
	for _, p := range paths {
		if !e.verify(p) {
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

// journalPath finds the journal that an argument means.
func journalPath(h store.Home, arg string) (path, bad string) {
	if s, ok := id.ParseSession(arg); ok && h.Has(s) {
		return h.Journal(s), ""
	}
	info, err := os.Stat(arg)
	if err != nil {
		return "", fmt.Sprintf("verify: no session, folder or file %q", arg)
	}
	if info.IsDir() {
		return filepath.Join(arg, "session.jsonl"), ""
	}
	return arg, ""
}

// verify checks one journal and says what it found. It reports whether the
// journal is clean.
func (e *env) verify(path string) bool {
	r, err := journal.Verify(path)
	if err == nil {
		err = folds(path)
	}
	refused, old := errors.AsType[*fault.Error](err) // rows of an older program: nothing to repair
	switch {
	case old:
		e.fail(exitNoReport, "", "%v", refused)
		return false
	case r.Damage != nil:
		e.fail(exitNoReport, "evener repair makes a repaired copy and says what is lost", "%v", r.Damage)
		return false
	case err != nil:
		e.fail(exitNoReport, "", "%v", err)
		return false
	}
	note := ""
	if r.Torn != nil {
		note = fmt.Sprintf(", a torn tail of %d bytes from byte %d (never acknowledged; the next resume cuts it)", r.Torn.Bytes, r.Torn.Offset)
	}
	fmt.Fprintf(e.out, "ok %s: %d lines%s\n", path, r.Lines, note)
	return true
}

// folds tells what keeps a session's journal from being folded; a journal
// elsewhere is checked as a file only.
func folds(path string) error {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return err
	}
	s, ok := id.ParseSession(filepath.Base(dir))
	if !ok || filepath.Base(path) != "session.jsonl" {
		return nil
	}
	_, err = store.Load(store.Home{Sessions: filepath.Dir(dir)}, s, 0)
	return err
}

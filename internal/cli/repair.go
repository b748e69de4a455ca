package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/proc"
	"evener/internal/store"
	"evener/journal"
)

var repairCommand = command{
	name: "repair", args: "[--in-place] SESSION", summary: "makes a repaired copy of a damaged journal and says what was lost",
	help: "The copy is written beside the journal as session.jsonl.repaired; the journal is left as it is.\n" +
		"It holds what can be gone on with: lines that build on a lost one are left out and named.\n" +
		"--in-place puts the copy into its place and keeps the damaged file as session.jsonl.damaged;\nit takes the session's lock.\n\n" +
		"Exit status: 0 nothing was lost, 1 something was or nothing could be read, 2 wrong usage, 3 the session is in use or cannot be written.",
}

func init() { repairCommand.run = runRepair }

func runRepair(e *env, args []string) int {
	flags := e.flags(repairCommand)
	set := e.stateFlags(flags)
	inPlace := flags.Bool("in-place", false, "put the copy into the journal's place, keeping the damaged file beside it")
	rest, status, ok := e.parse(repairCommand, flags, args)
	if !ok {
		return status
	}
	if len(rest) != 1 {
		return e.fail(exitUsage, "", "repair takes one session")
	}
	home, _, err := e.home(set)
	if err != nil {
		return e.failLoad(err)
	}
	s, status, ok := e.oneSession(home, "repair", rest)
	if !ok {
		return status
	}
	if *inPlace {
		if err := home.Check(); err != nil {
			return e.failState(err)
		}
		lock, err := home.Lock(s, proc.BootID())
		if err != nil {
			return e.failState(err)
		}
		defer lock.Close()
	}
	if cleanAs(home, s, home.Journal(s)) {
		fmt.Fprintln(e.out, "nothing to repair")
		return exitOK
	}
	lossy, status := e.salvage(home, s)
	if status != exitOK {
		return status
	}
	if *inPlace {
		if status := e.replaceJournal(home.Journal(s)); status != exitOK {
			return status
		}
	}
	if lossy {
		return exitNoReport
	}
	return exitOK
}

// salvage makes the repaired copy and says what is in it and what is not. It
// reports whether something is lost. The copy is made under a name of its own
// and takes the place of one from an earlier repair only when it is whole.
func (e *env) salvage(h store.Home, s id.Session) (lossy bool, status int) {
	path := h.Journal(s)
	dst, source, draft := path+".repaired", path, path+".repairing"
	if info, err := os.Lstat(dst); err == nil && !info.Mode().IsRegular() {
		return false, e.fail(exitState, "look at it, then move it away", "%s is there and is no copy of an earlier repair", dst)
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return false, e.fail(exitState, "", "%s is no regular file", path)
	}
	for _, p := range []string{draft, path + ".unix"} { // of a repair that was killed
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, e.failState(err)
		}
	}
	defer os.Remove(draft)
	windows, err := hasWindowsEnds(path)
	if err == nil && windows {
		source = path + ".unix"
		defer os.Remove(source)
		err = unixEnds(path, source)
	}
	if err != nil {
		return false, e.failState(err)
	}
	if windows && cleanAs(h, s, source) { // that was all
		if err := os.Rename(source, dst); err != nil {
			return false, e.failState(err)
		}
		fmt.Fprintf(e.out, "line ends: every \\r\\n was made \\n again\nall lines kept in %s\n", dst)
		return false, exitOK
	}
	r, err := journal.Salvage(source, draft)
	if err != nil {
		return false, e.failState(err)
	}
	if r.Kept == 0 {
		return false, e.fail(exitNoReport, "", "no line of %s can be read; nothing was repaired", path)
	}
	cut, err := cutUnfoldable(h, s, draft)
	if refused, ok := errors.AsType[*fault.Error](err); ok {
		return false, e.fail(exitNoReport, "", "%v", refused)
	}
	if err == nil {
		err = os.Rename(draft, dst)
	}
	if err != nil {
		return false, e.failState(err)
	}
	if windows {
		fmt.Fprintln(e.out, "line ends: every \\r\\n was made \\n again")
	}
	e.salvaged(r, cut, dst)
	return len(r.Lost) > 0 || r.Skipped > 0 || cut > 0, exitOK
}

// cleanAs reports whether a file could stand as the session's journal.
func cleanAs(h store.Home, s id.Session, path string) bool {
	r, err := journal.Verify(path)
	if err == nil && r.Damage == nil {
		_, err = store.LoadFile(h, s, path)
	}
	return err == nil && r.Damage == nil
}

// cutUnfoldable cuts a copy in front of the first line that cannot follow what
// is left before it, and returns that line's seq, 0 if there is none: a prefix
// of a journal is a journal, and what is behind the gap cannot be gone on with.
func cutUnfoldable(h store.Home, s id.Session, path string) (int64, error) {
	_, err := store.LoadFile(h, s, path)
	bad, ok := errors.AsType[*store.FoldError](err)
	if !ok {
		return 0, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	if err := errors.Join(f.Truncate(bad.Off), f.Sync(), f.Close()); err != nil {
		return 0, err
	}
	_, err = store.LoadFile(h, s, path)
	return bad.Seq, err
}

// salvaged says what a copy holds. Lines from cut on are not in it, if cut is not 0.
func (e *env) salvaged(r journal.SalvageReport, cut int64, dst string) {
	behind := int64(0) // whole lines that the cut left out
	if cut > 0 {
		behind = r.Last.Seq - cut + 1
	}
	var lost []journal.Range
	for _, l := range r.Lost {
		if cut > 0 && l.First > cut {
			behind -= l.Last - l.First + 1
			continue
		}
		lost = append(lost, l)
	}
	fmt.Fprintf(e.out, "%d lines kept in %s\n", r.Kept-behind, dst)
	for _, l := range lost {
		fmt.Fprintf(e.out, "lost: %s\n", lineRange(l))
	}
	if cut > 0 {
		fmt.Fprintf(e.out, "left out: %s, which cannot stand without what was lost; the damaged file still holds what is readable of them\n", lineRange(journal.Range{First: cut, Last: r.Last.Seq}))
	}
	if r.Skipped > 0 {
		fmt.Fprintf(e.out, "left out: %d whole lines that fit nowhere\n", r.Skipped)
	}
	if r.Bytes > 0 {
		fmt.Fprintf(e.out, "left out: %d bytes that are in no whole line\n", r.Bytes)
	}
}

func lineRange(l journal.Range) string {
	if l.First == l.Last {
		return fmt.Sprintf("line %d", l.First)
	}
	return fmt.Sprintf("lines %d to %d", l.First, l.Last)
}

// replaceJournal puts the repaired copy into place. The damaged file is linked
// aside first, so there is a journal under the name at any moment.
func (e *env) replaceJournal(path string) int {
	aside := path + ".damaged"
	for n := 2; exists(aside); n++ {
		aside = fmt.Sprintf("%s.damaged-%d", path, n)
	}
	if err := os.Link(path, aside); err != nil {
		return e.failState(err)
	}
	if err := os.Rename(path+".repaired", path); err != nil {
		return e.failState(err)
	}
	fmt.Fprintf(e.out, "in place; the damaged file is kept as %s\n", aside)
	return exitOK
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

package cli

import (
	"fmt"
	"os"

	"evener/internal/proc"
	"evener/internal/store"
	"evener/journal"
)

var repairCommand = command{
	name: "repair", args: "[--in-place] SESSION", summary: "makes a repaired copy of a damaged journal and says what was lost",
	help: "The copy is written beside the journal as session.jsonl.repaired; the journal is left as it is.\n" +
		"--in-place puts the copy into its place and keeps the damaged file as session.jsonl.damaged;\nit takes the session's lock.\n\n" +
		"Exit status: 0 nothing was lost, 1 something was, 2 wrong usage, 3 the session is in use or cannot be written.",
}

func init() { repairCommand.run = runRepair }

func runRepair(e *env, args []string) int {
	fs := e.flags(repairCommand)
	set := stateFlags(fs)
	inPlace := fs.Bool("in-place", false, "put the copy into the journal's place, keeping the damaged file beside it")
	rest, status, ok := e.parse(repairCommand, fs, args)
	if !ok {
		return status
	}
	if len(rest) != 1 {
		return e.fail(exitUsage, "", "repair takes one session")
	}
	home, _, err := e.home(set)
	if err != nil {
		return e.fail(exitUsage, "", "%v", err)
	}
	s, status, ok := e.oneSession(home, "repair", rest)
	if !ok {
		return status
	}
	path := home.Journal(s)
	if *inPlace {
		lock, err := home.Lock(s, proc.BootID())
		if err != nil {
			return e.failState(err)
		}
		defer lock.Close()
	}
	lossy, status := e.salvage(path)
	if status != exitOK {
		return status
	}
	if *inPlace {
		if status := e.replaceJournal(home, path); status != exitOK {
			return status
		}
	}
	if lossy {
		return exitNoReport
	}
	return exitOK
}

// salvage makes the repaired copy and says what is in it and what is not. It
// reports whether something is lost.
func (e *env) salvage(path string) (lossy bool, status int) {
	source, dst := path, path+".repaired"
	if exists(dst) {
		return false, e.fail(exitState, "look at it, then move it away", "%s is there already, from an earlier repair", dst)
	}
	windows, err := hasWindowsEnds(path)
	if err == nil && windows {
		source = path + ".unix"
		defer os.Remove(source)
		err = unixEnds(path, source)
	}
	if err != nil {
		return false, e.failState(err)
	}
	if windows {
		fmt.Fprintln(e.out, "line ends: every \\r\\n was made \\n again")
		if r, err := journal.Verify(source); err == nil && r.Damage == nil { // that was all
			if err := os.Rename(source, dst); err != nil {
				return false, e.failState(err)
			}
			fmt.Fprintf(e.out, "%d lines kept in %s\n", r.Lines, dst)
			return false, exitOK
		}
	}
	r, err := journal.Salvage(source, dst)
	if err != nil {
		return false, e.failState(err)
	}
	if r.Kept == 0 && r.Bytes > 0 {
		os.Remove(dst) // it holds a header and nothing else
		return false, e.fail(exitNoReport, "", "no line of %s can be read; nothing was repaired", path)
	}
	fmt.Fprintf(e.out, "%d lines kept in %s\n", r.Kept, dst)
	for _, l := range r.Lost {
		fmt.Fprintf(e.out, "lost: %s\n", lineRange(l))
	}
	if r.Skipped > 0 {
		fmt.Fprintf(e.out, "left out: %d whole lines that fit nowhere\n", r.Skipped)
	}
	if r.Bytes > 0 {
		fmt.Fprintf(e.out, "left out: %d bytes that are in no whole line\n", r.Bytes)
	}
	return len(r.Lost) > 0 || r.Skipped > 0, exitOK
}

func lineRange(l journal.Range) string {
	if l.First == l.Last {
		return fmt.Sprintf("line %d", l.First)
	}
	return fmt.Sprintf("lines %d to %d", l.First, l.Last)
}

// replaceJournal puts the repaired copy into place. The damaged file is linked
// aside first, so there is a journal under the name at any moment.
func (e *env) replaceJournal(h store.Home, path string) int {
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

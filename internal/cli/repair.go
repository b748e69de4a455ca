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
	r, err := journal.Salvage(path, path+".repaired")
	if err != nil {
		return e.failState(err)
	}
	fmt.Fprintf(e.out, "%d lines kept in %s.repaired\n", r.Kept, path)
	for _, l := range r.Lost {
		fmt.Fprintf(e.out, "lost: lines %d to %d\n", l.First, l.Last)
	}
	if r.Skipped > 0 {
		fmt.Fprintf(e.out, "left out: %d whole lines that fit nowhere\n", r.Skipped)
	}
	lossy := len(r.Lost) > 0 || r.Skipped > 0
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

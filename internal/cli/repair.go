package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"evener/internal/audit"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/proc"
	"evener/internal/store"
	"evener/journal"
)

var repairCommand = command{
	name: "repair", args: "[--in-place] SESSION", summary: "makes repaired copies of a session's damaged journals and says what was lost",
	help: "A session and its delegates are repaired as one: session.jsonl, delegates.jsonl, and the session.jsonl of each\n" +
		"delegate. A copy is written beside each journal that needs one, as NAME.repaired; the journals are left as they are.\n" +
		"They hold what can be gone on with: lines that build on a lost one are left out and named, and so are the turns, jobs,\n" +
		"notices, watches and delegates that a resume from the copies goes without, as far as readable lines tell of them.\n" +
		"--in-place puts the copies into their places and keeps the damaged files as NAME.damaged;\nit takes the lock of the session, which is that of its delegates.\n\n" +
		"Exit status: 0 nothing was lost, 1 something was or nothing could be read, 2 wrong usage, 3 the session is in use or cannot be written.",
}

func init() { repairCommand.run = runRepair }

func runRepair(e *env, args []string) int {
	flags := e.flags(repairCommand)
	set := e.stateFlags(flags)
	inPlace := flags.Bool("in-place", false, "put the copies into the journals' places, keeping the damaged files beside them")
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
	root, err := home.TreeOf(s)
	if err != nil {
		return (&repair{env: e}).failed(err)
	}
	if root != s {
		return e.failDeed(notRoot(s, root))
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
	home.Lean = true
	r := &repair{env: e, home: home, root: s, copies: map[string]*repaired{}, known: map[id.Session]bool{}}
	defer r.clean()
	if err := r.tree(); err != nil {
		return r.failed(err)
	}
	return r.finish(*inPlace)
}

// repair makes copies of those journals of a tree that cannot stand as they
// are. A copy is made under a name of its own and takes the place of one from an
// earlier repair only when the whole tree folds with it.
type repair struct {
	*env
	home   store.Home
	root   id.Session
	copies map[string]*repaired // by the journal's path
	order  []string
	known  map[id.Session]bool // of the tree as it folds
}

// repaired is the copy of one journal.
type repaired struct {
	draft, unix string
	windows     bool // its line ends were made \n again
	report      journal.SalvageReport
	readable    audit.Held // what all lines that could be read tell of
	cut         int64      // the first line that was left out at the end, 0 if none
}

func (x *repaired) lossy() bool {
	return x.report.Kept == 0 || len(x.report.Lost) > 0 || x.report.Skipped > 0 || x.cut > 0
}

// unreadable: no line of a session's own journal is left.
type unreadable string

func (p unreadable) Error() string {
	return fmt.Sprintf("no line of %s can be read; nothing was repaired", string(p))
}

// inTheWay stands under the name of a copy and is none.
type inTheWay string

func (p inTheWay) Error() string {
	return fmt.Sprintf("%s is there and is no copy of an earlier repair", string(p))
}

func (r *repair) failed(err error) int {
	_, nothing := errors.AsType[unreadable](err)
	_, refused := errors.AsType[*fault.Error](err) // rows of an older program
	_, strange := errors.AsType[*store.StrangerError](err)
	switch _, there := errors.AsType[inTheWay](err); {
	case strange:
		return r.fail(exitNoReport, "", "repair cannot mend this: %v", err)
	case nothing || refused:
		return r.fail(exitNoReport, "", "%v", err)
	case there:
		return r.fail(exitState, "look at it, then move it away", "%v", err)
	}
	return r.failState(err)
}

// tree mends what is damaged until the tree folds. Each round mends a journal
// that had no copy, or shortens a copy, so there is an end.
func (r *repair) tree() error {
	for _, path := range []string{r.home.Journal(r.root), r.home.Delegates(r.root)} {
		if err := r.check(path); err != nil {
			return err
		}
	}
	for {
		t, err := store.LoadFiles(r.home, r.root, r.instead())
		fold, folds := errors.AsType[*store.FoldError](err)
		bad, corrupt := errors.AsType[*journal.CorruptError](err)
		n := len(r.order)
		switch {
		case folds:
			err = r.leaveOut(fold)
		case corrupt:
			err = r.mend(bad.Path)
		case err == nil:
			clear(r.known)
			for d := range t.Delegates.All {
				r.known[d.Session] = true
				if err = r.check(r.home.Journal(d.Session)); err != nil {
					break
				}
			}
			if err == nil && len(r.order) == n {
				return nil
			}
		}
		if err != nil {
			return err
		}
	}
}

func (r *repair) instead() map[string]string {
	out := map[string]string{}
	for path, x := range r.copies {
		out[path] = x.draft
	}
	return out
}

// check mends a journal whose framing or closing hashes are damaged.
func (r *repair) check(path string) error {
	if r.copies[path] != nil || !exists(path) {
		return nil
	}
	v, err := journal.Verify(path)
	if err == nil && v.Damage == nil {
		return nil
	}
	return r.mend(path)
}

// leaveOut cuts a copy in front of the first line that cannot follow what is left
// before it: a prefix of a journal is a journal, and what is behind the gap
// cannot be gone on with. A journal that has no copy gets one first.
func (r *repair) leaveOut(bad *store.FoldError) error {
	for _, x := range r.copies {
		if x.draft != bad.Path {
			continue
		}
		f, err := os.OpenFile(x.draft, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		x.cut = bad.Seq
		return errors.Join(f.Truncate(bad.Off), f.Sync(), f.Close())
	}
	return r.mend(bad.Path)
}

// mend makes the copy of a journal.
func (r *repair) mend(path string) error {
	if r.copies[path] != nil { // its copy is damaged: what wrote it is not to be trusted
		return fmt.Errorf("the copy of %s cannot be read", path)
	}
	if info, err := os.Lstat(path + ".repaired"); err == nil && !info.Mode().IsRegular() {
		return inTheWay(path + ".repaired")
	}
	if err := store.NoLink(path); err != nil {
		return err
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", path)
	}
	x := &repaired{draft: path + ".repairing", unix: path + ".unix"}
	for _, p := range []string{x.draft, x.unix} { // of a repair that was killed
		if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	r.copies[path], r.order = x, append(r.order, path)
	source := path
	var err error
	if x.windows, err = hasWindowsEnds(path); err == nil && x.windows {
		source = x.unix
		err = unixEnds(path, source)
	}
	if err != nil {
		return err
	}
	v, err := journal.Verify(source)
	if x.windows && err == nil && v.Damage == nil { // that was all
		x.report.Kept, x.report.Last = v.Lines-1, v.Last
		err = os.Rename(source, x.draft)
	} else {
		x.report, err = journal.Salvage(source, x.draft)
	}
	if err == nil && x.report.Kept == 0 && path != r.home.Delegates(r.root) {
		err = unreadable(path)
	}
	if err == nil {
		x.readable, err = audit.HeldBy(x.draft)
	}
	return err
}

// finish says what the copies hold and, in place, puts them there.
func (r *repair) finish(inPlace bool) int {
	if len(r.order) == 0 {
		fmt.Fprintln(r.out, "nothing to repair")
		return exitOK
	}
	lossy := false
	for _, path := range r.order {
		x := r.copies[path]
		if err := os.Rename(x.draft, path+".repaired"); err != nil {
			return r.failState(err)
		}
		r.said(x, path+".repaired")
		if err := r.lacks(x, path+".repaired"); err != nil {
			return r.failState(err)
		}
		lossy = lossy || x.lossy()
	}
	for _, path := range r.order {
		if !inPlace {
			break
		}
		if status := r.replaceJournal(path); status != exitOK {
			return status
		}
	}
	if !lossy {
		return exitOK
	}
	r.orphans()
	return exitNoReport
}

// orphans names the sessions of delegates of which nothing that is left tells.
func (r *repair) orphans() {
	below, err := r.home.Below(r.root)
	if err != nil {
		return // of no other session's damage is to be told here
	}
	for _, s := range below {
		if !r.known[s] {
			fmt.Fprintf(r.out, "no longer in the tree: session %s; its record stays, and evener show local:%s reads it\n", s, s)
		}
	}
}

func (r *repair) said(x *repaired, dst string) {
	if x.windows {
		fmt.Fprintln(r.out, "line ends: every \\r\\n was made \\n again")
		if !x.lossy() && x.report.Bytes == 0 {
			fmt.Fprintf(r.out, "all lines kept in %s\n", dst)
			return
		}
	}
	r.salvaged(x.report, x.cut, dst)
}

// lacks says what a resume from a copy goes without, as far as the lines that can be
// read tell.
func (r *repair) lacks(x *repaired, dst string) error {
	if !x.lossy() {
		return nil
	}
	left, err := audit.HeldBy(dst)
	if err != nil {
		return err
	}
	gone, open := x.readable.Lacks(left)
	tell := func(what string, of []string) {
		for i, named := range of {
			if i == mostNamed {
				fmt.Fprintf(r.out, "  and %d more\n", len(of)-i)
				break
			}
			if i == 0 {
				fmt.Fprintln(r.out, what)
			}
			fmt.Fprintln(r.out, "  "+named)
		}
	}
	tell("a resume from it knows nothing of", gone)
	tell("without an end in it, so that a resume takes it for lost, or tells it again", open)
	return nil
}

// mostNamed bounds what is named one by one.
const mostNamed = 20

// clean removes what is of no use any more.
func (r *repair) clean() {
	for _, x := range r.copies {
		os.Remove(x.draft)
		os.Remove(x.unix)
	}
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

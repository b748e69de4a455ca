package cli

import (
	"fmt"
	"os"
	"runtime"
	"slices"

	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/text"
	"evener/internal/transcript"
)

// lastSession is the session of the working directory that was active last:
// one of another directory is another conversation, and so is a delegate's; an
// archived one was put away.
// Whether a process holds it does not matter here: the lock then refuses it by
// name, and none is taken in its place. One that cannot be read is not passed
// over where it may have been the one.
func (e *env) lastSession(home store.Home) (id.Session, int, bool) {
	list, err := home.List()
	if err != nil {
		return "", e.failState(err), false
	}
	if slices.ContainsFunc(list, func(s store.Listed) bool { return s.JournalSize > muchToFold }) {
		runtime.GC() // what was folded for its summary need not be there beside what is folded to go on with
	}
	var last, elsewhere store.Listed
	for _, s := range list {
		switch {
		case s.Err != nil || s.Archived || s.Session != s.Root:
		case !sameDir(s.Dir, e.dir):
			if elsewhere.Session == "" && s.Dir != "" {
				elsewhere = s
			}
		case last.Session == "":
			last = s
		}
	}
	for _, s := range list {
		if s.Err == nil || s.Archived || s.Dir != "" && !sameDir(s.Dir, e.dir) {
			continue
		}
		if info, err := os.Stat(home.Journal(s.Session)); err == nil && info.ModTime().After(last.Last) {
			return "", e.fail(exitState, "--resume ID goes on with another one; evener sessions lists them",
				"session %s may be the last one and cannot be resumed: %v", s.Session, s.Err), false
		}
	}
	if last.Session != "" {
		return last.Session, exitOK, true
	}
	hint := ""
	if elsewhere.Session != "" {
		hint = fmt.Sprintf("the last one there is %s of %s; --resume ID goes on with it", elsewhere.Session, elsewhere.Dir)
	}
	return "", e.fail(exitUsage, hint, "no session of %s to resume in %s", e.dir, home.Sessions), false
}

// muchToFold is a journal that is worth collecting after, in bytes.
const muchToFold = 64 << 20

// sameDir tells whether two paths mean one folder. What the file system takes
// for one is one, also through a link or in another spelling.
func sameDir(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// sayResumed names a session that the user did not.
func (e *env) sayResumed(s *session.State) {
	title := ""
	for _, x := range s.Own() {
		if x.Role == transcript.User {
			title = ": " + text.Preview(x.Text, 60)
			break
		}
	}
	fmt.Fprintf(e.err, "evener: resuming session %s, last active %s%s\n", s.ID, s.LastAt.Local().Format("2006-01-02 15:04"), title)
}

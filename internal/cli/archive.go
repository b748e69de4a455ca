package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"evener/internal/about"
	"evener/internal/config"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/proc"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/supervisor"
	"evener/internal/tool"
)

var archiveCommand = command{
	name: "archive", args: "[--undo] SESSION...", summary: "puts sessions away: hidden from listings, record kept, scratch dropped",
	help: "An archived session is passed over by evener sessions without --all and by --resume-last. Its record\n" +
		"and the output of its jobs stay: by its id it can be shown, verified and resumed, which takes it back,\n" +
		"as --undo does. Its scratch folder is removed, with the worktrees of delegates in it; their branches stay\n" +
		"where they have commits, and one with changes that are not committed refuses it. What a lost process left open is settled first.\n\n" +
		"Exit status: 0 all were archived, 2 wrong usage or an unknown session (nothing is done then),\n" +
		"3 one is in use, damaged or cannot be written; the others are archived all the same.",
}

func init() { archiveCommand.run = runArchive }

func runArchive(e *env, args []string) int {
	fs := e.flags(archiveCommand)
	set := e.stateFlags(fs)
	undo := fs.Bool("undo", false, "take them back; their scratch stays gone")
	rest, status, ok := e.parse(archiveCommand, fs, args)
	if !ok {
		return status
	}
	home, cfg, err := e.home(set)
	if err != nil {
		return e.failLoad(err)
	}
	ids, status, ok := e.sessionIDs(home, "archive", rest)
	if !ok {
		return status
	}
	done := "archived"
	if *undo {
		done = "taken back:"
	}
	for _, s := range ids {
		if err := e.archive(home, cfg, s, *undo); err != nil {
			status = max(status, e.failDeed(err))
			continue
		}
		fmt.Fprintln(e.out, done, s)
	}
	return status
}

// archive goes the way of a resume: what a lost process left is settled, then
// the decision is made, written and acted on.
func (e *env) archive(home store.Home, cfg config.Config, s id.Session, undo bool) error {
	t, err := store.Resume(home, s, about.Version, proc.BootID())
	switch {
	case errors.Is(err, store.ErrNotRoot):
		return notRoot(s, home.RootOf(s))
	case err != nil:
		return err
	case t.State.Session().ID == "":
		return errors.Join(fault.Invalid("session %s has no history yet; delete it instead", s), t.Close())
	}
	cfg.Output = "text" // warnings are no events here
	r := &runner{env: e, options: &runOptions{}, config: cfg, tree: t}
	r.warnTorn()
	loop, err := supervisor.New(supervisor.Options{
		Store: t, Decode: tool.Decode, Env: commandEnv(e.environ, cfg.KeyVariables()), StopGrace: time.Duration(cfg.StopGraceMS) * time.Millisecond, Warn: r.warn,
	})
	if err != nil {
		return errors.Join(err, t.Close())
	}
	loop.Start()
	err = loop.Settle(r.restartedTree())
	if err == nil && !undo {
		if unsaved := loop.Unsaved(); unsaved != nil {
			err = unsaved
		}
	}
	if err == nil {
		err = loop.Ask(session.Archive{Undo: undo})
	}
	loop.Post(session.Abandon{})
	if failed := loop.Wait(); failed != nil {
		return failed
	}
	if err != nil {
		return err
	}
	r.warnSummary()
	return nil
}

// sessionIDs are the sessions that the arguments name, each once. One that is
// not there is refused before anything is done to the others.
func (e *env) sessionIDs(home store.Home, command string, args []string) ([]id.Session, int, bool) {
	if len(args) == 0 {
		return nil, e.fail(exitUsage, "evener sessions lists those there are", "%s needs a session id", command), false
	}
	if err := home.Check(); err != nil {
		return nil, e.failState(err), false
	}
	leftovers, err := home.Leftovers()
	if err != nil {
		return nil, e.failState(err), false
	}
	var ids []id.Session
	for _, a := range args {
		s, ok := id.ParseSession(a)
		missing := !ok
		if ok && !slices.Contains(leftovers, s) {
			err := home.Plain(s)
			missing = errors.Is(err, store.ErrNoSession)
			if err != nil && !missing {
				return nil, e.failState(err), false
			}
		}
		if missing {
			return nil, e.fail(exitUsage, "", "no session %q in %s; evener sessions lists those there are", a, home.Sessions), false
		}
		if !slices.Contains(ids, s) {
			ids = append(ids, s)
		}
	}
	return ids, exitOK, true
}

func notRoot(s, root id.Session) error {
	return fault.Invalid("session %s belongs to a delegate; name its root %s, with which it goes", s, root)
}

// failDeed reports why one of several sessions was left as it is.
func (e *env) failDeed(err error) int {
	if r, ok := errors.AsType[*fault.Error](err); ok {
		return e.fail(exitUsage, "", "%s", r.Text)
	}
	if lines := strings.Split(err.Error(), "\n"); len(lines) > 1 { // joined errors: the first says what to look at
		return e.fail(stateStatus(err), "", "%s (and %d more)", lines[0], len(lines)-1)
	}
	return e.failState(err)
}

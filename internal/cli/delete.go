package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"evener/internal/config"
	"evener/internal/id"
	"evener/internal/proc"
	"evener/internal/store"
	"evener/internal/supervisor"
	"evener/internal/tree"
	"evener/internal/worktree"
)

var deleteCommand = command{
	name: "delete", args: "SESSION...", summary: "removes sessions with their record, output, files and scratch",
	help: "Nothing is asked and nothing is kept. A session that a process holds is refused; processes that a\n" +
		"lost one left running are ended first. Links in the scratch folder are removed, not followed, and a\n" +
		"session with something mounted in it is refused. Detached commands live on, and so does what they\n" +
		"keep in evener-SESSION in the system's temporary folder. Worktrees of delegates go with what is not\n" +
		"committed in them; a branch with commits of its own stays in its repository.\n\n" +
		"A session is gone at once and whole; should the removal of its files be cut short, the next delete\n" +
		"removes the rest, which no listing shows. So it does with what a fork that was killed left, after a minute.\n\n" +
		"Exit status: 0 all were deleted, 2 wrong usage or an unknown session (nothing is done then),\n" +
		"3 one is in use or cannot be removed; the others are deleted all the same.",
}

func init() { deleteCommand.run = runDelete }

func runDelete(e *env, args []string) int {
	fs := e.flags(deleteCommand)
	set := e.stateFlags(fs)
	rest, status, ok := e.parse(deleteCommand, fs, args)
	if !ok {
		return status
	}
	home, cfg, err := e.home(set)
	if err != nil {
		return e.failLoad(err)
	}
	ids, status, ok := e.sessionIDs(home, "delete", rest)
	if !ok {
		return status
	}
	finished, err := e.finishRemovals(home, ids)
	if err != nil {
		return e.failState(err)
	}
	for _, s := range ids {
		err, already := finished[s]
		if !already {
			err = e.delete(home, cfg, s)
		}
		if err != nil {
			status = max(status, e.failDeed(err))
			continue
		}
		fmt.Fprintln(e.out, "deleted", s)
	}
	if err := home.DropUnbegun(proc.BootID()); err != nil {
		e.failDeed(fmt.Errorf("warning: what killed processes left cannot be removed: %w", err))
	}
	return status
}

// finishRemovals removes what earlier removals left and tells how that went for
// those wanted now. What another session left is only warned of.
func (e *env) finishRemovals(home store.Home, wanted []id.Session) (map[id.Session]error, error) {
	leftovers, err := home.Leftovers()
	if err != nil {
		return nil, err
	}
	finished := map[id.Session]error{}
	for _, s := range leftovers {
		err := home.Finish(s)
		switch {
		case slices.Contains(wanted, s) && errors.Is(home.Plain(s), store.ErrNoSession): // it did not come back meanwhile, from a copy say
			finished[s] = err
		case err != nil:
			e.failDeed(fmt.Errorf("warning: session %s was deleted earlier, and what is left of it cannot be removed: %w", s, err))
		}
	}
	return finished, nil
}

// delete removes one session under its lock.
func (e *env) delete(home store.Home, cfg config.Config, s id.Session) error {
	boot := proc.BootID()
	lock, err := home.Lock(s, boot)
	if err != nil {
		return err
	}
	defer lock.Close()
	var below []id.Session
	t, err := store.Load(home, s, 0)
	if err == nil {
		if root := cmp.Or(t.Session().Root, s); root != s {
			return notRoot(s, root)
		}
		if err := e.endLost(t); err != nil {
			return err
		}
		if err := e.dropWorktrees(home, cfg, t, lock); err != nil {
			return err
		}
		for x := range t.Sessions {
			if x != s {
				below = append(below, x)
			}
		}
	} else { // damaged, or without a journal
		root, err := home.TreeOf(s)
		switch {
		case err != nil:
			return err
		case root != s:
			return notRoot(s, root)
		}
		if below, err = home.Below(s); err != nil {
			return err
		}
	}
	return home.Remove(s, below)
}

// dropWorktrees removes the worktrees of delegates, changes included, and what
// their repositories know of them. Branches with commits stay there. The files go
// with the session in any case.
func (e *env) dropWorktrees(home store.Home, cfg config.Config, t *tree.State, lock *os.File) error {
	all, half := supervisor.Worktrees(home, t), worktree.Unfinished(home.Scratch(t.Root))
	if len(all)+len(half) == 0 {
		return nil
	}
	host, err := proc.Open(proc.Options{Lock: lock, Env: commandEnv(e.environ, cfg.KeyVariables()), Post: func(proc.Event) {}})
	if err != nil {
		return err
	}
	git, ctx := worktree.New(host), context.Background()
	var failed []error
	for _, w := range all {
		failed = append(failed, git.Remove(ctx, w, true))
	}
	for _, name := range half {
		if path := filepath.Join(home.Scratch(t.Root), name); t.Delegates.Get(id.Delegate(name)) == nil {
			failed = append(failed, git.Reclaim(ctx, path))
		}
	}
	for _, err := range failed {
		if err != nil {
			fmt.Fprintf(e.err, "evener: warning: %v; git worktree prune, in its repository, forgets it\n", err)
		}
	}
	return host.Close(ctx)
}

// endLost ends what a lost process of the tree left running: with the record
// goes the last that is known of it.
func (e *env) endLost(t *tree.State) error {
	ended, refused := sweep(t)
	if len(ended) > 0 {
		fmt.Fprintf(e.err, "evener: warning: processes of the lost session still lived and were ended: %v\n", ended)
	}
	if len(refused) > 0 {
		return fmt.Errorf("session %s stays: its processes %v still live and may not be ended", t.Root, refused)
	}
	return nil
}

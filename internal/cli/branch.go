package cli

import (
	"errors"
	"flag"
	"fmt"
	"time"

	"evener/internal/about"
	"evener/internal/id"
	"evener/internal/proc"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/text"
	"evener/internal/tool"
	"evener/internal/tree"
)

const branchHelp = "The new session has an id, a journal and a tree of its own, and the folder and the model's\n" +
	"instructions of SESSION. Jobs, delegates, tasks and notices that are owed stay where they\n" +
	"are. SESSION is only read and may be live in another process; it may be the id of a\n" +
	"delegate. evener --resume ID PROMPT goes on with the branch.\n\n"

const branchStatus = "Exit status: 0 the branch was made, 2 wrong usage, an unknown session or turn,\n3 the session is damaged, or the folder cannot be written."

var forkCommand = command{
	name: "fork", args: "--turn N [--label TEXT] [--json] SESSION", summary: "a new session with what was said before a turn",
	help: "Copies the conversation up to where turn N began; N may be one past the last turn. Where\n" +
		"turn N began with a prompt, that text is handed back and stands nowhere in the copy: say\n" +
		"it anew, or something else. Nothing is run. " + branchHelp +
		"A label stands with SESSION, not with the branch, and replaces the one that is there. It is\n" +
		"written to its journal once the branch is there, so no process may hold SESSION then.\n\n" +
		"Standard output gets the id. With --json it is one object, with message, the text of turn N.\n\n" + branchStatus,
}

var asideCommand = command{
	name: "aside", args: "[--label TEXT] [--json] SESSION", summary: "a new session with the whole conversation, to go on beside it",
	help: "Copies everything that was said. Of a turn that is open, its calls that are not answered\n" +
		"yet are left out, and said. " + branchHelp +
		"A label stands with SESSION, as in evener fork. Standard output gets the id, or with\n--json one object.\n\n" + branchStatus,
}

func init() {
	forkCommand.run = func(e *env, args []string) int { return runBranch(e, forkCommand, session.ForkAtTurn, args) }
	asideCommand.run = func(e *env, args []string) int { return runBranch(e, asideCommand, session.Aside, args) }
}

// branched is a branch, as --json prints it.
type branched struct {
	Session    id.Session      `json:"session_id"`
	Parent     id.Session      `json:"parent_session_id"`
	Divergence int64           `json:"divergence_turn"`
	How        session.ForkHow `json:"how"`
	Label      string          `json:"label,omitempty"`
	Dir        string          `json:"dir"`
	Message    *string         `json:"message,omitempty"`
	LeftOut    int64           `json:"left_out_turn,omitempty"`
}

func runBranch(e *env, c command, how session.ForkHow, args []string) int {
	fs := e.flags(c)
	set := e.stateFlags(fs)
	copying := store.Copy{How: how, Cut: store.WholeRounds, Step: 1, Settings: true}
	if how == session.ForkAtTurn {
		fs.Int64Var(&copying.Turn, "turn", 0, "the `turn` before which the copy ends, by its number")
		copying.Cut = store.BeforeTurn
	}
	label := fs.String("label", "", "`text` that marks the branch, in the session that it leaves")
	asJSON := fs.Bool("json", false, "one object on standard output")
	rest, status, ok := e.parse(c, fs, args)
	if !ok {
		return status
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case len(rest) != 1:
		return e.fail(exitUsage, "evener sessions lists those there are", "%s needs one session id", c.name)
	case how == session.ForkAtTurn && !given["turn"]:
		return e.fail(exitUsage, "evener aside copies all of it", "fork needs --turn N: the turn before which the copy ends")
	}
	if *label != "" {
		if err := session.CheckLabel(*label); err != nil {
			return e.fail(exitUsage, "", "%s", err.Text)
		}
	}
	home, _, err := e.home(set)
	if err != nil {
		return e.failLoad(err)
	}
	if err := home.Check(); err != nil {
		return e.failState(err)
	}
	if copying.From, status, ok = e.oneSession(home, c.name, rest); !ok {
		return status
	}
	done, err := e.branch(home, copying, *label)
	if err != nil {
		return e.failDeed(err)
	}
	e.sayBranched(done, copying, *asJSON)
	return exitOK
}

// branch makes the branch, and then marks it in the session that it leaves. That
// one is held meanwhile where it has to be written, so that nothing is made that
// could not be marked.
func (e *env) branch(home store.Home, c store.Copy, label string) (done branched, err error) {
	boot := proc.BootID()
	var parent *store.Tree
	if label != "" {
		if parent, err = store.Resume(home, home.RootOf(c.From), about.Version, boot); err != nil {
			return done, labelled(err)
		}
		r := &runner{env: e, options: &runOptions{}, tree: parent}
		r.warnTorn()
		defer func() { err = errors.Join(err, parent.Close()) }()
	}
	s := id.MintSession(time.Now(), entropy())
	t, copied, err := store.Fork(home, session.Created{Session: s, Root: s, Dir: e.dir}, c, about.Version, boot)
	if err != nil {
		return done, err
	}
	t.Summarise = true
	if err := t.Close(); err != nil {
		return done, err
	}
	done = branched{Session: s, Parent: c.From, Divergence: copied.Divergence, How: c.How, Label: label, Dir: copied.Dir, Message: copied.Message, LeftOut: copied.LeftOut}
	if parent == nil {
		return done, nil
	}
	if err := mark(parent, c.From, session.LabelFork{Child: s, Divergence: copied.Divergence, Label: label}); err != nil {
		return done, fmt.Errorf("session %s is made, but its label could not be written: %w", s, err)
	}
	parent.Summarise = true
	return done, nil
}

// labelled says why a branch with a label is not made.
func labelled(err error) error {
	if _, ok := errors.AsType[*store.LockedError](err); ok {
		return fmt.Errorf("a label stands in the session that is left, and %w; without --label it is only read", err)
	}
	return err
}

// mark decides the label and makes it durable. Nothing follows from it.
func mark(t *store.Tree, s id.Session, in session.LabelFork) error {
	d, err := t.State.Decide(tool.Decode, session.Facts{Now: time.Now()}, tree.Input{Session: s, In: in})
	if err == nil {
		err = t.Append(d.Writes)
	}
	return err
}

func (e *env) sayBranched(b branched, c store.Copy, asJSON bool) {
	if asJSON {
		writeJSON(e, b)
		return
	}
	fmt.Fprintln(e.out, b.Session)
	what := fmt.Sprintf("the conversation of session %s up to turn %d", b.Parent, b.Divergence-1)
	switch {
	case b.Divergence == 1:
		what = fmt.Sprintf("nothing of session %s, whose turn 1 it goes back to", b.Parent)
	case b.LeftOut == b.Divergence-1:
		what += ", which is open there: its calls that are not answered yet are left out"
	case b.LeftOut > 0:
		what += fmt.Sprintf("; turn %d is open there and left out", b.LeftOut)
	}
	fmt.Fprintf(e.err, "evener: session %s begins with %s\n", b.Session, what)
	if b.Message != nil {
		e.hints(fmt.Sprintf("turn %d began with: %s", b.Divergence, text.Preview(*b.Message, 60)))
	}
	e.hints("evener --resume " + string(b.Session) + " PROMPT goes on with it")
}

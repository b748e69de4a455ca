package cli

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"evener/internal/about"
	"evener/internal/config"
	"evener/internal/id"
	"evener/internal/proc"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/text"
)

// runOn begins a new session with what a session was told and said by a decision,
// and asks the model for the reply that it waited for then.
func (e *env) runOn(o *runOptions, from int64, args []string) int {
	cfg, err := e.load(o.flags)
	if err != nil {
		return e.failLoad(err)
	}
	home, err := e.find(cfg)
	if err != nil {
		return e.failState(err)
	}
	if err := home.Check(); err != nil {
		return e.failState(err)
	}
	s, status, ok := e.oneSession(home, "replay", args)
	if !ok {
		return status
	}
	past, status, ok := e.waiting(home, s, from)
	if !ok {
		return status
	}
	if cfg.Model == "" {
		return e.noModel(cfg, home, "evener replay --from N --model replay/"+string(s)+" gives the recorded replies")
	}
	if cfg.Model == "replay/"+string(s) { // those behind what the new session begins with
		cfg.Model += "@" + strconv.FormatInt(from, 10)
	}
	output, err := outputSchema(cfg.OutputSchema, cfg.ResultSchemaBytes)
	if err != nil {
		return e.fail(exitUsage, "", "%v", err)
	}
	m, err := e.openModel(cfg, nil)
	if err != nil {
		return e.fail(exitUsage, "", "%v", err)
	}
	defer m.close()
	n := id.MintSession(time.Now(), entropy())
	c := store.Copy{From: s, How: session.RunOn, Cut: store.WholeRounds, Step: 1, At: from, Settings: true, Dir: e.runOnDir(past.Dir)}
	t, copied, err := store.Fork(home, session.Created{Session: n, Root: n, Dir: e.dir}, c, about.Version, proc.BootID())
	if err != nil {
		return e.failState(err)
	}
	if !o.verbose { // with it, the first event says so
		e.sayRunOn(n, s, from, copied)
	}
	r := &runner{env: e, options: o, config: cfg, tree: t, output: output, params: m.record(), window: m.window, past: past}
	return r.run(m, "")
}

// waiting is a session as it was right after a decision, where it had a turn
// open; else there is nothing to run on from.
func (e *env) waiting(home store.Home, s id.Session, from int64) (past *session.State, status int, ok bool) {
	then := home
	if bad, err := lookAt(&then, s, strconv.FormatInt(from, 10)); err != nil {
		return nil, e.failState(err), false
	} else if bad != "" {
		return nil, e.fail(exitUsage, "", "--from%s", bad[len("--at"):]), false
	}
	root, err := home.TreeOf(s)
	if err != nil {
		return nil, e.failState(err), false
	}
	t, err := store.Load(then, root, from)
	if err != nil {
		return nil, e.failState(err), false
	}
	past = t.Sessions[s]
	switch {
	case past == nil || past.ID == "":
		return nil, e.fail(exitUsage, e.hintRunOn(home, root, s, from), "session %s had not begun by decision %d; there is nothing to run on from", s, from), false
	case past.Turn == nil:
		return nil, e.fail(exitUsage, e.hintRunOn(home, root, s, from), "decision %d leaves session %s without an open turn: it waits for a prompt, and there is nothing to run on from", from, s), false
	}
	return past, exitOK, true
}

// hintRunOn names the decisions nearest to one that left a request open.
func (e *env) hintRunOn(home store.Home, root, s id.Session, from int64) string {
	before, behind := int64(0), int64(0)
	for l, err := range store.Lines(home, root) {
		if err != nil {
			return ""
		}
		if l.Session != s || behind > 0 {
			continue
		}
		for kind := range l.Events() {
			switch {
			case kind != "turn.requested":
			case l.Step <= from:
				before = l.Step
			default:
				behind = cmp.Or(behind, l.Step)
			}
		}
	}
	switch {
	case before > 0 && behind > 0:
		return fmt.Sprintf("requests were made by decision %d before it and %d behind it", before, behind)
	case before > 0:
		return fmt.Sprintf("the last request before it was made by decision %d; evener aside copies the conversation to go on with a prompt", before)
	case behind > 0:
		return fmt.Sprintf("the first request was made by decision %d", behind)
	}
	return ""
}

// runOnDir is the folder of the new session: the one that was asked for, else the
// recorded one, else, where that is not here, the working directory.
func (e *env) runOnDir(recorded string) string {
	if len(e.entered) > 0 {
		return e.dir
	}
	if info, err := os.Stat(recorded); err == nil && info.IsDir() {
		return recorded
	}
	fmt.Fprintf(e.err, "evener: the folder %s of the session is not here; the new one works in %s\n", strings.ReplaceAll(text.Printable(recorded), "\n", " "), e.dir)
	return e.dir
}

func (e *env) sayRunOn(n, s id.Session, from int64, c store.Copied) {
	left := ""
	if c.LeftOut > 0 {
		left = "; calls that are not answered there are left out, and the model is asked for them again"
	}
	fmt.Fprintf(e.err, "evener: session %s runs on from decision %d of session %s, in turn %d%s\n", n, from, s, c.Divergence-1, left)
}

// asThen makes the prompt one that goes on from the past: the model is told what
// it was told then, and output is held to the schema of that run.
func (r *runner) asThen(p *session.Prompt) {
	told := r.past.Context
	p.Text, p.GoesOn = "", true
	p.Context.System, p.Context.Tools = told.System, told.Tools
	if p.OutputSchema == nil {
		p.OutputSchema = r.past.Run.Schema
	}
}

// runOnFlags are the flags of a run that evener replay has for --from.
func (e *env) runOnFlags(fs *flag.FlagSet) *runOptions {
	o := &runOptions{flags: config.AddFlags(fs)}
	e.dirFlag(fs)
	fs.BoolVar(&o.verbose, "verbose", false, "with --from: every event as a line of JSON on standard error")
	return o
}

// onlyRunOn is a flag that was given and goes with --from alone; "" for none.
func onlyRunOn(fs *flag.FlagSet) (name string) {
	fs.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "json", "dir", "state-dir", "from":
		default:
			name = f.Name
		}
	})
	return name
}

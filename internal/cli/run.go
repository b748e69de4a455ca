package cli

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"evener/internal/about"
	"evener/internal/config"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/proc"
	"evener/internal/session"
	"evener/internal/store"
)

// maxPrompt bounds a prompt, in bytes: a line of a journal must hold it.
const maxPrompt = 4 << 20

type runOptions struct {
	resume     string
	resumeLast bool
	resumeWith string
	verbose    bool
	input      string
	guess      string // what the prompt may have been meant as
	flags      config.Flags
}

func runFlags(fs *flag.FlagSet, set config.Flags) *runOptions {
	o := &runOptions{flags: set}
	fs.StringVar(&o.resume, "resume", "", "go on with the `session` of this id")
	fs.BoolVar(&o.resumeLast, "resume-last", false, "go on with the session of this directory that was active last")
	fs.StringVar(&o.input, "input", "", "`jsonl`: a living session that reads prompts from standard input, one object a line")
	fs.StringVar(&o.resumeWith, "resume-with", "", "begin a new session with the conversation of the `session` of this id")
	fs.BoolVar(&o.verbose, "verbose", false, "every event as a line of JSON on standard error")
	return o
}

// run is the command without a name: one run of a prompt.
func run(e *env, args []string) int {
	fs := e.flags(command{})
	o := runFlags(fs, config.AddFlags(fs))
	e.dirFlag(fs)
	if err := parseGiven(fs, args); errors.Is(err, flag.ErrHelp) {
		printOverview(e.out)
		return exitOK
	} else if err != nil {
		return e.fail(exitUsage, nearFlag(fs, err), "%s; see evener help", flagError(err))
	}
	cfg, err := e.load(o.flags)
	if err != nil {
		return e.failLoad(err)
	}
	if status, ok := e.livingFlags(o, fs, &cfg); !ok {
		return status
	}
	prompt, status, ok := e.prompt(fs, args, cfg, o.living())
	if !ok {
		return status
	}
	o.guess = guess(args, fs.Args())
	return e.runSession(o, cfg, prompt)
}

// prompt joins the arguments, or reads standard input where there are none. A
// living session may begin without a prompt.
func (e *env) prompt(fs *flag.FlagSet, args []string, cfg config.Config, living bool) (string, int, bool) {
	words := fs.Args()
	dashed := len(args) > len(words) && args[len(args)-len(words)-1] == "--"
	for _, w := range words {
		if strings.HasPrefix(w, "-") && len(w) > 1 && !dashed {
			return "", e.fail(exitUsage, guess(args, words), "%s stands behind the prompt; flags come before it, and -- ends them", w), false
		}
	}
	text := strings.Join(words, " ")
	if len(words) == 0 {
		if living {
			return "", exitOK, true
		}
		if f, ok := e.in.(*os.File); ok && isTerminal(f) {
			return "", e.noPrompt(cfg), false
		}
		b, err := io.ReadAll(io.LimitReader(e.in, maxPrompt+1))
		if err != nil {
			return "", e.fail(exitUsage, "", "read the prompt from standard input: %v", err), false
		}
		text = string(b)
	}
	switch {
	case len(text) > maxPrompt:
		return "", e.fail(exitUsage, "", "the prompt has more than %d bytes; put long material into a file and name it in the prompt", maxPrompt), false
	case !utf8.ValidString(text):
		return "", e.fail(exitUsage, "", "the prompt is not valid UTF-8"), false
	case strings.TrimSpace(text) == "":
		return "", e.noPrompt(cfg), false
	}
	return text, exitOK, true
}

// runSession opens the model and the session and runs the prompt in it.
func (e *env) runSession(o *runOptions, cfg config.Config, prompt string) int {
	if o.resume == "" && !utf8.ValidString(e.dir) { // its record would name another folder
		return e.fail(exitUsage, "rename the folder", "the name of the working directory %q is not valid UTF-8, and a session cannot record it", e.dir)
	}
	home, err := e.find(cfg)
	if err != nil {
		return e.failState(err)
	}
	if err := home.Check(); err != nil {
		return e.failState(err)
	}
	target, status, ok := e.resumeTarget(o, home)
	if !ok {
		return status
	}
	if cfg.Model == "" {
		return e.noModel(cfg, home, o.guess)
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
	if isTerminalWriter(e.err) && !strings.Contains(prompt, " ") {
		e.hints(o.guess)
	}
	boot := proc.BootID()
	var t *store.Tree
	switch {
	case o.resumeWith != "":
		t, err = e.fork(o, home, target, boot)
	case target != "":
		t, err = store.Resume(home, target, about.Version, boot)
	default:
		t, err = store.Create(home, id.MintSession(time.Now(), entropy()), about.Version, boot)
	}
	if err != nil {
		return e.failState(err)
	}
	if o.resumeLast && !o.verbose { // with it, the first event says so
		e.sayResumed(t.State.Session())
	}
	r := &runner{env: e, options: o, config: cfg, tree: t, created: target == "", output: output, params: m.record(), window: m.window}
	return r.run(m, prompt)
}

// resumeTarget is the session to go on with, or whose conversation to begin
// with, or none for a new one.
func (e *env) resumeTarget(o *runOptions, home store.Home) (id.Session, int, bool) {
	switch {
	case o.resume != "" && o.resumeLast:
		return "", e.fail(exitUsage, "", "--resume and --resume-last exclude each other"), false
	case o.resumeWith != "" && (o.resume != "" || o.resumeLast):
		return "", e.fail(exitUsage, "", "--resume-with begins a new session, --resume and --resume-last go on with one; they exclude each other"), false
	case o.resume != "" || o.resumeWith != "":
		name := o.resume + o.resumeWith
		s, ok := id.ParseSession(name)
		if !ok || !home.Has(s) {
			return "", e.fail(exitUsage, "", "no session %q in %s; evener sessions lists those there are", name, home.Sessions), false
		}
		return s, exitOK, true
	case o.resumeLast:
		return e.lastSession(home)
	}
	return "", exitOK, true
}

// limits are the numbers that decisions of the run use.
func limits(c config.Config) session.Limits {
	return session.Limits{
		CommandTimeoutMS: c.ForegroundWaitMS(true), StopGraceMS: c.StopGraceMS, InlineOutputBytes: c.InlineOutputBytes,
		OutputKeepTotal: c.OutputKeepTotalBytes, MaxTurns: c.MaxTurns, MaxToolRounds: c.MaxToolRounds,
		MaxConcurrentShells: c.MaxConcurrentShells, MaxSubagentDepth: c.MaxSubagentDepth, JobListChars: c.JobListChars, JobListLines: c.JobListLines,
		MaxConcurrentDelegates: c.MaxConcurrentDelegates, AttentionDriveLimit: c.AttentionDriveLimit, AttentionDriveTimeoutMS: c.AttentionDriveTimeoutMS,
		AttentionDrivePaceMS: c.AttentionDrivePaceMS, QuietWatchdogMS: c.QuietWatchdogMS,
		MaxRetainedTerminal: c.MaxRetainedTerminal, IdleReleaseMS: c.IdleReleaseMS, RearmWatches: c.RearmWatches, NameSessions: c.NameSessions,
		RecentWatches: c.RecentWatches, WatchFrameChars: c.WatchFrameChars,
		WaitJobsMS: c.WaitJobsMS,
	}
}

// refusal prints what the core refused.
func (e *env) refusal(err error) int {
	if r, ok := errors.AsType[*fault.Error](err); ok {
		return e.fail(exitUsage, "", "%s", r.Text)
	}
	return e.failState(err)
}

func toolsJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("cli: tools do not encode: %v", err)) // definitions are plain structs
	}
	return b
}

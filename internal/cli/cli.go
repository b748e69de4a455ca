// Package cli is the command line: one file a command, one table of them.
//
// Messages are one line, lower case, without a full stop, and begin with
// "evener: "; a hint stands on a line of its own. Standard output carries what
// was asked for and nothing else.
package cli

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"evener/internal/config"
	"evener/internal/pattern"
	"evener/internal/store"
	"evener/internal/text"
)

// Exit statuses.
const (
	exitOK          = 0
	exitNoReport    = 1 // a run ended without a report; a check found damage
	exitUsage       = 2 // the command line or the configuration is wrong
	exitState       = 3 // damaged, locked or unwritable state
	exitInterrupted = 130
	exitTerminated  = 143
)

// env is what a command works with.
type env struct {
	in       io.Reader
	out, err io.Writer
	getenv   func(string) string
	environ  []string
	dir      string
	entered  []string // --dir as given
	// described, where it is set, gets the flags of a command in place of its help.
	described func(command, *flag.FlagSet)
}

// command is one row of the table.
type command struct {
	name    string
	args    string // as the usage line shows them
	summary string
	help    string
	run     func(e *env, args []string) int
}

// commands is every command there is, in the order of the help.
func commands() []command {
	return []command{
		sessionsCommand, treeCommand, jobsCommand, activityCommand, tasksCommand, showCommand, logCommand, verifyCommand, replayCommand, reportCommand, repairCommand, bundleCommand, forkCommand, asideCommand, archiveCommand, deleteCommand, modelsCommand, agentsCommand,
		configCommand, trustCommand, completionCommand, versionCommand, helpCommand,
	}
}

// Main runs the command line and returns the exit status.
func Main(args []string, in io.Reader, out, errs io.Writer) int {
	dir, err := workingDir()
	if err != nil {
		fmt.Fprintf(errs, "evener: the working directory is not usable: %v\n", err)
		return exitUsage
	}
	told := &output{Writer: out}
	e := &env{in: in, out: told, err: errs, getenv: os.Getenv, environ: os.Environ(), dir: dir}
	status := e.command(args)
	if status == exitOK && told.err != nil {
		return e.fail(exitState, "", "%v", told.err)
	}
	return status
}

func (e *env) command(args []string) int {
	if len(args) > 0 {
		for _, c := range commands() {
			if c.name == args[0] {
				return e.asPrompt(args, c.run(e, args[1:]))
			}
		}
	}
	return run(e, args)
}

// fail prints one line, and a hint on its own if there is one.
func (e *env) fail(status int, hint, format string, args ...any) int {
	fmt.Fprintf(e.err, "evener: %s\n", strings.ReplaceAll(text.Printable(fmt.Sprintf(format, args...)), "\n", " "))
	e.hints(hint)
	return status
}

// failState reports an error of the state folder with its status.
func (e *env) failState(err error) int {
	return e.fail(stateStatus(err), "", "%v", err)
}

// failLoad reports why the configuration or the state folder cannot be found.
func (e *env) failLoad(err error) int {
	if _, ok := errors.AsType[*store.PlaceError](err); ok {
		return e.failState(err)
	}
	return e.fail(exitUsage, "", "%v", err)
}

// stateStatus: damage, locks and unwritable folders are 3; an unknown session
// is a wrong argument.
func stateStatus(err error) int {
	if errors.Is(err, store.ErrNoSession) || errors.Is(err, store.ErrNothing) || errors.Is(err, store.ErrNotRoot) {
		return exitUsage
	}
	return exitState
}

// flags makes a flag set that says what is wrong in one line.
func (e *env) flags(c command) *flag.FlagSet {
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	fs.Usage = func() {}
	return fs
}

// parse reads flags anywhere among the arguments. It reports -h and wrong
// flags itself; ok is false then and status is what to exit with.
func (e *env) parse(c command, fs *flag.FlagSet, args []string) (rest []string, status int, ok bool) {
	for {
		err := parseGiven(fs, args)
		if errors.Is(err, flag.ErrHelp) {
			if e.described != nil {
				e.described(c, fs)
			} else {
				printHelp(e.out, c, fs)
			}
			return nil, exitOK, false
		}
		if err != nil {
			return nil, e.fail(exitUsage, nearFlag(fs, err), "%s: %s; see evener help %s", c.name, flagError(err), c.name), false
		}
		if fs.NArg() == 0 {
			return rest, exitOK, true
		}
		if n := len(args) - fs.NArg(); n > 0 && args[n-1] == "--" {
			return append(rest, fs.Args()...), exitOK, true
		}
		rest, args = append(rest, fs.Arg(0)), fs.Args()[1:]
	}
}

var (
	flagUnknown = pattern.New(`^(flag provided but not defined|flag needs an argument): (-.+)$`)
	flagValue   = pattern.New(`^invalid (?:boolean )?value ("(?:[^"\\]|\\.)*") for (?:flag )?(-[^:]+): (.*)$`)
)

// flagError is an error of the flag package with names as the help writes them
// and a value said once.
func flagError(err error) string {
	msg := err.Error()
	if m := flagUnknown().FindStringSubmatch(msg); m != nil {
		return m[1] + ": " + dashed(m[2])
	}
	m := flagValue().FindStringSubmatch(msg)
	switch {
	case m == nil:
		return msg
	case strings.HasPrefix(m[3], "got "):
		return dashed(m[2]) + ": " + m[3]
	}
	return dashed(m[2]) + ": got " + m[1] + ": " + m[3]
}

// nearFlag is a hint for a flag that is not there and looks like one that is.
func nearFlag(fs *flag.FlagSet, err error) string {
	m := flagUnknown().FindStringSubmatch(err.Error())
	if m == nil || fs.Lookup(strings.TrimLeft(m[2], "-")) != nil {
		return ""
	}
	var names []string
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	if n := near(strings.TrimLeft(m[2], "-"), names); n != "" {
		return "there is a flag --" + n
	}
	return ""
}

// dashed gives the name of a flag its second dash, unless it is one letter.
func dashed(name string) string {
	if len(name) > 2 {
		return "-" + name
	}
	return name
}

// load reads the configuration with the flags of a command.
func (e *env) load(flags config.Flags) (config.Config, error) {
	sources, err := e.sources(e.dir, flags)
	if err != nil {
		return config.Config{}, err
	}
	return config.Load(sources)
}

// sources are where the configuration of a working directory stands.
func (e *env) sources(dir string, flags config.Flags) (config.Sources, error) {
	home, err := store.Find(dir, "")
	if err == nil {
		err = store.Folder(home.Project)
	}
	user := config.UserFile(e.getenv)
	return config.Sources{
		UserFile: user, ProjectFile: filepath.Join(home.Project, "config.json"), Getenv: e.getenv, Flags: flags, Trust: config.TrustBeside(user),
	}, err
}

// home locates the state folder by the configuration.
func (e *env) home(flags config.Flags) (store.Home, config.Config, error) {
	c, err := e.load(flags)
	if err != nil {
		return store.Home{}, c, err
	}
	h, err := e.find(c)
	return h, c, err
}

// find locates the state folder that a configuration means.
func (e *env) find(c config.Config) (store.Home, error) {
	dir, home := c.StatePlace()
	var h store.Home
	var err error
	if home != "" {
		h, err = store.FindIn(e.dir, home)
	} else {
		h, err = store.Find(e.dir, dir)
	}
	if err == nil {
		err = store.Folder(h.Sessions)
	}
	return h, err
}

// stateFlags adds the flags that every reading command has.
func (e *env) stateFlags(fs *flag.FlagSet) config.Flags {
	set := config.Flags{}
	e.dirFlag(fs)
	fs.Func("state-dir", "folder that holds sessions/ in place of the project's .evener", func(s string) error {
		set["state_dir"] = s
		return nil
	})
	return set
}

package cli

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"evener/internal/config"
	"evener/internal/term"
)

// The help fits into 80 columns, whatever is written into it.
const helpWidth = 79

// runTopic is the name under which the help tells more of a run.
const runTopic = "run"

// group is a part of an overview. What no group names stands in the last one.
type group struct {
	title string
	names []string
}

var commandGroups = []group{
	{"look at what was done", []string{"sessions", "tree", "jobs", "activity", "tasks", "show", "log", "report"}},
	{"begin a branch", []string{"fork", "aside"}},
	{"keep it in order", []string{"verify", "repair", "bundle", "archive", "delete"}},
	{"set up, and more", []string{"models", "agents", "config", "trust", "completion", "version", "help"}},
}

var flagGroups = []group{
	{"the model", []string{"model", "base-url"}},
	{"the session", []string{"resume-last", "resume", "resume-with", "dir", "state-dir"}},
	{"what goes in and comes out", []string{"input", "output", "output-schema", "verbose", "trace"}},
	{"limits and more", []string{"max-turns", "wait-jobs", "max-concurrent-shells", "max-concurrent-delegates", "max-retained-terminal", "max-subagent-depth"}},
}

// values are what flags take, where the flag itself does not say.
var values = map[string]string{
	"input": "jsonl", "model": "PROVIDER/NAME", "base-url": "URL", "state-dir": "FOLDER", "output": "FORM", "output-schema": "FILE", "trace": "FILE", "max-turns": "N", "max-concurrent-shells": "N",
	"max-concurrent-delegates": "N", "max-retained-terminal": "N", "max-subagent-depth": "N",
}

func printOverview(w io.Writer) {
	fmt.Fprintf(w, "evener runs coding-agent sessions whose background jobs can be trusted.\n\nusage: evener %s\n       evener COMMAND [arguments]\n", runUsage.args)
	fmt.Fprintf(w, "\nbegin:\n  %s\n      a session that needs no server and no network, 20 seconds\n", demoLine)
	fmt.Fprintf(w, "  %s\n      the model of a local server works on the prompt and reports\n", localLine)
	fmt.Fprint(w, "  evener --resume-last PROMPT\n      goes on with the last session of this folder\n")
	all := commands()
	for _, g := range grouped(commandGroups, commandNames()) {
		fmt.Fprintf(w, "\n%s:\n", g.title)
		for _, name := range g.names {
			c := all[slices.IndexFunc(all, func(c command) bool { return c.name == name })]
			hanging(w, c.name, 10, c.summary)
		}
	}
	fs := runFlagSet()
	var names []string
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	fmt.Fprint(w, "\nflags of a run, before its prompt:\n")
	for _, g := range grouped(flagGroups, names) {
		fmt.Fprintf(w, " %s\n", g.title)
		for _, name := range g.names {
			printFlag(w, fs.Lookup(name))
		}
	}
	fmt.Fprintf(w, "\n%s\n\nMore of a run: evener help run. Of a command: evener help COMMAND.\nEvery setting, its default and where it came from: evener config.\n", reflow(exitStatus))
}

func runFlagSet() *flag.FlagSet {
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	runFlags(fs, config.AddFlags(fs))
	(&env{}).dirFlag(fs)
	return fs
}

// grouped are the groups with every one of the names, and no other.
func grouped(groups []group, names []string) []group {
	var out []group
	left := slices.Clone(names)
	for _, g := range groups {
		in := group{title: g.title}
		for _, n := range g.names {
			if i := slices.Index(left, n); i >= 0 {
				in.names, left = append(in.names, n), slices.Delete(left, i, i+1)
			}
		}
		out = append(out, in)
	}
	out[len(out)-1].names = append(out[len(out)-1].names, left...)
	return out
}

func printRun(w io.Writer) { printHelp(w, runUsage, runFlagSet()) }

func printHelp(w io.Writer, c command, fs *flag.FlagSet) {
	fmt.Fprintf(w, "usage: evener %s\n\n%s\n", strings.TrimSpace(c.name+" "+c.args), c.summary)
	if c.help != "" {
		fmt.Fprintf(w, "\n%s\n", reflow(c.help))
	}
	n := 0
	fs.VisitAll(func(*flag.Flag) { n++ })
	if n > 0 {
		fmt.Fprint(w, "\nflags:\n")
		fs.VisitAll(func(f *flag.Flag) { printFlag(w, f) })
	}
}

// reflow breaks paragraphs at the width of the help. Those with an indented
// line stay as they are.
func reflow(s string) string {
	parts := strings.Split(s, "\n\n")
	for i, p := range parts {
		if !strings.Contains("\n"+p, "\n ") {
			parts[i] = strings.Join(term.Wrap(strings.ReplaceAll(p, "\n", " "), helpWidth), "\n")
		}
	}
	return strings.Join(parts, "\n\n")
}

func printFlag(w io.Writer, f *flag.Flag) {
	_, usage := flag.UnquoteUsage(f)
	hanging(w, spelled(f), 27, usage)
}

// hanging prints a name and what it means, the latter below itself where it
// needs several lines, and below the name where that is too long.
func hanging(w io.Writer, name string, column int, meaning string) {
	room := strings.Repeat(" ", column+3)
	lines := term.Wrap(meaning, helpWidth-len(room))
	if len(name) > column {
		fmt.Fprintf(w, "  %s\n", name)
	} else {
		fmt.Fprintf(w, "  %-*s %s\n", column, name, lines[0])
		lines = lines[1:]
	}
	for _, l := range lines {
		fmt.Fprintf(w, "%s%s\n", room, l)
	}
}

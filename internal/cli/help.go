package cli

import (
	"flag"
	"fmt"
	"io"

	"evener/internal/config"
)

var helpCommand = command{
	name: "help", args: "[COMMAND]", summary: "this text, or the help of one command",
}

var versionCommand = command{
	name: "version", summary: "the program's version",
	run: func(e *env, args []string) int {
		if len(args) > 0 {
			return e.fail(exitUsage, "", "version takes no arguments")
		}
		fmt.Fprintf(e.out, "evener %s\n", version)
		return exitOK
	},
}

// runUsage describes the default command, which has no name of its own.
var runUsage = command{
	name: "", args: "[flags] PROMPT...", summary: "one run: the model works on the prompt and reports",
	help: `The prompt comes from the arguments or, if there are none, from standard input.
Standard output gets the final report and nothing else.

The process ends when the model has reported and its notices are told; background
jobs that still run are announced to the model once, then ended.

Exit status: 0 reported, 1 ended without a report, 2 wrong usage or configuration,
3 damaged, locked or unwritable state, 130 interrupted, 143 terminated.`,
}

func init() {
	// The help lists the table that it stands in.
	helpCommand.run = func(e *env, args []string) int {
		if len(args) == 0 {
			printOverview(e.out)
			return exitOK
		}
		for _, c := range commands() {
			if len(args) == 1 && c.name == args[0] {
				if c.run(e, []string{"-h"}) == exitOK {
					return exitOK
				}
				printHelp(e.out, c, flag.NewFlagSet(c.name, flag.ContinueOnError))
				return exitOK
			}
		}
		return e.fail(exitUsage, "", "no command %q; see evener help", args[0])
	}
}

func printOverview(w io.Writer) {
	fmt.Fprint(w, "evener runs coding-agent sessions whose background jobs can be trusted.\n\n")
	fmt.Fprintf(w, "usage: evener %s\n       evener COMMAND [arguments]\n\n%s\n\ncommands:\n", runUsage.args, runUsage.help)
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-10s %s\n", c.name, c.summary)
	}
	fs := flag.NewFlagSet("", flag.ContinueOnError)
	runFlags(fs, config.AddFlags(fs))
	fmt.Fprint(w, "\nflags:\n")
	printFlags(w, fs)
	fmt.Fprint(w, "\nEvery setting, its default and where it came from: evener config\n")
}

func printHelp(w io.Writer, c command, fs *flag.FlagSet) {
	fmt.Fprintf(w, "usage: evener %s %s\n\n%s\n", c.name, c.args, c.summary)
	if c.help != "" {
		fmt.Fprintf(w, "\n%s\n", c.help)
	}
	n := 0
	fs.VisitAll(func(*flag.Flag) { n++ })
	if n > 0 {
		fmt.Fprint(w, "\nflags:\n")
		printFlags(w, fs)
	}
}

func printFlags(w io.Writer, fs *flag.FlagSet) {
	fs.VisitAll(func(f *flag.Flag) {
		kind, usage := flag.UnquoteUsage(f)
		if b, ok := f.Value.(interface{ IsBoolFlag() bool }); ok && b.IsBoolFlag() {
			kind = ""
		}
		dashes := "--"
		if len(f.Name) == 1 {
			dashes = "-"
		}
		fmt.Fprintf(w, "  %-30s %s\n", dashes+f.Name+pad(kind), usage)
	})
}

func pad(kind string) string {
	if kind == "" {
		return ""
	}
	return " " + kind
}

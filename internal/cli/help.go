package cli

import (
	"fmt"
	"strings"

	"evener/internal/about"
)

var helpCommand = command{
	name: "help", args: "[--man] [COMMAND]", summary: "the overview, or the help of one command",
	help: "evener help run is about a run, which is no command of its own. --man prints the manual page, all of it:\nevener help --man >evener.1.",
}

var versionCommand = command{
	name: "version", summary: "the program's version",
}

// runUsage describes the default command, which has no name of its own.
var runUsage = command{
	name: "", args: "[flags] PROMPT...", summary: "one run: the model works on the prompt and reports",
	help: `The prompt comes from the arguments or, if there are none, from standard input.
Flags stand before the prompt; -- ends them, also before a prompt that begins with the
name of a command. Standard output gets the final report and nothing else, unless
--output says otherwise. Standard error shows on a terminal what goes on: a row for each
call and its result, and a status line that is erased at the end. NO_COLOR takes the
colours away, TERM=dumb the status line too.

Ctrl-C ends a run in order, a second one at once. The session stays, and can go on.

--dir works in another folder, as if started there: its state, its settings, relative paths.
A resumed session goes on in its own directory. --resume-last takes, of the sessions begun in
the working directory, the one that was active last, and says which; archived sessions
and those of delegates do not count, and one that another process holds is refused, not passed over.

--resume-with begins a new session with the conversation of another, up to its last turn that
has ended; the other is only read, and may be live.

--model openai/NAME asks the endpoint of --base-url or OPENAI_BASE_URL, with the key in
OPENAI_API_KEY if it wants one; PROVIDER/NAME one that the user's configuration names.
--model exec/NAME runs a command of that configuration for each reply. --model script/FILE
answers from a file and opens no connection; script/builtin:demo came with the program.
--model replay/SESSION gives the replies again that SESSION has recorded, those of its
delegates to the delegates that are made in the same order, and opens no connection.

The process ends when the model has reported and its notices are told; background
jobs that still run are announced to the model once, then ended. With --wait-jobs it
waits for them first, and the model is told of each end.

--output-schema FILE asks for a result that fits a JSON Schema: standard output then gets that
JSON value and nothing else. Output that does not fit is refused once, with every place to
mend; after that the run fails with status 1, and the report stays in the session.

--trace FILE adds every model request and answer to FILE as they go over the wire, without keys.

With --input jsonl the session lives on: each line {"prompt":"..."} of standard input is
a turn, {"interrupt":true} ends the one that is open, events and results come out as
lines of JSON, and the end of the input closes it in order. A PROMPT is its first turn.
Its status is 0 when every prompt was answered, and 1 when one was not.

` + exitStatus,
}

const exitStatus = `Exit status: 0 reported, 1 ended without a report, 2 wrong usage or configuration,
3 damaged, locked or unwritable state, 129 hung up, 130 interrupted, 143 terminated.`

// The help lists the table that it stands in, so these are set afterwards.
func init() {
	helpCommand.run = runHelp
	versionCommand.run = runVersion
}

func runHelp(e *env, args []string) int {
	fs := e.flags(helpCommand)
	man := fs.Bool("man", false, "the manual page evener(1), for man or mandoc")
	rest, status, ok := e.parse(helpCommand, fs, args)
	switch {
	case !ok:
		return status
	case *man && len(rest) > 0:
		return e.fail(exitUsage, "", "help: --man is the page of all commands, and takes none")
	case *man:
		printMan(e.out, topics())
		return exitOK
	case len(rest) == 0:
		printOverview(e.out)
		return exitOK
	case len(rest) > 1:
		return e.fail(exitUsage, "", "help takes one command")
	}
	if rest[0] == runTopic {
		printRun(e.out)
		return exitOK
	}
	for _, c := range commands() {
		if c.name == rest[0] {
			return c.run(e, []string{"-h"})
		}
	}
	hint := ""
	if n := near(rest[0], append(commandNames(), runTopic)); n != "" {
		hint = "evener help " + n
	}
	return e.fail(exitUsage, hint, "no command %q; see evener help", rest[0])
}

func runVersion(e *env, args []string) int {
	rest, status, ok := e.parse(versionCommand, e.flags(versionCommand), args)
	switch {
	case !ok:
		return status
	case len(rest) > 0:
		return e.fail(exitUsage, "", "version takes no arguments")
	}
	fmt.Fprint(e.out, about.Line())
	return exitOK
}

// Markdown is docs/commands.md: the help of the program and of each command.
func Markdown() string {
	var b strings.Builder
	b.WriteString("# Commands\n\n<!-- Written by make golden from the command table in internal/cli. -->\n\n```text\n")
	printOverview(&b)
	b.WriteString("```\n\n## A run\n\n```text\n")
	printRun(&b)
	b.WriteString("```\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "\n## evener %s\n\n```text\n", c.name)
		c.run(&env{out: &b, err: &b}, []string{"-h"})
		b.WriteString("```\n")
	}
	return b.String()
}

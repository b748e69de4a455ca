package cli

import (
	"bufio"
	"context"
	"errors"
	"io"

	"evener/internal/report"
)

var reportCommand = command{
	name: "report", args: "[--at N|TIME] [SESSION] -o FILE", summary: "one HTML page of a session: a timeline, and the conversations beside it",
	help: "The page shows the turns, tool calls, jobs, delegates, watches and notices of a session and of all below it as bars on a timeline, with what\n" +
		"caused what, and beside it what was said. SESSION may be the id of a delegate, and is by default the latest session. The page\n" +
		"is one file that loads and sends nothing; a browser opens it from the disk. Without scripts, and in print, it is a list and the conversations.\n\n" +
		"It is made of the journals alone, so it holds prompts, commands and results, but of the output of jobs only what the model was told; the middle of\n" +
		"a text above 20,000 characters is left out, in very long sessions of shorter ones. FILE is for its owner's eyes (0600), and a file that is there is replaced whole, a link by the\n" +
		"page, never what it leads to; a pipe gets the page as it comes; - is standard output.\n\n" +
		"Exit status: 0 written, 2 wrong usage, 3 a journal that cannot be read or a file that cannot be written.",
}

func init() { reportCommand.run = runReport }

func runReport(e *env, args []string) int {
	flags := e.flags(reportCommand)
	set := e.stateFlags(flags)
	out := flags.String("o", "", "the `file` to write; - is standard output")
	at := atFlag(flags)
	rest, status, ok := e.parse(reportCommand, flags, args)
	if !ok {
		return status
	}
	if *out == "" {
		return e.fail(exitUsage, "", "report: -o FILE names the page to write; -o - is standard output")
	}
	home, _, err := e.home(set)
	if err != nil {
		return e.failLoad(err)
	}
	target, status, ok := e.oneSession(home, "report", rest)
	if !ok {
		return status
	}
	root, err := home.TreeOf(target)
	if err != nil {
		return e.failState(err)
	}
	if !home.Has(root) { // what is left of the tree
		root = target
	}
	bad, err := lookAt(&home, target, *at)
	if err != nil {
		return e.failState(err)
	}
	if bad != "" {
		return e.fail(exitUsage, "", "report: %s", bad)
	}
	page, err := report.Of(home, root, target)
	if errors.Is(err, report.ErrNotBegun) && *at != "" {
		return e.fail(exitUsage, "", "report: --at %s: session %s had not begun by then", *at, target)
	}
	if err != nil {
		return e.failState(err)
	}
	if err := e.writePage(*out, page); err != nil {
		return e.failWhole("report", err)
	}
	return exitOK
}

// writePage writes a page to where it is wanted.
func (e *env) writePage(path string, page *report.Page) error {
	if path == "-" {
		return wrote("standard output", buffered(e.out, page))
	}
	return whole(path, true, func(_ context.Context, w io.Writer) error { return buffered(w, page) })
}

func buffered(w io.Writer, page *report.Page) error {
	b := bufio.NewWriterSize(w, 1<<20)
	return errors.Join(page.Write(b), b.Flush())
}

package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"evener/internal/config"
	"evener/internal/text"
)

var trustCommand = command{
	name: "trust", args: "[--list | --remove] [DIR]", summary: "lets a project's settings name endpoints and commands",
	help: "A project's .evener/config.json may say where requests go, what they carry and which program answers\n" +
		"as the model only once you trust it. This shows what it says and trusts it as it stands: after a\n" +
		"change of the file you are asked again. DIR is the working directory unless it is given.\n\n" +
		"Exit status: 0 done, or nothing there needs trust; 2 there is no such file, or it is faulty.",
}

func init() { trustCommand.run = runTrust }

func runTrust(e *env, args []string) int {
	flags := e.flags(trustCommand)
	list := flags.Bool("list", false, "the folders you trust, and whether their file has changed")
	remove := flags.Bool("remove", false, "trust it no more")
	rest, status, ok := e.parse(trustCommand, flags, args)
	switch {
	case !ok:
		return status
	case len(rest) > 1 || *list && (*remove || len(rest) > 0):
		return e.fail(exitUsage, "", "trust takes one folder, or --list alone")
	}
	trust := config.TrustBeside(config.UserFile(e.getenv))
	dir := e.dir
	if len(rest) == 1 {
		var err error
		if dir, err = filepath.Abs(rest[0]); err != nil {
			return e.fail(exitUsage, "", "%v", err)
		}
	}
	if *list {
		return e.listTrust(trust)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil { // one that is gone can be removed still
		dir = real
	} else if !*remove {
		return e.fail(exitUsage, "", "trust: %v", err)
	}
	sources, err := e.sources(dir, nil)
	if err != nil {
		return e.failLoad(err)
	}
	if *remove {
		return e.distrust(trust, dir, filepath.Dir(filepath.Dir(sources.ProjectFile)))
	}
	return e.trust(trust, sources)
}

// trust shows what a project's file says and records that it may.
func (e *env) trust(trust config.Trust, s config.Sources) int {
	asked, data, err := config.Review(s)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return e.fail(exitUsage, "", "there is no %s; a project's settings are all that needs trust", s.ProjectFile)
	case err != nil:
		return e.fail(exitUsage, "", "%v", err)
	case len(asked) == 0:
		fmt.Fprintf(e.out, "nothing in %s needs trust\n", text.Printable(s.ProjectFile))
		return exitOK
	}
	g, err := trust.Grant(s.ProjectFile, data, time.Now())
	if err != nil {
		return e.fail(exitState, "", "trust %s: %v", g.Folder, err)
	}
	fmt.Fprintf(e.out, "trusted, as long as %s stays as it is:\n", text.Printable(s.ProjectFile))
	tw := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	for _, a := range asked {
		fmt.Fprintf(tw, "  line %s\t%s\t%s\n", a.At[strings.LastIndexByte(a.At, ':')+1:], a.Key, text.Printable(a.Value))
	}
	tw.Flush()
	return exitOK
}

// distrust takes trust back: of the folder itself, or of the project it lies in.
func (e *env) distrust(trust config.Trust, folders ...string) int {
	for _, f := range slices.Compact(folders) {
		found, err := trust.Revoke(f)
		if err != nil {
			return e.fail(exitState, "", "trust %s no more: %v", f, err)
		}
		if found {
			fmt.Fprintf(e.out, "not trusted any more: %s\n", text.Printable(f))
			return exitOK
		}
	}
	return e.fail(exitUsage, "evener trust --list shows those that are", "%s is not trusted", folders[0])
}

func (e *env) listTrust(trust config.Trust) int {
	grants, err := trust.Grants()
	if err != nil {
		return e.fail(exitState, "", "%v", err)
	}
	slices.SortFunc(grants, func(a, b config.Grant) int { return strings.Compare(a.Folder, b.Folder) })
	tw := tabwriter.NewWriter(e.out, 0, 0, 2, ' ', 0)
	for _, g := range grants {
		fmt.Fprintf(tw, "%s\t%s\t%s\n", g.At, trust.State(g), text.Printable(g.Folder))
	}
	tw.Flush()
	return exitOK
}

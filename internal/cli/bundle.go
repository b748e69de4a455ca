package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"evener/internal/about"
	"evener/internal/bundle"
	"evener/internal/pattern"
	"evener/internal/proc"
	"evener/internal/text"
)

var bundleCommand = command{
	name: "bundle", args: "[--no-output] [--secret NAME]... -o FILE SESSION", summary: "packs a session's tree into one file, for the report of a fault",
	help: "FILE is a tar, packed by gzip, which unpacks to a state folder:\n\n" +
		"  mkdir D && tar xzf FILE -C D\n" +
		"  evener verify --state-dir D          and replay, show, jobs, tree, log\n\n" +
		"In it are the journals of the tree, what they name, the output of jobs, summaries, and what repairs kept; not the\n" +
		"scratch folder, not the project. Of a delegate the whole tree is packed. The same session gives the same bytes. A session in use is\n" +
		"packed up to the last decision; one that is damaged as it is. Links are not followed.\n\n" +
		"--no-output leaves the output of jobs out; evener verify then notes which. What results and notices showed of it stands in\n" +
		"the journals all the same. --secret NAME takes the value of the environment variable NAME, of 6 bytes or more, out, wherever it stands in what is\n" +
		"packed: as it is, as JSON escapes it once or several times, with line breaks in it, as a URL escapes it, in base64, there also as a part of more, and each\n" +
		"longer line of a value of several lines, also where a text was cut in the middle of it. As many other bytes stand in its place:\n" +
		"[NAME***]. Journals in which it stood become edited copies, which say so, and whose decisions still come out as recorded. A value that is\n" +
		"another spelling, such as a part of it or a hash, is not known. Summaries are then left out; listings make them again.\n\n" +
		"FILE appears whole or not at all, and replaces a file or a link that is there, never what a link leads to; only you can read it.\n\n" +
		"Exit status: 0 packed, 2 wrong usage, 3 the session cannot be read, FILE cannot be written, or a secret cannot be taken out.",
}

func init() { bundleCommand.run = runBundle }

var variableForm = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`)

func runBundle(e *env, args []string) int {
	flags := e.flags(bundleCommand)
	set := e.stateFlags(flags)
	to := flags.String("o", "", "the `file` to write")
	noOutput := flags.Bool("no-output", false, "leave the output of jobs out")
	var names []string
	flags.Func("secret", "take the value of the environment variable `NAME` out; may be repeated", func(name string) error {
		if !variableForm().MatchString(name) {
			return errors.New("want the name of an environment variable")
		}
		names = append(names, name)
		return nil
	})
	rest, status, ok := e.parse(bundleCommand, flags, args)
	if !ok {
		return status
	}
	if *to == "" {
		return e.fail(exitUsage, "", "bundle needs -o FILE, the file to write")
	}
	secrets, status, ok := e.secrets(names)
	if !ok {
		return status
	}
	home, _, err := e.home(set)
	if err != nil {
		return e.failLoad(err)
	}
	if err := home.Check(); err != nil {
		return e.failState(err)
	}
	s, status, ok := e.oneSession(home, "bundle", rest)
	if !ok {
		return status
	}
	root, err := home.TreeOf(s)
	if err != nil {
		return e.failState(err)
	}
	_, held, err := home.Held(root, proc.BootID())
	if err != nil {
		return e.failState(err)
	}
	r, err := writeBundle(*to, bundle.Options{Home: home, Root: root, Held: held, NoOutput: *noOutput, Secrets: secrets, Version: about.Version})
	if err != nil {
		return e.failWhole("bundle", err)
	}
	slices.Sort(names)
	e.sayBundled(*to, r, slices.Compact(names))
	return exitOK
}

// secrets reads the values from the environment.
func (e *env) secrets(names []string) (out []bundle.Secret, status int, ok bool) {
	for _, name := range names {
		v := e.getenv(name)
		switch set := slices.ContainsFunc(e.environ, func(x string) bool { return strings.HasPrefix(x, name+"=") }); {
		case v == "" && set:
			return nil, e.fail(exitUsage, "", "--secret %s: that environment variable is empty; its value is needed to take it out", name), false
		case v == "":
			return nil, e.fail(exitUsage, "", "--secret %s: that environment variable is not set", name), false
		}
		s, err := bundle.NewSecret(name, v)
		if err != nil {
			return nil, e.fail(exitUsage, "", "--secret %s: %v", name, err), false
		}
		out = append(out, s)
	}
	return out, exitOK, true
}

// writeBundle writes the file, which takes its name when it is whole.
func writeBundle(to string, o bundle.Options) (r bundle.Report, err error) {
	packing := error(nil) // what was read is at fault, and names its own place
	err = whole(to, false, func(ctx context.Context, w io.Writer) error {
		r, packing = bundle.Pack(ctx, w, o)
		return packing
	})
	if packing != nil && !errors.Is(err, errGivenUp) {
		err = packing
	}
	return r, err
}

func (e *env) sayBundled(to string, r bundle.Report, names []string) {
	size := int64(0)
	if info, err := os.Stat(to); err == nil {
		size = info.Size()
	}
	fmt.Fprintf(e.out, "%s: %s files, %s bytes, packed %s\n", to, text.Thousands(r.Files), text.Thousands(int(r.Bytes)), text.Thousands(int(size)))
	if r.LeftOut > 0 {
		fmt.Fprintf(e.out, "left out: the output of %d jobs\n", r.LeftOut)
	}
	for _, name := range names {
		if slices.Contains(r.Found, name) {
			fmt.Fprintf(e.out, "taken out: %s\n", name)
		} else {
			fmt.Fprintf(e.out, "not found: %s\n", name)
		}
	}
	for _, x := range r.Problems {
		fmt.Fprintf(e.err, "evener: not in the bundle: %s\n", strings.TrimSpace(x))
	}
}

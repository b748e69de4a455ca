// Command bench measures the program beside its limits.
//
//	go -C internal/bench run . [-only NAMES] [-rounds N] [-quick] [-md | -json] [-dir DIR] [-check PAGE]
//
// A figure of a shared machine means nothing by itself, so each subject runs in
// turns with a limit: a bare program that does only what cannot be left out, on
// the same disk, in the same run. What counts is the median of the rounds'
// ratios. docs/performance.md says what each row means.
//
// It is a module of its own, so that the peers it compares with are none of the
// program's dependencies.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"time"
)

func groups() []group {
	return slices.Concat(appendGroups(), foldGroups(), pumpGroups(), watchGroups(), watchedGroups(), startGroups(), runGroups(), liveGroups(), busyGroups())
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == probeArg {
		os.Exit(probe(os.Args[2:]))
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, out, errs io.Writer) int {
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.SetOutput(errs)
	only := fs.String("only", "", "comma-separated `names` of groups to run, or beginnings of names")
	rounds := fs.Int("rounds", 7, "rounds; subject and limit take turns in each")
	quick := fs.Bool("quick", false, "two short rounds with small inputs: to see that it works, not to judge by")
	asJSON := fs.Bool("json", false, "one JSON object a row")
	md := fs.Bool("md", false, "a markdown table")
	against := fs.String("check", "", "a `page` with a table as -md prints it: a ratio that is worse than there by a third, twice, is an error")
	list := fs.Bool("list", false, "list the groups")
	profile := fs.String("cpuprofile", "", "write a CPU `profile` of this process: subjects that run in it, and limits")
	dir := fs.String("dir", os.TempDir(), "scratch `folder`, on the disk to measure")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	chosen := choose(*only)
	if *list {
		for _, g := range chosen {
			fmt.Fprintf(out, "%s: %d rows\n", g.name, len(g.rows))
		}
		return 0
	}
	var old recorded
	if *against != "" {
		var err error
		if old, err = readRecorded(*against); err != nil {
			fmt.Fprintln(errs, "bench:", err)
			return 2
		}
	}
	e := &env{quick: *quick, rounds: *rounds, time: 700 * time.Millisecond}
	if *quick {
		e.rounds, e.time = 2, 150*time.Millisecond
	}
	var err error
	if e.root, err = repository(); err == nil {
		e.dir, err = os.MkdirTemp(*dir, "evener-bench-")
	}
	if err != nil {
		fmt.Fprintln(errs, "bench:", err)
		return 1
	}
	defer os.RemoveAll(e.dir)
	if *profile != "" {
		stop, err := profileCPU(*profile)
		if err != nil {
			fmt.Fprintln(errs, "bench:", err)
			return 1
		}
		defer stop()
	}
	progress := func(s string) {
		if terminal(errs) {
			fmt.Fprintf(errs, "\r\033[K%s", s)
		}
	}
	p := printer{out: out, json: *asJSON, md: *md, machine: machine(e)}
	p.head()
	failed := false
	var worse []slower
	for _, g := range chosen {
		results := measure(e, g, progress)
		progress("")
		for _, r := range results {
			failed = failed || r.err != nil && !errors.Is(r.err, errSkip)
			p.row(r)
		}
		worse = append(worse, measureAgain(e, g, old, old.worse(results), progress)...)
		progress("")
	}
	for _, w := range worse {
		fmt.Fprintln(errs, "bench: worse by a third:", w)
	}
	if failed || len(worse) > 0 {
		return 1
	}
	return 0
}

func profileCPU(path string) (stop func(), err error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() {
		pprof.StopCPUProfile()
		f.Close()
	}, nil
}

func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}

func choose(only string) []group {
	if only == "" {
		return groups()
	}
	var out []group
	for _, g := range groups() {
		if slices.ContainsFunc(strings.Split(only, ","), func(s string) bool { return s != "" && strings.HasPrefix(g.name, s) }) {
			out = append(out, g)
		}
	}
	return out
}

// repository is the folder of the program's module, seen from this module's.
func repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for d := dir; ; d = filepath.Dir(d) {
		b, err := os.ReadFile(filepath.Join(d, "go.mod"))
		if err == nil && strings.HasPrefix(string(b), "module evener\n") {
			return d, nil
		}
		if d == filepath.Dir(d) {
			return "", errors.New("run this inside the repository: no go.mod of module evener at or above " + dir)
		}
	}
}

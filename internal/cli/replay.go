package cli

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"strings"

	"evener/internal/about"
	"evener/internal/audit"
	"evener/internal/schema"
	"evener/internal/tool"
)

var replayCommand = command{
	name: "replay", args: "[--json | --from N --model M [flags]] SESSION", summary: "decides a session's recorded causes again and tells the first difference",
	help: "Every line of the session's tree names its cause. From the empty state on, each cause is decided again by the rules\n" +
		"of this program, and what comes of it is compared with what was recorded. No model is asked, nothing is run or written.\n" +
		"The session may be in use; what its journals have is replayed. Of a delegate the whole tree is.\n\n" +
		"With --from N a new session runs on from decision N (the step of a line of evener log, as with --at N) with model M, as a\n" +
		"run does: what it prints, its flags and its status are those of evener help run. SESSION is only read. Taken along is the\n" +
		"conversation up to N, with what the model was told, the output schema and the folder, unless --dir names another one. A round of calls\n" +
		"that is not answered by then is left out, and the model asked for it again. Jobs, delegates, watches, tasks, notices that were not\n" +
		"told, prompts that wait and later prompts stay where they are. Where no turn is open at N there is nothing to run on from.\n" +
		"--model replay/SESSION gives the replies recorded behind N: see docs/replay.md.\n\n" +
		"Exit status: 0 no difference, 1 a difference, 2 wrong usage, 3 a journal that cannot be read.",
}

func init() { replayCommand.run = runReplay }

func runReplay(e *env, args []string) int {
	fs := e.flags(replayCommand)
	o := e.runOnFlags(fs)
	from := fs.Int64("from", 0, "run on from decision `N` into a new session")
	asJSON := fs.Bool("json", false, "one JSON object: decisions, versions, repaired, difference")
	rest, status, ok := e.parse(replayCommand, fs, args)
	if !ok {
		return status
	}
	given := map[string]bool{}
	fs.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch extra := onlyRunOn(fs); {
	case given["from"] && given["json"]:
		return e.fail(exitUsage, "", "replay: --json tells of a replay, and --from begins a run; --output json tells of that")
	case given["from"]:
		return e.runOn(o, *from, rest)
	case extra != "":
		return e.fail(exitUsage, "", "replay: --%s belongs to a run, which --from N begins", extra)
	}
	home, _, err := e.home(o.flags)
	if err != nil {
		return e.failLoad(err)
	}
	s, status, ok := e.oneSession(home, "replay", rest)
	if !ok {
		return status
	}
	root, err := home.TreeOf(s)
	if err != nil {
		return e.failState(err)
	}
	r, err := audit.Replay(home, root, audit.Rules{Decode: tool.Decode, Fits: schema.Violations})
	if err != nil {
		return e.failState(err)
	}
	status = exitOK
	if r.Diff != nil {
		status = exitNoReport
	}
	if *asJSON {
		if err := json.NewEncoder(e.out).Encode(r); err != nil {
			return e.fail(exitState, "", "%v", err)
		}
		return status
	}
	for _, v := range r.Versions {
		if v != about.Version {
			fmt.Fprintf(e.out, "written by version %s, replayed by the rules of %s\n", v, about.Version)
		}
	}
	if r.Repaired {
		fmt.Fprintln(e.out, "a journal is a repaired copy; what builds on a line that it lacks comes out otherwise")
	}
	if r.Edited {
		fmt.Fprintln(e.out, "a journal is an edited copy, from which secrets were taken out; what was decided by their text may come out otherwise")
	}
	if r.Diff == nil {
		fmt.Fprintf(e.out, "no difference: %d decisions of %s come out as recorded\n", r.Decisions, root)
		return status
	}
	tellDifference(e.out, r.Diff)
	return status
}

// tellDifference shows a decision that comes out otherwise, event by event.
func tellDifference(w io.Writer, d *audit.Difference) {
	fmt.Fprintf(w, "step %d comes out otherwise: %s line %d\n", d.Recorded.Step, d.Recorded.Path, d.Recorded.Line)
	before, _ := json.Marshal(d.Before) // plain values always encode
	fmt.Fprintf(w, "state before: %s\ncause: %s\n", before, d.Recorded.Cause)
	if d.Why != "" {
		fmt.Fprintln(w, d.Why)
	}
	show := func(what string, events []audit.Event) {
		fmt.Fprintf(w, "%s:\n", what)
		for i, x := range events {
			mark := " "
			if i == d.First {
				mark = "*"
			}
			fmt.Fprintf(w, "%s %s %s\n", mark, x.Kind, strings.TrimSpace(string(x.Data)))
		}
		if len(events) == 0 {
			fmt.Fprintln(w, "  nothing")
		}
	}
	show("recorded", d.Recorded.Events)
	show("decided", d.Decided)
}

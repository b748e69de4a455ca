package cli

import (
	"flag"
	"fmt"
	"time"

	"evener/internal/config"
	"evener/internal/host"
	"evener/internal/session"
	"evener/internal/supervisor"
)

func (o *runOptions) living() bool { return o.input != "" }

// livingFlags checks the flags of a living session. Its output is always jsonl:
// what a configuration says of it is for runs of one prompt.
func (e *env) livingFlags(o *runOptions, fs *flag.FlagSet, cfg *config.Config) (status int, ok bool) {
	given := false
	fs.Visit(func(f *flag.Flag) { given = given || f.Name == "input" })
	switch {
	case !given:
		return exitOK, true
	case o.input != "jsonl":
		return e.fail(exitUsage, "", "--input: got %q; want jsonl", o.input), false
	case o.flags["output"] != "" && o.flags["output"] != "jsonl":
		return e.fail(exitUsage, "", "--input jsonl writes jsonl; --output %s does not go with it", o.flags["output"]), false
	}
	if err := host.Readable(e.in); err != nil {
		return e.fail(exitUsage, "", "--input jsonl reads prompts from standard input, which cannot be read: %v", err), false
	}
	cfg.Output = "jsonl"
	return exitOK, true
}

// serve opens a living run, gives it the prompt of the command line, if there is
// one, and lets it read.
func (r *runner) serve(t *supervisor.Tree, p session.Prompt) error {
	p.Mode = session.Living
	if err := t.Ask(session.Open{Prompt: p}); err != nil {
		return err
	}
	p.Create = nil
	if p.Text != "" {
		if err := t.Ask(p); err != nil {
			t.RequestClose("the prompt was refused")
			return err
		}
	}
	r.input.Start(t, p)
	return nil
}

// refused shows a line of input that was not taken.
func (r *runner) refused(x host.Refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	line := x.Event(r.tree.Root, time.Now()).Line()
	r.event(line)
	if r.options.verbose {
		r.err.Write(line)
	}
}

// shown writes the answer to a line that asked for a view. It is no event.
func (r *runner) shown(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.event(line)
}

// dropped names the prompts that got no turn.
func (r *runner) dropped(res host.Result) {
	for _, p := range res.Dropped {
		name := fmt.Sprintf("prompt %d", p.Prompt)
		if p.Input != "" {
			name += fmt.Sprintf(" (id %s)", p.Input)
		}
		fmt.Fprintf(r.err, "evener: dropped at exit: %s\n", name)
	}
}

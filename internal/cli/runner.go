package cli

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"evener/internal/config"
	"evener/internal/evidence"
	"evener/internal/host"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/policy"
	"evener/internal/proc"
	"evener/internal/role"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/supervisor"
	"evener/internal/term"
	"evener/internal/tool"
	"evener/internal/tree"
)

// runner is one run of a session.
type runner struct {
	*env
	options *runOptions
	config  config.Config
	params  json.RawMessage // of the model, for the record
	window  int64           // its context_tokens
	past    *session.State  // from which the run goes on; nil for a prompt
	tree    *store.Tree
	created bool
	live    *live           // what a person at a terminal sees; nil for none
	output  json.RawMessage // the schema of the run's output, or nil
	models  *models
	roles   role.Catalog
	types   string // the agent types, as the delegate tool lists them

	mu      sync.Mutex // guards out and err, which the loop and its helpers write
	events  *host.Projector
	stdout  *host.Output // takes events; nil where nobody asked for them
	input   *host.Input  // of a living session
	killed  []id.Job
	unrun   []session.PromptDropped
	closing bool
	signal  os.Signal // the first one that arrived
	fed     bool      // the prompt is in, so that a close finds a run
	broken  error     // why standard output takes no events any more

	requestClose func(why string) // of the tree; never waits
}

func entropy() id.Entropy {
	var e id.Entropy
	rand.Read(e[:]) // never fails
	return e
}

// run runs the prompt and reports; it closes the tree.
func (r *runner) run(m opened, prompt string) int {
	s := r.tree.State.Session()
	dir := r.dir
	if !r.created && s.Dir != "" {
		dir = s.Dir
	}
	r.models = newModels(r.env, r.config, m)
	if err := r.loadRoles(); err != nil {
		return r.failState(errors.Join(err, r.tree.Close()))
	}
	r.events = host.NewProjector(tool.Decode, r.tree.State)
	settleRuntime()
	r.live = newLive(r)
	defer r.models.close()
	defer r.live.close() // of the ends that nothing is printed after
	m.trace.Warn(r.warn)
	if r.config.Output == "jsonl" {
		out, err := host.NewOutput(beneath(r.out), r.outputFailed)
		if err != nil {
			return r.failState(errors.Join(err, r.tree.Close()))
		}
		r.stdout = out
		defer out.Close() // of the ends that have no final object; report says what it could not write
	}
	if r.options.living() {
		input, err := host.NewInput(r.in, s, r.refused, r.shown)
		if err != nil {
			return r.failState(errors.Join(err, r.tree.Close()))
		}
		r.input = input
		defer input.Stop()
	}
	t, err := supervisor.New(supervisor.Options{
		Store: r.tree, Models: r.models.get, Prepare: r.prepare, Decode: tool.Decode, Env: commandEnv(r.environ, r.config.KeyVariables()), OutputCap: r.config.OutputCapBytes,
		StopGrace: time.Duration(r.config.StopGraceMS) * time.Millisecond,
		Reader:    evidence.Reader{Home: r.tree.Home, MaxChars: int(r.config.ReadTranscriptChars)},
		Observe:   r.observe, Warn: r.warn, Progress: r.live.progress,
	})
	if err != nil {
		return r.failState(errors.Join(err, r.tree.Close()))
	}
	r.requestClose = t.RequestClose
	stop := r.onSignals(t)
	defer stop()
	r.warnTorn()
	t.Start()
	if err := r.feed(t, dir, prompt); err != nil {
		t.Post(session.Abandon{})
		if failed := r.wait(t); failed != nil { // why the prompt was not taken
			return r.failState(failed)
		}
		return r.refusal(err)
	}
	if err := r.wait(t); err != nil {
		return r.failState(err)
	}
	return r.report()
}

// wait waits for the end of the run; what is printed after it has the terminal
// to itself.
func (r *runner) wait(t *supervisor.Tree) error {
	err := t.Wait()
	if r.input != nil {
		r.input.Stop() // nothing is written behind the final object
	}
	r.live.close()
	return err
}

func (r *runner) warnTorn() {
	for _, torn := range r.tree.Torn {
		r.warn(fmt.Sprintf("%s ended in %d bytes that were never acknowledged; they were cut and kept in %s", torn.Path, torn.Bytes, torn.Saved))
	}
}

func (r *runner) warnSummary() {
	if r.tree.SummaryErr != nil {
		r.warn(r.tree.SummaryErr.Error())
	}
}

// feed settles what a lost process left open, then hands in the prompt.
func (r *runner) feed(t *supervisor.Tree, dir, prompt string) error {
	p := session.Prompt{Text: prompt, Mode: session.OneShot, Limits: limits(r.config), ParentJob: parentJob(r.getenv), OutputSchema: r.output}
	created := time.Now()
	if r.created {
		p.Create = &session.Created{Session: r.tree.Root, Root: r.tree.Root, Dir: dir}
	} else {
		if err := t.Settle(r.restartedTree()); err != nil {
			return err
		}
		if s := r.tree.State.Session(); s.ID != "" {
			created = s.Created
		} else { // the process was lost before its first decision
			p.Create = &session.Created{Session: r.tree.Root, Root: r.tree.Root, Dir: dir}
		}
	}
	if n := len(r.tree.State.Session().Queue); n > 0 {
		r.warn(fmt.Sprintf("prompts of the lost session that wait for a turn and get it first: %d", n))
	}
	r.warnTools()
	p.Context = session.ContextSet{Model: r.config.Model, System: r.systemPrompt(dir, created), Tools: toolsJSON(r.tools()), Params: r.params, ContextTokens: r.window}
	if r.past != nil {
		r.asThen(&p)
	}
	var err error
	if r.options.living() {
		err = r.serve(t, p)
	} else {
		err = t.Ask(p)
	}
	r.mu.Lock()
	r.fed = true
	early, broken := r.signal, r.broken
	r.mu.Unlock()
	switch { // it came before there was anything to close
	case early != nil:
		t.Post(session.Close{Why: signalName(early)})
	case broken != nil:
		t.RequestClose(outputGone)
	}
	return err
}

// parentJob is the job that this very process runs in, if it is one.
func parentJob(getenv func(string) string) id.Job {
	j, ok := id.ParseJob(getenv("EVENER_JOB_ID"))
	if !ok {
		return ""
	}
	return j
}

// observe shows what became durable.
func (r *runner) observe(w tree.Write) {
	for _, e := range w.Events {
		switch e := e.(type) {
		case job.StopRequested:
			if e.By == job.ByClose {
				r.killed = append(r.killed, e.Job)
			}
		case session.RunEnding:
			r.closing = true
		case session.PromptDropped:
			if r.closing {
				r.unrun = append(r.unrun, e)
			}
		}
	}
	if r.input != nil {
		r.input.Observe(w)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events.Of(w) {
		r.emit(e)
		if res, ok := e.Result(); ok && r.options.living() {
			r.event(res.Line())
		}
	}
}

// report prints how the run went and gives the exit status.
func (r *runner) report() int {
	s := r.tree.State.Session()
	r.warnSummary()
	if s := s.Run; s.Mode == session.OneShot && s.Answer != nil && (s.LastTurn == session.TurnFailed || s.LastTurn == session.TurnExhausted) {
		r.warn(fmt.Sprintf("the last turn %s, the report is of an earlier one: %s", s.LastTurn, s.LastReason))
	}
	res := host.ResultOf(r.tree.State, r.killed, r.unrun)
	switch r.config.Output {
	case "jsonl":
		if err := r.lastLine(res); err != nil {
			return r.failOutput("write an event", err)
		}
	case "json":
		enc := json.NewEncoder(r.out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(res); err != nil {
			return r.failOutput("write the result", err)
		}
	default:
		if text := r.reportText(s.Run); text != "" {
			if r.live != nil && isTerminalWriter(r.out) { // the report stands apart from what was shown
				fmt.Fprintln(r.err)
			}
			if err := printReport(r.out, text); err != nil {
				return r.failOutput("write the report", err)
			}
		}
	}
	for _, k := range res.Killed {
		r.say(term.Row{Spans: []term.Span{{Text: "evener: ended at exit: "}, {Text: string(k.Job), Whole: true}, {Text: " " + oneLine(k.Description, k.Command)}}})
	}
	r.dropped(res)
	return r.status(res)
}

func (r *runner) status(res host.Result) int {
	resume := r.resumeHint()
	switch res.Outcome {
	case session.RunReported, session.RunAnswered:
		return exitOK
	case session.RunClosed:
		if res.Error == "" {
			return exitOK
		}
		return r.fail(exitNoReport, "", "session %s closed; %s", res.Session, res.Error)
	case session.RunInterrupted:
		status := exitInterrupted
		if s := r.signalled(); s != nil {
			status = signalStatus(s)
		}
		return r.fail(status, resume, "session %s was interrupted", res.Session)
	}
	if res.Outcome == session.RunOutputUnfit {
		return r.fail(exitNoReport, resume, "session %s: %s; the report is kept as turn.reported in %s", res.Session, res.Error, r.tree.Home.Journal(res.Session))
	}
	return r.fail(exitNoReport, resume, "session %s ended without a report: %s", res.Session, res.Error)
}

// tools are what the root's model is offered.
func (r *runner) tools() []tool.Def {
	return tool.DefinitionsFor(tool.Surface{Names: r.names(), Output: r.output, Types: r.types})
}

func (r *runner) names() []string {
	return policy.Within(rootTools(r.config), r.tree.State.Session().Fork.Tools)
}

// warnTools names tools that the conversation may speak of and that are gone.
func (r *runner) warnTools() {
	var gone []string
	names := r.names()
	for _, name := range r.tree.State.Session().Tools() {
		if !slices.Contains(names, name) {
			gone = append(gone, name)
		}
	}
	if len(gone) > 0 {
		r.warn("tools that the session had and this run does not have: " + strings.Join(gone, ", "))
	}
}

// systemPrompt tells the model where it is. Its day is that of the session's
// start, so that a resumed session asks with the same text.
func (r *runner) systemPrompt(dir string, created time.Time) string {
	e := r.promptEnv(dir, created)
	e.OutputSchema = r.output != nil
	if slices.Contains(r.names(), "delegate") {
		e.Allowance = r.config.MaxSubagentDepth
	}
	return tool.SystemPrompt(e)
}

func (r *runner) promptEnv(dir string, created time.Time) tool.Env {
	e := tool.Env{Dir: dir, Platform: runtime.GOOS + "/" + runtime.GOARCH, Date: created.Format(time.DateOnly), Shell: proc.Shell(), Git: store.Repository(dir) != ""}
	e.Agents, e.AgentsPath = agentsFile(dir, r.warn)
	return e
}

// withheld variables never reach a command: what each command gets anew from its own session.
func withheld(name string) bool {
	switch name {
	case "EVENER_JOB_ID", "EVENER_SESSION_ID", "EVENER_SCRATCH_DIR", "TMPDIR":
		return true
	}
	return false
}

// commandEnv is the environment of commands: this process's own without keys
// and without what names a session that it may run in, and with what keeps
// programs from waiting for a person.
func commandEnv(environ, keys []string) []string {
	defaults := map[string]string{"GIT_TERMINAL_PROMPT": "0", "PAGER": "cat", "TERM": "dumb"}
	var out []string
	for _, kv := range without(environ, keys) {
		name, _, _ := strings.Cut(kv, "=")
		if withheld(name) {
			continue
		}
		delete(defaults, name)
		out = append(out, kv)
	}
	for _, name := range []string{"GIT_TERMINAL_PROMPT", "PAGER", "TERM"} {
		if v, ok := defaults[name]; ok {
			out = append(out, name+"="+v)
		}
	}
	return out
}

// without is an environment without some variables.
func without(environ, names []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(names, name)
	})
}

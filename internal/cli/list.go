package cli

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/tree"
	"evener/internal/watch"
)

var sessionsCommand = command{
	name: "sessions", args: "[--all] [--json]", summary: "the sessions there are, the latest first",
	help: "Reads the summary of each session, and the journal where that has outgrown it; one that\ncannot be read is listed with the reason. A session whose run did not end is open while a\nprocess holds it, else lost: resuming it settles what that left. Archived sessions are listed\nwith --all only, and so are those of delegates, below their root.",
}

var jobsCommand = command{
	name: "jobs", args: "[--json] [SESSION]", summary: "the jobs and watches of a session, by default the latest one",
	help: "SESSION may be the id of a delegate. The latest job comes first, with its state, the bytes\nit printed and what it is. Watches follow: the active ones, then those that ended while the\nlatest process ran, with the frames delivered, the condition and the source. A job or watch\nis lost where it never ended and no process holds the session; resuming that settles it.\nWith --json each job is one line: its durable record; held tells of one that runs whether a\nprocess holds the session.",
}

func init() {
	sessionsCommand.run = runSessions
	jobsCommand.run = runJobs
}

func runSessions(e *env, args []string) int {
	fs := e.flags(sessionsCommand)
	set := e.stateFlags(fs)
	all := fs.Bool("all", false, "archived sessions and those of delegates, too")
	asJSON := fs.Bool("json", false, "one object a line")
	rest, status, ok := e.parse(sessionsCommand, fs, args)
	if !ok {
		return status
	}
	if len(rest) > 0 {
		return e.fail(exitUsage, "", "sessions takes no arguments")
	}
	home, _, err := e.home(set)
	if err != nil {
		return e.failLoad(err)
	}
	list, err := home.List()
	if err != nil {
		return e.failState(err)
	}
	var shown []store.Listed
	failed := exitOK
	for _, s := range list {
		switch {
		case s.Err != nil:
			failed = e.failState(s.Err)
		case !s.Archived && !s.OfDelegate() || *all:
			shown = append(shown, s)
		}
	}
	if *asJSON {
		for _, s := range shown {
			writeJSON(e, listedRecord{s.Meta, e.heldOpen(home, s)})
		}
		return failed
	}
	var rows sheet
	for _, s := range belowRoots(shown) {
		outcome, indent := s.Outcome, ""
		if held := e.heldOpen(home, s); held != nil && !*held {
			outcome = "lost"
		}
		if s.Archived {
			outcome += ", archived"
		}
		if s.OfDelegate() {
			indent = "  "
		}
		rows.add(cmp.Or(s.Name, s.Title), "", indent+string(s.Session), s.Last.Local().Format("2006-01-02 15:04"), outcome)
	}
	return max(failed, e.print(&rows))
}

// listedRecord is a session as evener sessions --json prints it.
type listedRecord struct {
	store.Meta
	Held *bool `json:"held,omitempty"` // of one that is open: whether a process holds it
}

// belowRoots puts the sessions of delegates behind their root, in the same order. Those
// whose root is not listed stay where they are.
func belowRoots(all []store.Listed) []store.Listed {
	roots, below := map[id.Session]bool{}, map[id.Session][]store.Listed{}
	for _, s := range all {
		roots[s.Session] = !s.OfDelegate()
	}
	for _, s := range all {
		if s.OfDelegate() && roots[s.Root] {
			below[s.Root] = append(below[s.Root], s)
		}
	}
	var out []store.Listed
	for _, s := range all {
		if !s.OfDelegate() || !roots[s.Root] {
			out = append(append(out, s), below[s.Session]...)
		}
	}
	return out
}

// Record is the durable record of a job, as evener jobs --json prints it.
type Record struct {
	Job         id.Job     `json:"job_id"`
	Type        string     `json:"type"`
	Status      job.Status `json:"status"`
	Reason      string     `json:"reason,omitempty"`
	Description string     `json:"description,omitempty"`
	Command     string     `json:"command"`
	Parent      id.Session `json:"parent_session_id"`
	Owner       id.Session `json:"owner_session_id"`
	Visible     id.Session `json:"visible_to_session_id"`
	ParentJob   id.Job     `json:"parent_job_id,omitempty"`
	// ParentDelegate is whose session owns the job; none at the root.
	ParentDelegate id.Delegate `json:"parent_delegate_id,omitempty"`
	Turn           int64       `json:"origin_turn_id"`
	Call           string      `json:"origin_tool_call_id"`
	Background     bool        `json:"background,omitempty"`
	StartedAt      string      `json:"started_at"`
	EndedAt        string      `json:"ended_at,omitempty"`
	ExitCode       *int        `json:"exit_code,omitempty"`
	OutputPath     string      `json:"output_path,omitempty"`
	OutputBytes    int64       `json:"output_bytes"`
	OutputStart    int64       `json:"output_retained_start_bytes,omitempty"`
	Pruned         bool        `json:"output_pruned,omitempty"`
	Generation     *int        `json:"terminal_generation"` // null until terminal
	Notification   string      `json:"terminal_notification_state"`
	Error          string      `json:"error,omitempty"`
	Held           *bool       `json:"held,omitempty"` // while it runs: whether a process holds the session
}

// recordOf builds the record of a folded job.
func recordOf(h store.Home, s *session.State, x *job.State) Record {
	row := job.RowOf(x, job.Live{})
	r := Record{
		Job: x.ID, Type: "shell", Status: x.Public(), Description: x.Description, Command: x.Command,
		Parent: s.ID, Owner: x.ID.Owner(), Visible: s.ID, ParentJob: x.ParentJob, ParentDelegate: s.Delegate, Turn: x.Turn, Call: x.Call,
		Background: x.BackgroundEvidence(), StartedAt: row.StartedAt, EndedAt: row.EndedAt, ExitCode: row.ExitCode,
		OutputBytes: x.End.TotalBytes, OutputStart: x.End.RetainedStart, Pruned: x.Pruned,
		Notification: s.Attention.Of(x.ID), Error: x.End.Error,
	}
	if row.Reason != nil {
		r.Reason = *row.Reason
	}
	if x.Terminal() {
		r.Generation = &x.End.Generation
	}
	if _, err := os.Lstat(h.Log(x.ID)); err == nil {
		r.OutputPath = filepath.Join("jobs", string(x.ID)+".log")
	}
	return r
}

func runJobs(e *env, args []string) int {
	home, t, asJSON, status, ok := e.look(jobsCommand, args, "one record a line")
	if !ok {
		return status
	}
	s := t.Session()
	who, err := e.heldBy(home, cmp.Or(s.Root, s.ID))
	if err != nil {
		return e.failState(err)
	}
	held := who != nil
	if asJSON {
		for _, x := range slices.Backward(s.Jobs()) {
			r := recordOf(home, s, x)
			if !x.Terminal() {
				r.Held = &held
			}
			writeJSON(e, r)
		}
		return exitOK
	}
	e.sayHeld(who, s.ID)
	var rows sheet
	live := onDisk(home)
	for _, x := range slices.Backward(s.Jobs()) {
		r := job.RowOf(x, live(x))
		printed := bytesOf(r.TotalBytes)
		if home.At > 0 && !x.Terminal() {
			printed = "?" // by then; that is not on record
		}
		rows.add(r.Description, r.Command, string(r.ID), howJob(r, held), printed)
	}
	status = e.print(&rows)
	var watches sheet
	for _, x := range slices.Backward(s.Watches.Rows()) {
		watches.addWatch(x.ID, x.Source, x.Condition, watching(held), x.Deliveries)
	}
	for _, x := range s.Watches.PastRows(watch.MaxRecent) {
		watches.addWatch(x.ID, x.Source, x.Condition, x.EndReason, x.Deliveries)
	}
	return max(status, e.print(&watches))
}

// look begins a command that looks at one session, and that with --json prints
// such rows: where it is, its fold, and whether the flag was given. Where it is not
// ok, the command is over with that status.
func (e *env) look(c command, args []string, rows string) (home store.Home, t *tree.State, asJSON bool, status int, ok bool) {
	fs := e.flags(c)
	set := e.stateFlags(fs)
	fs.BoolVar(&asJSON, "json", false, rows)
	at := atFlag(fs)
	rest, status, ok := e.parse(c, fs, args)
	if !ok {
		return home, nil, asJSON, status, false
	}
	home, _, err := e.home(set)
	if err != nil {
		return home, nil, asJSON, e.failLoad(err), false
	}
	target, status, ok := e.oneSession(home, c.name, rest)
	if !ok {
		return home, nil, asJSON, status, false
	}
	bad, err := lookAt(&home, target, *at)
	if err != nil {
		return home, nil, asJSON, e.failState(err), false
	}
	if bad != "" {
		return home, nil, asJSON, e.fail(exitUsage, "", "%s: %s", c.name, bad), false
	}
	if t, err = store.Load(home, target, 0); err != nil {
		return home, nil, asJSON, e.failState(err), false
	}
	if home.At > 0 && t.Session().ID == "" {
		return home, nil, asJSON, e.fail(exitUsage, "", "%s: --at %s: session %s had not begun by then", c.name, *at, target), false
	}
	return home, t, asJSON, exitOK, true
}

// oneSession is the session that the arguments name, by its id or by the id of
// the delegate whose it is, or the latest.
func (e *env) oneSession(h store.Home, command string, args []string) (id.Session, int, bool) {
	if len(args) > 1 {
		return "", e.fail(exitUsage, "", "%s takes one session", command), false
	}
	if len(args) == 1 {
		s, ok := id.ParseSession(strings.TrimPrefix(args[0], "local:")) // as results name a conversation
		if d, isDelegate := id.ParseDelegate(args[0]); isDelegate {     // named by its conversation
			s, ok = d.Session(), true
		}
		if !ok || !h.Has(s) {
			return "", e.fail(exitUsage, "", "no session %q in %s; evener sessions lists those there are", args[0], h.Sessions), false
		}
		return s, exitOK, true
	}
	list, err := h.List()
	if err != nil {
		return "", e.failState(err), false
	}
	for _, s := range list {
		if s.Err == nil && !s.Archived && !s.OfDelegate() {
			return s.Session, exitOK, true
		}
	}
	return "", e.fail(exitUsage, "", "no session in %s", h.Sessions), false
}

func writeJSON(e *env, v any) {
	enc := json.NewEncoder(e.out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // what could not be written is told once, at the end
}

package session

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"evener/internal/effect"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/text"
	"evener/internal/transcript"
)

func preview(s string) string { return text.Preview(s, 80) }
func quote(s string) string   { return text.Quote(s, 80) }

// answer records a result whose text is the JSON of v, or note behind it.
func (w *work) answer(c transcript.Call, v any, note string) {
	a := transcript.Answered{Call: c.ID, Name: c.Name, Data: text.Encode(v)}
	if note != "" {
		a.Text = string(a.Data) + "\n" + note
	}
	w.emit(a)
}

// refuse records an error result. Its text begins with the canonical code.
func (w *work) refuse(c transcript.Call, err *fault.Error) {
	w.emit(transcript.Answered{Call: c.ID, Name: c.Name, IsError: true, Text: err.Error()})
}

// exec runs the first open call and reports whether it waits for the world.
func (w *work) exec(c transcript.Call) bool {
	if c.Broken != "" {
		w.refuse(c, fault.Invalid("%s: %s; the call was not run, send it again whole", c.Name, c.Broken))
		return false
	}
	if !slices.Contains(w.s.tools, c.Name) {
		w.refuse(c, fault.New(fault.UnknownTool, "there is no tool %s; the tools are %s", quote(c.Name), strings.Join(w.s.tools, ", ")))
		return false
	}
	call, err := w.decode(c.Name, c.Arguments)
	if err != nil {
		w.refuse(c, err)
		return false
	}
	if w.treesCall(call) {
		w.signal(CallTree{Call: c.ID})
		return true
	}
	switch a := call.(type) {
	case ShellCall:
		return w.shell(c, a)
	case JobStatusCall:
		w.jobStatus(c, a)
	case JobListCall:
		w.jobList(c, a)
	case WatchCall:
		return w.jobWatch(c, a)
	case JobStopCall:
		return w.jobStop(c, a)
	case ReadTranscriptCall:
		return w.readTranscript(c, a)
	case FindCall:
		return w.findSessions(c, a)
	case ReadFileCall, WriteFileCall, EditFileCall, ListFilesCall, SearchFilesCall:
		return w.useFiles(c, a)
	case TasksCall:
		w.tasks(c, a)
	case CommunicateCall:
		return w.communicate(c, a)
	default:
		w.err = fmt.Errorf("session: no rule for call %T", call)
	}
	return false
}

// treesCall tells calls that need more than this session from those that it
// answers itself.
func (w *work) treesCall(call Call) bool {
	foreign := func(target string) bool {
		j, ok := id.ParseJob(target)
		_, dlg := id.ParseDelegate(target)
		return dlg || ok && j.Owner() != w.s.ID && w.facts.Kin.Family
	}
	switch a := call.(type) {
	case DelegateCall, DelegateSendCall:
		return true
	case JobStatusCall:
		return foreign(a.Target)
	case JobStopCall:
		return foreign(a.Target)
	case JobListCall: // a session without delegates lists its own jobs
		return w.facts.Kin.Family
	}
	return false
}

// shellPlace refuses a command that the tree has no place for. A detached one
// takes none: it is nobody's.
func (w *work) shellPlace() *fault.Error {
	limit := w.s.Run.Limits.MaxConcurrentShells
	if limit == 0 {
		return nil
	}
	own := int64(len(w.s.Live()))
	all := own
	if w.facts.Kin.Shells != nil {
		all += w.facts.Kin.Shells()
	}
	if all < limit {
		return nil
	}
	return fault.New(fault.TreeAtCapacity, "shell: %d of %d commands are running in this tree (max_concurrent_shells), %d of them this session's; stop one or wait for its end", all, limit, own)
}

// shell starts a command: the intent is on disk with the reply that asked for it.
func (w *work) shell(c transcript.Call, a ShellCall) bool {
	s := w.s
	r, err := job.Check(job.Request{Command: a.Command, Description: a.Description, Mode: job.Mode(a.Mode), MaxRuntimeMS: a.MaxRuntimeMS})
	if err == nil && r.Mode != job.Detached {
		err = w.shellPlace()
	}
	// With the disk full a hand-off could not be made durable, so none is
	// acknowledged; a foreground command still runs, from what was set aside, as
	// long as enough of that is left to end everything in order.
	if err == nil && w.facts.Full != "" && w.facts.Room < roomForCommands {
		err = fault.New(fault.StateFull, "shell: the filesystem of %s is full and what was set aside is needed to end the session in order; free space there, or end the turn", w.facts.Full)
	}
	if err == nil && w.facts.Full != "" && r.Mode != job.Foreground {
		err = fault.New(fault.StateFull, "shell: the filesystem of %s is full, so a %s start could not be recorded; free space there, or use mode=\"foreground\"", w.facts.Full, r.Mode)
	}
	if err != nil {
		w.refuse(c, err)
		return false
	}
	if r.Mode == job.Detached {
		w.order(effect.Detach{Call: c.ID, Command: r.Command, Dir: s.Dir})
		return true
	}
	w.step.UsedRandom = true
	j := id.MintJob(s.ID, w.facts.Random, func(j id.Job) bool { return s.jobs[j] != nil })
	e, fx := job.Start(r, job.Origin{Job: j, Turn: s.Turn.N, Call: c.ID, Dir: s.Dir, ParentJob: s.Run.Parent})
	w.emit(e)
	w.order(fx)
	return true
}

// What of the room that was set aside for a full disk must be left, in bytes, so
// that a command may start, and so that the model is asked again. The rest is for
// the ends of jobs, of the turn and of the run.
const (
	roomForCommands = 64 << 10
	roomForRequests = 32 << 10
)

// target resolves a shell target that the caller may know.
func (w *work) target(tool, t string) (*job.State, *fault.Error) {
	j, ok := id.ParseJob(t)
	if !ok {
		why := "it is no id of a job or a delegate"
		if strings.HasPrefix(t, "job:") || strings.HasPrefix(t, "local:") {
			why = "it is a transcript ref, which names evidence, not a target"
		}
		return nil, fault.New(fault.TargetNotFound, "%s: no target %s: %s; job_list shows the targets there are", tool, quote(t), why)
	}
	if x := w.s.Job(j); x != nil {
		return x, nil
	}
	return nil, fault.New(fault.TargetNotFound, "%s: no job %s in this session; job_list shows the jobs there are", tool, j)
}

// PollNote is the remark on a read that is made over and over.
func (s *State) PollNote(c transcript.Call) string {
	if n := s.Transcript.Repeated(c); n >= 3 {
		return fmt.Sprintf("(%s was called %d times in a row with the same arguments. Completion is notification-driven; do not poll this waiting for a job to finish.)", c.Name, n)
	}
	return ""
}

// communicate accepts a checkpoint or the turn's report. The first accepted
// report of a turn stands.
func (w *work) communicate(c transcript.Call, a CommunicateCall) bool {
	s := w.s
	msg := strings.TrimSpace(a.Message)
	if msg == "" && a.Output != nil {
		msg = strings.TrimSpace(a.Output.Message)
	}
	switch {
	case a.Misfit != "" && s.Run.Schema == nil:
		w.refuse(c, fault.Invalid("communicate: %s", a.Misfit))
		return false
	case msg == "":
		w.refuse(c, fault.Invalid("communicate: message is empty; say what the user needs to know"))
		return false
	case a.EndTurn && s.Turn.Report != nil:
		w.refuse(c, fault.Invalid("communicate: this turn has its report already; the first one stands"))
		return false
	case !a.EndTurn && !s.root(): // an update for the owner
		w.signal(CallTree{Call: c.ID})
		return true
	}
	type result struct {
		Accepted bool   `json:"accepted"`
		EndTurn  bool   `json:"end_turn"`
		Warning  string `json:"warning,omitempty"`
	}
	r := result{Accepted: true, EndTurn: a.EndTurn}
	if a.EndTurn {
		unfit := w.unfit(a)
		if len(unfit) > 0 && s.root() && (s.Turn.Refused == 0 || s.Turn.Refused == s.Requests) { // of one reply all: it has seen no refusal
			w.refuseOutput(c, a, unfit)
			return false
		}
		w.emit(Reported{Turn: s.Turn.N, Call: c.ID, Message: msg, Output: s.Run.output(a), Violations: unfit})
		if jobs := s.running(); len(jobs) > 0 {
			r.Warning = s.stillRunning(jobs)
		}
	}
	w.answer(c, r, "")
	return false
}

// detached answers a detached launch: a PID, and nothing to hold it by.
func (w *work) detached(in Detached) {
	c, ok := w.waiting(in.Call)
	if !ok {
		return
	}
	if in.Error != "" {
		w.answer(c, startFailed(job.Detached, in.Error), "")
	} else {
		w.answer(c, job.DetachedResult{Type: "shell", Mode: job.Detached, PID: in.PID}, "")
	}
	w.calls()
}

func startFailed(m job.Mode, why string) any {
	return struct {
		Type   string     `json:"type"`
		Mode   job.Mode   `json:"mode"`
		Status job.Status `json:"status"`
		Reason string     `json:"reason"`
		Error  string     `json:"error"`
	}{"shell", m, job.Failed, job.StartFailed, why}
}

// waiting finds the call in progress, if it is this one.
func (w *work) waiting(call string) (transcript.Call, bool) {
	return w.s.Transcript.InProgress(call)
}

// readDone records what a read found.
func (w *work) readDone(in ReadDone) {
	c, ok := w.waiting(in.Call)
	if !ok {
		return
	}
	w.emit(transcript.Answered{Call: c.ID, Name: c.Name, IsError: in.IsError, Text: in.Text, Data: json.RawMessage(in.Data)})
	w.calls()
}

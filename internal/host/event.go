// Package host turns what a tree did into what its users see: typed events and
// the final object. It reads durable writes and decides nothing.
package host

import (
	"encoding/json"
	"time"

	"evener/internal/attention"
	"evener/internal/delegate"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
	"evener/internal/task"
	"evener/internal/text"
	"evener/internal/transcript"
	"evener/internal/tree"
)

// Event is one line of the event stream. docs/events.md describes each type.
type Event struct {
	Event   string     `json:"event"`
	Session id.Session `json:"session_id"`
	At      string     `json:"at"`
	Step    int64      `json:"step,omitempty"` // the decision that it comes from; none for a warning
	Input   string     `json:"input_id,omitempty"`
	Data    any        `json:"data"`

	result *TurnResult // of TURN_END
}

// Line is the event as one line of JSON, with its newline.
func (e Event) Line() []byte {
	return append(text.Encode(e), '\n')
}

// WarningData is the payload of WARNING.
type WarningData struct {
	Message string `json:"message"`
}

// Warning is an event about something that is no decision.
func Warning(s id.Session, at time.Time, message string) Event {
	return Event{Event: "WARNING", Session: s, At: job.Stamp(at), Data: WarningData{message}}
}

// JobData is the payload of JOB_STARTED and JOB_FINISHED: shell state only.
type JobData struct {
	Job         id.Job     `json:"job_id"`
	Type        string     `json:"job_type"`
	Status      job.Status `json:"status"`
	Reason      string     `json:"reason,omitempty"`
	Description string     `json:"description,omitempty"`
	Command     string     `json:"command,omitempty"`
	ExitCode    *int       `json:"exit_code,omitempty"`
	OutputBytes *int64     `json:"output_bytes,omitempty"`
}

// CommunicateData is the payload of COMMUNICATE.
type CommunicateData struct {
	Message    string          `json:"message"`
	EndTurn    bool            `json:"end_turn"`
	Output     json.RawMessage `json:"output,omitempty"`
	Violations []string        `json:"output_violations,omitempty"`
}

type turnStarted struct {
	Turn int64            `json:"turn_id"`
	Kind session.TurnKind `json:"kind"`
}

type sessionStarted struct {
	Run   int64        `json:"run"`
	Mode  session.Mode `json:"mode"`
	Model string       `json:"model"`
	Dir   string       `json:"dir"`
	// where the conversation comes from that the session begins with
	Parent     id.Session `json:"parent_session_id,omitempty"`
	Divergence int64      `json:"divergence_turn,omitempty"`
}

// TasksData is the payload of TASKS: the whole list, as a client draws it.
type TasksData struct {
	Tasks []task.Row `json:"tasks"`
}

type promptQueued struct {
	Prompt int64 `json:"prompt"`
}

type promptDropped struct {
	Prompt int64  `json:"prompt"`
	Reason string `json:"reason"`
}

type interrupted struct {
	Turn int64 `json:"turn_id"`
}

type notice struct {
	ID       string          `json:"attention_id"`
	Job      id.Job          `json:"job_id,omitempty"`      // whose end it tells
	Delegate id.Delegate     `json:"delegate_id,omitempty"` // or who sent it
	Kind     attention.Class `json:"kind,omitempty"`        // then: report, update or quiet
	Watch    id.Watch        `json:"watch_id,omitempty"`    // or whose frame it is
	Replaces string          `json:"replaces,omitempty"`    // a notice of the watch that no request had carried yet
}

// Projector makes events of writes, in order. It remembers only what later
// writes refer to.
type Projector struct {
	decode session.Decoder
	said   map[callKey]transcript.Call // calls that may be communicate
	jobs   map[id.Job]job.Intended
	tasks  map[id.Session]*task.State
	model  map[id.Session]string
	dir    map[id.Session]string
	fork   map[id.Session]session.Forked

	root      id.Session
	turns     map[id.Session]session.Turn // those that are open, as far as their results need it
	delegates delegate.Tree
}

// callKey names a call: each conversation counts its own.
type callKey struct {
	session id.Session
	call    string
}

// NewProjector begins at the state that the writes go on from.
func NewProjector(decode session.Decoder, t *tree.State) *Projector {
	p := &Projector{
		decode: decode, said: map[callKey]transcript.Call{}, jobs: map[id.Job]job.Intended{}, model: map[id.Session]string{}, dir: map[id.Session]string{}, fork: map[id.Session]session.Forked{},
		root: t.Root, turns: map[id.Session]session.Turn{}, tasks: map[id.Session]*task.State{}, delegates: t.Delegates.Clone(),
	}
	for name, s := range t.Sessions {
		list := s.Tasks.Clone()
		p.tasks[name] = &list
		if s.Turn != nil {
			p.turns[name] = *s.Turn
		}
		p.model[name], p.dir[name], p.fork[name] = s.Context.Model, s.Dir, s.Fork
		for _, x := range s.Live() { // what a lost process left: their start may have been told already
			mode := x.Mode
			if x.Promoted {
				mode = job.Background
			}
			p.jobs[x.ID] = job.Intended{Job: x.ID, Command: x.Command, Description: x.Description, Mode: mode}
		}
	}
	return p
}

// Of lists the events of one write.
func (p *Projector) Of(w tree.Write) []Event {
	if w.Session == "" {
		return p.ofTree(w)
	}
	var out []Event
	for _, e := range w.Events {
		p.follow(w.Session, e, w.Events)
		name, data := p.project(w.Session, e, w.Events)
		if name != "" {
			x := Event{Event: name, Session: w.Session, At: job.Stamp(w.At), Step: w.Step, Input: p.input(w.Session, e), Data: data}
			if ended, ok := e.(session.TurnEnded); ok {
				if w.Session == p.root {
					x.result = turnResult(w.Session, p.turns[w.Session], ended)
				}
				delete(p.turns, w.Session)
			}
			out = append(out, x)
		}
		switch e := e.(type) {
		case job.Finished:
			out = append(out, p.finished(w, e)...)
		case transcript.Answered:
			if warning := unseeded(e); warning != "" {
				out = append(out, Warning(w.Session, w.At, warning))
			}
		}
	}
	if list := p.changedTasks(w); list != nil { // once for all changes of a line
		out = append(out, Event{Event: "TASKS", Session: w.Session, At: job.Stamp(w.At), Step: w.Step, Data: TasksData{task.Rows(list.All())}})
	}
	return out
}

// changedTasks is the task list after a write, if the write changed it.
func (p *Projector) changedTasks(w tree.Write) *task.State {
	list, changed := p.tasks[w.Session], false
	if list == nil {
		list = &task.State{}
		p.tasks[w.Session] = list
	}
	for _, e := range w.Events {
		if t, ok := e.(task.Event); ok {
			changed = list.Apply(t) == nil || changed
		}
	}
	if !changed {
		return nil
	}
	return list
}

// input is the id of the prompt that an event is about: where it names none,
// that of the open turn.
func (p *Projector) input(s id.Session, e session.Event) string {
	switch e := e.(type) {
	case session.PromptQueued:
		return e.Input
	case session.PromptDropped:
		return e.Input
	}
	return p.turns[s].Input
}

func (p *Projector) project(s id.Session, e session.Event, line []session.Event) (string, any) {
	switch e := e.(type) {
	case session.Created:
		p.dir[s] = e.Dir
	case session.Forked:
		p.fork[s] = e
	case session.ContextSet:
		p.model[s] = e.Model
	case session.RunStarted:
		for _, x := range line { // a changed model stands further on in the same line
			if c, ok := x.(session.ContextSet); ok {
				p.model[s] = c.Model
			}
		}
		return "SESSION_START", sessionStarted{e.Run, e.Mode, p.model[s], p.dir[s], p.fork[s].Parent, p.fork[s].Divergence}
	case session.InputEnded:
		return "INPUT_END", e
	case session.PromptQueued:
		return "PROMPT_QUEUED", promptQueued{e.Prompt}
	case session.PromptDropped:
		return "PROMPT_DROPPED", promptDropped{e.Prompt, e.Why}
	case session.InterruptRequested:
		return "INTERRUPT", interrupted(e)
	case session.JobsAwaited:
		return "JOBS_AWAITED", e
	case session.RunEnded:
		return "SESSION_END", e
	case session.TurnStarted:
		return "TURN_START", turnStarted{e.Turn, e.Type}
	case session.TurnEnded:
		return "TURN_END", e
	case session.Requested:
		return "MODEL_REQUEST", e
	case session.Named:
		return "SESSION_NAMED", e
	case session.CompactionStarted:
		return "COMPACTION_STARTED", e
	case session.CompactionFailed:
		return "COMPACTION_FAILED", e
	case transcript.Compacted:
		return "CONTEXT_COMPACTED", e
	case session.Reported:
		return "COMMUNICATE", CommunicateData{e.Message, true, e.Output, e.Violations}
	case session.OutputRefused:
		return "OUTPUT_REFUSED", e
	case transcript.UserSaid:
		return "USER_INPUT", e
	case transcript.AssistantSaid:
		for _, c := range e.Calls {
			p.said[callKey{s, c.ID}] = c
		}
		return "ASSISTANT", e
	case transcript.Answered:
		return p.answered(s, e)
	case attention.Armed:
		return "NOTIFICATION", notice{ID: e.ID, Job: e.Source}
	case attention.WatchArmed:
		return "NOTIFICATION", notice{ID: e.ID, Watch: e.Watch, Replaces: e.Replaces}
	case attention.DelegateArmed:
		return "NOTIFICATION", notice{ID: e.ID, Delegate: e.Delegate, Kind: e.Class}
	case job.Intended:
		p.jobs[e.Job] = e
	case job.Started:
		if in := p.jobs[e.Job]; in.Mode == job.Background {
			return "JOB_STARTED", started(in)
		}
	case job.Promoted:
		return "JOB_STARTED", started(p.jobs[e.Job])
	}
	return "", nil
}

func started(in job.Intended) JobData {
	return JobData{Job: in.Job, Type: "shell", Status: job.Running, Description: in.Description, Command: in.Command}
}

// finished gives the pair for a kept completion, the end for any other record,
// and nothing for an ephemeral command, which has no job.
func (p *Projector) finished(w tree.Write, f job.Finished) []Event {
	in, known := p.jobs[f.Job]
	delete(p.jobs, f.Job)
	if !f.Kept {
		return nil
	}
	at := job.Stamp(w.At)
	var out []Event
	if known && in.Mode == job.Foreground && !p.promoted(w, f.Job) {
		out = append(out, Event{Event: "JOB_STARTED", Session: w.Session, At: at, Step: w.Step, Input: p.turns[w.Session].Input, Data: started(in)})
	}
	return append(out, Event{Event: "JOB_FINISHED", Session: w.Session, At: at, Step: w.Step, Input: p.turns[w.Session].Input, Data: JobData{
		Job: f.Job, Type: "shell", Status: f.Status, Reason: f.Reason, Description: in.Description, ExitCode: f.ExitCode, OutputBytes: &f.TotalBytes}})
}

// promoted tells a kept foreground completion, which its call sees end, from a
// promoted job: only the former is settled in the same line.
func (p *Projector) promoted(w tree.Write, j id.Job) bool {
	for _, e := range w.Events {
		if s, ok := e.(attention.SettledInline); ok && s.Source == j {
			return false
		}
	}
	return true
}

func (p *Projector) answered(s id.Session, e transcript.Answered) (string, any) {
	c := p.said[callKey{s, e.Call}]
	delete(p.said, callKey{s, e.Call})
	if e.Name == "communicate" && !e.IsError {
		if call, err := p.decode(c.Name, c.Arguments); err == nil {
			if m, ok := call.(session.CommunicateCall); ok && !m.EndTurn {
				return "COMMUNICATE", CommunicateData{Message: m.Message, Output: m.Value}
			}
		}
	}
	return "TOOL_RESULT", e
}

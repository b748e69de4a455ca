package session

import (
	"encoding/json"
	"fmt"
	"time"

	"evener/internal/attention"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/task"
	"evener/internal/transcript"
	"evener/internal/watch"
)

// State is one session, folded.
type State struct {
	ID      id.Session
	Root    id.Session
	Dir     string
	Created time.Time
	Fork    Forked // where the conversation comes from that it begins with
	// ForkLabel marks the branch that was labelled last: it stands here, with the
	// conversation that the branch left, and there is room for one.
	ForkLabel string
	Name      string // from the model, where it was asked for one
	// Archived: put away since the last run.
	Archived bool

	Parent   id.Session  // of a delegate's session
	Delegate id.Delegate // whose conversation this is; empty at the root

	Context    ContextSet
	tools      []string // names, in order: what may be called is what is shown
	Transcript transcript.State
	Attention  attention.State
	Tasks      task.State
	Watches    watch.State

	jobs  map[id.Job]*job.State
	order []id.Job             // in the order intended
	files map[string]KnownFile // by path, see FileSeen
	kept  int64                // output bytes of ended jobs that are not pruned

	Queue   []Queued // accepted prompts that wait for their turn
	Prompts int64    // prompts ever queued

	Run      Run
	Turn     *Turn // nil while idle
	Turns    int64 // turns begun
	Requests int64 // model requests begun
	LastAt   time.Time
	Tokens   transcript.Usage // sum over all replies

	Messages []MessageQueued // of the owner, which no request has carried yet
	known    map[string]bool // every message that was ever queued
	Wait     *SendWaiting    // the delegate_send in progress that waits for a packet
	Stops    []string        // pending stops of the subtree
	closes   bool            // one of them is the close of the root
	opening  string          // see Opening, while the conversation is let go
}

// Run is the latest run.
type Run struct {
	N        int64
	Open     bool
	At       time.Time // its line's
	Ending   string    // why, once it is ending
	Mode     Mode
	Limits   Limits
	Parent   id.Job
	Schema   json.RawMessage // that the output of reports must fit; nil is none
	Requests int64
	// Spent and Rounds count the requests, and the replies with tool calls, since
	// the latest prompt: budgets are for one prompt and what follows from it.
	Spent, Rounds int64
	InputEnded    bool   // a living run gets no more prompts
	InputError    string // why its input could not be read to the end
	Unanswered    int64  // user turns that ended without an answer, though nobody interrupted them
	// Announced: the still-running jobs were announced.
	Announced bool
	// Awaits: the run came to its end once but for running jobs. WaitExpired:
	// the time for that is over.
	Awaits, WaitExpired bool
	// Generation and Exits are a delegate's.
	Generation int64
	Exits      bool
	Answer     *Answer
	Outcome    RunOutcome
	// LastTurn is the outcome of the run's latest turn.
	LastTurn   TurnOutcome
	LastReason string
}

// Answer is what a run answers with.
type Answer struct {
	Text       string
	Output     json.RawMessage
	Violations []string // how the output differs from the run's schema
	Reported   bool     // a terminal communicate; else bare text
}

// Turn is the open turn.
type Turn struct {
	N       int64
	Kind    TurnKind
	Waiting int64 // the request that is out; 0 while calls run
	Carried int   // notices first shown in this turn
	// Influence holds each watch whose frames this turn answers to, and how deep
	// they stood in its own influence.
	Influence map[id.Watch]int
	Report    *Answer
	Text      string // text of the latest reply
	// Refused is the request whose reply held the first output that did not fit;
	// Reminded: the model was told that there is none.
	Refused  int64
	Reminded bool
	// Compacting: the request that is out asks for a summary. Unsummarised: one did
	// not come. Overflow: the server said that of the latest request.
	Compacting   *CompactionStarted
	Unsummarised bool
	Overflow     string

	Input       string // the id that its prompt gave itself
	Interrupted bool   // the user wants it to end
	Requests    int64
	Tokens      transcript.Usage
}

// Queued is a prompt that waits for its turn.
type Queued struct {
	N    int64
	ID   string
	Text string
}

// New is a session without history.
func New() *State {
	return &State{Transcript: transcript.New(), Attention: attention.New(), Watches: watch.New(), jobs: map[id.Job]*job.State{}, known: map[string]bool{}, files: map[string]KnownFile{}}
}

// Job finds a job that callers may know: one with a durable record. Ephemeral
// foreground commands have none.
func (s *State) Job(j id.Job) *job.State {
	if x := s.jobs[j]; x != nil && x.Durable() {
		return x
	}
	return nil
}

// HowEnded is the status of a job that has ended; empty for any other.
func (s *State) HowEnded(j id.Job) job.Status {
	if x := s.Job(j); x != nil && x.Terminal() {
		return x.Status
	}
	return ""
}

// Jobs lists the durable jobs in the order they were started.
func (s *State) Jobs() []*job.State {
	out := make([]*job.State, 0, len(s.order))
	for _, j := range s.order {
		if x := s.Job(j); x != nil {
			out = append(out, x)
		}
	}
	return out
}

// Live lists all jobs without a terminal record, ephemeral ones too.
func (s *State) Live() []*job.State {
	var out []*job.State
	for _, j := range s.order {
		if x := s.jobs[j]; !x.Terminal() {
			out = append(out, x)
		}
	}
	return out
}

// Apply folds one event at its line's time. It fails on an event that cannot
// follow; it never repairs, defaults or ignores.
func (s *State) Apply(at time.Time, e Event) error {
	switch e := e.(type) { // no activity of the session
	case Archived:
		return s.applyArchive(true)
	case Unarchived:
		return s.applyArchive(false)
	case Named:
		return s.applyName(e)
	case ForkLabelled:
		return s.applyLabel(e)
	}
	s.LastAt = at
	switch e := e.(type) {
	case job.Event:
		return s.applyJob(at, e)
	case attention.Event:
		if n, ok := e.(attention.WatchArmed); ok {
			s.Watches.Told(n.Watch)
		}
		return s.Attention.Apply(e)
	case watch.Event:
		return s.Watches.Apply(at, e)
	case task.Event:
		return s.Tasks.Apply(e)
	case transcript.UserSaid:
		return s.applySaid(e)
	case transcript.Answered:
		if s.Wait != nil && s.Wait.Call == e.Call {
			s.Wait = nil
		}
		return s.Transcript.Apply(e)
	case transcript.AssistantSaid:
		return s.applyReply(e)
	case Created:
		if s.ID != "" {
			return fmt.Errorf("session %s: created twice", s.ID)
		}
		s.ID, s.Root, s.Dir, s.Created, s.Parent, s.Delegate = e.Session, e.Root, e.Dir, at, e.Parent, e.Delegate
	case ContextSet:
		return s.applyContext(e)
	case Forked, transcript.Inherited:
		return s.applyFork(e)
	case MessageQueued, SendWaiting, StopBegan, StopEnded:
		return s.applyTree(e)
	case FileSeen:
		return s.applyFile(e)
	case CompactionStarted, CompactionFailed, transcript.Compacted:
		return s.applyCompaction(e)
	case PromptQueued, PromptDropped:
		return s.applyQueue(e)
	case RunStarted, InputEnded, JobsAwaited, WaitExpired, RunEnding, RunEnded:
		return s.applyRun(at, e)
	default:
		return s.applyTurn(e)
	}
	return nil
}

func (s *State) applyJob(at time.Time, e job.Event) error {
	j := e.JobID()
	x := s.jobs[j]
	if _, ok := e.(job.Intended); ok && x == nil {
		x = &job.State{}
		s.jobs[j] = x
		s.order = append(s.order, j)
	}
	if x == nil {
		return fmt.Errorf("job %s: %s of an unknown job", j, e.Kind())
	}
	if err := x.Apply(at, e); err != nil {
		return err
	}
	switch e.(type) {
	case job.Finished:
		if x.Durable() {
			s.kept += x.End.Retained()
		}
	case job.OutputPruned:
		s.kept -= x.End.Retained()
	}
	if x.Terminal() && !x.Durable() { // ephemeral: nothing asks for it again
		delete(s.jobs, j)
		for i := len(s.order) - 1; i >= 0; i-- {
			if s.order[i] == j {
				s.order = append(s.order[:i], s.order[i+1:]...)
				break
			}
		}
	}
	return nil
}

func (s *State) applyReply(e transcript.AssistantSaid) error {
	if s.Turn == nil || s.Turn.Waiting == 0 || s.Turn.Waiting != e.Request {
		return fmt.Errorf("reply to request %d, which is not out", e.Request)
	}
	s.Turn.Waiting, s.Turn.Text, s.Turn.Overflow = 0, e.Text, ""
	if len(e.Calls) > 0 {
		s.Run.Rounds++
	}
	s.Tokens = s.Tokens.Plus(e.Usage)
	s.Turn.Tokens = s.Turn.Tokens.Plus(e.Usage)
	return s.Transcript.Apply(e)
}

func (s *State) applyRun(at time.Time, e Event) error {
	switch e := e.(type) {
	case RunStarted:
		if s.Run.Open || e.Run != s.Run.N+1 {
			return fmt.Errorf("run %d: started after run %d", e.Run, s.Run.N)
		}
		if e.Mode == Delegated && e.Generation <= s.Run.Generation {
			return fmt.Errorf("run %d: generation %d began after %d", e.Run, e.Generation, s.Run.Generation)
		}
		s.Archived = false
		s.Run = Run{N: e.Run, Open: true, At: at, Mode: e.Mode, Limits: e.Limits, Parent: e.ParentJob, Generation: e.Generation, Exits: e.Exits, Schema: e.OutputSchema}
	case InputEnded:
		if !s.Run.Open || s.Run.InputEnded {
			return fmt.Errorf("run %d: its input ended out of order", e.Run)
		}
		s.Run.InputEnded, s.Run.InputError = true, e.Error
	case JobsAwaited:
		if !s.Run.Open || s.Turn != nil || s.Run.Awaits {
			return fmt.Errorf("run %d: waits for jobs out of order", e.Run)
		}
		s.Run.Awaits = true
	case WaitExpired:
		if !s.Run.Open || !s.Run.Awaits || s.Run.WaitExpired {
			return fmt.Errorf("run %d: waited for jobs out of order", e.Run)
		}
		s.Run.WaitExpired = true
	case RunEnding:
		if !s.Run.Open || s.Run.Ending != "" {
			return fmt.Errorf("run %d: ending twice", e.Run)
		}
		s.Run.Ending = e.Why
	case RunEnded:
		if !s.Run.Open || s.Turn != nil {
			return fmt.Errorf("run %d: ended while a turn is open", e.Run)
		}
		s.Run.Open, s.Run.Outcome = false, e.Outcome
	}
	return nil
}

func (s *State) applyTurn(e Event) error {
	if st, ok := e.(TurnStarted); ok {
		if s.Turn != nil || !s.Run.Open || st.Turn != s.Turns+1 {
			return fmt.Errorf("turn %d: started out of order", st.Turn)
		}
		s.Turns, s.Turn = st.Turn, &Turn{N: st.Turn, Kind: st.Type}
		s.Run.Announced = s.Run.Announced || st.Type == AnnouncementTurn
		if st.Type == UserTurn {
			s.Run.Spent, s.Run.Rounds = 0, 0
		}
		return nil
	}
	t := s.Turn
	if t == nil {
		return fmt.Errorf("%s while no turn is open", e.Kind())
	}
	switch e := e.(type) {
	case Requested:
		if t.Waiting != 0 || e.Request != s.Requests+1 || len(s.Transcript.Open()) > 0 {
			return fmt.Errorf("request %d: out of order", e.Request)
		}
		s.Requests, t.Waiting = e.Request, e.Request
		s.Run.Requests++
		s.Run.Spent++
		t.Requests++
		if len(e.Attention) == 0 {
			return nil
		}
		t.Carried += len(e.Attention)
		for x, depth := range s.Attention.Influence(e.Attention) {
			if t.Influence == nil {
				t.Influence = map[id.Watch]int{}
			}
			t.Influence[x] = max(t.Influence[x], depth)
		}
		frames, err := s.Attention.Show(e.Attention, len(s.Transcript.Entries))
		if err != nil {
			return err
		}
		return s.Transcript.Show(t.N, frames)
	case Reported:
		if t.Report != nil {
			return fmt.Errorf("turn %d: reported twice", t.N)
		}
		t.Report = &Answer{Text: e.Message, Output: e.Output, Violations: e.Violations, Reported: true}
	case OutputRefused:
		if s.Run.Schema == nil {
			return fmt.Errorf("turn %d: output refused without a schema", e.Turn)
		}
		if e.Call == "" {
			t.Reminded = true
		} else if t.Refused == 0 {
			t.Refused = s.Requests
		}
	case InterruptRequested:
		if t.Interrupted {
			return fmt.Errorf("turn %d: interrupted twice", t.N)
		}
		t.Interrupted = true
	case TurnEnded:
		if len(s.Transcript.Open()) > 0 {
			return fmt.Errorf("turn %d: ended while a call is open", t.N)
		}
		if e.Answer {
			s.Run.Answer = t.Report
			if t.Report == nil {
				s.Run.Answer = &Answer{Text: t.Text, Violations: s.Run.noOutput()}
			}
		}
		if t.Kind == UserTurn && s.Run.lacksAnswer(t, e.Outcome) {
			s.Run.Unanswered++
		}
		s.Run.LastTurn, s.Run.LastReason, s.Turn = e.Outcome, e.Reason, nil
	default:
		return fmt.Errorf("session: unknown event %T", e)
	}
	return nil
}

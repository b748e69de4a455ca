package session

import (
	"evener/internal/effect"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/job"
)

// Decoder turns a tool call into its typed arguments. It is pure, so that a
// call is decoded again when its turn comes, after a restart or in a replay.
type Decoder func(name, arguments string) (Call, *fault.Error)

// Step is what a decision came to. No events: nothing is written.
type Step struct {
	Events  []Event
	Effects []effect.Effect
	Signals []Signal // for the tree, in order
	// UsedRandom and Live are the facts that the decision read: its cause keeps them.
	UsedRandom bool
	Live       []job.Live
}

// work is one decision in the making. emit applies an event to the state and
// records it; the first event that cannot follow stops the decision.
type work struct {
	s      *State
	decode Decoder
	facts  Facts
	step   Step
	err    error
}

func (w *work) emit(e Event) {
	if w.err != nil {
		return
	}
	if w.err = w.s.Apply(w.facts.Now, e); w.err == nil {
		w.step.Events = append(w.step.Events, e)
		w.observe(e)
	}
}

func (w *work) order(fx ...effect.Effect) { w.step.Effects = append(w.step.Effects, fx...) }

func (w *work) signal(s Signal) { w.step.Signals = append(w.step.Signals, s) }

// live reads what is known of a job that still runs.
func (w *work) live(j id.Job) job.Live {
	if x := w.s.jobs[j]; x == nil || x.Terminal() {
		return job.Live{Job: j}
	}
	l := w.facts.Live(j)
	w.step.Live = append(w.step.Live, l)
	return l
}

func (w *work) liveOf(x *job.State) job.Live { return w.live(x.ID) }

// Decide takes one input. A *fault.Error is a refusal and writes nothing; any
// other error means that the decision itself does not fold, which is a defect:
// the caller discards the state.
func Decide(s *State, decode Decoder, f Facts, in Input) (Step, error) {
	w := &work{s: s, decode: decode, facts: f}
	switch in := in.(type) {
	case Prompt:
		if err := w.prompt(in); err != nil {
			return Step{}, err
		}
	case Open:
		if err := w.open(in); err != nil {
			return Step{}, err
		}
	case Interrupt:
		if err := w.interrupt(in); err != nil {
			return Step{}, err
		}
	case EndInput:
		w.endInput(in)
	case Inherit:
		if err := w.inherit(in); err != nil {
			return Step{}, err
		}
	case LabelFork:
		if err := w.labelFork(in); err != nil {
			return Step{}, err
		}
	case Replied:
		w.replied(in)
	case ModelFailed:
		w.modelFailed(in)
	case Summarised:
		w.summarised(in)
	case NameFound:
		w.nameFound(in)
	case Launched:
		w.launched(in)
	case LaunchFailed:
		w.launchFailed(in)
	case Exited:
		w.exited(in)
	case Detached:
		w.detached(in)
	case ReadDone:
		w.readDone(in)
	case FilesDone:
		w.filesDone(in)
	case TimerFired:
		w.timer(in.Key)
	case Close:
		w.close(in.Why)
	case Abandon:
		if !s.Run.Open {
			w.order(effect.EndRun{})
		}
	case Restarted:
		w.restarted(in)
	case Archive:
		if err := w.archive(in); err != nil {
			return Step{}, err
		}
	default:
		w.ofTree(in)
	}
	w.askName()
	return w.step, w.err
}

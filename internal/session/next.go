package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"evener/internal/effect"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/transcript"
)

// next decides what comes while no turn is open: the prompt that waits longest;
// the notices that are owed, unless a turn has just ended ill or interrupted;
// then, where the process exits with the turn, the wait for running jobs, one
// announcement of what still runs, and the end. tell is false after such a
// turn: the model would only fail again, or the user wants quiet.
func (w *work) next(tell bool) {
	s := w.s
	jobs := s.running()
	all := jobs
	if w.facts.Kin.Jobs != nil && s.awaiting() { // what a delegate started to wait for counts like the session's own
		all = slices.Concat(jobs, w.facts.Kin.Jobs())
	}
	switch {
	case w.err != nil || s.Run.Ending != "":
	case s.Run.Mode == Delegated:
		w.idleDelegate(!tell)
	case len(s.Queue) > 0:
		w.takePrompt()
	case tell && len(s.Attention.Unshown()) > 0:
		w.startTurn(NotificationTurn, transcript.UserSaid{})
	case s.outlives():
	case tell && w.facts.Kin.Working.yes(): // the tree says when it has come to rest
	case len(all) > 0 && s.awaiting():
		w.await(all)
	case tell && len(jobs) > 0 && !s.Run.Announced:
		w.startTurn(AnnouncementTurn, transcript.UserSaid{Note: true, Text: s.stillRunning(jobs)})
	case s.Run.Mode == OneShot && (s.Run.LastTurn.ill() || s.Run.LastTurn == TurnInterrupted):
		w.close(string(s.Run.LastTurn))
	default:
		w.close("")
	}
}

// outlives reports whether the session goes on when no turn is open.
func (s *State) outlives() bool {
	return s.Run.Mode == Living && !s.Run.InputEnded || s.Run.Mode == Delegated && !s.Run.Exits
}

// Running lists the handed-off jobs that have not ended.
func (s *State) Running() []*job.State { return s.running() }

func (s *State) running() []*job.State {
	var out []*job.State
	for _, x := range s.Live() {
		if x.BackgroundEvidence() {
			out = append(out, x)
		}
	}
	return out
}

// awaiting reports whether the end of the run waits for running jobs.
func (s *State) awaiting() bool { return s.Run.Limits.WaitJobsMS != 0 && !s.Run.WaitExpired }

const jobsTimer = "jobs"

// await keeps the run open for running jobs, whose ends start notification
// turns. The time for it runs from the first wait on.
func (w *work) await(jobs []*job.State) {
	s := w.s
	if s.Run.Awaits {
		return
	}
	most := max(s.Run.Limits.WaitJobsMS, 0)
	ids := make([]id.Job, 0, len(jobs))
	for _, x := range jobs {
		ids = append(ids, x.ID)
	}
	w.emit(JobsAwaited{Run: s.Run.N, Jobs: ids, AtMostMS: most})
	if most > 0 {
		w.order(effect.SetTimer{Key: jobsTimer, After: msDuration(most)})
	}
}

// jobsOverdue ends the wait: what still runs is announced and ended, as in a
// run that waits for nothing.
func (w *work) jobsOverdue() {
	s := w.s
	if !s.Run.Open || s.Run.Ending != "" || !s.Run.Awaits || s.Run.WaitExpired || s.Run.Limits.WaitJobsMS < 0 {
		return
	}
	w.emit(WaitExpired{Run: s.Run.N})
	if s.Turn == nil {
		w.next(true)
	}
}

// stillRunning names running jobs and what becomes of them.
func (s *State) stillRunning(jobs []*job.State) string {
	var b strings.Builder
	b.WriteString("Background jobs still running:")
	for i, j := range jobs {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(" " + string(j.ID))
		if j.Description != "" {
			fmt.Fprintf(&b, " (%s)", preview(j.Description))
		}
	}
	b.WriteString(". " + s.fate())
	return b.String()
}

// fate is what becomes of a job that runs on when the turn ends: where the
// session outlives the turn, or waits for it, it reports by itself; where the
// process exits with the turn it cannot.
func (s *State) fate() string {
	const separately = "Each job reports separately on completion."
	most := s.Run.Limits.WaitJobsMS
	switch {
	case s.outlives(), s.awaiting() && most < 0:
		return separately
	case s.awaiting():
		return fmt.Sprintf("%s This process waits for them, but for no more than %v in all: "+
			"a job which runs longer is killed at exit rather than reported on later.", separately, time.Duration(most)*time.Millisecond)
	}
	return "This process exits when the turn ends: a job which keeps running is killed at exit rather than reported on later. " +
		"If its result matters, wait for it with a foreground command before ending the turn; otherwise end the turn again."
}

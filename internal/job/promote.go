package job

import (
	"time"

	"evener/internal/effect"
)

// WaitExpired promotes a foreground job that is still running when the
// session's command timeout has passed. A late timer finds the job terminal,
// already promoted or stopping, and does nothing: a stop that was asked for
// has its own end.
func WaitExpired(s *State, now time.Time) (Promoted, []effect.Effect, bool) {
	if s == nil || s.Status != Running || s.Mode != Foreground || s.Promoted || s.StopBy != "" {
		return Promoted{}, nil, false
	}
	e, fx := HandOff(s, now)
	return e, []effect.Effect{fx}, true
}

// HandOff makes a running foreground command a job of its own: nobody waits for
// it any more, and its end will be announced.
func HandOff(s *State, now time.Time) (Promoted, effect.Effect) {
	return Promoted{Job: s.ID, WaitElapsedMS: now.Sub(s.StartedAt).Milliseconds()}, effect.KeepOutput{Job: s.ID}
}

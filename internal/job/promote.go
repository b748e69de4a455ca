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
	return Promoted{Job: s.ID, WaitElapsedMS: now.Sub(s.StartedAt).Milliseconds()},
		[]effect.Effect{effect.KeepOutput{Job: s.ID}}, true
}

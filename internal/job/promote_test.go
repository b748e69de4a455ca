package job

import (
	"testing"

	"evener/internal/effect"
)

// Only a foreground command that runs and that nobody stops is promoted; a
// late or stale timer does nothing.
//
// clause: JC-156
func TestWaitExpired(t *testing.T) {
	for name, s := range states(t) {
		e, fx, ok := WaitExpired(s, at(121))
		if ok != (name == "running fg") {
			t.Errorf("%s: promoted %v", name, ok)
		}
		if ok {
			same(t, name, e, Promoted{Job: j1, WaitElapsedMS: 120000})
			same(t, name, fx, effects(effect.KeepOutput{Job: j1}))
		}
	}
	if _, _, ok := WaitExpired(nil, at(1)); ok {
		t.Error("a job that is gone was promoted")
	}
}

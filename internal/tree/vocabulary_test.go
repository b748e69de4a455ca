package tree_test

import (
	"slices"
	"strings"

	"evener/internal/delegate"
	"evener/internal/job"
)

// vocabulary: whatever ends says so with a status and a reason of the few that
// there are. What else there is to say stands in other fields; the code of a call
// that is refused is none of them.
func (f *family) vocabulary() {
	statuses := []delegate.Status{delegate.Completed, delegate.Failed, delegate.Exhausted, delegate.Cancelled, delegate.Stopped}
	reasons := []string{"", delegate.MissingTerminal, delegate.TerminalError, delegate.RuntimeLost, delegate.StoppedByParent, "turn_budget_exhausted", "tool_round_budget_exhausted"}
	ofJobs := []string{job.ExitZero, job.ExitNonzero, job.StoppedByParent, job.RunTimeout, job.RuntimeLost, job.CancelUnconfirmed, job.StartFailed, job.WaitFailed}
	for _, r := range f.disk {
		for _, e := range r.events {
			switch e := e.(type) {
			case delegate.Finished:
				if !slices.Contains(statuses, e.Status) || !slices.Contains(reasons, e.Reason) {
					f.fatalf("a run ended as %q, %q", e.Status, e.Reason)
				}
			case job.Finished:
				if e.Status == "" || !slices.Contains(ofJobs, e.Reason) && !strings.HasPrefix(e.Reason, job.KilledBySignal) {
					f.fatalf("a job ended as %q, %q", e.Status, e.Reason)
				}
			}
		}
	}
}

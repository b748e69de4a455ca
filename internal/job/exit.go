package job

// Exit is what the world reports of a command that ended.
type Exit struct {
	Code       int    `json:"code"`                // its own exit code; meaningless with a signal
	Signal     string `json:"signal,omitempty"`    // SIGKILL, …
	Signalled  bool   `json:"signalled,omitempty"` // the stop ladder reached it while it lived
	LeftBehind int    `json:"left_behind,omitempty"`
	Survivors  []int  `json:"survivors,omitempty"`
	Total      int64  `json:"total_bytes"`
	Start      int64  `json:"retained_start_bytes,omitempty"`
	Lost       int64  `json:"lost_bytes,omitempty"` // output that the disk did not take
	Err        string `json:"error,omitempty"`      // supervision failed: the exit is not known

	// Output ends that the result and the notice show; they stand in the line's
	// other events, not in the cause.
	Head string `json:"-"`
	Tail string `json:"-"`
	// Shown stands for them in a decision that is made again.
	Shown *Shown `json:"-"`
}

// Output is what the command printed.
func (x Exit) Output() Output {
	return Output{Total: x.Total, Start: x.Start, Head: x.Head, Tail: x.Tail, Shown: x.Shown}
}

// noExitCode stands for a process that did not exit by itself: a sentinel,
// not a shell code.
const noExitCode = -1

// Exited ends a running job. inline is the most output bytes that a
// foreground result carries: a foreground completion whose result cannot carry
// all of it is kept, so that nothing which was printed is out of reach.
//
// A shell that ends before its command was released never ran it: the launch
// failed, whatever the shell's own status says.
func Exited(s *State, x Exit, inline int64) Finished {
	if s.Status == Intent {
		return LaunchFailed(s, "the shell ended before its command was released")
	}
	f := Finished{
		Job: s.ID, Generation: 1, TotalBytes: x.Total, RetainedStart: x.Start,
		LostBytes: x.Lost, LeftBehind: x.LeftBehind, Survivors: x.Survivors, Error: x.Err,
		Kept: s.BackgroundEvidence() || !x.Output().fits(inline),
	}
	f.Status, f.Reason, f.ExitCode = classify(s, x)
	f.OnItsOwn = s.StopBy != "" && !x.Signalled && x.Err == ""
	return f
}

func classify(s *State, x Exit) (Status, string, *int) {
	none := noExitCode
	switch {
	case s.StopBy != "" && (x.Err != "" || len(x.Survivors) > 0):
		return Stopped, CancelUnconfirmed, &none
	case x.Err != "":
		return Failed, WaitFailed, &none
	case s.StopBy == ByTimeout && x.Signalled:
		return Stopped, RunTimeout, &none
	case s.StopBy != "" && x.Signalled:
		return Cancelled, StoppedByParent, &none
	case x.Signal != "":
		return Killed, KilledBySignal + x.Signal, &none
	case x.Code != 0:
		return ExitedNonzero, ExitNonzero, &x.Code
	}
	return Completed, ExitZero, &x.Code
}

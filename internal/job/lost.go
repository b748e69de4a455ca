package job

// Found is what a restart found of a job that had no terminal record.
type Found struct {
	Total int64 `json:"total_bytes"`
	Start int64 `json:"retained_start_bytes,omitempty"`
}

// Lost ends a job whose supervision was lost with the process that held it.
// That is not a failure of the command: nothing is known of its outcome. Its
// record is kept, so that what it printed can still be read.
func Lost(s *State, f Found) Finished {
	none := noExitCode
	why := ""
	if s.Status == Intent {
		why = "never started: evener ended before the command was released"
	}
	return Finished{
		Job: s.ID, Status: Stopped, Reason: RuntimeLost, ExitCode: &none, Generation: 1, Kept: true,
		TotalBytes: f.Total, RetainedStart: f.Start, Error: why,
	}
}

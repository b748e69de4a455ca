package tool

import (
	_ "embed"

	"evener/internal/session"
)

//go:embed job_stop.md
var jobStopText string

var jobStop = define[session.JobStopCall]("job_stop", jobStopText, nil)

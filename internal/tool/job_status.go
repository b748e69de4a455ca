package tool

import (
	_ "embed"

	"evener/internal/session"
)

//go:embed job_status.md
var jobStatusText string

var jobStatus = define[session.JobStatusCall]("job_status", jobStatusText, nil)

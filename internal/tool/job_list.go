package tool

import (
	_ "embed"

	"evener/internal/session"
)

//go:embed job_list.md
var jobListText string

var jobList = define[session.JobListCall]("job_list", jobListText, nil)

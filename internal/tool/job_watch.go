package tool

import (
	_ "embed"

	"evener/internal/session"
)

//go:embed job_watch.md
var jobWatchText string

var jobWatch = define[session.WatchCall]("job_watch", jobWatchText, nil)

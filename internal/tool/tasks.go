package tool

import (
	_ "embed"

	"evener/internal/session"
)

//go:embed tasks.md
var tasksText string

var tasks = define[session.TasksCall]("tasks", tasksText, nil)

package cli

import (
	"fmt"

	"evener/internal/task"
)

var tasksCommand = command{
	name: "tasks", args: "[--json] [SESSION]", summary: "the task list of a session, by default the latest one",
	help: "One line a task, as the model is shown it. With --json each task is an object with its prompt.",
}

func init() { tasksCommand.run = runTasks }

// taskRecord is a task as evener tasks --json prints it.
type taskRecord struct {
	task.Row
	Prompt string `json:"prompt,omitempty"`
}

func runTasks(e *env, args []string) int {
	_, t, asJSON, status, ok := e.look(tasksCommand, args, "one object a line")
	if !ok {
		return status
	}
	for _, x := range t.Session().Tasks.All() {
		if asJSON {
			writeJSON(e, taskRecord{task.RowOf(x), x.Prompt})
			continue
		}
		fmt.Fprintln(e.out, task.Line(x))
	}
	return exitOK
}

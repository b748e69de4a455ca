package cli

import (
	"fmt"

	"evener/internal/store"
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
	fs := e.flags(tasksCommand)
	set := e.stateFlags(fs)
	asJSON := fs.Bool("json", false, "one object a line")
	rest, status, ok := e.parse(tasksCommand, fs, args)
	if !ok {
		return status
	}
	home, _, err := e.home(set)
	if err != nil {
		return e.failLoad(err)
	}
	target, status, ok := e.oneSession(home, "tasks", rest)
	if !ok {
		return status
	}
	t, err := store.Load(home, target, 0)
	if err != nil {
		return e.failState(err)
	}
	for _, x := range t.Session().Tasks.All() {
		if *asJSON {
			writeJSON(e, taskRecord{task.RowOf(x), x.Prompt})
			continue
		}
		if _, err := fmt.Fprintln(e.out, task.Line(x)); err != nil {
			return e.fail(exitState, "", "write: %v", err)
		}
	}
	return exitOK
}

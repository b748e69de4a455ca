package session

import (
	"evener/internal/fault"
	"evener/internal/task"
	"evener/internal/text"
	"evener/internal/transcript"
)

// TasksResult is the answer of tasks: what was read or changed.
type TasksResult struct {
	Tasks  []task.Row `json:"tasks"`
	Prompt string     `json:"prompt,omitempty"` // of the task that is shown
	Open   int        `json:"open_count"`
	Total  int        `json:"total_count"`
}

// tasks reads or changes the task list. A read writes its result and nothing else.
func (w *work) tasks(c transcript.Call, a TasksCall) {
	err := a.fits()
	if err == nil {
		switch a.Operation {
		case "list":
			w.answerTasks(c, w.s.Tasks.All(), "", task.Text(&w.s.Tasks))
		case "show":
			err = w.showTask(c, a)
		case "add":
			err = w.addTasks(c, a)
		case "update":
			err = w.updateTask(c, a)
		}
	}
	if err != nil {
		w.refuse(c, fault.New(err.Code, "tasks: %s", err.Text))
	}
}

// fits refuses parameters of another operation, which would go unheard.
func (a TasksCall) fits() *fault.Error {
	one := a.Operation == "show" || a.Operation == "update"
	for _, p := range []struct {
		name     string
		given    bool
		belongs  bool
		required bool
	}{
		{"items", len(a.Items) > 0, a.Operation == "add", a.Operation == "add"},
		{"id", a.ID != 0, one, one},
		{"state", a.State != "", a.Operation == "update", false},
		{"note", a.Note != "", a.Operation == "update", false},
	} {
		switch {
		case p.given && !p.belongs:
			return fault.Invalid("%s does not go with operation %q", p.name, a.Operation)
		case p.required && !p.given:
			return fault.Invalid("operation %q needs %s", a.Operation, p.name)
		}
	}
	return nil
}

// answerTasks tells of some tasks, and how many there are.
func (w *work) answerTasks(c transcript.Call, tasks []task.Task, prompt, shown string) {
	r := TasksResult{Tasks: task.Rows(tasks), Prompt: prompt, Open: w.s.Tasks.Open(), Total: len(w.s.Tasks.All())}
	w.emit(transcript.Answered{Call: c.ID, Name: c.Name, Text: shown, Data: text.Encode(r)})
}

func (w *work) showTask(c transcript.Call, a TasksCall) *fault.Error {
	x, err := task.Get(&w.s.Tasks, a.ID)
	if err != nil {
		return err
	}
	w.answerTasks(c, []task.Task{x}, x.Prompt, task.Detail(x))
	return nil
}

func (w *work) addTasks(c transcript.Call, a TasksCall) *fault.Error {
	var items []task.Item
	for _, x := range a.Items {
		items = append(items, task.Item(x))
	}
	e, err := task.Add(&w.s.Tasks, "items", items)
	if err != nil {
		return err
	}
	w.emit(e)
	if w.err != nil {
		return nil
	}
	all := w.s.Tasks.All()
	added := all[len(all)-len(items):]
	shown := "added:"
	for _, x := range added {
		shown += "\n" + task.Line(x)
	}
	w.answerTasks(c, added, "", shown+"\n"+task.Rest(&w.s.Tasks))
	return nil
}

func (w *work) updateTask(c transcript.Call, a TasksCall) *fault.Error {
	e, changed, err := task.Update(&w.s.Tasks, a.ID, task.Stage(a.State), a.Note)
	if err != nil {
		return err
	}
	if changed {
		w.emit(e)
	}
	x, err := task.Get(&w.s.Tasks, a.ID)
	if err != nil {
		return err
	}
	w.answerTasks(c, []task.Task{x}, "", task.Line(x)+"\n"+task.Rest(&w.s.Tasks))
	return nil
}

package task

// Event is a fact about the list.
type Event interface {
	Kind() string
	task()
}

// Step is a task as it was given; it never changes.
type Step struct {
	ID     int64  `json:"id"` // from 1 on, never used again
	Title  string `json:"title"`
	Prompt string `json:"prompt,omitempty"`
	Type   string `json:"type,omitempty"`
}

// Seeded: the list came with the session's assignment.
type Seeded struct {
	Tasks []Step `json:"tasks"`
}

// Added: the session set itself more steps.
type Added struct {
	Tasks []Step  `json:"tasks"`
	Left  []int64 `json:"left,omitempty"` // closed tasks that made room
}

// Changed: a task's state, and its note if a new one was given.
type Changed struct {
	ID    int64  `json:"id"`
	State Stage  `json:"state"`
	Note  string `json:"note,omitempty"`
}

func (Seeded) Kind() string  { return "task.seeded" }
func (Added) Kind() string   { return "task.added" }
func (Changed) Kind() string { return "task.changed" }

func (Seeded) task()  {}
func (Added) task()   {}
func (Changed) task() {}

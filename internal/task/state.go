package task

import (
	"fmt"
	"slices"
)

// Stage is how far a task is.
type Stage string

const (
	Pending    Stage = "pending"
	InProgress Stage = "in_progress"
	Done       Stage = "done"
	Dropped    Stage = "dropped"
)

// Open: there is still something to do.
func (g Stage) Open() bool { return g == Pending || g == InProgress }

func (g Stage) known() bool { return g.Open() || g == Done || g == Dropped }

// Task is one task, folded.
type Task struct {
	Step
	Stage Stage
	Note  string
}

// State is a task list, folded. The zero value is the empty list.
type State struct {
	tasks  []Task  // in the order given
	last   int64   // the latest number
	closed []int64 // those that are done or dropped, the earliest closed first
}

// All lists the tasks in the order given. Callers do not change it.
func (s *State) All() []Task { return s.tasks }

// Open counts the tasks that are not closed.
func (s *State) Open() int { return len(s.tasks) - len(s.closed) }

// Clone is a list that goes on by itself.
func (s *State) Clone() State {
	return State{tasks: slices.Clone(s.tasks), last: s.last, closed: slices.Clone(s.closed)}
}

// Find is the task of a number.
func (s *State) Find(n int64) (Task, bool) {
	if i := s.index(n); i >= 0 {
		return s.tasks[i], true
	}
	return Task{}, false
}

func (s *State) index(n int64) int {
	return slices.IndexFunc(s.tasks, func(t Task) bool { return t.ID == n })
}

// Apply folds one event. It fails on an event that cannot follow.
func (s *State) Apply(e Event) error {
	switch e := e.(type) {
	case Seeded:
		if s.last > 0 {
			return fmt.Errorf("task list: seeded after task %d", s.last)
		}
		return s.push(e.Tasks)
	case Added:
		for _, n := range e.Left {
			if len(s.closed) == 0 || s.closed[0] != n {
				return fmt.Errorf("task %d: left the list out of order", n)
			}
			s.closed = s.closed[1:]
			s.tasks = slices.Delete(s.tasks, s.index(n), s.index(n)+1)
		}
		return s.push(e.Tasks)
	case Changed:
		return s.change(e)
	}
	return fmt.Errorf("task list: unknown event %T", e)
}

func (s *State) push(steps []Step) error {
	for _, x := range steps {
		if x.ID != s.last+1 {
			return fmt.Errorf("task %d: added after task %d", x.ID, s.last)
		}
		s.last = x.ID
		s.tasks = append(s.tasks, Task{Step: x, Stage: Pending})
	}
	return nil
}

func (s *State) change(e Changed) error {
	i := s.index(e.ID)
	if i < 0 || !e.State.known() {
		return fmt.Errorf("task %d: %s, which cannot follow", e.ID, e.State)
	}
	x := &s.tasks[i]
	switch was := x.Stage.Open(); {
	case was && !e.State.Open():
		s.closed = append(s.closed, x.ID)
	case !was && e.State.Open():
		s.closed = slices.DeleteFunc(s.closed, func(n int64) bool { return n == x.ID })
	}
	x.Stage = e.State
	if e.Note != "" {
		x.Note = e.Note
	}
	return nil
}

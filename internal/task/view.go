package task

import (
	"fmt"
	"strings"

	"evener/internal/text"
)

// Row is a task as results, events and listings show it: without its prompt,
// which may be long.
type Row struct {
	ID    int64  `json:"id"`
	Title string `json:"title"`
	Type  string `json:"type,omitempty"`
	State Stage  `json:"state"`
	Note  string `json:"note,omitempty"`
}

// RowOf makes the row of a task.
func RowOf(t Task) Row {
	return Row{ID: t.ID, Title: t.Title, Type: t.Type, State: t.Stage, Note: t.Note}
}

// Rows makes the rows of a list; [] where there is none.
func Rows(tasks []Task) []Row {
	rows := []Row{}
	for _, t := range tasks {
		rows = append(rows, RowOf(t))
	}
	return rows
}

// Line shows a task in one line.
func Line(t Task) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d %s %s", t.ID, t.Stage, text.Preview(t.Title, maxTitle))
	if t.Type != "" {
		fmt.Fprintf(&b, " (%s)", text.Preview(t.Type, maxType))
	}
	if t.Note != "" {
		fmt.Fprintf(&b, " - %s", text.Preview(t.Note, maxTitle))
	}
	return b.String()
}

// Text shows a list, one line a task.
func Text(s *State) string {
	if len(s.tasks) == 0 {
		return "no tasks"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d tasks, %d open.", len(s.tasks), s.Open())
	for _, t := range s.tasks {
		b.WriteString("\n" + Line(t))
	}
	return b.String()
}

// Detail shows one task whole.
func Detail(t Task) string {
	note := t.Note
	t.Note = ""
	d := Line(t)
	if note != "" {
		d += "\nnote: " + text.Printable(note)
	}
	if t.Prompt != "" {
		d += "\n\n" + text.Printable(t.Prompt)
	}
	return d
}

// Rest says in one line how much of a list is left, and what comes next.
func Rest(s *State) string {
	rest := fmt.Sprintf("open: %d of %d", s.Open(), len(s.tasks))
	for _, t := range s.tasks {
		if t.Stage == Pending {
			return rest + fmt.Sprintf("; next: %d %s", t.ID, text.Preview(t.Title, maxTitle))
		}
	}
	return rest
}

// Brief is how a list is put into an assignment: every task with its prompt, in
// order. "" for an empty list.
func Brief(tasks []Task) string {
	if len(tasks) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Your task list, in this order:\n")
	for _, t := range tasks {
		fmt.Fprintf(&b, "\n%d. %s", t.ID, text.Preview(t.Title, maxTitle))
		if t.Type != "" {
			fmt.Fprintf(&b, " (%s)", text.Preview(t.Type, maxType))
		}
		if t.Stage != Pending {
			fmt.Fprintf(&b, " [%s]", t.Stage)
		}
		for line := range strings.Lines(t.Prompt) {
			b.WriteString("\n" + strings.TrimRight("   "+line, " \t\r\n"))
		}
	}
	return b.String()
}

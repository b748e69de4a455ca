package task

import (
	"strings"
	"unicode/utf8"

	"evener/internal/fault"
)

// Bounds of a list. Titles, types and notes count code points, prompts bytes.
const (
	MaxTasks   = 100
	maxTitle   = 200
	maxType    = 50
	maxNote    = 500
	maxPrompt  = 8 << 10
	maxPrompts = 64 << 10 // of all tasks that come together
)

// Item is a task to be.
type Item struct{ Title, Prompt, Type string }

// Seed makes the list of a session that begins. A refusal names the item by
// the place it stands in, such as task_list[2].
func Seed(place string, items []Item) (Seeded, *fault.Error) {
	if len(items) > MaxTasks {
		return Seeded{}, fault.Invalid("%s has %d tasks; a list holds %d", place, len(items), MaxTasks)
	}
	steps, err := steps(place, items, 0)
	return Seeded{Tasks: steps}, err
}

// Add sets more tasks behind those there are. Where the list is full, the tasks
// that were closed first leave it; open ones never do.
func Add(s *State, place string, items []Item) (Added, *fault.Error) {
	if len(items) == 0 {
		return Added{}, fault.Invalid("%s is empty; name at least one task", place)
	}
	if open := s.Open(); open+len(items) > MaxTasks {
		return Added{}, fault.Invalid("%s has %d tasks and %d are open; a list holds %d: finish or drop some first", place, len(items), open, MaxTasks)
	}
	steps, err := steps(place, items, s.last)
	if err != nil {
		return Added{}, err
	}
	over := max(0, len(s.tasks)+len(items)-MaxTasks)
	return Added{Tasks: steps, Left: append([]int64(nil), s.closed[:over]...)}, nil
}

// steps checks items and numbers them on from last.
func steps(place string, items []Item, last int64) (out []Step, err *fault.Error) {
	prompts := 0
	for i, x := range items {
		x.Title, x.Prompt, x.Type = strings.TrimSpace(x.Title), strings.TrimSpace(x.Prompt), strings.TrimSpace(x.Type)
		prompts += len(x.Prompt)
		title, typ := utf8.RuneCountInString(x.Title), utf8.RuneCountInString(x.Type)
		switch {
		case title == 0:
			return nil, fault.Invalid("%s[%d].title is empty; say in a few words what is to be done", place, i)
		case title > maxTitle:
			return nil, fault.Invalid("%s[%d].title has %d characters; %d at most, the rest belongs in prompt", place, i, title, maxTitle)
		case typ > maxType:
			return nil, fault.Invalid("%s[%d].type has %d characters; %d at most", place, i, typ, maxType)
		case len(x.Prompt) > maxPrompt:
			return nil, fault.Invalid("%s[%d].prompt has %d bytes; %d at most", place, i, len(x.Prompt), maxPrompt)
		case prompts > maxPrompts:
			return nil, fault.Invalid("the prompts of %s have more than %d bytes together", place, maxPrompts)
		}
		last++
		out = append(out, Step{ID: last, Title: x.Title, Prompt: x.Prompt, Type: x.Type})
	}
	return out, nil
}

package store

import (
	"slices"
	"strings"

	"evener/internal/session"
	"evener/internal/transcript"
)

// leanBytes is what a lean fold keeps of a text.
const leanBytes = 1 << 10

// lean is an event as a lean fold keeps it. Whether an event can follow depends on
// none of the texts that are cut: identities, turns and states are left as they are.
func lean(e session.Event) session.Event {
	switch e := e.(type) {
	case transcript.Answered:
		if len(e.Data) > leanBytes && e.Text == "" {
			e.Text = string(e.Data[:leanBytes])
		}
		e.Text = beginning(e.Text)
		if len(e.Data) > leanBytes {
			e.Data = nil
		}
		return e
	case transcript.AssistantSaid:
		e.Text, e.Reasoning = beginning(e.Text), beginning(e.Reasoning)
		e.Calls = slices.Clone(e.Calls)
		for i := range e.Calls {
			e.Calls[i].Arguments = beginning(e.Calls[i].Arguments)
		}
		return e
	}
	return e
}

func beginning(s string) string {
	if len(s) <= leanBytes {
		return s
	}
	return strings.Clone(s[:leanBytes])
}

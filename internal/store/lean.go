package store

import (
	"slices"
	"strings"

	"evener/internal/session"
	"evener/internal/transcript"
)

// leanBytes is what a lean fold keeps of a text.
const leanBytes = 1 << 10

// lean is an event as a lean fold keeps it, the event itself where it is short.
// Whether an event can follow depends on none of the texts that are cut:
// identities, turns and states are left as they are.
func lean(event session.Event) session.Event {
	switch e := event.(type) {
	case transcript.Answered:
		if len(e.Text) <= leanBytes && len(e.Data) <= leanBytes {
			return event
		}
		if len(e.Data) > leanBytes && e.Text == "" {
			e.Text = string(e.Data[:leanBytes])
		}
		e.Text = beginning(e.Text)
		if len(e.Data) > leanBytes {
			e.Data = nil
		}
		return e
	case transcript.AssistantSaid:
		if len(e.Text) <= leanBytes && len(e.Reasoning) <= leanBytes && !slices.ContainsFunc(e.Calls, longCall) {
			return event
		}
		e.Text, e.Reasoning = beginning(e.Text), beginning(e.Reasoning)
		e.Calls = slices.Clone(e.Calls)
		for i := range e.Calls {
			e.Calls[i].Arguments = beginning(e.Calls[i].Arguments)
		}
		return e
	}
	return event
}

func longCall(c transcript.Call) bool { return len(c.Arguments) > leanBytes }

func beginning(s string) string {
	if len(s) <= leanBytes {
		return s
	}
	return strings.Clone(s[:leanBytes])
}

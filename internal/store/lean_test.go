package store

import (
	"reflect"
	"strings"
	"testing"

	"evener/internal/session"
	"evener/internal/transcript"
)

func TestLeanKeepsHowTextsBegin(t *testing.T) {
	long, cut := strings.Repeat("a", leanBytes+1), strings.Repeat("a", leanBytes)
	data := []byte(`"` + long + `"`)
	call := func(arguments string) []transcript.Call {
		return []transcript.Call{{ID: "c0", Name: "t", Arguments: "{}"}, {ID: "c1", Name: "t", Arguments: arguments}}
	}
	short := transcript.AssistantSaid{Turn: 1, Request: 2, Text: cut, Reasoning: cut, Calls: call(cut), Finish: "stop"}
	for _, c := range []struct {
		what       string
		from, want session.Event
	}{
		{"a short result", transcript.Answered{Call: "c1", Name: "t", Text: cut}, transcript.Answered{Call: "c1", Name: "t", Text: cut}},
		{"a long text", transcript.Answered{Call: "c1", Name: "t", IsError: true, Text: long}, transcript.Answered{Call: "c1", Name: "t", IsError: true, Text: cut}},
		{"long data", transcript.Answered{Call: "c1", Name: "t", Data: data}, transcript.Answered{Call: "c1", Name: "t", Text: string(data[:leanBytes])}},
		{"a text and long data", transcript.Answered{Call: "c1", Name: "t", Text: "x", Data: data}, transcript.Answered{Call: "c1", Name: "t", Text: "x"}},
		{"a short reply", short, short},
		{"a long reply", transcript.AssistantSaid{Turn: 1, Text: long, Finish: "stop"}, transcript.AssistantSaid{Turn: 1, Text: cut, Finish: "stop"}},
		{"long reasoning", transcript.AssistantSaid{Turn: 1, Reasoning: long}, transcript.AssistantSaid{Turn: 1, Reasoning: cut}},
		{"long arguments", transcript.AssistantSaid{Turn: 1, Calls: call(long)}, transcript.AssistantSaid{Turn: 1, Calls: call(cut)}},
		{"another event", session.Named{}, session.Named{}},
	} {
		if got := lean(c.from); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %.200v", c.what, got)
		}
	}
	before := call(long)
	lean(transcript.AssistantSaid{Calls: before})
	if before[1].Arguments != long {
		t.Error("the event itself was changed")
	}
}

package transcript

import (
	"encoding/json"
	"testing"
)

func said(ids ...string) AssistantSaid {
	a := AssistantSaid{Turn: 1, Request: 1, Text: "hm", Finish: "stop"}
	for _, x := range ids {
		a.Calls = append(a.Calls, Call{ID: x, Name: "shell", Arguments: "{}"})
	}
	return a
}

func result(x string) Answered {
	return Answered{Call: x, Name: "shell", Data: json.RawMessage(`{"a":1}`)}
}

type framed struct{}

func (framed) Kind() string { return "framed" }

func apply(s *State, steps ...Event) error {
	for _, e := range steps {
		err := error(nil)
		if _, ok := e.(framed); ok {
			err = s.Show(1, []string{"<a>", "<b>"})
		} else {
			err = s.Apply(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Every call has its one result, in call order, before anything else is said.
func TestOrder(t *testing.T) {
	user := UserSaid{Turn: 1, Text: "go"}
	for what, c := range map[string]struct {
		steps []Event
		ok    bool
	}{
		"a plain turn":               {[]Event{user, said()}, true},
		"a call and its result":      {[]Event{user, said("a"), result("a"), said()}, true},
		"results in call order":      {[]Event{user, said("a", "b"), result("a"), result("b"), framed{}, said("c")}, true},
		"results out of order":       {[]Event{user, said("a", "b"), result("b")}, false},
		"a result of nothing":        {[]Event{user, said(), result("a")}, false},
		"a second result":            {[]Event{user, said("a"), result("a"), result("a")}, false},
		"user text while open":       {[]Event{user, said("a"), user}, false},
		"a reply while open":         {[]Event{user, said("a"), said()}, false},
		"frames while open":          {[]Event{user, said("a", "b"), result("a"), framed{}}, false},
		"an id used twice in one":    {[]Event{user, said("a", "a")}, false},
		"an id used in two replies":  {[]Event{user, said("a"), result("a"), said("a")}, false},
		"a call without an id":       {[]Event{user, said("")}, false},
		"an event of another people": {[]Event{framedEvent{}}, false},
	} {
		s := New()
		last := len(c.steps) - 1
		if err := apply(&s, c.steps[:last]...); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if err := apply(&s, c.steps[last]); (err == nil) != c.ok {
			t.Errorf("%s: %v", what, err)
		}
	}
}

type framedEvent struct{}

func (framedEvent) Kind() string { return "other" }

func TestEntries(t *testing.T) {
	s := New()
	worded := Answered{Call: "b", Name: "job_list", Text: "2 jobs.", Data: json.RawMessage(`{"count":2}`)}
	if err := apply(&s, UserSaid{Turn: 1, Text: "go"}, said("a", "b"), result("a"), worded, framed{}); err != nil {
		t.Fatal(err)
	}
	want := []Entry{{Role: User, Turn: 1, Text: "go"}, {Role: Assistant, Turn: 1, Text: "hm"}, {Role: Tool, Text: `{"a":1}`, Call: "a", Name: "shell"},
		{Role: Tool, Text: "2 jobs.", Call: "b", Name: "job_list"}, {Role: Frames, Turn: 1, Text: "<a>\n<b>"}}
	if len(s.Entries) != len(want) {
		t.Fatalf("%d entries", len(s.Entries))
	}
	for i, e := range s.Entries {
		if (e.Assistant != nil) != (i == 1) {
			t.Errorf("entry %d: assistant %v", i, e.Assistant)
		}
		e.Assistant = nil
		if e != want[i] {
			t.Errorf("entry %d: %+v, want %+v", i, e, want[i])
		}
	}
	if len(s.Open()) != 0 || !s.UsedID("a") || s.UsedID("c") {
		t.Errorf("open %v", s.Open())
	}
}

// What was read of the entries stays as it was when the conversation goes on.
func TestPrefixStays(t *testing.T) {
	s := New()
	if err := apply(&s, UserSaid{Text: "go"}, said("a", "b")); err != nil {
		t.Fatal(err)
	}
	before, open := s.Entries, s.Open()
	if err := apply(&s, result("a"), result("b"), said("c")); err != nil {
		t.Fatal(err)
	}
	if len(before) != 2 || len(before[1].Assistant.Calls) != 2 || open[0].ID != "a" || open[1].ID != "b" {
		t.Errorf("the prefix changed: %+v %+v", before, open)
	}
}

func TestStoredForm(t *testing.T) {
	full := AssistantSaid{Turn: 1, Request: 2, Text: "t", Reasoning: "r", ReasoningField: "reasoning_content", Finish: "tool_calls", Model: "m",
		Calls: []Call{{ID: "a_2", SentID: "a", Name: "shell", Arguments: `{"command":`, Broken: "cut short"}}, Usage: Usage{1, 2, 3}}
	for _, c := range []struct {
		e    Event
		want string
	}{
		{UserSaid{Turn: 1, Text: "go"}, `{"turn_id":1,"text":"go"}`},
		{UserSaid{Turn: 1, Text: "note", Note: true}, `{"turn_id":1,"text":"note","note":true}`},
		{AssistantSaid{Turn: 1, Request: 2, Finish: "stop"}, `{"turn_id":1,"request":2,"finish":"stop","usage":{"input":0,"output":0}}`},
		{full, `{"turn_id":1,"request":2,"text":"t","reasoning":"r","reasoning_field":"reasoning_content","calls":[{"call_id":"a_2","sent_id":"a","name":"shell","arguments":"{\"command\":","broken":"cut short"}],"finish":"tool_calls","model":"m","usage":{"input":1,"output":2,"cached":3}}`},
		{result("a"), `{"call_id":"a","name":"shell","is_error":false,"data":{"a":1}}`},
		{Answered{Call: "a", Name: "shell", IsError: true, Text: "no"}, `{"call_id":"a","name":"shell","is_error":true,"text":"no"}`},
	} {
		if b, _ := json.Marshal(c.e); string(b) != c.want {
			t.Errorf("%s: %s", c.e.Kind(), b)
		}
	}
}

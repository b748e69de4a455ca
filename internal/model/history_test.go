package model

import (
	"encoding/json"
	"strings"
	"testing"
)

func user(s string) Message { return Message{Role: RoleUser, Text: s} }

func result(id, s string) Message { return Message{Role: RoleTool, CallID: id, Text: s} }

// TestBody compares the JSON text of requests byte for byte: it must be the
// same each time, and what strict servers accept.
func TestBody(t *testing.T) {
	zero := 0.0
	call := func(id, name, args string) Message {
		return Message{Role: RoleAssistant, Calls: []Call{{ID: id, Name: name, Arguments: args}}}
	}
	thought := Message{Role: RoleAssistant, Text: "a", Reasoning: "hm", ReasoningField: "reasoning_content"}
	tagged := Message{Role: RoleAssistant, Text: "a", Reasoning: "hm", ReasoningField: thinkTag}
	cases := []struct {
		name   string
		c      Config
		r      Request
		stream bool
		want   string
	}{
		{"least", Config{}, Request{}, false, `{"model":"n","messages":null,"stream":false}`},
		{"streamed", Config{}, Request{System: "be <brief> & kind", Messages: []Message{user("hi")}}, true,
			`{"model":"n","messages":[{"role":"system","content":"be <brief> & kind"},{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":true}}`},
		{"users become one", Config{}, Request{Messages: []Message{user("a"), user("b"), {Role: RoleAssistant}, user("c")}}, false,
			`{"model":"n","messages":[{"role":"user","content":"a\n\nb\n\nc"}],"stream":false}`},
		{"null only beside calls", Config{}, Request{Messages: []Message{user("a"), call("1", "shell", `{"a":1}`), result("1", ""), {Role: RoleAssistant, Text: "t"}}}, false,
			`{"model":"n","messages":[{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"shell","arguments":"{\"a\":1}"}}]},{"role":"tool","content":"","tool_call_id":"1"},{"role":"assistant","content":"t"}],"stream":false}`},
		{"half and empty arguments", Config{}, Request{Messages: []Message{call("1", "shell", `{"a":`), call("2", "shell", ""), call("3", "my tool!", "[1]"), call("4", "", "{}")}}, false,
			`{"model":"n","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"shell","arguments":"{}"}}]},{"role":"assistant","content":null,"tool_calls":[{"id":"2","type":"function","function":{"name":"shell","arguments":"{}"}}]},{"role":"assistant","content":null,"tool_calls":[{"id":"3","type":"function","function":{"name":"my_tool_","arguments":"{}"}}]},{"role":"assistant","content":null,"tool_calls":[{"id":"4","type":"function","function":{"name":"unnamed","arguments":"{}"}}]}],"stream":false}`},
		{"reasoning goes back as it came", Config{}, Request{Messages: []Message{thought, tagged}}, false,
			`{"model":"n","messages":[{"role":"assistant","content":"a","reasoning_content":"hm"},{"role":"assistant","content":"a"}],"stream":false}`},
		{"only reasoning", Config{}, Request{Messages: []Message{{Role: RoleAssistant, Reasoning: "hm", ReasoningField: "reasoning"}}}, false,
			`{"model":"n","messages":[{"role":"assistant","content":"","reasoning":"hm"}],"stream":false}`},
		{"reasoning off", Config{ReasoningEcho: "off"}, Request{Messages: []Message{thought, tagged}}, false,
			`{"model":"n","messages":[{"role":"assistant","content":"a"},{"role":"assistant","content":"a"}],"stream":false}`},
		{"reasoning named", Config{ReasoningEcho: "reasoning"}, Request{Messages: []Message{thought, tagged}}, false,
			`{"model":"n","messages":[{"role":"assistant","content":"a","reasoning":"hm"},{"role":"assistant","content":"a","reasoning":"hm"}],"stream":false}`},
		{"tools", Config{}, Request{Tools: []Tool{{"shell", "Runs.", json.RawMessage("{\"type\": \"object\"}")}, {Name: "list"}}}, false,
			`{"model":"n","messages":null,"tools":[{"type":"function","function":{"name":"shell","description":"Runs.","parameters":{"type":"object"}}},{"type":"function","function":{"name":"list","parameters":{"type":"object","properties":{}}}}],"parallel_tool_calls":true,"stream":false}`},
		{"parameters", Config{MaxTokensField: "max_completion_tokens"}, Request{Params: Params{MaxTokens: 5, Temperature: &zero, ReasoningEffort: "low"}}, false,
			`{"model":"n","messages":null,"max_completion_tokens":5,"temperature":0,"reasoning_effort":"low","stream":false}`},
		{"extra body", Config{ExtraBody: json.RawMessage(`{"z":1,"model":"other","b":{"y":2,"x":1}}`)}, Request{}, false,
			`{"model":"other","messages":null,"stream":false,"b":{"y":2,"x":1},"z":1}`},
		{"no parallel", Config{NoParallel: true}, Request{Tools: []Tool{{Name: "a"}}}, false,
			`{"model":"n","messages":null,"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"object","properties":{}}}}],"stream":false}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for range 3 {
				got, err := c.c.withDefaults().body("n", c.r, c.stream)
				if err != nil || string(got) != c.want {
					t.Fatalf("%v\n%s\nwant\n%s", err, got, c.want)
				}
			}
		})
	}
	if _, err := (Config{}).body("n", Request{Messages: []Message{{Role: "system"}}}, false); err == nil || !strings.Contains(err.Error(), `role "system"`) {
		t.Errorf("got %v", err)
	}
	if _, err := (Config{}).body("n", Request{Tools: []Tool{{Name: "a", Parameters: json.RawMessage("{")}}}, false); err == nil {
		t.Error("a broken schema was sent")
	}
}

// TestBodyGrowsAtTheEnd: servers reuse what they computed for the same beginning.
func TestBodyGrowsAtTheEnd(t *testing.T) {
	r := Request{System: "s", Messages: []Message{user("a")}}
	messages := func() string {
		b, err := Config{}.withDefaults().body("n", r, true)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(b), `],"stream"`)
		return head
	}
	before := messages()
	for _, m := range []Message{
		{Role: RoleAssistant, Reasoning: "hm", ReasoningField: "reasoning", Calls: []Call{{ID: "1", Name: "shell", Arguments: "{"}}},
		result("1", "no"), user("b"), {Role: RoleAssistant, Text: "done"}, user("c"),
	} {
		r.Messages = append(r.Messages, m)
		after := messages()
		if !strings.HasPrefix(after, before) {
			t.Fatalf("the beginning changed from\n%s\nto\n%s", before, after)
		}
		before = after
	}
}

// TestStreamSetting: off, and off for requests with tools only.
func TestStreamSetting(t *testing.T) {
	tools := []Tool{{Name: "a"}}
	for _, c := range []struct {
		setting string
		tools   []Tool
		want    bool
	}{{"", tools, true}, {"off", nil, false}, {"no_tools", nil, true}, {"no_tools", tools, false}} {
		withServer(t, Config{Stream: c.setting}, []step{says(okReply)}, func(t *testing.T, s *server) {
			if _, err := s.m.Complete(t.Context(), Request{Tools: c.tools}, nil); err != nil {
				t.Fatal(err)
			}
			if got := strings.Contains(s.bodies[0], `"stream":true`); got != c.want {
				t.Errorf("%q with %d tools: streamed %v", c.setting, len(c.tools), got)
			}
		})
	}
}

// TestIDsAreNewInTheConversation: a server that counts its ids from zero in each reply repeats none.
func TestIDsAreNewInTheConversation(t *testing.T) {
	reply := `{"choices":[{"message":{"tool_calls":[{"id":"call_0","function":{"name":"a","arguments":"{}"}},{"id":"call_1","function":{"name":"a","arguments":"{}"}},{"id":"` + strings.Repeat("x", 200) + `","function":{"name":"a"}},{"id":"a b","function":{"name":"a"}}]}}]}`
	withServer(t, Config{}, []step{says(reply)}, func(t *testing.T, s *server) {
		var ms []Message
		var all []Call
		for range 3 {
			ms = append(ms, user("go"))
			r, err := s.m.Complete(t.Context(), Request{Messages: ms}, nil)
			if err != nil {
				t.Fatal(err)
			}
			ms = append(ms, r.Message())
			for _, c := range r.Calls {
				ms = append(ms, result(c.ID, "done"))
			}
			all = append(all, r.Calls...)
		}
		unique(t, all)
		if len(all) != 12 || all[0].ID != "call_0" || len(all[2].ID) != 9 {
			t.Errorf("calls %+v", all)
		}
		if err := Check(ms); err != nil {
			t.Error(err)
		}
	})
}

func TestCheck(t *testing.T) {
	two := Message{Role: RoleAssistant, Calls: []Call{{ID: "1"}, {ID: "2"}}}
	for _, c := range []struct {
		name, want string
		ms         []Message
	}{
		{"good", "", []Message{user("a"), two, result("2", ""), result("1", ""), user("b")}},
		{"late", `before the call "2"`, []Message{two, result("1", ""), user("b"), result("2", "")}},
		{"never", `the call "1" has no result`, []Message{two}},
		{"twice", `answers the call "1"`, []Message{two, result("1", ""), result("1", "")}},
		{"unasked", `answers the call "9"`, []Message{result("9", "")}},
		{"id again", `uses the call id "1"`, []Message{two, result("1", ""), result("2", ""), two}},
	} {
		if err := Check(c.ms); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// The room for a text is what it takes: too little would copy a long history, too much would hold memory.
func TestQuotedLen(t *testing.T) {
	all := "\u0080\u0085\u2027\u2028\u2029\u202a\ufffd\xff\xe2\x80 é→🙂<>&'"
	for r := range rune(0x80) {
		all += string(r)
	}
	for _, s := range []string{"", "plain", all, strings.Repeat("a\n\"", 1000)} {
		b, err := encode(s)
		if err != nil || quotedLen(s) != len(b)-2 {
			t.Errorf("%.20q: %d, want %d, %v", s, quotedLen(s), len(b)-2, err)
		}
	}
}

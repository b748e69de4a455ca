package model

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestOddShapes holds what no known server sends as a whole, but some send in parts.
func TestOddShapes(t *testing.T) {
	const end = "data: [DONE]\n\n"
	deltas := func(ds ...string) string {
		var b strings.Builder
		for _, d := range ds {
			b.WriteString(`data: {"choices":[{"delta":` + d + "}]}\n\n")
		}
		return b.String() + end
	}
	cases := []struct {
		name, sent string
		want       []string
	}{
		{"another tool under the same index", deltas(
			`{"tool_calls":[{"index":0,"function":{"name":"shell","arguments":"{\"command\":"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"name":"job_list","arguments":"{}"}}]}`),
			[]string{`call * shell {"command": BROKEN the arguments are not one JSON object (they end too early); nothing was run`, `call * job_list {}`, `finish tool_calls/`}},
		{"equal calls in one delta", deltas(
			`{"tool_calls":[{"id":"c","function":{"name":"shell","arguments":"{}"}},{"id":"c","function":{"name":"shell","arguments":"{}"}}]}`),
			[]string{`call c shell {}`, `call * shell {}`, `finish tool_calls/`}},
		{"pieces after an id came back", deltas(
			`{"tool_calls":[{"index":0,"id":"c1","function":{"name":"a","arguments":"{\"x\":"}}]}`,
			`{"tool_calls":[{"index":0,"id":"c2","function":{"name":"b","arguments":"{}"}}]}`,
			`{"tool_calls":[{"index":0,"id":"c1","function":{"arguments":"\"y"}}]}`,
			`{"tool_calls":[{"index":0,"function":{"arguments":"z\"}"}}]}`),
			[]string{`call c1 a {"x":"yz"}`, `call c2 b {}`, `finish tool_calls/`}},
		{"the whole message at the end", `data: {"choices":[{"delta":{"content":"Hi"}}]}` + "\n\n" +
			`data: {"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}` + "\n\n" + end,
			[]string{`text "Hi"`, `finish stop/stop`}},
		{"a message as the only event", `data: {"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}` + "\n\n" + end,
			[]string{`text "Hi"`, `finish stop/stop`}},
		{"a filter inside a call", `{"choices":[{"message":{"tool_calls":[{"id":"c","function":{"name":"a","arguments":""}}]},"finish_reason":"content_filter"}]}`,
			[]string{`call c a ` + wasCut, `finish content_filter/content_filter`}},
		{"a refusal", `{"choices":[{"message":{"content":null,"refusal":"I will not."},"finish_reason":"stop"}]}`,
			[]string{`text "I will not."`, `finish stop/stop`}},
		{"both names for reasoning", deltas(`{"reasoning":"hm","reasoning_content":"hm"}`, `{"content":"x"}`),
			[]string{`text "x"`, `reasoning_content "hm"`, `finish stop/`}},
		{"an event over several lines", "data: {\"choices\":\ndata: [{\"delta\":{\"content\":\"x\"},\ndata: \"finish_reason\":\"stop\"}]}",
			[]string{`text "x"`, `finish stop/stop`}},
		{"a byte order mark and empty lines", "\ufeff\n\n\n" + `{"choices":[{"message":{"content":"x"}}]}`, []string{`text "x"`, `finish stop/`}},
		{"no end mark but the finish, and a lost connection", `data: {"choices":[{"delta":{"content":"x"},"finish_reason":"max_tokens"}]}`,
			[]string{`text "x"`, `finish length/max_tokens`}},
		{"fields of other types", `{"id":7,"model":null,"choices":[{"message":{"role":1,"content":5,"tool_calls":null},"finish_reason":{},"logprobs":[]}],"usage":{"prompt_tokens":"12","completion_tokens":{}}}`,
			[]string{`text "5"`, `finish stop/ {"Input":12,"Output":0,"CacheRead":0,"CacheWrite":0,"Reasoning":0}`}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			withServer(t, Config{}, []step{says(c.sent)}, func(t *testing.T, s *server) {
				r, err := s.ask(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if got, want := describe(r, c.sent), strings.Join(c.want, "\n"); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
				unique(t, r.Calls)
			})
		})
	}
}

// TestEndlessReply: a reply without end is given up, and not asked for again.
func TestEndlessReply(t *testing.T) {
	event := `data: {"choices":[{"delta":{"content":"` + strings.Repeat("a", 1000) + `"}}]}` + "\n\n"
	endless := func(w http.ResponseWriter, _ *http.Request) {
		for err := error(nil); err == nil; {
			_, err = io.WriteString(w, event)
		}
	}
	for name, st := range map[string]step{"streamed": endless, "plain": says(`{"choices":"` + strings.Repeat("a", 30000))} {
		withServer(t, Config{}, []step{st}, func(t *testing.T, s *server) {
			s.m.replyMax = 20000
			if e := s.fails(); e.Kind != Protocol || !strings.Contains(e.Text, "longer than") || s.requests() != 1 {
				t.Errorf("%s: after %d requests: %v", name, s.requests(), e)
			}
		})
	}
}

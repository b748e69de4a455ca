package model

import (
	"net/http"
	"strings"
	"testing"
)

const wasCut = " BROKEN the reply was cut off inside this call, before its arguments were complete; nothing was run"

// TestFixtures reads what each kind of server sends and compares what the session gets.
func TestFixtures(t *testing.T) {
	cases := []struct {
		file string
		want []string
	}{
		{"llamacpp/pieces.sse", []string{`text "I will look."`, `call Vx3kP0aQ shell {"command":"go test ./..."}`, `call b81LmXcc job_list {}`,
			`finish tool_calls/tool_calls {"Input":812,"Output":31,"CacheRead":790,"CacheWrite":0,"Reasoning":0}`}},
		{"llamacpp/timings_only.sse", []string{`text "Done."`, `finish stop/stop {"Input":120,"Output":3,"CacheRead":100,"CacheWrite":0,"Reasoning":0}`}},
		{"llamacpp/reasoning.sse", []string{`text "Hello <b>&</b> ü世"`, `reasoning_content "The user greets."`,
			`finish stop/stop {"Input":12,"Output":9,"CacheRead":0,"CacheWrite":0,"Reasoning":4}`}},
		{"llamacpp/length_half_call.sse", []string{`call w1 job_status {"target":"job_1"}`, `call h2 shell {"command":"rm -rf bui` + wasCut, `finish length/length`}},
		{"llamacpp/length_empty_call.sse", []string{`call w1 job_list ` + wasCut, `finish length/length`}},
		{"llamacpp/cut_arguments.sse", []string{`call w1 shell {"command":"rm -rf bui BROKEN the arguments are not one JSON object (they end too early); nothing was run`,
			`finish tool_calls/tool_calls`}},
		{"llamacpp/object_arguments.json", []string{`call o1 shell {"command":"echo 1 > a","n":1.5}`, `call o2 job_list {}`,
			`finish tool_calls/tool_calls {"Input":7,"Output":5,"CacheRead":0,"CacheWrite":0,"Reasoning":0}`}},
		{"ollama/whole_calls.sse", []string{`call call_k2p9wq1z shell {"command":"true"}`, `call call_8sh3ndm0 shell {"command":"true"}`,
			`finish tool_calls/tool_calls {"Input":210,"Output":24,"CacheRead":0,"CacheWrite":0,"Reasoning":0}`}},
		{"ollama/stop_with_call.sse", []string{`call call_k2p9wq1z job_list {}`, `finish tool_calls/stop {"Input":210,"Output":24,"CacheRead":0,"CacheWrite":0,"Reasoning":0}`}},
		{"ollama/reasoning.sse", []string{`text "4"`, `reasoning "Easy one."`, `finish stop/stop`}},
		{"ollama/no_mark.sse", []string{`text "4"`, `finish stop/stop`}},
		{"vllm/repeated_index.sse", []string{`call chatcmpl-tool-aa shell {"command": "one"}`, `call chatcmpl-tool-bb shell {"command": "two"}`, `finish tool_calls/tool_calls`}},
		{"vllm/repeated_index_no_id.sse", []string{`call * shell {"command": "one"}`, `call * shell {"command": "two"}`, `finish tool_calls/tool_calls`}},
		{"vllm/one_delta.sse", []string{`call t1 shell {"command": "one"}`, `call t2 shell {"command": "two"}`, `call t3 job_list `, `finish tool_calls/tool_calls`}},
		{"vllm/interleaved.sse", []string{`call t1 shell {"command": "one"}`, `call t2 shell {"command":"two"}`, `finish tool_calls/tool_calls`}},
		{"vllm/interleaved_index0.sse", []string{`call t1 shell {"command":"one"}`, `call t2 shell {"command":"two"}`, `finish tool_calls/tool_calls`}},
		{"vllm/id_and_name_repeated.sse", []string{`call t1 shell {"command":"one"}`, `finish tool_calls/tool_calls`}},
		{"vllm/call_sent_again.sse", []string{`call t1 shell {"command":"one"}`, `finish tool_calls/tool_calls`}},
		{"vllm/same_ids.sse", []string{`call t1 shell {"command":"one"}`, `call * shell {"command":"two"}`, `finish tool_calls/tool_calls`}},
		{"vllm/reasoning.sse", []string{`text "Yes."`, `reasoning "Hmm."`, `finish stop/stop {"Input":15,"Output":5,"CacheRead":0,"CacheWrite":0,"Reasoning":0}`}},
		{"vllm/continuous_usage.sse", []string{`text "Yes"`, `finish stop/stop {"Input":15,"Output":2,"CacheRead":0,"CacheWrite":0,"Reasoning":0}`}},
		{"lmstudio/crlf_comments.sse", []string{`text "Hi there"`, `finish stop/stop`}},
		{"lmstudio/no_index.sse", []string{`call 365174485 shell {"command":"one"}`, `call 365174486 shell {"command":"two"}`, `finish tool_calls/tool_calls`}},
		{"lmstudio/bare_calls.sse", []string{`call * shell {"command":"one"}`, `call * shell {"command":"two"}`, `call * job_list `, `call * job_list `, `finish tool_calls/stop`}},
		{"lmstudio/arguments_forms.json", []string{`call * a {}`, `call * b `, `call * c `, `call * d `,
			`call * e [1] BROKEN the arguments are not one JSON object (another kind of value); nothing was run`,
			`call * f {} {} BROKEN the arguments are not one JSON object (something follows it); nothing was run`,
			`call *  {} BROKEN the call names no tool`, "call 7 h  {\"x\":1}\n",
			`call * i {'x':1} BROKEN the arguments are not one JSON object (invalid character '\'' looking for beginning of object key string); nothing was run`,
			`finish tool_calls/stop`}},
		{"lmstudio/think_tags.sse", []string{`text "2"`, `<think> "One and one is two."`, `finish stop/stop`}},
		{"lmstudio/think_cut.sse", []string{`<think> "One and"`, `finish length/length`}},
		{"lmstudio/think_mentioned.sse", []string{"text \"It strips `<think>x</think>`.\"", `finish stop/stop`}},
		{"lmstudio/no_empty_lines.sse", []string{`text "ab"`, `finish stop/stop`}},
		{"lmstudio/parts.json", []string{`text "yes"`, `reasoning "hm"`, `finish stop/stop {"Input":3,"Output":0,"CacheRead":0,"CacheWrite":0,"Reasoning":0}`}},
		{"lmstudio/unknown_finish.sse", []string{`text "ok"`, `finish stop/eosFound`}},
		{"lmstudio/placeholder.sse", []string{`call p1 shell {"command":"one"}`, `finish tool_calls/tool_calls`}},
	}
	for _, c := range cases {
		t.Run(c.file, func(t *testing.T) {
			sent := file(t, c.file)
			// Cut into every piece size that differs for the reader: whole, and a few bytes at a time.
			for _, piece := range []int{len(sent), 7} {
				withServer(t, Config{}, []step{inPieces(sent, piece)}, func(t *testing.T, s *server) {
					r, err := s.ask(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					if got, want := describe(r, sent), strings.Join(c.want, "\n"); got != want {
						t.Errorf("in pieces of %d bytes\n%s\nwant\n%s", piece, got, want)
					}
					unique(t, r.Calls)
				})
			}
		})
	}
}

func unique(t *testing.T, calls []Call) {
	t.Helper()
	seen := map[string]bool{}
	for _, c := range calls {
		if c.ID == "" || seen[c.ID] {
			t.Errorf("call id %q is empty or repeated", c.ID)
		}
		seen[c.ID] = true
	}
}

func inPieces(body string, n int) step {
	return func(w http.ResponseWriter, _ *http.Request) {
		for len(body) > 0 {
			k := min(n, len(body))
			_, _ = w.Write([]byte(body[:k]))
			w.(http.Flusher).Flush()
			body = body[k:]
		}
	}
}

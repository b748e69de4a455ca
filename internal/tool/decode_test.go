package tool

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"evener/internal/fault"
	"evener/internal/session"
)

func ptr[T any](v T) *T { return &v }

// clause: JC-125 JC-138
func TestDecode(t *testing.T) {
	for _, c := range []struct {
		tool, raw string
		want      session.Call
	}{
		{"shell", `{"command":"ls"}`, session.ShellCall{Command: "ls"}},
		{"shell", `{"command":"ls","description":"look","mode":"detached"}`, session.ShellCall{Command: "ls", Description: "look", Mode: "detached"}},
		{"shell", `{"command":"ls","max_runtime_ms":900000}`, session.ShellCall{Command: "ls", MaxRuntimeMS: 900000}},
		{"shell", `{"command":"ls","max_runtime_ms":-1}`, session.ShellCall{Command: "ls", MaxRuntimeMS: -1}},
		{"shell", `{"command":"ls","mode":null,"description":null}`, session.ShellCall{Command: "ls"}},
		{"shell", `{"command":"a\nb","description":"x\u0000y"}`, session.ShellCall{Command: "a\nb", Description: "x\x00y"}},
		{"shell", ` {"command":"日本 \ud83d\ude00"} `, session.ShellCall{Command: "日本 😀"}},
		{"job_list", ``, session.JobListCall{}},
		{"job_list", " \n", session.JobListCall{}},
		{"job_list", `null`, session.JobListCall{}},
		{"job_list", `{}`, session.JobListCall{}},
		{"job_list", `{"status":[],"type":["shell"],"limit":0,"offset":null}`, session.JobListCall{Status: []string{}, Type: []string{"shell"}, Limit: ptr[int64](0)}},
		{"job_list", `{"limit":5.0,"offset":1e2}`, session.JobListCall{Limit: ptr[int64](5), Offset: ptr[int64](100)}},
		{"job_list", `{"limit":1e30}`, session.JobListCall{Limit: ptr[int64](math.MaxInt64)}},
		{"job_list", `{"include_nested":true,"include_descendants":true}`, session.JobListCall{IncludeNested: true, IncludeDescendants: true}},
		{"job_status", `{"target":"job_x"}`, session.JobStatusCall{Target: "job_x"}},
		{"job_stop", `{"target":"job_x","max_wait_ms":-5,"include_children":true}`, session.JobStopCall{Target: "job_x", MaxWaitMS: -5, IncludeChildren: true}},
		{"read_transcript", `{"transcript_ref":"job:x","format":"markdown","offset_bytes":9007199254740993}`, session.ReadTranscriptCall{Ref: "job:x", Format: ptr("markdown"), OffsetBytes: ptr[int64](9007199254740993)}},
		{"read_transcript", `{"transcript_ref":"job:x","output_match":"","context_lines":0,"range":"last:1","expand_turn":2}`, session.ReadTranscriptCall{Ref: "job:x", OutputMatch: ptr(""), ContextLines: ptr[int64](0), Range: ptr("last:1"), ExpandTurn: ptr[int64](2)}},
		{"tasks", `{"operation":"add","items":[{"title":"t"},{"title":"u","prompt":"p","type":null}]}`, session.TasksCall{Operation: "add", Items: []session.TaskItem{{Title: "t"}, {Title: "u", Prompt: "p"}}}},
		{"tasks", `{"operation":"update","id":2.0,"state":"in_progress","note":""}`, session.TasksCall{Operation: "update", ID: 2, State: "in_progress"}},
		{"communicate", `{"message":"m","end_turn":false}`, session.CommunicateCall{Message: "m"}},
		{"communicate", `{"message":"","end_turn":true,"output":{"message":"o","artifacts":["a"],"data":{"n":12345678901234567890.25,"l":[1,null,{"k":false}]}}}`,
			session.CommunicateCall{EndTurn: true, Output: &session.CommunicateOutput{Message: "o", Artifacts: []string{"a"}, Data: map[string]any{
				"n": json.Number("12345678901234567890.25"), "l": []any{json.Number("1"), nil, map[string]any{"k": false}}}},
				Value: json.RawMessage(`{"message":"o","artifacts":["a"],"data":{"n":12345678901234567890.25,"l":[1,null,{"k":false}]}}`)}},
		{"communicate", `{"message":"m","end_turn":true,"output":null}`, session.CommunicateCall{Message: "m", EndTurn: true, Value: json.RawMessage(`null`)}},
		// What is no usual output is left to the session, whose run may have a schema.
		{"communicate", `{"message":"m","end_turn":true,"output":"done"}`, misfit(`"done"`, `output is the string "done"; want an object`)},
		{"communicate", `{"message":"m","end_turn":true,"output":{"notes":1}}`, misfit(`{"notes":1}`, `unknown parameter "output.notes"; the parameters are message, data, artifacts`)},
		{"communicate", `{"message":"m","end_turn":true,"output":{"data":[]}}`, misfit(`{"data":[]}`, `output.data is an array; want an object`)},
		{"communicate", `{"message":"m","end_turn":true,"output":{"data":{"a":[{"b":1,"b":2}]}}}`, misfit(`{"data":{"a":[{"b":1,"b":2}]}}`, `output.data is an object; want an object that names nothing twice`)},
		{"communicate", `{"message":"m","end_turn":true,"output":{"artifacts":["a", 2, "<\u2028\n"]}}`, misfit(`{"artifacts":["a",2,"<\u2028\n"]}`, `output.artifacts[1] is the number 2; want a string`)},
	} {
		got, refusal := Decode(c.tool, c.raw)
		if refusal != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s %s:\n got %#v, %v\nwant %#v", c.tool, c.raw, got, refusal, c.want)
		}
	}
}

func misfit(value, why string) session.CommunicateCall {
	return session.CommunicateCall{Message: "m", EndTurn: true, Value: json.RawMessage(value), Misfit: why}
}

func TestDecodeRefuses(t *testing.T) {
	deep := strings.Repeat("[", 20000)
	for _, c := range []struct{ tool, raw, want string }{
		{"shell", `{}`, `shell: command is missing; want a string`},
		{"shell", ``, `shell: command is missing; want a string`},
		{"shell", `{"command":null}`, `shell: command is null; want a string`},
		{"shell", `{"command":5}`, `shell: command is the number 5; want a string`},
		{"shell", `{"command":["touch","ran"]}`, `shell: command is an array; want a string`},
		{"shell", `{"command":{"a":1}}`, `shell: command is an object; want a string`},
		{"shell", `{"command":true}`, `shell: command is true; want a string`},
		{"shell", `{"command":"ls","mode":"later"}`, `shell: mode is the string "later"; want one of foreground, background, detached`},
		{"shell", `{"command":"ls","mode":""}`, `shell: mode is the string ""; want one of foreground, background, detached`},
		{"shell", `{"command":"ls","mode":1}`, `shell: mode is the number 1; want a string`},
		{"shell", `{"command":"ls","timeout_ms":1}`, `shell: unknown parameter "timeout_ms"; the parameters are command, description, mode`},
		{"shell", `{"command":"ls","Mode":"background"}`, `shell: unknown parameter "Mode"; the parameters are command, description, mode`},
		{"shell", `{"command":"ls","command":"rm"}`, `shell: command is given twice`},
		{"shell", `{"command":"echo a\u0000b"}`, `shell: command holds a NUL character at byte 6`},
		{"shell", `{"command":"ls","max_runtime_ms":1.5}`, `shell: max_runtime_ms is the number 1.5; want an integer`},
		{"shell", `{"command":"ls","max_runtime_ms":"900"}`, `shell: max_runtime_ms is the string "900"; want an integer`},
		{"shell", `{"command": "touch ran"`, `shell: the arguments are not valid JSON: unexpected end of JSON input (at byte 23)`},
		{"shell", `{"command":"ls"} {}`, `shell: the arguments are not valid JSON: invalid character '{' after top-level value (at byte 18)`},
		{"shell", `["ls"]`, `shell: the arguments are an array; want an object`},
		{"shell", `"{\"command\":\"ls\"}"`, `shell: the arguments are the string "{\"command\":\"ls\"}"; want an object`},
		{"shell", "{\"command\":\"\xff\"}", `shell: the arguments are not valid UTF-8`},
		{"communicate", `{"message":"m","end_turn":true,"output":{"data":{"x":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}}}`, `communicate: the arguments nest deeper than 64 levels`},
		{"shell", deep, `shell: the arguments are not valid JSON: invalid character '[' exceeded max depth`},
		{"job_list", `{"limit":"5"}`, `job_list: limit is the string "5"; want an integer`},
		{"job_list", `{"limit":5e-1}`, `job_list: limit is the number 5e-1; want an integer`},
		{"job_list", `{"limit":true}`, `job_list: limit is true; want an integer`},
		{"job_list", `{"status":"running"}`, `job_list: status is the string "running"; want an array`},
		{"job_list", `{"status":["running","done"]}`, `job_list: status[1] is the string "done"; want one of running, idle,`},
		{"job_list", `{"type":[null]}`, `job_list: type[0] is null; want a string`},
		{"job_list", `{"include_nested":"true"}`, `job_list: include_nested is the string "true"; want true or false`},
		{"job_status", `{"target":"x","transcript_ref":"job:x"}`, `job_status: unknown parameter "transcript_ref"; the parameters are target`},
		{"read_transcript", `{"transcript_ref":"job:x","format":"json"}`, `read_transcript: format is the string "json"; want "markdown"`},
		{"read_transcript", `{"transcript_ref":"job:x","max_wait_ms":1}`, `read_transcript: unknown parameter "max_wait_ms"; the parameters are transcript_ref, format, offset_bytes, output_match, context_lines`},
		{"tasks", `{}`, `tasks: operation is missing; want a string`},
		{"tasks", `{"operation":"remove"}`, `tasks: operation is the string "remove"; want one of list, show, add, update`},
		{"tasks", `{"operation":"add","items":[{"title":"t"},{"prompt":"p"}]}`, `tasks: items[1].title is missing; want a string`},
		{"tasks", `{"operation":"add","items":[{"title":"t","state":"done"}]}`, `tasks: unknown parameter "items[0].state"; the parameters are title, prompt, type`},
		{"tasks", `{"operation":"add","items":"t"}`, `tasks: items is the string "t"; want an array`},
		{"tasks", `{"operation":"update","id":"2","state":"done"}`, `tasks: id is the string "2"; want an integer`},
		{"tasks", `{"operation":"update","id":2,"state":"finished"}`, `tasks: state is the string "finished"; want one of pending, in_progress, done, dropped`},
		{"communicate", `{"message":"m"}`, `communicate: end_turn is missing; want true or false`},
		{"communicate", `{"message":"m","end_turn":true,"output":{},"output":{}}`, `communicate: output is given twice`},
		{"communicate", `{"message":1,"end_turn":true,"output":5}`, `communicate: message is the number 1; want a string`},
		{"communicate", `{"message":"` + strings.Repeat("x", 500) + `","end_turn":"` + strings.Repeat("é", 500) + `"}`, `communicate: end_turn is the string "` + strings.Repeat("é", shown) + `…"; want true or false`},
	} {
		got, refusal := Decode(c.tool, c.raw)
		if got != nil || refusal == nil || refusal.Code != fault.InvalidRequest || !strings.HasPrefix(refusal.Text, c.want) {
			t.Errorf("%s %s:\n got %v, %v\nwant %s", c.tool, short(c.raw), got, refusal, c.want)
		}
	}
}

// clause: JC-023 JC-024 JC-025 JC-026 JC-124 JC-491
func TestDecodeUnknownTool(t *testing.T) {
	for _, name := range []string{
		"job_kill", "job_ack", "wait_job", "close_agent", "shell_job", "spawn_agent", "resume_agent",
		"send_input", "wait", "cancel_agent", "subagent_output", "list_agents", "Shell", "", "bad\nname",
	} {
		got, refusal := Decode(name, `{"target":"job_x"}`)
		if got != nil || refusal == nil || refusal.Code != fault.UnknownTool {
			t.Fatalf("%q: got %v, %v", name, got, refusal)
		}
		want := "the tools are " + strings.Join(names(), ", ")
		if !strings.HasSuffix(refusal.Text, want) || strings.Contains(refusal.Text, "\n") {
			t.Errorf("%q: %s", name, refusal.Text)
		}
	}
}

func TestWhole(t *testing.T) {
	for _, c := range []struct {
		literal string
		want    int64
		ok      bool
	}{
		{"0", 0, true}, {"-0", 0, true}, {"0.0", 0, true}, {"0e99999999999999999999", 0, true},
		{"12", 12, true}, {"-12.00", -12, true}, {"1.2e1", 12, true}, {"120e-1", 12, true}, {"0.0012e4", 12, true},
		{"1.5", 0, false}, {"1e-1", 0, false}, {"125e-1", 0, false}, {"1e-99999999999999999999", 0, false},
		{"9223372036854775807", math.MaxInt64, true}, {"9223372036854775807.0", math.MaxInt64, true},
		{"9223372036854775808", math.MaxInt64, true}, {"-9223372036854775808.0", math.MinInt64, true}, {"-9223372036854775809", math.MinInt64, true},
		{"1e18", 1e18, true}, {"1e19", math.MaxInt64, true}, {"-1e400", math.MinInt64, true},
		{"1e99999999999999999999", math.MaxInt64, true}, {"-1E+1000000", math.MinInt64, true},
		{"1" + strings.Repeat("0", 5000) + "e-5000", 1, true},
	} {
		if got, ok := whole(c.literal); got != c.want || ok != c.ok {
			t.Errorf("whole(%s) = %d, %v; want %d, %v", short(c.literal), got, ok, c.want, c.ok)
		}
	}
}

// FuzzDecode: any text is a call or one line that says why not, and a call
// written out again decodes to itself.
func FuzzDecode(f *testing.F) {
	for _, raw := range []string{``, `null`, `{}`, `{"command":"ls"}`, `{"limit":1e2,"status":["idle"]}`, `{"target":"job_x","max_wait_ms":5}`,
		`{"message":"m","end_turn":true,"output":{"data":{"a":[1,{"b":null}]}}}`, `{"transcript_ref":"job:x","offset_bytes":1.0}`, `[[[`, `{"a":1,"a":2}`, "\xff", `{"message":"","end_turn":true,"output":{"":{}}}`, `{"command":"\u0000"}`} {
		for i := range tools {
			f.Add(uint(i), raw)
		}
	}
	f.Fuzz(func(t *testing.T, i uint, raw string) {
		name := tools[i%uint(len(tools))].name
		call, refusal := Decode(name, raw)
		if refusal != nil {
			if call != nil || refusal.Code != fault.InvalidRequest || strings.ContainsAny(refusal.Text, "\n\r") || !strings.HasPrefix(refusal.Text, name+": ") {
				t.Fatalf("%v, %q", call, refusal)
			}
			return
		}
		again, refusal := Decode(name, written(t, call))
		if refusal != nil || !reflect.DeepEqual(call, again) {
			t.Fatalf("%s %q: got %#v, then %#v, %v", name, raw, call, again, refusal)
		}
	})
}

// written is a call as JSON, without what it left out.
func written(t *testing.T, c session.Call) string {
	t.Helper()
	out := map[string]any{}
	v := reflect.ValueOf(c)
	for _, f := range fields(v.Type()) {
		if value := v.Field(f.index); !f.optional || !value.IsZero() {
			out[f.name] = value.Interface()
		}
	}
	if x, ok := c.(session.CommunicateCall); ok && x.Value != nil { // the output as it was given, also one that is no object of these
		out["output"] = x.Value
	}
	b, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

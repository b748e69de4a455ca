package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// answers is an exec model whose runs end as given, the last one again and again.
func answers(t *testing.T, c Config, runs ...Ran) (*execModel, *[]Command) {
	t.Helper()
	var asked []Command
	c.Exec = &Exec{Command: []string{"prog", "-a"}, Env: []string{"KEY=v"}, Timeout: time.Second, Run: func(_ context.Context, k Command) (Ran, error) {
		asked = append(asked, k)
		return runs[min(len(asked), len(runs))-1], nil
	}}
	c.KeyPrefix = "exec.mine."
	m, err := Open("exec/mine", c)
	if err != nil {
		t.Fatal(err)
	}
	return m.(*execModel), &asked
}

// TestExecReplies: what a command writes is a reply, evened out as a server's, or one line that says why not.
func TestExecReplies(t *testing.T) {
	const form = "; docs/exec-model.md has the form of a reply"
	for in, want := range map[string]string{
		`{"text":"hi"}`:       `text "hi"` + "\nfinish stop/",
		` {"text":""}` + "\n": "finish stop/",
		"\xef\xbb\xbf" + `{"text":"hi","finish":"length","usage":{"input":5,"output":2,"cache_read":1,"cache_write":3,"reasoning":1},"model":"m"}`: `text "hi"` + "\n" +
			`finish length/length {"Input":5,"Output":2,"CacheRead":1,"CacheWrite":3,"Reasoning":1}`,
		`{"text":"<think>x</think>y"}`:                                                "text \"y\"\n<think> \"x\"\nfinish stop/",
		`{"reasoning":"r","calls":[{"name":"a","arguments":{"x": 1}}]}`:               "reasoning_content \"r\"\ncall * a {\"x\":1}\nfinish tool_calls/",
		`{"calls":[{"id":"k","name":"a","arguments":"{\"x\":1}"}]}`:                   "call k a {\"x\":1}\nfinish tool_calls/",
		`{"calls":[{"id":"taken","name":"a"},{"id":"","name":"b","arguments":null}]}`: "call * a \ncall * b \nfinish tool_calls/",
		`{"calls":[{"id":"k","name":"a"},{"id":"k","name":"b","arguments":""}]}`:      "call k a \ncall * b \nfinish tool_calls/",
		`{"calls":[{"name":"a","arguments":"{\"x\":"}],"finish":"length"}`:            "call * a {\"x\":" + wasCut + "\nfinish length/length",
		`{"calls":[{"arguments":{}}]}`:                                                "call *  {} BROKEN the call names no tool\nfinish tool_calls/",
		"":                                                                            "exec/mine: prog gave no valid reply: it wrote nothing" + form,
		"hello":                                                                       `exec/mine: prog gave no valid reply: it wrote no JSON object, but "hello"` + form,
		`[{"text":"hi"}]`:                                                             `exec/mine: prog gave no valid reply: it wrote no JSON object, but "[{\"text\":\"hi\"}]"` + form,
		`{}`:                                                                          "exec/mine: prog gave no valid reply: the reply has neither text nor calls" + form,
		`{"text":"a"`:                                                                 "exec/mine: prog gave no valid reply: the JSON ends too early" + form,
		`{"text":"a",}`:                                                               "exec/mine: prog gave no valid reply: the JSON is not valid: invalid character '}' looking for beginning of object key string" + form,
		`{"text":"a"} {}`:                                                             `exec/mine: prog gave no valid reply: something follows the reply: "{}"` + form,
		`{"text":"a","call":[]}`:                                                      `exec/mine: prog gave no valid reply: the reply has the unknown field "call"` + form,
		`{"text":5}`:                                                                  "exec/mine: prog gave no valid reply: text is number; want a string" + form,
		`{"calls":{}}`:                                                                "exec/mine: prog gave no valid reply: calls is object; want a list" + form,
		`{"calls":[{"name":["x"]}]}`:                                                  "exec/mine: prog gave no valid reply: calls.name is array; want a string" + form,
		`{"text":"a","usage":{"input":1.5}}`:                                          "exec/mine: prog gave no valid reply: usage.input is number 1.5; want an integer" + form,
		`{"error":{"message":"no","status":200}}`:                                     "exec/mine: prog gave no valid reply: error.status is 200; it is 400 to 599, or left out" + form,
		`{"error":{"message":" "}}`:                                                   "exec/mine: prog gave no valid reply: error.message is empty" + form,
		`{"error":{"message":"no luck"}}`:                                             "exec/mine: prog reports: no luck",
		`{"error":{"message":"no","status":400}}`:                                     "exec/mine: status 400, bad request: no",
		`{"error":{"message":"too long: 9 > 8","status":413}}`:                        "exec/mine: status 413, context too small: too long: 9 > 8 (the request has 235 bytes); give the model a larger context and set exec.mine.context_tokens to its size, or begin a new session",
	} {
		m, _ := answers(t, Config{}, Ran{Stdout: []byte(in)})
		history := []Message{{Role: RoleUser, Text: "hi"}, {Role: RoleAssistant, Calls: []Call{{ID: "taken", Name: "x"}}}, result("taken", "done")}
		r, err := m.Complete(t.Context(), Request{Messages: history}, nil)
		got := describe(r, in)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
}

// TestExecEnds: how the command itself ends. A reply counts only when it
// succeeded, an error that it reports always; no key is repeated.
func TestExecEnds(t *testing.T) {
	ok := []byte(`{"text":"ok"}`)
	for _, c := range []struct {
		ran  Ran
		want string
	}{
		{Ran{Stdout: ok, Code: 2}, "exec/mine: prog exited with status 2"},
		{Ran{Stdout: ok, Code: 2, Stderr: []byte("Traceback\n  KeyError: very-secret\x1b[0m\n")}, "exec/mine: prog exited with status 2; it said: Traceback KeyError: [secret] [0m"},
		{Ran{Stdout: ok, Code: -1, Signal: "SIGSEGV"}, "exec/mine: prog was ended by SIGSEGV"},
		{Ran{Stdout: ok, Cut: true}, "exec/mine: prog was ended: its output is longer than 16 MiB"},
		{Ran{Stdout: []byte(`{"error":{"message":"very-secret","status":422}}`), Code: 1, Stderr: []byte("noise")}, "exec/mine: status 422, bad request: [secret]"},
		{Ran{Stdout: ok, Stderr: []byte("a warning")}, ""},
	} {
		m, _ := answers(t, Config{Secrets: []string{"very-secret"}}, c.ran)
		_, err := m.Complete(t.Context(), Request{}, nil)
		if err == nil && c.want != "" || err != nil && err.Error() != c.want {
			t.Errorf("%+v\ngot  %v\nwant %s", c.ran, err, c.want)
		}
	}
	long := strings.Repeat("word ", 5000) + "the reason"
	m, _ := answers(t, Config{}, Ran{Code: 1, Stderr: []byte(long)})
	if _, err := m.Complete(t.Context(), Request{}, nil); err == nil || !strings.HasSuffix(err.Error(), "word the reason") || len(err.Error()) > 2*lineMax {
		t.Errorf("the end of what it said is missing: %v", err)
	}
	m.c.Exec.Run = func(context.Context, Command) (Ran, error) {
		return Ran{}, fmt.Errorf("run prog: %w", errors.New("executable file not found in $PATH"))
	}
	if _, err := m.Complete(t.Context(), Request{}, nil); err == nil || !strings.Contains(err.Error(), "executable file not found in $PATH; check exec.mine.command") {
		t.Error(err)
	}
}

// TestExecLimit: a command that takes too long is named with its key; one whose turn ended is not.
func TestExecLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := answers(t, Config{}, Ran{})
		m.c.Exec.Run = func(ctx context.Context, _ Command) (Ran, error) {
			<-ctx.Done()
			return Ran{Stderr: []byte("at work")}, context.Cause(ctx)
		}
		_, err := m.Complete(t.Context(), Request{}, nil)
		if e, ok := err.(*Error); !ok || e.Kind != Timeout || e.Error() != "exec/mine: prog gave no reply within 1s; it said: at work; raise exec.mine.timeout_ms if it needs longer" {
			t.Error(err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Millisecond, func() { cancel(errStalled) })
		if _, err := m.Complete(ctx, Request{}, nil); !errors.Is(err, context.Canceled) || !errors.Is(err, errStalled) {
			t.Error(err)
		}
	})
}

// TestExecRetries: an error that may pass runs the command again, with the same request.
func TestExecRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, asked := answers(t, Config{}, Ran{Stdout: []byte(`{"error":{"message":"busy","status":503}}`)}, Ran{Stdout: []byte(`{"text":"ok"}`)})
		var seen []Progress
		r, err := m.Complete(t.Context(), Request{}, func(p Progress) { seen = append(seen, p) })
		if err != nil || r.Text != "ok" || len(*asked) != 2 || string((*asked)[0].Stdin) != string((*asked)[1].Stdin) {
			t.Errorf("%+v %v after %d runs", r, err, len(*asked))
		}
		if len(seen) != 2 || seen[0].Failed == nil || seen[1].Attempt != 2 || seen[1].Bytes != 2 {
			t.Errorf("%+v", seen)
		}
	})
}

func TestExecRequest(t *testing.T) {
	half := 0.5
	m, asked := answers(t, Config{}, Ran{Stdout: []byte(`{"text":"ok"}`)})
	_, err := m.Complete(t.Context(), Request{
		Session: "never sent", System: "be <brief>",
		Messages: []Message{
			{Role: RoleUser, Text: "a"}, {Role: RoleUser, Text: "b"},
			{Role: RoleAssistant, Text: "t", Reasoning: "r", ReasoningField: thinkTag, Calls: []Call{{ID: "1", Name: "sh ell", Arguments: `{"x": 1}`}, {ID: "2", Name: "y"}, {ID: "3", Name: "z", Arguments: `{"cut`}}},
			result("1", "one"), result("2", ""), result("3", "no"),
		},
		Tools:  []Tool{{Name: "shell", Description: "d", Parameters: json.RawMessage(`{"type":"object"}`)}, {Name: "none"}},
		Params: Params{MaxTokens: 7, Temperature: &half, ReasoningEffort: "low"},
	}, nil)
	want := `{"version":1,"model":"mine","system":"be <brief>","messages":[{"role":"user","text":"a\n\nb"},` +
		`{"role":"assistant","text":"t","reasoning":"r","calls":[{"id":"1","name":"sh_ell","arguments":{"x": 1}},{"id":"2","name":"y","arguments":{}},{"id":"3","name":"z","arguments":{}}]},` +
		`{"role":"tool","text":"one","call_id":"1"},{"role":"tool","text":"","call_id":"2"},{"role":"tool","text":"no","call_id":"3"}],` +
		`"tools":[{"name":"shell","description":"d","parameters":{"type":"object"}},{"name":"none","description":"","parameters":{"type":"object","properties":{}}}],` +
		`"params":{"max_tokens":7,"temperature":0.5,"reasoning_effort":"low"}}` + "\n"
	if got := string((*asked)[0].Stdin); err != nil || strings.ReplaceAll(got, `{"x":1}`, `{"x": 1}`) != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
	}
	if k := (*asked)[0]; strings.Join(k.Argv, " ") != "prog -a" || strings.Join(k.Env, " ") != "KEY=v" {
		t.Errorf("%+v", k)
	}
	if _, err := m.Complete(t.Context(), Request{}, nil); err != nil || string((*asked)[1].Stdin) != `{"version":1,"model":"mine","system":"","messages":[],"tools":[],"params":{}}`+"\n" {
		t.Errorf("%v %s", err, (*asked)[1].Stdin)
	}
}

// FuzzExecReply: any output is a reply that keeps its promises, an error, or one line that says why not.
func FuzzExecReply(f *testing.F) {
	f.Add([]byte(`{"text":"a","reasoning":"r","calls":[{"id":"taken","name":"n","arguments":{"a":1}},{"name":"m","arguments":"{}"}],"finish":"length","usage":{"input":1},"model":"m"}`))
	f.Add([]byte(`{"error":{"message":"m","status":503}}`))
	f.Add([]byte(`{"calls":[{"arguments":[1]},{"arguments":null},{"arguments":"{"}]} x`))
	f.Fuzz(func(t *testing.T, in []byte) {
		b, refused, err := readExecReply(in)
		switch {
		case err != nil:
			if e := newScrubber(nil).faultf(Protocol, 0, "%v", err); strings.ContainsAny(e.Text, "\r\n\x00\x1b") || e.Text == "" {
				t.Errorf("%q", e.Text)
			}
		case refused != nil:
			if refused.text == "" || refused.status != 0 && (refused.status < 400 || refused.status > 599) {
				t.Errorf("%+v", refused)
			}
		default:
			keeps(t, b.reply(map[string]bool{"taken": true}))
		}
	})
}

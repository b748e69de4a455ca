package model

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"
)

func scriptOf(t *testing.T, text string) Model {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return mustOpen(t, path)
}

func mustOpen(t *testing.T, path string) Model {
	t.Helper()
	m, err := Open("script/"+path, Config{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// talk keeps a history; restart makes it go on with a new process's model.
type talk struct {
	t  *testing.T
	m  Model
	ms []Message
}

// says adds inputs and returns the reply; results are for the calls of the reply before, in order.
func (k *talk) says(inputs ...string) Reply {
	k.t.Helper()
	var open []Call
	if n := len(k.ms); n > 0 {
		open = k.ms[n-1].Calls
	}
	for i, in := range inputs {
		if i < len(open) {
			k.ms = append(k.ms, result(open[i].ID, in))
		} else {
			k.ms = append(k.ms, user(in))
		}
	}
	r, err := k.m.Complete(k.t.Context(), Request{Session: "S1", Messages: k.ms}, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	k.ms = append(k.ms, r.Message())
	return r
}

func one(t *testing.T, r Reply) string {
	t.Helper()
	if len(r.Calls) != 1 || r.Calls[0].Broken != "" {
		t.Fatalf("want one sound call, got %+v", r)
	}
	return r.Calls[0].Name + " " + r.Calls[0].Arguments
}

const job = "job_01ARZ3NDEKTSV4RRFFQ69G5FAV000001"

// TestDocumentedScript plays the example of docs/script-model.md, with a new process for every request.
func TestDocumentedScript(t *testing.T) {
	doc, err := os.ReadFile("../../docs/script-model.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(doc), "```json\n")
	example, _, _ := strings.Cut(rest, "```")
	path := filepath.Join(t.TempDir(), "example.json")
	if err := os.WriteFile(path, []byte(example), 0o600); err != nil {
		t.Fatal(err)
	}
	k := &talk{t: t}
	for i, turn := range []struct {
		in   []string
		want string
	}{
		{[]string{"Build it"}, `shell {"command":"make","mode":"background"}`},
		{[]string{`{"job_id":"` + job + `","status":"running"}`}, `job_status {"target":"` + job + `"}`},
		{[]string{`{"status":"running"}`}, `shell {"command":"sleep 1; echo ${HOME}"}`},
		{[]string{"/root", `<job-notification job_id="` + job + `" event="completed" status="completed">`}, `read_transcript {"transcript_ref":"job:` + job + `"}`},
		{[]string{"all ok"}, `communicate {"message":"The build ` + job + ` has ended.","end_turn":true}`},
	} {
		k.m = mustOpen(t, path)
		if got := one(t, k.says(turn.in...)); got != turn.want {
			t.Errorf("turn %d: %s, want %s", i, got, turn.want)
		}
		// A request that is made again gets the same reply: the first may have been lost in a crash.
		again, err := k.m.Complete(t.Context(), Request{Messages: k.ms[:len(k.ms)-1]}, nil)
		if err != nil || !reflect.DeepEqual(again.Message(), k.ms[len(k.ms)-1]) {
			t.Errorf("turn %d again: %+v, %v", i, again, err)
		}
	}
	if got := (&talk{t: t, m: k.m}).says("What is the weather?").Text; got != "I have no script for this." {
		t.Errorf("the other conversation says %q", got)
	}
}

// TestScriptStops: where the script has no answer, the error says where it stands.
func TestScriptStops(t *testing.T) {
	m := scriptOf(t, `{"conversations":[{"name":"a","first_user":"^A","replies":[
		{"calls":[{"name":"x"}],"capture":["id=(?P<id>\\d+)"]},
		{"expect":"lost","text":"${id}"}]}]}`)
	asked := Message{Role: RoleAssistant, Calls: []Call{{ID: "1", Name: "x"}}}
	said := Message{Role: RoleAssistant, Text: "t"}
	for _, c := range []struct {
		name, want string
		ms         []Message
	}{
		{"no conversation", `no conversation begins with the user text "B"`, []Message{user("B")}},
		{"replies used up", `conversation "a", reply 2: the script has only 2 replies by position and none that matches the last input "more"`,
			[]Message{user("A"), said, user("lost"), said, user("more")}},
		{"expectation", `conversation "a", reply 1: the last input should contain "lost", but is "id=5"`, []Message{user("A"), asked, result("1", "id=5")}},
		{"nothing captured", `conversation "a", reply 1: nothing was captured for ${id}`, []Message{user("A"), asked, result("1", "lost")}},
		{"call without result", `the call "1" has no result`, []Message{user("A"), asked}},
		{"late result", `before the call "1" has its result`, []Message{user("A"), asked, user("lost"), result("1", "")}},
	} {
		_, err := m.Complete(t.Context(), Request{Session: "S1", Messages: c.ms}, nil)
		e, ok := err.(*Error)
		if !ok || e.Kind != Scripted || !strings.Contains(e.Text, c.want) || !strings.Contains(e.Text, "s.json: session S1: ") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestScriptedReplies: the fields of a reply, and the rules of replies that hold for all models.
func TestScriptedReplies(t *testing.T) {
	m := scriptOf(t, `{"conversations":[{"name":"a","replies":[
		{"text":"t","reasoning":"r","usage":{"input":9,"output":8,"reasoning":7,"cache_read":6,"cache_write":5}},
		{"calls":[{"name":"x","arguments":"{\"a\":"},{"id":"own","name":"y","arguments":{"b": [1, "${v}"]}},{"name":"z"}],"finish":"length"},
		{"calls":[{"name":"x","arguments":"{\"n\":${v}}"}]}],
		"matches":[{"match":"v=(?P<v>.*)","text":"got ${v}"}]}]}`)
	k := &talk{t: t, m: m}
	want := Reply{Text: "t", Reasoning: "r", ReasoningField: "reasoning_content", Finish: FinishStop,
		Usage: Usage{Input: 9, Output: 8, Reasoning: 7, CacheRead: 6, CacheWrite: 5}}
	if r := k.says("go"); !reflect.DeepEqual(r, want) {
		t.Errorf("got %+v", r)
	}
	if r := k.says(`v="7"`); r.Text != `got "7"` {
		t.Errorf("got %+v", r)
	}
	if r := k.says("v=7"); r.Text != "got 7" { // a match answers as often as it finds, and the last find counts
		t.Errorf("got %+v", r)
	}
	r := k.says("on")
	if r.Finish != FinishLength || len(r.Calls) != 3 || r.Calls[0].Broken == "" || r.Calls[1].Broken != "" || r.Calls[2].Broken == "" {
		t.Fatalf("got %+v", r)
	}
	if r.Calls[1].ID != "own" || r.Calls[1].Arguments != `{"b":[1,"7"]}` {
		t.Errorf("got %+v", r.Calls[1])
	}
	if got := one(t, k.says("a", "b", "c")); got != `x {"n":7}` {
		t.Errorf("got %s", got)
	}
	var all []Call
	for _, m := range k.ms {
		all = append(all, m.Calls...)
	}
	unique(t, all)
}

// TestScriptedErrors: errors are given as long as they are due, of the kind that a server's would be.
func TestScriptedErrors(t *testing.T) {
	m := scriptOf(t, `{"conversations":[{"name":"a","replies":[
		{"error":{"status":429,"message":"slow down","times":2},"text":"t"},
		{"error":{"status":400,"message":"{\"error\":{\"type\":\"exceed_context_size_error\",\"n_ctx\":5}}"}}]}]}`)
	fails := func(want Kind, ms ...Message) *Error {
		t.Helper()
		_, err := m.Complete(t.Context(), Request{Messages: ms}, nil)
		var e *Error
		if !errors.As(err, &e) || e.Kind != want {
			t.Fatalf("got %v, want %s", err, want)
		}
		return e
	}
	fails(RateLimit, user("a"))
	if e := fails(RateLimit, user("a")); e.Status != 429 || !strings.Contains(e.Text, "rate limit: slow down") {
		t.Errorf("got %s", e)
	}
	k := &talk{t: t, m: m}
	if r := k.says("a"); r.Text != "t" {
		t.Errorf("got %+v", r)
	}
	for range 3 {
		if e := fails(Overflow, append(k.ms, user("b"))...); e.Limit != 5 {
			t.Errorf("got %+v", e)
		}
	}
}

func TestScriptedDelay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.json")
	text := `{"conversations":[{"name":"a","replies":[{"delay_ms":3000,"text":"t"}]}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		(&talk{t: t, m: mustOpen(t, path)}).says("a")
		if d := time.Since(start); d != 3*time.Second {
			t.Errorf("answered after %s", d)
		}
	})
}

func TestBuiltinScript(t *testing.T) {
	c := Config{Builtin: fstest.MapFS{"demo.json": {Data: []byte(`{"conversations":[{"name":"a","replies":[{"text":"t"}]}]}`)}}}
	m, err := Open("script/builtin:demo", c)
	if err != nil {
		t.Fatal(err)
	}
	if r := (&talk{t: t, m: m}).says("hi"); r.Text != "t" {
		t.Errorf("got %+v", r)
	}
	if _, err := Open("script/builtin:other", c); err == nil || !strings.HasSuffix(err.Error(), "script/builtin:other: the program has no such script; it has demo") {
		t.Errorf("got %v", err)
	}
	if _, err := Open("script/builtin:demo", Config{}); err == nil {
		t.Error("a script that is not there was opened")
	}
}

// TestScriptIsReadStrictly: what is wrong in a file is named with its line.
func TestScriptIsReadStrictly(t *testing.T) {
	reply := func(s string) string {
		return "{\"conversations\":[\n{\"name\":\"a\",\"replies\":[\n" + s + "]}]}"
	}
	for _, c := range []struct{ text, want string }{
		{"", "s.json:1: EOF"},
		{"{\n\n]", "s.json:3: invalid character"},
		{"[]", "s.json:1: an object is wanted here"},
		{"{}", "s.json:1: the script has no conversations"},
		{reply(`{"text":"t"}`) + "\n x", "s.json:3: something follows the script"},
		{"{\n\"turns\":[]}", `s.json:2: unknown field "turns"`},
		{reply("{\"text\":\"t\",\n\"txt\":\"t\"}"), `s.json:4: unknown field "txt"`},
		{reply("{\"text\":\"t\",\n\"text\":\"t\"}"), `s.json:4: the field "text" comes twice`},
		{reply("{\"text\":\n7}"), "s.json:4: a string is wanted here"},
		{reply(`{"text":null}`), "s.json:3: a string is wanted here"},
		{reply(`{"match":"x"}`), `s.json:3: unknown field "match"`},
		{reply("{\"calls\":[\n{\"nam\":\"x\"}]}"), `s.json:4: unknown field "nam"`},
		{reply("{\"calls\":{}}"), `s.json:3: a list is wanted here`},
		{reply("{\"usage\":{\"in\":1}}"), `s.json:3: unknown field "in"`},
		{reply(`{"delay_ms":-1}`), "s.json:3: a whole number from 0"},
		{reply(`{"delay_ms":1.5}`), "s.json:3: a whole number from 0"},
		{reply(`{"expect":"("}`), "s.json:3: error parsing regexp"},
		{reply(`{"capture":["x"]}`), `s.json:3: the capture "x" has no named group`},
		{reply(`{"error":{"status":200}}`), "s.json:3: error needs a status"},
		{"{\"conversations\":[\n{\"name\":\"a\",\"matches\":[{\"text\":\"t\"}]}]}", "s.json:2: an entry of matches needs match"},
		{"{\"conversations\":[\n{\"name\":\"a\"}]}", "s.json:2: the conversation has no replies"},
		{"{\"conversations\":[{\"name\":\"a\",\"first_user\":\"a\",\"replies\":[{}]},\n{\"name\":\"a\",\"replies\":[{}]}]}", `s.json:2: two conversations have the name "a"`},
		{"{\"conversations\":[{\"name\":\"a\",\"replies\":[{}]},\n{\"name\":\"b\",\"replies\":[{}]}]}", `s.json:2: this conversation is never reached: "a"`},
	} {
		path := filepath.Join(t.TempDir(), "s.json")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Open("script/"+path, Config{})
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s\ngot %v\nwant %s", c.text, err, c.want)
		}
	}
}

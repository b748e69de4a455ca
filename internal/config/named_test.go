package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

const twoProviders = `{
  "model_retries": 7, "temperature": 0.5, "context_tokens": 9,
  "providers": {
    "lab": {
      "base_url": "https://me:hunter2@lab.test/v1?token=query-secret",
      "api_key_env": "LAB_KEY",
      "headers": {"X-Team": "core-secret", "X-Gateway": "Token ${LAB_GATEWAY}"},
      "models": ["a/b", "c"], "ca_file": "/ca.pem", "temperature": 0,
      "extra_body": {"top_k": 1, "s": "<&>"}, "parallel_tool_calls": false
    },
    "near": {"base_url": "http://127.0.0.1:8080/v1"}
  },
  "exec": {
    "mine": {"command": ["prog", "-x"],
      "key_env": ["MY_KEY"]}
  }
}`

func TestNamed(t *testing.T) {
	path := file(t, twoProviders)
	c := load(t, Sources{UserFile: path, ProjectFile: file(t, `{"model_idle_timeout_ms": 5}`)})
	lab, ok := c.Provider("lab")
	if !ok || lab.BaseURL != "https://me:hunter2@lab.test/v1?token=query-secret" || lab.APIKeyEnv != "LAB_KEY" || lab.CAFile != "/ca.pem" || lab.ParallelToolCalls ||
		!reflect.DeepEqual(lab.Models, []string{"a/b", "c"}) || string(lab.ExtraBody) != `{"top_k":1,"s":"<&>"}` || lab.MaxTokensField != "max_tokens" {
		t.Errorf("%+v", lab)
	}
	// What it leaves out comes from the top, but not what belongs to one server.
	if lab.ModelRetries != 7 || lab.ModelIdleTimeoutMS != 5 || *lab.Temperature != 0 || lab.ContextTokens != 0 {
		t.Errorf("%+v", lab)
	}
	near := c.Providers["near"]
	if *near.Temperature != 0.5 || !near.ParallelToolCalls || near.APIKeyEnv != "" || near.Headers != nil {
		t.Errorf("%+v", near)
	}
	for key, want := range map[string]Origin{
		"providers.lab.base_url":               {User, path + ":5"},
		"providers.lab.temperature":            {User, path + ":8"},
		"providers.near.temperature":           {User, path + ":2"},
		"providers.near.model_idle_timeout_ms": {Project, c.Origin("model_idle_timeout_ms").At},
		"providers.near.type":                  {Source: Default},
		"exec.mine.key_env":                    {User, path + ":15"},
	} {
		if got := c.Origin(key); got != want {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
	if x := c.Exec["mine"]; !reflect.DeepEqual(*x, Exec{Command: []string{"prog", "-x"}, KeyEnv: []string{"MY_KEY"}, TimeoutMS: 600_000}) {
		t.Errorf("%+v", x)
	}
	if _, ok := c.Provider("none"); ok {
		t.Error("a provider that is not there is found")
	}
	if p, ok := c.Provider("openai"); !ok || p.ContextTokens != 9 || !p.ParallelToolCalls {
		t.Errorf("%+v", p)
	}
}

func TestNamedFaults(t *testing.T) {
	in := func(members string) string {
		return "{\"providers\": {\n\"lab\": {\n\"base_url\": \"http://h/v1\",\n" + members + "}}}"
	}
	for _, c := range []struct{ text, want string }{
		{in(`"url": 1`), `FILE:4: unknown key "providers.lab.url"; there are type, base_url, ca_file, context_tokens, api_key_env, headers, models, model_stream, model_connect_timeout_ms, model_idle_timeout_ms, model_retries, max_tokens, temperature, reasoning_effort, max_tokens_field, reasoning_echo, parallel_tool_calls, extra_body`},
		{in(`"type": "anthropic"`), `FILE:4: providers.lab.type: got "anthropic"; want one of openai`},
		{in(`"models": "a"`), `FILE:4: providers.lab.models: got "a"; want a list of strings`},
		{in(`"models": ["a", 1]`), `FILE:4: providers.lab.models: want a list of strings`},
		{in(`"models": [" "]`), `FILE:4: providers.lab.models: an entry is empty`},
		{in(`"api_key_env": "sk-this-is-the-key"`), `FILE:4: providers.lab.api_key_env: want the name of an environment variable`},
		{in(`"headers": ["sk-secret"]`), `FILE:4: providers.lab.headers: got a list; want an object of strings`},
		{in(`"headers": {"X": 1}`), `FILE:4: providers.lab.headers: X: want a string`},
		{in(`"headers": {"a b": "sk-secret"}`), `FILE:4: providers.lab.headers: "a b" is no name of a header`},
		{in(`"headers": {"Host": "x"}`), `FILE:4: providers.lab.headers: Host cannot be set`},
		{in(`"headers": {"X": "sk\nsecret"}`), `FILE:4: providers.lab.headers: X: the value holds a line break or another control character`},
		{in(`"headers": {"X": "${A B}sk-secret"}`), `FILE:4: providers.lab.headers: X: after ${ must come the name of a variable and }`},
		{in(`"ca_file": "ca.pem"`), `FILE:4: providers.lab.ca_file: got "ca.pem"; want an absolute path`},
		{in(`"extra_body": []`), `FILE:4: providers.lab.extra_body: got []; want an object`},
		{in(`"temperature": 2.5`), `FILE:4: providers.lab.temperature: got 2.5; want a number from 0 to 2`},
		{in("\"model_retries\":\n1, \"model_retries\": 2"), `FILE:5: providers.lab: key "model_retries" is set twice`},
		{"{\n\"providers\": {\n\"lab\": {\"models\": []}}}", `FILE:3: providers.lab: base_url is missing`},
		{"{\n\"providers\": [\n]}", `FILE:2: providers: got a list; want an object {NAME: {…}}`},
		{"{\"providers\": {\n\"lab\":\n \"http://h/v1\"}}", `FILE:3: providers.lab: got a string; want an object {base_url: …}`},
		{`{"providers": {"openai": {}}}`, `FILE:1: providers.openai: the openai provider is set by base_url and the other keys at the top; choose another name`},
		{`{"providers": {"exec": {}}}`, `FILE:1: providers.exec: this name is taken; choose another one`},
		{`{"providers": {"a/b": {}}}`, `FILE:1: providers.a/b: a name has letters, digits, _ and -, 64 at most`},
		{`{"exec": {"x": {"command": "prog -a"}}}`, `FILE:1: exec.x.command: got "prog -a"; want a list of strings`},
		{`{"exec": {"x": {"command": []}}}`, `FILE:1: exec.x.command: want a program and its arguments`},
		{`{"exec": {"x": {"command": ["./prog"]}}}`, `FILE:1: exec.x.command: got "./prog"; want a program's name or an absolute path`},
		{`{"exec": {"x": {}}}`, `FILE:1: exec.x: command is missing`},
		{`{"exec": {"x": {"command": ["p"], "timeout_ms": 0}}}`, `FILE:1: exec.x.timeout_ms: got 0; want an integer from 1 to 86400000`},
		{`{"exec": {"x": {"command": ["p"], "key_env": ["A=sk-secret"]}}}`, `FILE:1: exec.x.key_env: want the name of an environment variable`},
	} {
		path := file(t, c.text)
		_, err := Load(Sources{UserFile: path})
		at, ok := errors.AsType[*Error](err)
		if !ok || strings.Replace(at.Error(), path, "FILE", 1) != c.want {
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestCredentials(t *testing.T) {
	path := file(t, twoProviders)
	c := load(t, Sources{UserFile: path, Getenv: vars("OPENAI_API_KEY", "sk-top")})
	key, headers, err := c.Credentials("lab", vars("LAB_KEY", "sk-lab", "LAB_GATEWAY", "gw ${LAB_KEY}"))
	if err != nil || key != "sk-lab" || !reflect.DeepEqual(headers, map[string]string{"X-Team": "core-secret", "X-Gateway": "Token gw ${LAB_KEY}"}) {
		t.Errorf("%q %v %v", key, headers, err)
	}
	if key, headers, err := c.Credentials("near", vars()); err != nil || key != "" || len(headers) != 0 {
		t.Errorf("%q %v %v", key, headers, err)
	}
	if key, _, err := c.Credentials("openai", vars("LAB_KEY", "sk-lab")); err != nil || key != "sk-top" {
		t.Errorf("%q %v", key, err)
	}
	for want, env := range map[string]func(string) string{
		path + ":6: providers.lab.api_key_env: the environment variable LAB_KEY is not set":                      vars("LAB_GATEWAY", "x"),
		path + ":7: providers.lab.headers: the environment variable LAB_GATEWAY is not set":                      vars("LAB_KEY", "x"),
		path + ":7: providers.lab.headers: X-Gateway: the value holds a line break or another control character": vars("LAB_KEY", "x", "LAB_GATEWAY", "a\nb"),
	} {
		if _, _, err := c.Credentials("lab", env); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	if got := strings.Join(c.KeyVariables(), " "); got != "ANTHROPIC_API_KEY LAB_GATEWAY LAB_KEY MY_KEY OPENAI_API_KEY" {
		t.Error(got)
	}
}

func TestPrintNamed(t *testing.T) {
	path := file(t, twoProviders)
	c := load(t, Sources{UserFile: path})
	var text, object bytes.Buffer
	if err := errors.Join(c.Print(&text, false), c.Print(&object, true)); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"secret", "hunter2", "Token"} {
		if strings.Contains(text.String()+object.String(), secret) {
			t.Errorf("%s is printed", secret)
		}
	}
	lines := map[string]string{}
	for line := range strings.Lines(text.String()) {
		key, rest, _ := strings.Cut(line, " ")
		lines[key] = strings.Join(strings.Fields(rest), " ")
	}
	for key, want := range map[string]string{
		"providers.lab.base_url":    "https://me:xxxxx@lab.test/v1?token=xxxxx user " + path + ":5",
		"providers.lab.headers":     `{"X-Gateway":"set","X-Team":"set"} user ` + path + ":7",
		"providers.lab.models":      `["a/b","c"] user ` + path + ":8",
		"providers.lab.extra_body":  `{"top_k":1,"s":"<&>"} user ` + path + ":9",
		"providers.near.headers":    `{} default`,
		"providers.near.extra_body": `{} default`,
		"providers.near.models":     `[] default`,
		"temperature":               `0.5 user ` + path + ":2",
		"exec.mine.command":         `["prog","-x"] user ` + path + ":14",
	} {
		if lines[key] != want {
			t.Errorf("%s: %s, want %s", key, lines[key], want)
		}
	}
	if lines["providers"] != "" {
		t.Error("the key stands beside its objects")
	}
	var values map[string]struct{ Value any }
	if err := json.Unmarshal(object.Bytes(), &values); err != nil {
		t.Fatal(err)
	}
	if v := values["providers.lab.models"].Value; !reflect.DeepEqual(v, []any{"a/b", "c"}) {
		t.Errorf("%v", v)
	}
}

// A stronger file replaces an object whole: its address must not meet the key of the weaker.
func TestNamedIsReplacedWhole(t *testing.T) {
	c := load(t, Sources{UserFile: file(t, twoProviders)})
	other := file(t, `{"providers": {"lab": {"base_url": "http://other/v1"}}}`)
	if err := c.loadFile(other, User, nil); err != nil {
		t.Fatal(err)
	}
	if lab := c.Providers["lab"]; lab.BaseURL != "http://other/v1" || lab.APIKeyEnv != "" || lab.Headers != nil || lab.Models != nil || c.Providers["near"] == nil {
		t.Errorf("%+v", lab)
	}
	if o := c.Origin("providers.lab.api_key_env"); o != (Origin{Source: Default}) {
		t.Errorf("%v", o)
	}
}

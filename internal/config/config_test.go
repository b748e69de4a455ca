package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// file writes a configuration into a fresh folder.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func vars(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

func load(t *testing.T, s Sources) Config {
	t.Helper()
	c, err := Load(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaults(t *testing.T) {
	c := load(t, Sources{UserFile: filepath.Join(t.TempDir(), "none.json")})
	for i := range table {
		k := &table[i]
		if k.named != nil {
			continue
		}
		if got := k.load(&c); !reflect.DeepEqual(got, k.def) {
			t.Errorf("%s = %v, want %v", k.name, got, k.def)
		}
		if o := c.Origin(k.name); o != (Origin{Source: Default}) {
			t.Errorf("%s: %v", k.name, o)
		}
	}
}

func TestPrecedence(t *testing.T) {
	user := file(t, "{\n \"model\": \"openai/user\", \"base_url\": \"http://user/v1\",\n \"max_turns\": 10, \"max_tool_rounds\": 11,\n\"model_stream\": false}")
	project := file(t, "{\"model\": \"openai/project\",\n\n\"max_turns\": 20}")
	c := load(t, Sources{
		UserFile: user, ProjectFile: project,
		Getenv: vars("OPENAI_BASE_URL", "http://env/v1", "OPENAI_API_KEY", "sk-1", "EVENER_STATE_DIR", ""),
		Flags:  Flags{"model": "openai/flag"},
	})
	if c.Model != "openai/flag" || c.BaseURL != "http://env/v1" || c.MaxTurns != 20 || c.MaxToolRounds != 11 || c.ModelStream || c.APIKey != "sk-1" || c.StateDir != "" {
		t.Errorf("%+v", c)
	}
	for key, want := range map[string]Origin{
		"model":           {Flag, "--model"},
		"base_url":        {Env, "OPENAI_BASE_URL"},
		"max_turns":       {Project, project + ":3"},
		"max_tool_rounds": {User, user + ":3"},
		"model_stream":    {User, user + ":4"},
		"state_dir":       {Default, ""},
	} {
		if got := c.Origin(key); got != want {
			t.Errorf("%s: %v, want %v", key, got, want)
		}
	}
}

func TestFileFaults(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", "{\n\"model\": \"openai/x\",\n\"modle\": 1}", `FILE:3: unknown key "modle"; evener config lists the keys`},
		{"case", `{"Model":"openai/x"}`, `FILE:1: unknown key "Model"; evener config lists the keys`},
		{"string for integer", `{"max_turns":"5"}`, `FILE:1: max_turns: got "5"; want an integer from 1 to 1000000`},
		{"fraction", `{"max_turns":5.5}`, `FILE:1: max_turns: got 5.5; want an integer from 1 to 1000000`},
		{"null", `{"max_turns":null}`, `FILE:1: max_turns: got null; want an integer from 1 to 1000000`},
		{"too small", `{"max_turns":0}`, `FILE:1: max_turns: got 0; want an integer from 1 to 1000000`},
		{"too large", "{\n\n\n\"stop_grace_ms\":600001}", `FILE:4: stop_grace_ms: got 600001; want an integer from 0 to 600000`},
		{"past 64 bits", `{"max_turns":99999999999999999999}`, `FILE:1: max_turns: got 99999999999999999999; want an integer from 1 to 1000000`},
		{"integer for boolean", `{"model_stream":1}`, `FILE:1: model_stream: got 1; want true or false`},
		{"boolean for string", `{"model":true}`, `FILE:1: model: got true; want a string`},
		{"object", "{\"model\":{\n\"name\":\"x\"}}", `FILE:1: model: got { "name":"x"}; want a string`},
		{"choice", `{"output":"xml"}`, `FILE:1: output: got "xml"; want one of text, json, jsonl`},
		{"model without provider", `{"model":"qwen"}`, `FILE:1: model: got "qwen"; want provider/name, such as openai/qwen3-coder`},
		{"address", `{"base_url":"localhost:8080"}`, `FILE:1: base_url: want an http or https address, such as http://127.0.0.1:8080/v1`},
		{"NUL", `{"state_dir":"a\u0000b"}`, `FILE:1: state_dir: the value holds a NUL character`},
		{"twice", "{\"max_turns\":5,\n\"max_turns\":6}", `FILE:2: key "max_turns" is set twice`},
		{"trailing", "{\"max_turns\":5}\n{}", `FILE:2: not valid JSON: invalid character '{' after top-level value`},
		{"cut short", "{\"max_turns\":\n", `FILE:1: not valid JSON: unexpected end of JSON input`},
		{"comment", "{\n// note\n}", `FILE:2: not valid JSON: invalid character '/' looking for beginning of object key string`},
		{"array", `[]`, `FILE:1: want a JSON object`},
		{"empty", " \n", `FILE: the file is empty; want a JSON object`},
		{"bytes", "{\"model\":\"\xff\"}", `FILE: the file is not valid UTF-8`},
		{"large", `{"model":"` + strings.Repeat("x", maxFile) + `"}`, `FILE: reading the configuration: it is larger than 1048576 bytes`},
		{"key in a file", `{"api_key":"sk"}`, `FILE:1: api_key: this file may not set it; set it by the environment variable OPENAI_API_KEY`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := file(t, c.text)
			_, err := Load(Sources{UserFile: path})
			at, ok := errors.AsType[*Error](err)
			if !ok || strings.Replace(at.Error(), path, "FILE", 1) != c.want {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
		})
	}
}

// A file that is no file must not hold the program up.
func TestFileKinds(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, why := range map[string]string{dir: "is a directory", pipe: "it is a pipe; want a regular file"} {
		if _, err := Load(Sources{ProjectFile: path}); err == nil || err.Error() != path+": reading the configuration: "+why {
			t.Errorf("%v", err)
		}
	}
	if _, err := Load(Sources{UserFile: file(t, "\xEF\xBB\xBF{\"max_turns\":7}\n")}); err != nil {
		t.Error(err)
	}
}

// A key is settable by a project only if somebody thought about a hostile one.
func TestProjectKeysAreChosen(t *testing.T) {
	for i := range table {
		k := &table[i]
		if k.env != "" && k.allows(Project) || k.secret && len(k.in) > 0 {
			t.Errorf("%s: a project or a file may set it", k.name)
		}
		if _, ok := k.def.(string); ok && k.allows(Project) && k.choices == nil && k.risky == nil {
			t.Errorf("%s: any text from a project is taken", k.name)
		}
	}
}

func TestEnvFault(t *testing.T) {
	_, err := Load(Sources{Getenv: vars("OPENAI_BASE_URL", "nowhere")})
	if err == nil || err.Error() != "OPENAI_BASE_URL: want an http or https address, such as http://127.0.0.1:8080/v1" {
		t.Error(err)
	}
}

// clause: JC-145
func TestFlags(t *testing.T) {
	fs := flag.NewFlagSet("evener", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	set := AddFlags(fs)
	var names []string
	fs.VisitAll(func(f *flag.Flag) { names = append(names, f.Name) })
	if got := strings.Join(names, " "); got != "base-url max-concurrent-delegates max-concurrent-shells max-retained-terminal max-subagent-depth max-turns model output output-schema state-dir trace wait-jobs" {
		t.Errorf("flags: %s", got)
	}
	if err := fs.Parse([]string{"--max-turns", "5", "--model=openai/x", "--max-turns=6", "prompt"}); err != nil {
		t.Fatal(err)
	}
	c := load(t, Sources{Flags: set})
	if c.MaxTurns != 6 || c.Model != "openai/x" || c.Origin("max_turns") != (Origin{Flag, "--max-turns"}) {
		t.Errorf("%+v", c)
	}
	err := fs.Parse([]string{"--max-turns", "x"})
	if err == nil || err.Error() != `invalid value "x" for flag -max-turns: got x; want an integer from 1 to 1000000` {
		t.Error(err)
	}
	if _, err := Load(Sources{Flags: Flags{"output": "xml"}}); err == nil || err.Error() != `--output: got "xml"; want one of text, json, jsonl` {
		t.Error(err)
	}
}

// A flag of its own form: its value may be left out.
func TestWaitJobsFlag(t *testing.T) {
	for _, c := range []struct {
		args []string
		want int64
		bad  string
	}{
		{[]string{}, 7, ""},
		{[]string{"--wait-jobs", "words"}, -1, ""},
		{[]string{"--wait-jobs=1m30s"}, 90_000, ""},
		{[]string{"--wait-jobs=0"}, 0, ""},
		{[]string{"--wait-jobs=false"}, 0, ""},
		{[]string{"--wait-jobs=soon"}, 0, `got "soon"; want a duration such as 90s or 2h, in whole milliseconds`},
		{[]string{"--wait-jobs=-1s"}, 0, `got "-1s"; want`},
		{[]string{"--wait-jobs=5us"}, 0, `got "5us"; want`},
		{[]string{"--wait-jobs=8761h"}, 0, "got 31539600000; want an integer from -1 to 31536000000"},
	} {
		fs := flag.NewFlagSet("evener", flag.ContinueOnError)
		fs.SetOutput(io.Discard)
		set := AddFlags(fs)
		if err := fs.Parse(c.args); err != nil || c.bad != "" {
			if err == nil || c.bad == "" || !strings.Contains(err.Error(), c.bad) {
				t.Errorf("%q: %v, want %q", c.args, err, c.bad)
			}
			continue
		}
		got := load(t, Sources{Flags: set, UserFile: file(t, `{"wait_jobs_ms": 7}`)})
		if got.WaitJobsMS != c.want || len(c.args) > 0 && got.Origin("wait_jobs_ms") != (Origin{Flag, "--wait-jobs"}) {
			t.Errorf("%q: %d from %+v", c.args, got.WaitJobsMS, got.Origin("wait_jobs_ms"))
		}
	}
}

// clause: JC-141 JC-143 JC-144
func TestForegroundWait(t *testing.T) {
	for _, c := range []struct {
		text    string
		profile bool
		want    int64
	}{
		{`{}`, true, 120_000},
		{`{}`, false, 10_000},
		{`{"default_command_timeout_ms":2000}`, true, 2_000},
		{`{"default_command_timeout_ms":2000}`, false, 2_000},
		{`{"default_command_timeout_ms":120000}`, false, 120_000},
		{`{"default_command_timeout_ms":900000}`, true, 600_000},
		{`{"default_command_timeout_ms":900000,"max_command_timeout_ms":1000000}`, true, 900_000},
		{`{"max_command_timeout_ms":5000}`, true, 5_000},
		{`{"max_command_timeout_ms":5000}`, false, 5_000},
	} {
		if got := load(t, Sources{ProjectFile: file(t, c.text)}).ForegroundWaitMS(c.profile); got != c.want {
			t.Errorf("%s %v: %d, want %d", c.text, c.profile, got, c.want)
		}
	}
}

// clause: JC-389
func TestJobListCharsArePositive(t *testing.T) {
	for _, text := range []string{`{"job_list_chars":0}`, `{"job_list_chars":-1}`} {
		if _, err := Load(Sources{UserFile: file(t, text)}); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

func TestPrint(t *testing.T) {
	user := file(t, `{"base_url":"https://me:hunter2@host/v1","state_dir":"a\nb"}`)
	c := load(t, Sources{UserFile: user, Getenv: vars("OPENAI_API_KEY", "sk-secret"), Flags: Flags{"max_turns": "7"}})
	var text, object bytes.Buffer
	if err := errors.Join(c.Print(&text, false), c.Print(&object, true)); err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"sk-secret", "hunter2"} {
		if strings.Contains(text.String()+object.String(), secret) {
			t.Errorf("%s is printed", secret)
		}
	}
	lines := map[string]string{}
	for line := range strings.Lines(text.String()) {
		key, rest, _ := strings.Cut(line, " ")
		lines[key] = strings.Join(strings.Fields(rest), " ")
	}
	var values map[string]struct {
		Value      any
		Source, At string
	}
	if err := json.Unmarshal(object.Bytes(), &values); err != nil {
		t.Fatal(err)
	}
	if len(lines) != len(table) || len(values) != len(table) || strings.Count(text.String(), "\n") != len(table) {
		t.Errorf("%d lines, %d members, %d keys:\n%s", len(lines), len(values), len(table), text.String())
	}
	for key, want := range map[string]string{
		"model":     `"" default`,
		"max_turns": "7 flag --max-turns",
		"api_key":   "set env OPENAI_API_KEY",
		"base_url":  "https://me:xxxxx@host/v1 user " + user + ":1",
		"state_dir": `"a\nb" user ` + user + ":1",
	} {
		if lines[key] != want {
			t.Errorf("%s: %s, want %s", key, lines[key], want)
		}
	}
	if v := values["max_turns"]; v.Value != 7.0 || v.Source != "flag" || v.At != "--max-turns" {
		t.Errorf("%+v", v)
	}
	if v := values["api_key"]; v.Value != "set" || v.Source != "env" {
		t.Errorf("%+v", v)
	}
	if v := values["model_stream"]; v.Value != true || v.Source != "default" || v.At != "" {
		t.Errorf("%+v", v)
	}
}

func TestUserFile(t *testing.T) {
	for _, c := range []struct {
		env  func(string) string
		want string
	}{
		{vars("XDG_CONFIG_HOME", "/x", "HOME", "/h"), "/x/evener/config.json"},
		{vars("XDG_CONFIG_HOME", "relative", "HOME", "/h"), "/h/.config/evener/config.json"},
		{vars("HOME", "/h"), "/h/.config/evener/config.json"},
		{vars(), ""},
	} {
		if got := UserFile(c.env); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for i := range table {
		k := &table[i]
		if seen[k.name] || k.doc == "" || strings.ContainsAny(k.doc, "\n|`") {
			t.Errorf("%s: named twice, or its text is missing or does not fit a table", k.name)
		}
		seen[k.name] = true
		if n, ok := k.def.(int64); ok && (n < k.min || n > k.max) {
			t.Errorf("%s: the default is out of bounds", k.name)
		}
	}
}

// TestFields: each field is its own. A value stored must come back, and move no other.
func TestFields(t *testing.T) {
	var c Config
	put(&c.Providers, "a", &Provider{})
	put(&c.Exec, "b", &Exec{})
	rows := c.rows()
	for i := range rows {
		if doc := rows[i].doc; doc == "" || strings.ContainsAny(doc, "\n|`") {
			t.Errorf("%s: its text is missing or does not fit a table", rows[i].name)
		}
		rows[i].store(&c, rows[i].def)
	}
	for i := range rows {
		want := another(rows[i].def)
		rows[i].store(&c, want)
		for j := range rows {
			expected := rows[j].def
			if i == j {
				expected = want
			}
			if !reflect.DeepEqual(rows[j].load(&c), expected) {
				t.Errorf("setting %s changes %s", rows[i].name, rows[j].name)
			}
		}
		rows[i].store(&c, rows[i].def)
	}
}

// another is a value of the same type.
func another(v any) any {
	n := 0.5
	switch v := v.(type) {
	case int64:
		return int64(987)
	case bool:
		return !v
	case *float64:
		return &n
	case []string:
		return []string{"other"}
	case map[string]string:
		return map[string]string{"other": "x"}
	case json.RawMessage:
		return json.RawMessage(`{}`)
	}
	return "other"
}

func TestDocsUpToDate(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "configuration.md")
	if *update {
		if err := os.WriteFile(path, []byte(Markdown()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != Markdown() {
		t.Errorf("%s is stale; make golden writes it", path)
	}
}

// The stronger place decides between the two keys that say where state lies.
func TestStatePlace(t *testing.T) {
	for _, c := range []struct {
		name, user string
		env        []string
		flag       string
		dir, home  string
	}{
		{name: "neither"},
		{name: "home", env: []string{"EVENER_STATE_HOME", "/h"}, home: "/h"},
		{name: "home of the user", user: `{"state_home":"/u"}`, home: "/u"},
		{name: "flag over variable", env: []string{"EVENER_STATE_HOME", "/h"}, flag: "/f", dir: "/f"},
		{name: "variable over user", user: `{"state_dir":"/u"}`, env: []string{"EVENER_STATE_HOME", "/h"}, home: "/h"},
		{name: "variable over user, the other way", user: `{"state_home":"/u"}`, env: []string{"EVENER_STATE_DIR", "/d"}, dir: "/d"},
		{name: "both variables", env: []string{"EVENER_STATE_HOME", "/h", "EVENER_STATE_DIR", "/d"}, dir: "/d"},
		{name: "both of the user", user: `{"state_dir":"/d","state_home":"/h"}`, dir: "/d"},
	} {
		s := Sources{Getenv: vars(c.env...), Flags: Flags{}}
		if c.user != "" {
			s.UserFile = file(t, c.user)
		}
		if c.flag != "" {
			s.Flags["state_dir"] = c.flag
		}
		if dir, home := load(t, s).StatePlace(); dir != c.dir || home != c.home {
			t.Errorf("%s: got %q and %q", c.name, dir, home)
		}
	}
	if _, err := Load(Sources{Getenv: vars("EVENER_STATE_HOME", "state")}); err == nil || err.Error() != `EVENER_STATE_HOME: got "state"; want an absolute path` {
		t.Error(err)
	}
}

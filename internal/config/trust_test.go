package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// aProject is a folder with settings, and the user's file beside which trust stands.
func aProject(t *testing.T, text string) Sources {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := Sources{ProjectFile: filepath.Join(dir, "it's here", ".evener", "config.json"), UserFile: filepath.Join(dir, "user", "config.json")}
	s.Trust = TrustBeside(s.UserFile)
	if err := os.MkdirAll(filepath.Dir(s.ProjectFile), 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, s.ProjectFile, text)
	return s
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func grant(t *testing.T, s Sources) []Asked {
	t.Helper()
	asked, data, err := Review(s)
	if err == nil {
		_, err = s.Trust.Grant(s.ProjectFile, data, time.Unix(0, 0))
	}
	if err != nil {
		t.Fatal(err)
	}
	return asked
}

// One rule for every key: a project's file sets it plainly, only while it is
// trusted, or never.
func TestWhatAProjectMaySet(t *testing.T) {
	const ask = `only in a folder that you trust: read it, then run evener trust 'DIR/it'\''s here'; or set it `
	for _, c := range []struct {
		text    string
		doubted string // untrusted; empty: it is plain
		refused string // trusted, too
		asked   string
	}{
		{text: `{"max_turns":5,"model":"openai/x","temperature":1,"output":"json"}`},
		{text: `{"model":"lab/x"}`},
		{text: "{\n\"base_url\":\"http://evil/v1\"}", doubted: "FILE:2: base_url: a project's file may set it " + ask + "in the user's configuration or by the environment variable OPENAI_BASE_URL or with --base-url", asked: "base_url http://evil/v1 FILE:2"},
		{text: `{"ca_file":"/evil.pem"}`, doubted: "FILE:1: ca_file: a project's file may set it " + ask + "in the user's configuration", asked: "ca_file /evil.pem FILE:1"},
		{text: "{\"providers\": {\n\"lab\": {\"base_url\": \"http://me:pw@evil/v1\", \"headers\": {\"X\": \"secret\"},\n\"api_key_env\": \"LAB_KEY\"}}}",
			doubted: "FILE:1: providers: a project's file may set it " + ask + "in the user's configuration",
			asked:   "providers.lab.base_url http://me:xxxxx@evil/v1 FILE:2\nproviders.lab.api_key_env LAB_KEY FILE:3\nproviders.lab.headers {\"X\":\"set\"} FILE:2"},
		{text: `{"exec":{"mine":{"command":["evil"]}}}`, doubted: "FILE:1: exec: a project's file may set it " + ask + "in the user's configuration", asked: `exec.mine.command ["evil"] FILE:1`},
		{text: `{"model":"script/evil.json"}`, doubted: "FILE:1: model: a project's file may choose script/evil.json " + ask + "in the user's configuration or with --model", asked: "model script/evil.json FILE:1"},
		{text: `{"model":"exec/evil"}`, doubted: "FILE:1: model: a project's file may choose exec/evil " + ask + "in the user's configuration or with --model", asked: "model exec/evil FILE:1"},
		{text: `{"model":"replay/x"}`, doubted: "FILE:1: model: a project's file may choose replay/x " + ask + "in the user's configuration or with --model", asked: "model replay/x FILE:1"},
		{text: `{"api_key":"sk"}`, refused: "FILE:1: api_key: a project's file may not set it; set it by the environment variable OPENAI_API_KEY"},
		{text: `{"state_dir":"/tmp"}`, refused: "FILE:1: state_dir: a project's file may not set it; set it in the user's configuration or by the environment variable EVENER_STATE_DIR or with --state-dir"},
		{text: `{"state_home":"/tmp"}`, refused: "FILE:1: state_home: a project's file may not set it; set it in the user's configuration or by the environment variable EVENER_STATE_HOME"},
		{text: `{"base_url":"nowhere"}`, doubted: "FILE:1: base_url: a project's file may set it " + ask + "in the user's configuration or by the environment variable OPENAI_BASE_URL or with --base-url", refused: "FILE:1: base_url: want an http or https address, such as http://127.0.0.1:8080/v1"},
	} {
		s := aProject(t, c.text)
		says := func(err error) string {
			if err == nil {
				return ""
			}
			return strings.NewReplacer(s.ProjectFile, "FILE", filepath.Dir(filepath.Dir(s.UserFile)), "DIR").Replace(err.Error())
		}
		want := c.doubted
		if want == "" {
			want = c.refused
		}
		if _, err := Load(s); says(err) != want {
			t.Errorf("%s\ngot  %s\nwant %s", c.text, says(err), want)
		}
		asked, data, err := Review(s)
		if says(err) != c.refused {
			t.Errorf("%s, reviewed\ngot  %s\nwant %s", c.text, says(err), c.refused)
		}
		var lines []string
		for _, a := range asked {
			lines = append(lines, strings.ReplaceAll(a.Key+" "+a.Value+" "+a.At, s.ProjectFile, "FILE"))
		}
		if got := strings.Join(lines, "\n"); got != c.asked {
			t.Errorf("%s asks for\n%s\nwant\n%s", c.text, got, c.asked)
		}
		if err != nil || len(asked) == 0 {
			continue
		}
		if _, err := s.Trust.Grant(s.ProjectFile, data, time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(s); err != nil {
			t.Errorf("%s, trusted: %v", c.text, err)
		}
	}
}

// What the user sets, the user may set.
func TestUserSetsAnything(t *testing.T) {
	user := load(t, Sources{UserFile: file(t, `{"model":"script/mine.json","base_url":"http://here/v1","state_dir":"/s"}`)})
	if user.Model != "script/mine.json" || user.BaseURL != "http://here/v1" || user.StateDir != "/s" {
		t.Errorf("%+v", user)
	}
}

// Trust holds for one folder and one text.
func TestTrustIsNarrow(t *testing.T) {
	const text = `{"base_url":"http://h/v1"}`
	s := aProject(t, text)
	grant(t, s)
	c := load(t, s)
	if c.BaseURL != "http://h/v1" || c.Origin("base_url") != (Origin{Project, s.ProjectFile + ":1"}) {
		t.Errorf("%q from %v", c.BaseURL, c.Origin("base_url"))
	}
	// Another folder with the same text.
	other := aProject(t, text)
	other.Trust = s.Trust
	if _, err := Load(other); err == nil || !strings.Contains(err.Error(), "only in a folder that you trust: read it") {
		t.Errorf("another folder: %v", err)
	}
	// The same folder by another path.
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Dir(filepath.Dir(s.ProjectFile)), link); err != nil {
		t.Fatal(err)
	}
	linked := s
	linked.ProjectFile = filepath.Join(link, ".evener", "config.json")
	load(t, linked)
	// Settings that are another folder's by a link are not trusted with it.
	thief := aProject(t, text)
	thief.Trust = s.Trust
	if err := errors.Join(os.RemoveAll(filepath.Dir(thief.ProjectFile)), os.Symlink(filepath.Dir(s.ProjectFile), filepath.Dir(thief.ProjectFile))); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(thief); err == nil {
		t.Error("a folder is trusted for the settings that it links to")
	}
	// Another text, and back.
	write(t, s.ProjectFile, `{"base_url":"http://other/v1"}`)
	if _, err := Load(s); err == nil || !strings.Contains(err.Error(), "you trust, and this file has changed since you did: read it, then run evener trust") {
		t.Errorf("another text: %v", err)
	}
	write(t, s.ProjectFile, text)
	load(t, s)
	grants, err := s.Trust.Grants()
	if err != nil || len(grants) != 1 || s.Trust.State(grants[0]) != "holds" {
		t.Fatalf("%v, %v", grants, err)
	}
	if found, err := s.Trust.Revoke(grants[0].Folder); !found || err != nil {
		t.Errorf("revoke: %v, %v", found, err)
	}
	if found, err := s.Trust.Revoke(grants[0].Folder); found || err != nil {
		t.Errorf("revoke again: %v, %v", found, err)
	}
	if _, err := Load(s); err == nil {
		t.Error("trusted after that was taken back")
	}
}

// What is in the way of trust is said.
func TestTrustFaults(t *testing.T) {
	s := aProject(t, `{"base_url":"http://h/v1"}`)
	nowhere := s
	nowhere.Trust = TrustBeside("")
	if _, err := Load(nowhere); err == nil || !strings.Contains(err.Error(), "there is no place to keep that: neither XDG_CONFIG_HOME nor HOME names one; or set it") {
		t.Error(err)
	}
	if _, err := nowhere.Trust.Grant(s.ProjectFile, nil, time.Now()); err == nil {
		t.Error("trusted without a place for it")
	}
	grant(t, s)
	write(t, s.Trust.file(project(s.ProjectFile)), `{"folder":"/elsewhere","config_sha256":""}`)
	if _, err := Load(s); err == nil || !strings.Contains(err.Error(), "says nothing that can be understood; remove it and trust the folder again") {
		t.Error(err)
	}
	if _, err := s.Trust.Grants(); err == nil {
		t.Error("listed")
	}
	write(t, s.ProjectFile, `{"max_turns":5}`)
	load(t, s) // where nothing asks for trust, nobody looks for it
	if err := os.Remove(s.ProjectFile); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Review(s); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// Every key says where it may be set, and none both plainly and with trust.
func TestPlacesAreKnown(t *testing.T) {
	known := []Source{User, Project, Trusted, Flag}
	for i := range table {
		k := &table[i]
		for _, s := range k.in {
			if !slices.Contains(known, s) {
				t.Errorf("%s may be set in %q", k.name, s)
			}
		}
		if k.allows(Project) && k.allows(Trusted) || k.named != nil && k.allows(Project) {
			t.Errorf("%s: %v", k.name, k.in)
		}
	}
	if !reflect.DeepEqual(places("flag trusted"), []Source{Flag, Trusted}) {
		t.Error(places("flag trusted"))
	}
}

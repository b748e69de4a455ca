package docs

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// program writes the one block of a language in docs/exec-model.md as a program.
func program(t *testing.T, language string) string {
	t.Helper()
	if _, err := exec.LookPath(map[string]string{"sh": "jq", "python": "python3"}[language]); err != nil {
		t.Skipf("SKIPPED, so the %s program of docs/exec-model.md was NOT run: %v", language, err)
	}
	m := regexp.MustCompile("(?s)```" + language + "\n(#!.*?)```").FindStringSubmatch(read(t, "docs/exec-model.md"))
	if m == nil {
		t.Fatalf("docs/exec-model.md has no program in %s", language)
	}
	file := filepath.Join(t.TempDir(), "model")
	if err := os.WriteFile(file, []byte(m[1]), 0o755); err != nil {
		t.Fatal(err)
	}
	return file
}

// asks runs evener with a command as its model.
func asks(t *testing.T, command []string, env ...string) (out, errs string, err error) {
	t.Helper()
	dir := t.TempDir()
	evener := filepath.Join(dir, "evener")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", evener, "evener").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	config, err := json.Marshal(map[string]any{"model_retries": 0, "exec": map[string]any{"mine": map[string]any{"command": command}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "evener.d", "evener"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "evener.d", "evener", "config.json"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(evener, "--model", "exec/mine", "what year is it?")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), append(env, "XDG_CONFIG_HOME="+filepath.Join(dir, "evener.d"))...)
	var o, e strings.Builder
	cmd.Stdout, cmd.Stderr = &o, &e
	err = cmd.Run()
	return o.String(), e.String(), err
}

// TestExecRules runs the set of rules of docs/exec-model.md as the model of a session.
func TestExecRules(t *testing.T) {
	out, errs, err := asks(t, []string{program(t, "sh")})
	if err != nil || !regexp.MustCompile(`^the clock says .*20\d\d`).MatchString(out) {
		t.Errorf("%v: %s%s", err, out, errs)
	}
}

// TestExecOllama runs the Python program of docs/exec-model.md against a server
// with Ollama's own interface.
func TestExecOllama(t *testing.T) {
	file := program(t, "python")
	var bodies []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		bodies = append(bodies, string(b))
		switch {
		case r.URL.Path != "/api/chat" || !strings.Contains(string(b), `"num_ctx": 4096`):
			http.Error(w, `{"error":"not so"}`, http.StatusBadRequest)
		case len(bodies) == 1:
			_, _ = io.WriteString(w, `{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"shell","arguments":{"command":"echo from-the-shell"}}}]},"done_reason":"stop","prompt_eval_count":9,"eval_count":2}`)
		case len(bodies) == 2 && strings.Contains(string(b), "from-the-shell"):
			_, _ = io.WriteString(w, `{"message":{"role":"assistant","content":"it said so"},"done_reason":"stop"}`)
		default:
			http.Error(w, `{"error":"model \"q\" not found"}`, http.StatusNotFound)
		}
	}))
	defer srv.Close()
	command := []string{file, "q", "4096"}
	out, errs, err := asks(t, command, "OLLAMA_HOST="+srv.URL)
	if err != nil || out != "it said so\n" {
		t.Errorf("%v: %s%s\n%s", err, out, errs, strings.Join(bodies, "\n"))
	}
	if _, errs, err = asks(t, command, "OLLAMA_HOST="+srv.URL); err == nil || !strings.Contains(errs, `exec/mine: status 404`) || !strings.Contains(errs, "not found") {
		t.Errorf("%v: %s", err, errs)
	}
}

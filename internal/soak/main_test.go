package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Two trees of a new seed, killed as in a long soak.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the program and kills it for a while")
	}
	bin := filepath.Join(t.TempDir(), "evener")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", bin, "../..").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var out bytes.Buffer
	found, err := soak(context.Background(), &out, bin, plan{seed: uint64(time.Now().UnixNano()), trees: 2, beside: 2, long: time.Minute})
	t.Log(out.String())
	if err != nil || found > 0 {
		t.Errorf("%d trees with findings, %v", found, err)
	}
}

// Each fault that a soak is for is found in a record that has it.
func TestFaultsAreFound(t *testing.T) {
	const s, job, kid = "01M8Q9ZQXV84S6CVQN5YB6PTKP", "job_01M8Q9ZQXV84S6CVQN5YB6PTKPHWJAYV", "dlg_01M8Q9Y5DYMPG14THZM5BHAHAK"
	ended := `{"kind":"job.intended","data":{"job_id":"` + job + `"}},{"kind":"job.finished","data":{"job_id":"` + job + `"}},{"kind":"attention.armed","data":{"attention_id":"` + job + `/1","job_id":"` + job + `"}}`
	frame := message{Role: "user", Content: `<job-notification job_id="` + job + `" event="completed" job_type="shell">`}
	asked := func(id, tool, args, result string) []message {
		var m message
		m.Role = "assistant"
		m.ToolCalls = append(m.ToolCalls, struct {
			ID       string `json:"id"`
			Function struct {
				Name      string `json:"name"`
				Arguments string `json:"arguments"`
			} `json:"function"`
		}{ID: id})
		m.ToolCalls[0].Function.Name, m.ToolCalls[0].Function.Arguments = tool, args
		return []message{m, {Role: "tool", ToolCallID: id, Content: result}}
	}
	ran := asked("a", "shell", "{}", `{"job_id":"`+job+`"}`)
	steered := asked("b", "delegate_send", `{"message":"steer n7"}`, `{"delegate_id":"`+kid+`","action":"steered"}`)
	for name, c := range map[string]struct {
		events string
		last   []message
		prompt string
		want   string
	}{
		"nothing":              {ended, append(ran, frame), "", ""},
		"a lost job":           {``, ran, "", "which has 0 job.intended"},
		"a job that ran twice": {ended + "," + `{"kind":"job.finished","data":{"job_id":"` + job + `"}}`, append(ran, frame), "", "which has 2 job.finished"},
		"an end that is kept":  {ended, ran, "", "is on record and was not told"},
		"an end told twice":    {ended, append(ran, frame, frame), "", "was told 2 times of the end of " + job},
		"a lost steer":         {``, steered, "", `"steer n7" was accepted and is not on record`},
		"a steer said twice": {`{"kind":"message.queued","data":{"text":"steer n7"}},{"kind":"transcript.user","data":{"text":"steer n7"}},{"kind":"transcript.user","data":{"text":"steer n7"}}`,
			steered, "", `"steer n7" was said 2 times`},
		"a lost delegate":     {``, asked("c", "delegate", "{}", `{"delegate_id":"`+kid+`"}`), "", "which has 0 delegate.created"},
		"a watch without end": {`{"kind":"watch.created","data":{"watch_id":"watch_1"}}`, asked("d", "job_watch", "{}", `{"watch_id":"watch_1","watching":true}`), "", "which has 0 watch.ended"},
		"a lost prompt":       {``, nil, "go n3", `stands 0 times in the journals`},
		"a dropped prompt":    {`{"kind":"prompt.dropped","data":{"input_id":"n3"}}`, nil, "go n3", ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), ".evener/sessions", s)
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, "session.jsonl"), fmt.Appendf(nil, "{\"events\":[%s]}\n", c.events), 0o600); err != nil {
				t.Fatal(err)
			}
			played := &tree{dir: filepath.Dir(filepath.Dir(filepath.Dir(dir))), root: s, accepted: map[string]bool{}, model: &model{last: map[string][]message{root: c.last}}}
			if c.prompt != "" {
				played.accepted[c.prompt] = true
			}
			if err := played.check(); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(played.faults, "\n"); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
	var m model
	m.last = map[string][]message{}
	m.check(root, []message{{Role: "system"}, {Role: "user", Content: "go"}, {Role: "assistant", Content: "yes"}})
	m.check(root, []message{{Role: "system"}, {Role: "user", Content: "go on"}, {Role: "assistant", Content: "no"}, {Role: "user", Content: "then"}})
	if len(m.faults) != 1 || !strings.Contains(m.faults[0], `message 2 was "yes" and is "no"`) {
		t.Errorf("a conversation that changed: %q", m.faults)
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/transcript"
	"evener/internal/tree"
)

// largeSession makes a session of one run with so many results of some size, and
// with a job.
func largeSession(t *testing.T, dir string, results, size int) (journalBytes int64) {
	t.Helper()
	h, err := store.Find(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	s := id.MintSession(time.Now(), id.Entropy{1})
	st, err := store.Create(h, s, "test", "boot")
	if err != nil {
		t.Fatal(err)
	}
	step := int64(0)
	line := func(events ...session.Event) {
		step++
		w := tree.Write{Session: s, Step: step, At: time.Now().UTC(), Cause: []byte(`{"kind":"test"}`), Events: events}
		if err := st.Append([]tree.Write{w}); err != nil {
			t.Fatal(err)
		}
	}
	line(session.Created{Session: s, Root: s, Dir: dir}, session.RunStarted{Run: 1, Mode: session.OneShot},
		session.ContextSet{Model: "openai/any", System: "s", Tools: json.RawMessage("[]")},
		session.TurnStarted{Turn: 1, Type: session.UserTurn}, transcript.UserSaid{Turn: 1, Text: "go"}, session.Requested{Turn: 1, Request: 1})
	j := id.MintJob(s, 1, func(id.Job) bool { return false })
	line(job.Intended{Job: j, Command: "make all", Mode: job.Background, Dir: dir, Turn: 1, Call: "c0"},
		job.Finished{Job: j, Status: job.Failed, Reason: job.StartFailed, Generation: 1, Kept: true, Error: "for the test"})
	row := "the quick \"brown\" fox\n jumps over → the lazy dog \u2028 0123456789 abcdefghijklmnopqrstuvwxyz\n"
	text := strings.Repeat(row, size/len(row)+1)[:size]
	text = strings.ToValidUTF8(text, "")
	for i := range results {
		n := int64(i + 1)
		call := fmt.Sprint("c", n)
		data, err := json.Marshal(map[string]any{"output": fmt.Sprint(n, text), "exit_code": 0})
		if err != nil {
			t.Fatal(err)
		}
		line(transcript.AssistantSaid{Turn: 1, Request: n, Finish: "tool_calls", Calls: []transcript.Call{{ID: call, Name: "shell", Arguments: `{"command":"x"}`}}},
			transcript.Answered{Call: call, Name: "shell", Data: data}, session.Requested{Turn: 1, Request: n + 1})
	}
	line(transcript.AssistantSaid{Turn: 1, Request: int64(results) + 1, Text: "done", Finish: "stop"},
		session.TurnEnded{Turn: 1, Outcome: session.TurnAnswered, Answer: true}, session.RunEnded{Run: 1, Outcome: session.RunAnswered})
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(h.Journal(s))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// A session with 300 MB of journal resumes, asks a server with all of it, and
// stays below 1 GB. It writes those 300 MB, so it is asked for by name:
//
//	EVENER_TEST_LARGE=1 go test -run TestLargeSession -v .
func TestLargeSession(t *testing.T) {
	if os.Getenv("EVENER_TEST_LARGE") == "" {
		t.Skip("set EVENER_TEST_LARGE to run it")
	}
	dir := t.TempDir()
	evener := filepath.Join(dir, "evener")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", evener, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	begun := time.Now()
	size := largeSession(t, dir, 3000, 100_000)
	t.Logf("%d MB of journal, made in %v", size>>20, time.Since(begun).Round(time.Millisecond))
	asked := int64(0)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked, _ = io.Copy(io.Discard, r.Body)
		io.WriteString(w, `{"choices":[{"message":{"content":"it is all here"},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"resume", []string{"--model", "openai/any", "--base-url", server.URL + "/v1", "--resume-last", "go on"}, "it is all here\n"},
		{"sessions", []string{"sessions"}, "answered  go\n"},
		{"verify", []string{"verify"}, "ok "},
	} {
		if c.name == "sessions" { // from the journal, not from the summary
			found, _ := filepath.Glob(filepath.Join(dir, ".evener/sessions/*/meta.json"))
			for _, m := range found {
				os.Remove(m)
			}
		}
		cmd := exec.Command(evener, c.args...)
		cmd.Dir = dir
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		begun := time.Now()
		if err := cmd.Run(); err != nil || !strings.Contains(out.String(), c.want) {
			t.Fatalf("%s: %v\n%s%s", c.name, err, out.String(), errs.String())
		}
		peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10 // Linux counts KiB
		t.Logf("%s: %v, at most %d MB of memory, %.2f times the journal", c.name, time.Since(begun).Round(time.Millisecond), peak>>20, float64(peak)/float64(size))
		if peak > 1<<30 {
			t.Errorf("%s took more than 1 GiB", c.name)
		}
	}
	t.Logf("the request had %d MB", asked>>20)
	if asked < 3000*100_000 {
		t.Error("not all of the conversation was sent")
	}
}

// What is read of a large session, or looked for in it, takes no more memory than
// of a small one. With EVENER_TEST_LARGE it has 300 MB:
//
//	EVENER_TEST_LARGE=1 go test -run TestLargeReads -v .
func TestLargeReads(t *testing.T) {
	results, bound := 60, 40
	if os.Getenv("EVENER_TEST_LARGE") != "" {
		results = 330
	}
	dir := t.TempDir()
	evener := filepath.Join(dir, "evener")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", evener, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	size := largeSession(t, dir, results, 900_000)
	journals, _ := filepath.Glob(filepath.Join(dir, ".evener/sessions/*/session.jsonl"))
	s := filepath.Base(filepath.Dir(journals[0]))
	t.Logf("%d MB of journal", size>>20)
	for name, args := range map[string]string{"search": `{"text":"no such words"}`, "found": `{"text":"` + fmt.Sprint(results) + `the quick"}`, "listed": "{}", "read": `{"transcript_ref":"local:` + s + `"}`} {
		call := "find_session_transcripts"
		if name == "read" {
			call = "read_transcript"
		}
		model := `{"conversations":[{"replies":[{"calls":[{"name":"` + call + `","arguments":` + args + `}]},{"calls":[{"name":"communicate","arguments":{"message":"looked","end_turn":true}}]}]}]}`
		if err := os.WriteFile(filepath.Join(dir, name+".json"), []byte(model), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	j := id.MintJob(id.Session(s), 1, func(id.Job) bool { return false })
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"the newest turns", []string{"show", "local:" + s}, "### Assistant\n\n```\ndone\n"},
		{"one turn in full", []string{"show", "--expand", "1", "local:" + s}, "elided from this oversized turn"},
		{"a range", []string{"show", "--range", "1-9", "local:" + s}, "### Assistant\n\n```\ndone\n"},
		{"a job", []string{"show", string(j)}, "- status: failed\n- command: make all\n"},
		{"listed by the model", []string{"--model", "script/listed.json", "look"}, "looked\n"},
		{"read by the model", []string{"--model", "script/read.json", "look"}, "looked\n"},
		{"searched in vain", []string{"--model", "script/search.json", "look"}, "looked\n"},
		{"searched and found", []string{"--model", "script/found.json", "look"}, "looked\n"},
	} {
		cmd := exec.Command(evener, c.args...)
		cmd.Dir = dir
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		begun := time.Now()
		peak, err := peakOf(cmd)
		if err != nil || !strings.Contains(out.String(), c.want) {
			t.Fatalf("%s: %v\n%s%s", c.name, err, out.String(), errs.String())
		}
		t.Logf("%s: %v, at most %d MB of memory", c.name, time.Since(begun).Round(time.Millisecond), peak)
		if peak > bound {
			t.Errorf("%s took %d MB, %d at most", c.name, peak, bound)
		}
	}
}

// peakOf runs a command and gives the most memory that it had, in MB: as its own
// record says, looked at again and again, since what a parent gets to know of a child counts the
// parent's own memory too.
func peakOf(cmd *exec.Cmd) (peak int, err error) {
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	status, ended := fmt.Sprintf("/proc/%d/status", cmd.Process.Pid), make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for tick := time.NewTicker(time.Millisecond); ; {
		select {
		case err := <-ended:
			tick.Stop()
			return peak, err
		case <-tick.C:
		}
		b, err := os.ReadFile(status)
		if err != nil {
			continue // it is gone
		}
		if _, hwm, found := strings.Cut(string(b), "VmHWM:"); found {
			var kb int
			if _, err := fmt.Sscan(hwm, &kb); err == nil {
				peak = max(peak, kb>>10)
			}
		}
	}
}

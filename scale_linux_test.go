package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"evener/journal"
)

// A thousand live jobs, and ten thousand that ended: each is on record and ends once, and
// the session verifies and resumes, in bounded memory. Without EVENER_TEST_LARGE it is less of
// each:
//
//	EVENER_TEST_LARGE=1 go test -run TestLargeScale -v .
func TestLargeScale(t *testing.T) {
	live, ended := 60, 300
	if os.Getenv("EVENER_TEST_LARGE") != "" {
		live, ended = 1000, 10_000
	}
	background := func(n int, command string) scripted {
		calls := make([]any, n)
		for i := range calls {
			calls[i] = scripted{"name": "shell", "arguments": scripted{"command": command, "mode": "background"}}
		}
		return scripted{"calls": calls}
	}
	many := []any{}
	for left := ended; left > 0; left -= 250 {
		many = append(many, background(min(left, 250), "true"))
	}
	wait := scriptedCall("shell", scripted{"command": fmt.Sprintf(`until [ $(grep -o '"kind":"job.finished"' .evener/sessions/*/session.jsonl | wc -l) -ge %d ]; do sleep 0.2; done`, ended)})
	for _, c := range []struct {
		name    string
		replies []any
		jobs    int
		most    int // MB of memory
		holds   []string
	}{
		{"live jobs", []any{background(live, "echo begun; exec sleep 600"), scriptedCall("job_list", scripted{"limit": 1})}, live, 150,
			[]string{fmt.Sprintf(`"total_count":%d`, live)}},
		{"jobs that ended", append(many, wait, scriptedCall("job_list", scripted{"limit": 1})), ended + 1, 200,
			[]string{fmt.Sprintf(`"total_count":%d`, ended)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, evener := built(t, append(c.replies, scriptedReport("end"), scriptedReport("end"), scriptedReport("end")), []any{scriptedReport("end")})
			mark := "WORK=" + dir
			run := func(args ...string) {
				t.Helper()
				cmd := exec.Command(evener, args...)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), mark, "HOME="+dir, "XDG_CONFIG_HOME=", "TMPDIR="+dir)
				var out, errs bytes.Buffer
				cmd.Stdout, cmd.Stderr = &out, &errs
				began := time.Now()
				peak, err := peakOf(cmd)
				if err != nil {
					t.Fatalf("%v: %v\n%.2000s%.2000s", args, err, out.String(), errs.String())
				}
				t.Logf("%.40v: %v, at most %d MB of memory", args, time.Since(began).Round(time.Millisecond), peak)
				if peak > c.most {
					t.Errorf("%v took %d MB, %d at most", args, peak, c.most)
				}
				if left := settled(mark, ""); len(left) > 0 {
					t.Fatalf("%d processes are left", len(left))
				}
			}
			run("--model", "script/m.json", "--wait-jobs=0s", "go")
			run("verify")
			run("--model", "script/m.json", "--resume-last", "again")
			run("jobs")
			all, err := filepath.Glob(filepath.Join(dir, ".evener/sessions/*/session.jsonl"))
			if err != nil || len(all) != 1 {
				t.Fatal(all, err)
			}
			count := map[string]int{}
			for e, err := range journal.Read(all[0], journal.Pos{}) {
				if err != nil {
					t.Fatal(err)
				}
				for kind := range e.Events() {
					count[kind]++
				}
			}
			if count["job.intended"] != c.jobs || count["job.finished"] != c.jobs {
				t.Errorf("%d jobs are on record and %d ends, want %d", count["job.intended"], count["job.finished"], c.jobs)
			}
			text, err := os.ReadFile(all[0])
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.holds {
				if !bytes.Contains(text, []byte(want)) {
					t.Errorf("the record lacks %s", want)
				}
			}
		})
	}
}

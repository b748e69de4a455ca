package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A listing of a thousand sessions reads their summaries and no journal: the journals
// here are as long as the summaries say and hold nothing that could be read.
func TestThousandSessions(t *testing.T) {
	const sessions = 1000
	dir, evener := built(t, []any{scriptedReport("end")}, []any{scriptedReport("end")})
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(evener, args...)
		cmd.Dir = dir
		var errs bytes.Buffer
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil || errs.Len() > 0 {
			t.Fatalf("%v: %v\n%s", args, err, errs.String())
		}
		return string(out)
	}
	run("--model", "script/m.json", "--state-dir", "state", "go")
	all, err := filepath.Glob(filepath.Join(dir, "state/sessions/*"))
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	was := filepath.Base(all[0])
	meta, err := os.ReadFile(filepath.Join(all[0], "meta.json"))
	if err != nil {
		t.Fatal(err)
	}
	journal, err := os.Stat(filepath.Join(all[0], "session.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range sessions - 1 {
		id := was[:22] + fmt.Sprintf("%04d", i)
		at := filepath.Join(dir, "state/sessions", id)
		if err := os.Mkdir(at, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, b := range map[string][]byte{
			"meta.json": bytes.ReplaceAll(meta, []byte(was), []byte(id)), "session.jsonl": bytes.Repeat([]byte("x"), int(journal.Size())),
		} {
			if err := os.WriteFile(filepath.Join(at, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	began := time.Now()
	listed := run("sessions", "--state-dir", "state", "--json")
	t.Logf("%d sessions were listed in %s", sessions, time.Since(began).Round(time.Millisecond))
	if n := strings.Count(listed, "\n"); n != sessions {
		t.Errorf("%d sessions were listed, want %d", n, sessions)
	}
	// The one whose journal is whole is found among them.
	if got := run("show", "--state-dir", "state", "local:"+was); !strings.Contains(got, "end") {
		t.Errorf("the one session that is whole is not shown: %s", got)
	}
}

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const (
	someSession = "01M8Q9ZQXV84S6CVQN5YB6PTKP"
	someJob     = "job_01M8Q9ZQXV84S6CVQN5YB6PTKPHWJAYV"
)

// played is a tree whose folder has files.
func played(t *testing.T, files map[string]string) *tree {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, strings.ReplaceAll(name, "S/", ".evener/sessions/"+someSession+"/"))
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return &tree{dir: dir}
}

// Each thing that a tree may leave behind is found, and what belongs to it is not.
func TestLeftIsFound(t *testing.T) {
	intended := `{"events":[{"kind":"job.intended","data":{"job_id":"` + someJob + `"}}]}` + "\n"
	for name, c := range map[string]struct{ file, want string }{
		"nothing":        {"S/meta.json", ""},
		"a torn tail":    {"S/session.jsonl.torn-7", ""},
		"output":         {"S/jobs/" + someJob + ".log", ""},
		"foreign output": {"S/jobs/job_01M8Q9ZQXV84S6CVQN5YB6PTKPHWJAYW.log", "output is left of a job that is not on record"},
		"a half file":    {"S/.meta.json123", "a file is left"},
		"half a journal": {"S/.session.jsonl.new-1", "a file is left"},
		"a half session": {".evener/sessions/01M8Q9ZQXV84S6CVQN5YB6PTKQ/.session.jsonl.new-1", ""},
		"scratch":        {"S/scratch/command-1.sh", "a file is left"},
		"temporary":      {"tmp/x", "a file is left"},
		"a lock":         {"S/lock", ""},
	} {
		t.Run(name, func(t *testing.T) {
			x := played(t, map[string]string{"S/session.jsonl": intended, c.file: ""})
			r, err := x.read()
			if err != nil {
				t.Fatal(err)
			}
			x.files(r)
			if got := strings.Join(x.faults, "\n"); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
	x := played(t, map[string]string{"S/lock": ""})
	f, err := os.Open(filepath.Join(x.dir, ".evener/sessions", someSession, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if x.files(record{}); len(x.faults) != 1 || !strings.Contains(x.faults[0], "a lock is held") {
		t.Errorf("a held lock: %q", x.faults)
	}
}

// What a program at rest holds is strange when nothing that lives explains it.
func TestHeldIsFound(t *testing.T) {
	finished := `{"events":[{"kind":"job.intended","data":{"job_id":"` + someJob + `"}},{"kind":"job.finished","data":{"job_id":"` + someJob + `"}}]}` + "\n"
	for name, c := range map[string]struct{ open, want string }{
		"nothing":              {":", ""},
		"a journal":            {"exec 7<$S/session.jsonl", ""},
		"a journal twice":      {"exec 7<$S/session.jsonl 8<$S/session.jsonl", "2 of "},
		"the log of an end":    {"exec 7<$S/jobs/" + someJob + ".log", someJob + ".log"},
		"a file that is gone":  {"exec 7<$S/meta.json; rm $S/meta.json", "meta.json (deleted)"},
		"pipes without a job":  {"for i in 1 2 3 4 5 6 7; do exec {fd}< <(read -t 60 <> <(:)); done", " of pipe"},
		"a file of the system": {"exec 7</etc/passwd", "/etc/passwd"},
	} {
		t.Run(name, func(t *testing.T) {
			x := played(t, map[string]string{"S/session.jsonl": finished, "S/meta.json": "", "S/jobs/" + someJob + ".log": ""})
			cmd := exec.Command("bash", "-c", c.open+"; echo ready; read")
			cmd.Env = append(os.Environ(), "S="+filepath.Join(x.dir, ".evener/sessions", someSession))
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			defer cmd.Wait()
			defer in.Close()
			if _, err := fmt.Fscanln(out, new(string)); err != nil {
				t.Fatal(err)
			}
			got := strings.Join(x.holds(cmd.Process.Pid).strange, "\n")
			if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

// The goroutines of a dump are counted without those of the runtime.
func TestRoutines(t *testing.T) {
	dump := "SIGABRT: abort\n\ngoroutine 0 gp=0x1 m=0 [idle]:\nx\n\ngoroutine 1 [chan receive]:\nmain.main()\n\ngoroutine 2 [force gc (idle)]:\ncreated by runtime.init.7 in goroutine 1\n\ngoroutine 30 [select]:\ncreated by evener/x in goroutine 1\n"
	if n := routines(dump); n != 2 {
		t.Errorf("%d", n)
	}
}

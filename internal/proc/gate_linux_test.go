package proc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The gate leaves the command's world alone: no descriptor, no variable, no
// argument, no line number of ours.
func TestGateLeavesNoTrace(t *testing.T) {
	for _, shell := range []string{"", "/bin/sh"} {
		for _, env := range [][]string{nil, {"POSIXLY_CORRECT=1"}, {"SHELLOPTS=privileged"}} {
			r := newRig(t)
			if shell != "" {
				r.shell = shell
			}
			c := r.command(`echo "rc=$? args=$# line=$LINENO"
(cd /proc/$$/fd; echo *)
env > env; set > set; grep -hE '^(EVENER_GATE|BASH_ENV|REPLY)' env set
exit 0`)
			c.Env = env
			if err := r.Release(r.hold(c)); err != nil {
				t.Fatal(err)
			}
			x := r.exit()
			got := strings.Replace(string(x.Tail), "line=\n", "line=1\n", 1) // a shell without LINENO
			if want := "rc=0 args=0 line=1\n0 1 2\n"; got != want {
				t.Errorf("%q %v: %q, want %q", shell, env, got, want)
			}
		}
	}
}

// The user's own BASH_ENV is sourced once, after the gate, and inherited.
func TestUsersBashEnv(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, `it's "a" file`)
	mark := filepath.Join(dir, "mark")
	text := "(cd /proc/$$/fd; echo sourced *) >> '" + mark + "'\ngreet() { echo hello; }\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{file, "$EXTRA/" + filepath.Base(file), "`echo \"$EXTRA\"`/it's \"a\" file"} {
		os.Remove(mark)
		r := newRig(t)
		c := r.command(`greet; printf '%s\n' "$BASH_ENV"; bash -c greet`)
		c.Env = []string{"BASH_ENV=" + value, "EXTRA=" + dir}
		job := r.hold(c)
		if _, err := os.Stat(mark); err == nil {
			t.Fatal("sourced before the gate opened")
		}
		if err := r.Release(job); err != nil {
			t.Fatal(err)
		}
		x := r.exit()
		if want := "hello\n" + value + "\nhello\n"; string(x.Tail) != want {
			t.Errorf("%s: %q, want %q", value, x.Tail, want)
		}
		b, _ := os.ReadFile(mark)
		// Ours have closed the gate by then; the second is the inner bash.
		if lines := strings.Split(string(b), "\n"); len(lines) != 3 || lines[0] != lines[1] || strings.Count(lines[0], "sourced") != 1 {
			t.Errorf("%s: %q", value, b)
		}
	}
	// A file that is not there is no error.
	r := newRig(t)
	c := r.command(`echo "$BASH_ENV"`)
	c.Env = []string{"BASH_ENV=/nowhere/at all"}
	if err := r.Release(r.hold(c)); err != nil {
		t.Fatal(err)
	}
	if x := r.exit(); string(x.Tail) != "/nowhere/at all\n" {
		t.Fatalf("%q", x.Tail)
	}
}

// A command that was given up never ran, and nobody hears of it.
func TestAbandonedNeverRuns(t *testing.T) {
	for _, shell := range []string{"", "/bin/sh"} {
		r := newRig(t)
		if shell != "" {
			r.shell = shell
		}
		ran := filepath.Join(r.dir, "ran")
		c := r.command("touch " + ran)
		s, err := r.Start(c)
		if err != nil {
			t.Fatal(err)
		}
		p, ok := look(s.PID)
		if !ok || p.ticks != s.StartTicks || p.session != s.PID || p.pgrp != s.PID {
			t.Fatalf("held: %+v of %+v", p, s)
		}
		r.Abandon(c.Job)
		r.Abandon(c.Job)
		r.close()
		if now, ok := look(s.PID); ok && now.ticks == p.ticks {
			t.Fatal("the held shell lives")
		}
		if _, err := os.Stat(ran); err == nil {
			t.Fatal("the command ran")
		}
		if len(r.events) != 0 {
			t.Fatalf("%+v", <-r.events)
		}
	}
}

// Abandoning after the release does nothing.
func TestAbandonAfterRelease(t *testing.T) {
	r := newRig(t)
	job := r.run("echo ran")
	r.Abandon(job)
	if x := r.exit(); string(x.Tail) != "ran\n" {
		t.Fatalf("%+v", x)
	}
}

func TestReadsBashEnv(t *testing.T) {
	for _, c := range []struct {
		shell string
		env   []string
		want  bool
	}{
		{"/bin/bash", nil, true},
		{"/bin/sh", nil, false},
		{"/bin/bash", []string{"POSIXLY_CORRECT="}, false},
		{"/bin/bash", []string{"SHELLOPTS=braceexpand:posix:pipefail"}, false},
		{"/bin/bash", []string{"SHELLOPTS=privileged"}, false},
		{"/bin/bash", []string{"SHELLOPTS=errexit:pipefail"}, true},
	} {
		if got := readsBashEnv(c.shell, c.env); got != c.want {
			t.Errorf("%s %v: %v", c.shell, c.env, got)
		}
	}
}

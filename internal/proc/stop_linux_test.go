package proc

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A stop reaches every process of the job, however deep, and what left its
// session or cleared its environment.
//
// clause: JC-432 JC-438
func TestStopReachesEverything(t *testing.T) {
	for name, line := range map[string]string{
		"nested":      `bash -c 'bash -c "sleep 987 & sleep 986" & wait'`,
		"setsid":      `setsid sleep 985 & wait`,
		"daemon":      `(setsid bash -c 'sleep 984 & sleep 983' &) ; sleep 982`,
		"clean":       `env -i setsid sleep 981 & wait`,
		"job control": `set -m; sleep 980 & sleep 979 & wait`,
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			mark := filepath.Join(r.dir, "mark")
			// The grace is long: what ends before it ended at SIGTERM.
			r.o.StopGrace = 30 * time.Second
			job := r.run("echo $$ > " + mark + "; " + line)
			shell, err := strconv.Atoi(waitFile(t, mark))
			if err != nil {
				t.Fatal(err)
			}
			var set []process
			for !hasSleeps(set, line) {
				tab, err := scan()
				if err != nil {
					t.Fatal(err)
				}
				set = tab.belonging(func(p process) bool { return p.pid == shell })
				if more := living(t, job); len(more) > len(set) {
					set = more
				}
				time.Sleep(time.Millisecond)
			}
			begin := time.Now()
			if err := r.Stop(job, 0); err != nil {
				t.Fatal(err)
			}
			x := r.exit()
			if x.Signal != "SIGTERM" || x.Code != -1 || !x.Stopped || len(x.Survivors) != 0 || x.Err != nil {
				t.Fatalf("%+v", x)
			}
			if took := time.Since(begin); took >= 30*time.Second {
				t.Errorf("took %v although everything ends at SIGTERM", took)
			}
			// The event comes last: nothing is left at this moment.
			for _, p := range set {
				if now, ok := look(p.pid); ok && now.ticks == p.ticks && !now.dead {
					t.Errorf("%+v lives", p)
				}
			}
		})
	}
}

// hasSleeps tells whether all sleeps of the line are among the processes.
func hasSleeps(set []process, line string) bool {
	want := 0
	for i := 0; i+6 < len(line); i++ {
		if line[i:i+6] == "sleep " {
			want++
		}
	}
	for _, p := range set {
		if b, _ := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/comm"); string(b) == "sleep\n" {
			want--
		}
	}
	return want <= 0
}

// The ladder: clean-up runs, stubbornness ends at the grace, a stopped process
// hears the signal.
func TestStopLadder(t *testing.T) {
	const grace = 400 * time.Millisecond
	for _, c := range []struct {
		name, line, signal string
		code               int
		atGrace            bool
	}{
		{"clean-up runs", `trap 'echo cleaned; exit 0' TERM; echo up > up; while :; do sleep 0.02; done`, "", 0, false},
		{"TERM ignored", `trap '' TERM; echo up > up; while :; do sleep 0.02; done`, "SIGKILL", -1, true},
		{"stopped", `echo up > up; kill -STOP $$; sleep 900`, "SIGTERM", -1, false},
		{"child ignores", `(trap '' TERM; echo up > up; while :; do sleep 0.02; done) & wait`, "SIGTERM", -1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(o *Options) { o.StopGrace = grace })
			job := r.run(c.line)
			waitFile(t, filepath.Join(r.dir, "up"))
			begin := time.Now()
			if err := r.Stop(job, 0); err != nil {
				t.Fatal(err)
			}
			if err := r.Stop(job, 0); err != nil && !errors.Is(err, ErrNoJob) { // the first may have ended it by now
				t.Fatal(err)
			}
			x := r.exit()
			took := time.Since(begin)
			if x.Signal != c.signal || x.Code != c.code || !x.Stopped || len(x.Survivors) != 0 {
				t.Fatalf("%+v", x)
			}
			if c.atGrace && took < grace || took > grace+5*time.Second {
				t.Errorf("took %v", took)
			}
			if c.signal == "" && !strings.HasSuffix(string(x.Tail), "cleaned\n") {
				t.Errorf("clean-up's output: %q", x.Tail)
			}
			gone(t, 0, job)
			if err := r.Stop(job, 0); !errors.Is(err, ErrNoJob) {
				t.Errorf("stop after the end: %v", err)
			}
		})
	}
}

// A stop that races the job's own end gives one event, either way.
func TestStopRacesExit(t *testing.T) {
	r := newRig(t)
	for i := range 60 {
		job := r.run("exit 7")
		time.Sleep(time.Duration(i%12) * 200 * time.Microsecond) // to meet every phase
		err := r.Stop(job, 0)
		x := r.exit()
		if x.Job != job || x.Err != nil || x.Stopped != (err == nil) || x.Signal == "" && x.Code != 7 {
			t.Fatalf("stop: %v, %+v", err, x)
		}
	}
	r.close()
	if len(r.events) != 0 {
		t.Fatalf("more events: %+v", <-r.events)
	}
}

// A stop of a job whose shell has ended, but whose leftovers still write, ends these too.
func TestStopWhileDraining(t *testing.T) {
	r := newRig(t)
	mark := filepath.Join(r.dir, "mark")
	job := r.run(`(trap '' HUP; echo $BASHPID > ` + mark + `; while :; do echo more; sleep 0.01; done) & sleep 0.05; exit 0`)
	pid, _ := strconv.Atoi(waitFile(t, mark))
	left, ok := look(pid)
	if !ok {
		t.Fatal("the leftover is not there")
	}
	leader := left.session
	for p, ok := look(leader); ok && !p.dead; p, ok = look(leader) {
		time.Sleep(time.Millisecond)
	}
	if err := r.Stop(job, 0); err != nil {
		t.Fatal(err)
	}
	if x := r.exit(); x.Code != 0 || !x.Stopped || len(x.Survivors) != 0 {
		t.Fatalf("%+v", x)
	}
	gone(t, 0, job)
}

// A held shell is stopped like any other and has run nothing.
func TestStopAtTheGate(t *testing.T) {
	r := newRig(t)
	job := r.hold(r.command("echo ran > ran"))
	if err := r.Stop(job, 0); err != nil {
		t.Fatal(err)
	}
	x := r.exit()
	if x.Signal != "SIGTERM" || !x.Stopped {
		t.Fatalf("%+v", x)
	}
	if err := r.Release(job); !errors.Is(err, ErrNoJob) {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "ran")); err == nil {
		t.Fatal("the command ran")
	}
}

// Stopping one job leaves the others alone.
func TestStopOnlyOne(t *testing.T) {
	r := newRig(t)
	var jobs []string
	for range 5 {
		jobs = append(jobs, r.run("setsid sleep 977 & sleep 978"))
	}
	for len(living(t, jobs...)) < 15 {
		time.Sleep(time.Millisecond)
	}
	if err := r.Stop(jobs[2], 0); err != nil {
		t.Fatal(err)
	}
	if x := r.exit(); x.Job != jobs[2] {
		t.Fatalf("%+v", x)
	}
	gone(t, 0, jobs[2])
	if n := len(living(t, slices.Delete(slices.Clone(jobs), 2, 3)...)); n != 12 {
		t.Fatalf("%d processes of the others live, want 12", n)
	}
	r.close()
	gone(t, 0, jobs...)
}

package proc

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const helperVariable = "PROC_TEST_HELPER"

// helper is an evener for the tests to kill: it takes the lock, starts jobs, holds
// or releases them, says so and waits. Arguments: folder, job prefix, what to do.
func helper() int {
	dir, prefix, what := os.Args[1], os.Args[2], os.Args[3]
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		err = unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		fmt.Println("lock:", err)
		return 1
	}
	events := make(chan Event, 64)
	h, err := Open(Options{Lock: lock, Env: os.Environ(), Post: func(e Event) { events <- e }})
	if err != nil {
		fmt.Println("open:", err)
		return 1
	}
	for i, line := range helperJobs {
		job := prefix + strconv.Itoa(i)
		s, err := h.Start(Command{Job: job, Line: line, Dir: dir, LogPath: filepath.Join(dir, job+".log")})
		if err != nil {
			fmt.Println("start:", err)
			return 1
		}
		fmt.Println("started", s.PID, s.StartTicks, s.BootID)
		if what != "hold" {
			if err := h.Release(job); err != nil {
				fmt.Println("release:", err)
				return 1
			}
		}
	}
	fmt.Println("keeper", h.link.cmd.Process.Pid)
	fmt.Println("ready")
	select {}
}

var helperJobs = []string{
	"echo ran > ran0; sleep 900",
	"trap '' TERM; echo ran > ran1; while :; do sleep 0.05; done",
	"echo ran > ran2; (setsid sleep 901 &); env -i setsid sleep 902 & sleep 903",
	"echo ran > ran3; setsid bash -c \"trap '' TERM HUP; while :; do sleep 0.05; done\" & wait",
}

// victim is a running helper.
type victim struct {
	dir, prefix string
	cmd         *exec.Cmd
	keeper      int
	records     []Recorded
}

func (v *victim) mine(job string) bool { return strings.HasPrefix(job, v.prefix) }

func startVictim(t *testing.T, what string) *victim {
	t.Helper()
	v := &victim{dir: t.TempDir(), prefix: fmt.Sprintf("job_%d_%d_", os.Getpid(), time.Now().UnixNano())}
	v.cmd = exec.Command(os.Args[0], v.dir, v.prefix, what)
	v.cmd.Env = append(os.Environ(), helperVariable+"=1")
	v.cmd.Stderr = os.Stderr
	out, err := v.cmd.StdoutPipe()
	if err == nil {
		err = v.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = v.cmd.Process.Kill(); _ = v.cmd.Wait(); Sweep(v.records, v.mine) })
	for lines := bufio.NewScanner(out); lines.Scan(); {
		f := strings.Fields(lines.Text())
		switch f[0] {
		case "started":
			pid, _ := strconv.Atoi(f[1])
			ticks, _ := strconv.ParseUint(f[2], 10, 64)
			v.records = append(v.records, Recorded{pid, ticks, f[3]})
		case "keeper":
			v.keeper, _ = strconv.Atoi(f[1])
		case "ready":
			return v
		default:
			t.Fatal(lines.Text())
		}
	}
	t.Fatal("the helper died")
	return nil
}

// running waits until every job of the victim is under way and gives all
// processes below its keeper.
func (v *victim) running(t *testing.T) []process {
	for i := range helperJobs {
		waitFile(t, filepath.Join(v.dir, "ran"+strconv.Itoa(i)))
	}
	for {
		tab, err := scan()
		if err != nil {
			t.Fatal(err)
		}
		if set := tab.below(v.keeper); len(set) >= 9 {
			return set
		}
		time.Sleep(time.Millisecond)
	}
}

// lockFree takes the victim's lock within the time, or fails.
func (v *victim) lockFree(t *testing.T, within time.Duration) {
	t.Helper()
	f, err := os.Open(filepath.Join(v.dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := make(chan error, 1)
	go func() { got <- unix.Flock(int(f.Fd()), unix.LOCK_EX) }()
	select {
	case err := <-got:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(within):
		t.Fatal("the lock is still held")
	}
}

func noneOf(t *testing.T, set []process) {
	t.Helper()
	for _, p := range set {
		if now, ok := look(p.pid); ok && now.ticks == p.ticks && !now.dead {
			t.Errorf("%+v lives", p)
		}
	}
}

// A killed evener takes everything with it, what left its session, ignores
// SIGTERM or cleared its environment included; the lock frees when, and only when,
// all of it is gone.
//
// clause: JC-001
func TestKilledEvener(t *testing.T) {
	t.Parallel()
	v := startVictim(t, "run")
	set := v.running(t)
	if err := v.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	v.lockFree(t, 5*time.Second)
	noneOf(t, set)
	gone(t, 0, v.jobs()...)
}

func (v *victim) jobs() []string {
	var jobs []string
	for i := range v.records {
		jobs = append(jobs, v.prefix+strconv.Itoa(i))
	}
	return jobs
}

// A command whose shell was held when evener died never ran.
func TestKilledBeforeRelease(t *testing.T) {
	t.Parallel()
	v := startVictim(t, "hold")
	var set []process
	for _, r := range v.records {
		p, ok := look(r.PID)
		if !ok || p.ticks != r.StartTicks {
			t.Fatalf("%+v is not held: %+v", r, p)
		}
		set = append(set, p)
	}
	if err := v.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	v.lockFree(t, 5*time.Second)
	noneOf(t, set)
	if ran, _ := filepath.Glob(filepath.Join(v.dir, "ran*")); ran != nil {
		t.Fatalf("ran: %v", ran)
	}
}

// Killed at any moment of starting and releasing, evener leaves no process.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	for i := range 8 {
		dir, prefix := t.TempDir(), fmt.Sprintf("job_%d_any%d_", os.Getpid(), i)
		cmd := exec.Command(os.Args[0], dir, prefix, "run")
		cmd.Env = append(os.Environ(), helperVariable+"=1")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(8+i*6) * time.Millisecond) // any moment will do
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if _, err := os.Stat(filepath.Join(dir, "lock")); err == nil {
			v := &victim{dir: dir}
			v.lockFree(t, 5*time.Second)
		}
		var jobs []string
		for n := range helperJobs {
			jobs = append(jobs, prefix+strconv.Itoa(n))
		}
		gone(t, 0, jobs...)
	}
}

// A killed keeper is wait_failed for its jobs; nothing of them is left when that
// is said, and the next command finds a new keeper.
func TestKilledKeeper(t *testing.T) {
	r := newRig(t)
	var jobs []string
	for _, line := range helperJobs {
		jobs = append(jobs, r.run(line))
	}
	for i := range helperJobs {
		waitFile(t, filepath.Join(r.dir, "ran"+strconv.Itoa(i)))
	}
	tab, err := scan()
	if err != nil {
		t.Fatal(err)
	}
	set := tab.below(r.link.cmd.Process.Pid)
	if err := r.link.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for range jobs {
		x := r.exit()
		if !errors.Is(x.Err, ErrWaitFailed) || x.Code != -1 || x.Signal != "" || len(x.Survivors) != 0 || seen[x.Job] {
			t.Errorf("%+v", x)
		}
		seen[x.Job] = true
		noneOf(t, set)
	}
	gone(t, 0, jobs...)
	if x := r.once("echo again"); string(x.Tail) != "again\n" {
		t.Fatalf("%+v", x)
	}
	// Nothing that fell to this process stays as a zombie.
	r.close()
	family.mu.Lock()
	left := family.strangers()
	family.mu.Unlock()
	if len(left) != 0 {
		t.Fatalf("unreaped: %+v", left)
	}
}

// Evener and keeper killed at once: the direct processes die with the keeper, and
// the next restart sweeps the rest.
func TestBothKilled(t *testing.T) {
	t.Parallel()
	v := startVictim(t, "run")
	set := v.running(t)
	// Stopped first, so that neither sees the other's end.
	for _, pid := range []int{v.keeper, v.cmd.Process.Pid} {
		if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
			t.Fatal(err)
		}
	}
	for _, pid := range []int{v.keeper, v.cmd.Process.Pid} {
		if err := unix.Kill(pid, unix.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	v.lockFree(t, 5*time.Second)
	var direct []process
	for _, r := range v.records {
		direct = append(direct, process{pid: r.PID, ticks: r.StartTicks})
	}
	if !awaitGone(direct, time.Now().Add(5*time.Second)) {
		t.Fatal("direct processes outlive the keeper")
	}
	ended, refused := Sweep(v.records, v.mine)
	if len(ended) == 0 || len(refused) != 0 {
		t.Fatalf("ended %v, refused %v", ended, refused)
	}
	gone(t, 0, v.jobs()...)
	// Only what hid its environment is beyond a sweep.
	var hidden []process
	for _, p := range set {
		if now, ok := look(p.pid); ok && now.ticks == p.ticks && !now.dead {
			hidden = append(hidden, p)
		}
	}
	for _, p := range hidden {
		b, _ := os.ReadFile("/proc/" + strconv.Itoa(p.pid) + "/cmdline")
		if !strings.Contains(string(b), "902") {
			t.Errorf("%+v %q lives", p, b)
		}
		_ = kill(p, unix.SIGKILL)
	}
}

// A sweep ends only what a record of this boot names.
func TestSweepIsExact(t *testing.T) {
	r := newRig(t)
	c := r.command("sleep 970")
	s, err := r.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Release(c.Job); err != nil {
		t.Fatal(err)
	}
	named := func(job string) func(string) bool { return func(x string) bool { return x == job } }
	for name, rec := range map[string]Recorded{
		"other boot":  {s.PID, s.StartTicks, "another"},
		"other start": {s.PID, s.StartTicks + 1, s.BootID},
		"nothing":     {},
	} {
		if ended, refused := Sweep([]Recorded{rec}, named(c.Job+"0")); len(ended)+len(refused) != 0 {
			t.Errorf("%s: ended %v refused %v", name, ended, refused)
		}
	}
	if ended, _ := Sweep([]Recorded{{s.PID, s.StartTicks, s.BootID}}, named("")); len(ended) == 0 {
		t.Error("the recorded process was not ended")
	}
	if x := r.exit(); x.Signal == "" {
		t.Errorf("%+v", x)
	}
	job := r.run("setsid sleep 971 & sleep 972")
	for len(living(t, job)) < 3 {
		time.Sleep(time.Millisecond)
	}
	if ended, refused := Sweep(nil, named(job)); len(ended) != 3 || len(refused) != 0 {
		t.Errorf("by job id: ended %v refused %v", ended, refused)
	}
	r.exit()
}

// Close ends everything, reports it and leaves no goroutine's work undone; a Close
// whose time is up does not wait for the grace.
func TestClose(t *testing.T) {
	r := newRig(t)
	var jobs []string
	for _, line := range helperJobs {
		jobs = append(jobs, r.run(line))
	}
	held := r.hold(r.command("echo ran > held"))
	for i := range helperJobs {
		waitFile(t, filepath.Join(r.dir, "ran"+strconv.Itoa(i)))
	}
	begin := time.Now()
	r.close()
	if took := time.Since(begin); took > 6*time.Second {
		t.Errorf("took %v", took)
	}
	gone(t, 0, append(jobs, held)...)
	exits := 0
	for len(r.events) > 0 {
		if x, ok := (<-r.events).(Exited); ok && (x.Signal != "" || x.Job == held) && x.Err == nil {
			exits++
		}
	}
	if exits != len(jobs)+1 {
		t.Errorf("%d good exits, want %d", exits, len(jobs)+1)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "held")); err == nil {
		t.Error("a held command ran at close")
	}
	if _, err := r.Start(r.command("true")); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestCloseInAHurry(t *testing.T) {
	r := newRig(t)
	job := r.run(helperJobs[1])
	waitFile(t, filepath.Join(r.dir, "ran1"))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	gone(t, 0, job)
}

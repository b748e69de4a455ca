package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"evener/internal/audit"
	"evener/internal/store"
	"evener/journal"
)

// The power goes at a random moment: a real ext4 on a loop device drops all that it was not
// told to keep, and answers EIO from then on. Each command writes its job outside of that disk
// when it runs, so that what was acknowledged is known: after the cut each of them is in the
// journal, verify is clean, and the session goes on. EVENER_CUTS says how often it is tried.
func TestPowerCut(t *testing.T) {
	cuts := 3
	if n, err := strconv.Atoi(os.Getenv("EVENER_CUTS")); err == nil {
		cuts = n
	}
	d := newDisk(t)
	for cut := range cuts {
		t.Run(fmt.Sprint("cut ", cut), func(t *testing.T) {
			d.fresh(t)
			powerCut(t, d, rand.New(rand.NewPCG(uint64(cut), 5)))
		})
	}
}

func powerCut(t *testing.T, d *disk, r *rand.Rand) {
	dir := t.TempDir()
	outside := filepath.Join(dir, "outside")
	var replies []any
	for range 150 {
		mode := pickOf(r, "foreground", "background")
		replies = append(replies, scriptedCall("shell", scripted{"command": "echo $EVENER_JOB_ID >>" + outside, "mode": mode}))
	}
	script := scripted{"conversations": []any{scripted{"name": "all", "replies": append(replies, scriptedReport("end"), scriptedReport("end"))}}}
	b, err := json.Marshal(script)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "m.json"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	mark := "WORK=" + dir
	run := func(args ...string) (*exec.Cmd, *bytes.Buffer) {
		c := exec.Command("evener", append([]string{"--model", "script/m.json", "--state-dir", d.mount}, args...)...)
		c.Dir, c.Env = dir, append(os.Environ(), mark, "HOME="+dir, "XDG_CONFIG_HOME=", "TMPDIR="+dir, "BASH_ENV=")
		out := &bytes.Buffer{}
		c.Stdout, c.Stderr = out, out
		return c, out
	}
	c, out := run("go")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	want := 1 + r.IntN(60) // commands before the cut
	for end := time.Now().Add(patience); len(ran(outside)) < want && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	hold(t, c.Process.Pid)
	d.cut(t)
	if err := c.Process.Signal(unix.SIGCONT); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if code := c.ProcessState.ExitCode(); code != 3 && code != 1 {
			t.Errorf("without power it ended with %v:\n%s", err, out)
		}
	case <-time.After(2 * patience):
		c.Process.Kill()
		<-ended
		t.Fatalf("it hangs without power:\n%s", out)
	}
	if left := settled(mark, ""); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	d.again(t)
	all, err := filepath.Glob(filepath.Join(d.mount, "sessions", "*", "session.jsonl"))
	if err != nil || len(all) != 1 {
		t.Fatalf("%v %v\n%s", all, err, out)
	}
	session := filepath.Base(filepath.Dir(all[0]))
	c, out = run("--resume", session, "go on")
	if err := c.Run(); err != nil {
		t.Fatalf("resume: %v\n%s", err, out)
	}
	known := map[string]int{}
	for e, err := range journal.Read(all[0], journal.Pos{}) {
		if err != nil {
			t.Fatal(err)
		}
		for kind, data := range e.Events() {
			var j struct {
				Job string `json:"job_id"`
			}
			if kind == "job.started" && json.Unmarshal(data, &j) == nil {
				known[j.Job]++
			}
		}
	}
	acknowledged := ran(outside)
	for _, j := range acknowledged {
		if known[j] != 1 {
			t.Errorf("%s ran, and its start is %d times on record", j, known[j])
		}
	}
	if len(acknowledged) < 100 {
		t.Errorf("only %d commands ran", len(acknowledged))
	}
	v := &audit.Verified{}
	if err := v.Folder(store.Home{Sessions: filepath.Join(d.mount, "sessions")}); err != nil || v.Damaged() {
		t.Errorf("verify: %v %+v", err, v.Findings)
	}
}

// hold stops a program and waits until none of its threads is in a call. A sync that is
// under way while ext4 is shut down can answer that it worked and keep nothing: of 120
// cuts below a bare program that appends and syncs lines, two did. A machine
// without power answers nothing, so such a cut would be of the kernel's own making.
func hold(t *testing.T, pid int) {
	t.Helper()
	if err := unix.Kill(pid, unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
		stopped := 0
		for _, path := range threads {
			b, _ := os.ReadFile(path)
			if _, state, ok := bytes.Cut(b, []byte(") ")); ok && state[0] == 'T' {
				stopped++
			}
		}
		if stopped == len(threads) && stopped > 0 {
			return
		}
	}
	t.Fatal("the program does not stop")
}

// ran are the jobs that wrote themselves down.
func ran(path string) []string {
	b, _ := os.ReadFile(path) // none before the first one ran
	return strings.Fields(string(b))
}

// disk is an ext4 in a file.
type disk struct{ image, mount string }

// newDisk skips the test where such a disk cannot be had.
func newDisk(t *testing.T) *disk {
	t.Helper()
	dir := t.TempDir()
	d := &disk{filepath.Join(dir, "image"), filepath.Join(dir, "mount")}
	if os.Getuid() != 0 {
		t.Skip("SKIPPED, NOTHING WAS PROVED: only root can mount a disk")
	}
	err := os.Mkdir(d.mount, 0o700)
	if err == nil {
		err = os.WriteFile(d.image, nil, 0o600)
	}
	if err == nil {
		err = os.Truncate(d.image, 32<<20)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := d.make(); err != nil {
		t.Skipf("SKIPPED, NOTHING WAS PROVED: %v", err)
	}
	t.Cleanup(func() { _ = exec.Command("umount", "--lazy", d.mount).Run() }) // it may be unmounted already
	return d
}

func (d *disk) make() error {
	for _, args := range [][]string{{"mkfs.ext4", "-q", "-F", d.image}, {"mount", "-o", "loop", d.image, d.mount}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", args[0], err, out)
		}
	}
	return nil
}

func (d *disk) unmount(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("umount", d.mount).CombinedOutput(); err != nil {
		t.Fatalf("umount: %v: %s", err, out)
	}
}

func (d *disk) fresh(t *testing.T) {
	t.Helper()
	d.unmount(t)
	if err := d.make(); err != nil {
		t.Fatal(err)
	}
}

// cut ends the file system where it stands: what it holds in memory, its own journal
// included, is not written any more.
func (d *disk) cut(t *testing.T) {
	t.Helper()
	f, err := os.Open(d.mount)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	const shutdown, noLogFlush = 0x8004587d, 2 // EXT4_IOC_SHUTDOWN, EXT4_GOING_FLAGS_NOLOGFLUSH
	how := uint32(noLogFlush)
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), shutdown, uintptr(unsafe.Pointer(&how))); errno != 0 {
		t.Fatalf("cut the power: %v", errno)
	}
}

// again mounts what the disk had, as after a start of the machine.
func (d *disk) again(t *testing.T) {
	t.Helper()
	d.unmount(t)
	if out, err := exec.Command("mount", "-o", "loop", d.image, d.mount).CombinedOutput(); err != nil {
		t.Fatalf("mount: %v: %s", err, out)
	}
}

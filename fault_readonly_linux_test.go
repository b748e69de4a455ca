package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The file system of the state becomes read-only under a run, as ext4 does when it meets an
// error of its own: the run ends with status 3 and the reason, nothing more is acknowledged,
// its commands end, and once it can be written again a resume goes on from what is on disk.
func TestBecomesReadOnly(t *testing.T) {
	d := newDisk(t)
	out, err := exec.Command("mount", "-o", "remount,errors=remount-ro", d.mount).CombinedOutput()
	if err != nil {
		t.Skipf("SKIPPED, NOTHING WAS PROVED: %v: %s", err, out)
	}
	device, err := exec.Command("findmnt", "-n", "-o", "SOURCE", d.mount).Output()
	if err != nil {
		t.Skipf("SKIPPED, NOTHING WAS PROVED: findmnt: %v", err)
	}
	trigger := fmt.Sprintf("/sys/fs/ext4/%s/trigger_fs_error", filepath.Base(strings.TrimSpace(string(device))))
	if !exists(trigger) {
		t.Skipf("SKIPPED, NOTHING WAS PROVED: the kernel has no %s", trigger)
	}
	x := talkTo(t, t.TempDir(), 0, "", "--state-dir", d.mount)
	kept := jobIn(x.answers("start sleep 300", `"status":"running"`))
	x.answers("run echo before", `before\n`)
	if err := os.WriteFile(trigger, []byte("for a test"), 0o600); err != nil {
		t.Skipf("SKIPPED, NOTHING WAS PROVED: %v", err)
	}
	if got, alive := x.say("run touch never"); alive {
		t.Errorf("on a read-only disk it is answered %s", got)
	}
	end := x.end()
	if x.cmd.ProcessState.ExitCode() != 3 || !strings.Contains(end, "read-only file system") {
		t.Errorf("it ended with %s", end)
	}
	if exists(filepath.Join(x.dir, "never")) {
		t.Error("a command ran that is not on record")
	}
	d.unmount(t) // what it found is repaired by ext4's own check at a start of the machine
	if out, err := exec.Command("fsck.ext4", "-fy", d.image).CombinedOutput(); err != nil && !strings.Contains(string(out), "FILE SYSTEM WAS MODIFIED") {
		t.Fatalf("fsck: %v: %s", err, out)
	}
	if out, err := exec.Command("mount", "-o", "loop", d.image, d.mount).CombinedOutput(); err != nil {
		t.Fatalf("mount: %v: %s", err, out)
	}
	wellKept(t, filepath.Join(d.mount, "sessions"))
	y := talkTo(t, x.dir, 0, "", "--state-dir", d.mount, "--resume", x.session)
	y.answers("run echo after", `after\n`)
	y.end()
	wellKept(t, filepath.Join(d.mount, "sessions"))
	b, err := os.ReadFile(filepath.Join(d.mount, "sessions", x.session, "session.jsonl"))
	if err != nil || strings.Count(string(b), `"kind":"job.finished","data":{"job_id":"`+kept+`"`) != 1 || !strings.Contains(string(b), "before") {
		t.Errorf("what was acknowledged is not on record: %v\n%s", err, b)
	}
}

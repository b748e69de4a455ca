package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openFDs counts a process's descriptors; 0 where we may not look: only root may
// look into a keeper.
func openFDs(t testing.TB, pid string) int {
	t.Helper()
	d, err := os.ReadDir("/proc/" + pid + "/fd")
	if errors.Is(err, os.ErrPermission) && os.Getuid() != 0 && pid != "self" {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return len(d)
}

// rss is the resident memory of a process that is its own, in bytes.
func rss(t testing.TB, pid string) int {
	t.Helper()
	b, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Fields(line); f[0] == "RssAnon:" {
			kb, _ := strconv.Atoi(f[1])
			return kb << 10
		}
	}
	t.Fatal("no RssAnon")
	return 0
}

// Ended jobs leave nothing: no zombie, descriptor or goroutine, here or in the keeper.
func TestManyJobsLeaveNothing(t *testing.T) {
	r := newRig(t)
	r.once("true")
	keeper := strconv.Itoa(r.link.cmd.Process.Pid)
	fds, keeperFDs, routines := openFDs(t, "self"), openFDs(t, keeper), runtime.NumGoroutine()
	for range 200 {
		r.run("true")
	}
	seen := map[string]bool{}
	for range 200 {
		x := r.exit()
		if x.Code != 0 || x.Err != nil || seen[x.Job] {
			t.Fatalf("%+v", x)
		}
		seen[x.Job] = true
	}
	for i := range 20 {
		job := r.run("echo; sleep 900")
		if i%2 == 0 {
			r.once("sleep 0.001 & :")
		}
		if err := r.Stop(job, 0); err != nil {
			t.Fatal(err)
		}
		if x := r.exit(); x.Job != job || !x.Stopped {
			t.Fatalf("%+v", x)
		}
	}
	// The last pump and leftover may be on their last steps.
	deadline := time.Now().Add(5 * time.Second)
	for runtime.NumGoroutine() > routines && time.Now().Before(deadline) {
		time.Sleep(time.Millisecond)
	}
	if n := openFDs(t, "self"); n > fds {
		t.Errorf("%d descriptors, before %d", n, fds)
	}
	if n := openFDs(t, keeper); n > keeperFDs+1 {
		t.Errorf("keeper: %d descriptors, before %d", n, keeperFDs)
	}
	if n := runtime.NumGoroutine(); n > routines {
		t.Errorf("%d goroutines, before %d", n, routines)
	}
	tab, err := scan()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range tab {
		if p.dead && (p.ppid == os.Getpid() || strconv.Itoa(p.ppid) == keeper) {
			t.Errorf("zombie %+v", p)
		}
	}
}

// A thousand live jobs that have all printed something.
func TestThousandLiveJobs(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a thousand processes")
	}
	r := newRig(t)
	r.shell = "/bin/sh" // starts faster; what is measured is ours
	r.once("true")
	runtime.GC()
	before := rss(t, "self")
	const n = 1000
	jobs := make([]string, n)
	begin := time.Now()
	for i := range jobs {
		jobs[i] = r.run("echo hello; exec sleep 969")
	}
	t.Logf("started in %v", time.Since(begin))
	for _, job := range jobs {
		for total := int64(0); total == 0; total, _ = r.Output(job) {
			time.Sleep(time.Millisecond)
		}
	}
	t.Logf("all have printed after %v", time.Since(begin))
	used, keeper := rss(t, "self")-before, rss(t, strconv.Itoa(r.link.cmd.Process.Pid))
	t.Logf("%d live jobs: %d KiB here, %d KiB in the keeper, %d descriptors", n, used>>10, keeper>>10, openFDs(t, "self"))
	if used > 50<<20 || keeper > 50<<20 {
		t.Errorf("memory: %d here, %d in the keeper", used, keeper)
	}
	begin = time.Now()
	r.close()
	t.Logf("ended in %v", time.Since(begin))
	if len(r.events) != n {
		t.Fatalf("%d events", len(r.events))
	}
}

// A flood through a hundred jobs at once needs no memory of its size.
func TestMemoryIsFlat(t *testing.T) {
	r := newRig(t)
	r.once("true")
	runtime.GC()
	before := rss(t, "self")
	most := 0
	const n = 24
	for range n {
		c := r.command("head -c 20000000 /dev/zero")
		c.LogCap = 1 << 20
		if err := r.Release(r.hold(c)); err != nil {
			t.Fatal(err)
		}
	}
	for range n {
		if x := r.exit(); x.Total != 20000000 || x.Dropped != 0 || len(x.Tail) != tailKeep {
			t.Fatalf("total %d", x.Total)
		}
		most = max(most, rss(t, "self")-before)
	}
	t.Logf("480 MB through %d jobs: %d KiB more", n, most>>10)
	if most > 40<<20 {
		t.Errorf("memory grew by %d", most)
	}
}

// On a full disk the command runs on; the report has its whole count and its
// newest bytes, although the log lost them.
func TestFullDisk(t *testing.T) {
	r := newRig(t)
	small := t.TempDir()
	if err := unix.Mount("tmpfs", small, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("cannot mount a small file system (needs root): %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(small, unix.MNT_DETACH) })
	c := r.command("for i in {1..200000}; do echo line $i; done; echo the end; exit 4")
	c.LogPath = filepath.Join(small, "jobs", "j.log")
	c.Keep = true
	if err := r.Release(r.hold(c)); err != nil {
		t.Fatal(err)
	}
	x := r.exit()
	var all bytes.Buffer
	for i := 1; i <= 200000; i++ {
		fmt.Fprintf(&all, "line %d\n", i)
	}
	all.WriteString("the end\n")
	want := all.Bytes()
	if x.Code != 4 || x.Err != nil || x.Total != int64(len(want)) || x.Dropped == 0 || !errors.Is(x.LogErr, unix.ENOSPC) {
		t.Fatalf("%+v %v", x.Total, x.LogErr)
	}
	if len(x.Tail) < tailKeep || !bytes.HasSuffix(want, x.Tail) || !bytes.HasPrefix(want, x.Head) {
		t.Fatalf("tail of %d bytes is not the newest: %.40q", len(x.Tail), x.Tail)
	}
}

// Neither evener nor the keeper can be read by its jobs, whose user is the same.
func TestUnreadable(t *testing.T) {
	r := newRig(t)
	r.once("true")
	if n, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || n != 0 {
		t.Fatalf("dumpable: %d %v", n, err)
	}
	line := "for pid in " + strconv.Itoa(os.Getpid()) + " " + strconv.Itoa(r.link.cmd.Process.Pid) + "; do stat -c %u /proc/$pid/environ; done"
	// What is not dumpable belongs to root, so no other user can open it.
	if x := r.once(line); string(x.Tail) != "0\n0\n" {
		t.Fatalf("owners: %q", x.Tail)
	}
	if os.Getuid() != 0 {
		if x := r.once("cat /proc/" + strconv.Itoa(os.Getpid()) + "/environ"); x.Code == 0 {
			t.Fatal("a job read our environment")
		}
	}
}

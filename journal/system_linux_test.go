package journal

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func needStrace(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("strace", "-f", "-e", "trace=none", "/bin/true").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED, NOTHING WAS PROVED: strace cannot trace here: %v %s", err, out)
	}
}

// The kernel itself answers with the error, or the process dies within the call.
func TestSystemCallsFail(t *testing.T) {
	needStrace(t)
	tests := []struct {
		name, inject string
		check        func(answers) bool
	}{
		{"EIO from fdatasync", "fdatasync:error=EIO:when=5", func(a answers) bool { return a.count("poisoned") > 1 && a.count("ack") >= 4 }},
		{"ENOSPC from fdatasync", "fdatasync:error=ENOSPC:when=5", func(a answers) bool { return a.count("poisoned") > 1 && a.count("full") == 0 }},
		{"EIO from write", "write:error=EIO:when=3", func(a answers) bool { return a.count("poisoned") > 1 }},
		{"ENOSPC from write, once", "write:error=ENOSPC:when=3", func(a answers) bool { return a.count("full") == 1 && a.count("poisoned") == 0 && a.count("ack") == 12 }},
		{"ENOSPC from write, from then on", "write:error=ENOSPC:when=3+", func(a answers) bool { return a.count("full") > 5 && a.count("poisoned") == 0 }},
		{"a write that writes nothing", "write:retval=44:when=3", func(a answers) bool { return a.count("poisoned") > 1 }},
		{"killed in fdatasync", "fdatasync:signal=KILL:when=6", func(a answers) bool { return a.count("ack") >= 5 && a.end == "" }},
		{"killed in write", "write:signal=KILL:when=4", func(a answers) bool { return a.count("ack") >= 4 && a.end == "" }},
		{"EINTR from write", "write:error=EINTR:when=3", func(a answers) bool { return a.count("ack") == 13 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := emptyJournal(t, t.TempDir())
			cmd := helperCommand(path, 12, "strace", "-f", "-o", path+".strace", "-P", path, "-e", "inject="+tt.inject)
			out, err := cmd.Output()
			a := parseAnswers(out)
			if !tt.check(a) {
				trace, _ := os.ReadFile(path + ".strace")
				t.Errorf("answers %v, end %q, %v\n%s", a.steps, a.end, err, trace)
			}
			checkFile(t, path, a)
		})
	}
}

// Counted from outside: an append is one write and one fdatasync, no more.
func TestSystemCallsAreCounted(t *testing.T) {
	needStrace(t)
	path := emptyJournal(t, t.TempDir())
	cmd := helperCommand(path, 20, "strace", "-f", "-o", path+".strace", "-P", path, "-e", "trace=write,fdatasync,fsync,pwrite64")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	trace := string(readFile(path + ".strace"))
	got := map[string]int{}
	for _, call := range []string{"write(", "fdatasync(", "fsync(", "pwrite64("} {
		got[call] = strings.Count(trace, " "+call)
	}
	// 20 appends and the closing line; the last write of the first life is made sure once.
	if got["write("] != 21 || got["fdatasync("] != 22 || got["fsync("] != 0 || got["pwrite64("] != 1 {
		t.Errorf("got %v\n%s", got, trace)
	}
}

// A file size limit is not a full disk: the write comes short, then fails, and that ends the handle.
func TestFileSizeLimit(t *testing.T) {
	path := emptyJournal(t, t.TempDir())
	cmd := helperCommand(path, 10)
	cmd.Env = append(cmd.Env, "JOURNAL_HELPER_LIMIT="+strconv.Itoa(len(readFile(path))+1200))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err, string(out))
	}
	a := parseAnswers(out)
	if a.count("ack") < 2 || a.count("poisoned") < 2 || a.count("full") > 0 {
		t.Errorf("answers %v", a.steps)
	}
	checkFile(t, path, a)
}

// A real file system that fills up, and gets room again.
func TestFullTmpfs(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("SKIPPED, NOTHING WAS PROVED: mounting a small file system needs root")
	}
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("SKIPPED, NOTHING WAS PROVED: mount: %v", err)
	}
	defer func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	path := filepath.Join(dir, "j")
	j := mustCreate(t, path, Options{})
	if _, err := j.Append(rec(1, "a")); err != nil || j.Full() {
		t.Fatal(err, j.Full())
	}
	// Somebody else takes the rest of the disk.
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 2<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal("the disk did not fill:", err)
	}
	o := &oracle{path: path, step: 1}
	fullAt, err := 0, error(nil)
	for n := 0; err == nil; n++ {
		if err = o.append(j, 3000); j.Full() && fullAt == 0 {
			fullAt = n
		}
	}
	if !errors.Is(err, ErrFull) || fullAt == 0 || fullAt >= len(o.asked)-10 {
		t.Errorf("full told at append %d of %d, then %v", fullAt, len(o.asked), err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	j.Full()
	if err := errors.Join(j.Sync(), o.append(j, 3000)); err != nil || j.Full() {
		t.Errorf("with room again: %v, full %v", err, j.Full())
	}
	closeOK(t, j)
	got, err := texts(readFile(path))
	if err != nil {
		t.Fatal(err)
	}
	if err := o.compare(got[1:]); err != nil {
		t.Error(err)
	}
}

package files

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"evener/internal/fault"
	"evener/internal/session"
)

// No way leads to the environment of this process, by whatever name.
func TestOwnProcessIsNotRead(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	dir := tempDir(t)
	if err := os.Symlink("/proc/self", dir+"/self"); err != nil {
		t.Fatal(err)
	}
	pid, thread := os.Getpid(), syscall.Gettid()
	p := Place{Dir: dir}
	for _, path := range []string{
		"/proc/self/environ", "/proc/thread-self/environ", fmt.Sprintf("/proc/%d/environ", pid), fmt.Sprintf("/proc/%d/environ", thread),
		fmt.Sprintf("/proc/self/task/%d/environ", thread), "self/environ", "/proc/1/../self/environ", "/proc/self/root/proc/self/environ", "/proc/self/mem", "/proc/self/status",
	} {
		for _, c := range []session.Call{session.ReadFileCall{Path: path}, session.SearchFilesCall{Path: path, Pattern: "="}, session.EditFileCall{Path: path, OldString: "a", NewString: "b"}} {
			if r := Do(t.Context(), p, c, nil); r.Err == nil || r.Err.Code != fault.FileDenied || !strings.Contains(r.Err.Text, "own process") {
				t.Errorf("%T of %s: %v %s", c, path, r.Err, r.Text)
			}
		}
	}
	r := Do(t.Context(), p, session.SearchFilesCall{Path: "/proc/self", Pattern: "PATH|environ", Glob: "environ"}, nil)
	if r.Err != nil || r.Data.(searchData).Searched != 0 || r.Data.(searchData).Unreadable == 0 {
		t.Errorf("%v, %s", r.Err, r.Text)
	}
	if r := Do(t.Context(), p, session.ReadFileCall{Path: "/proc/uptime"}, nil); r.Err != nil {
		t.Error(r.Err)
	}
}

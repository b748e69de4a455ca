package supervisor

import (
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"
)

// leavesNothing fails a test at whose end this process holds more than now: a
// goroutine, a descriptor (where /proc shows them) or a timer of the tree. Each test
// that plays a whole tree is one of it.
func leavesNothing(t *testing.T, h *harness) {
	routines, open := runtime.NumGoroutine(), descriptors()
	t.Cleanup(func() {
		// A goroutine that has told of its end may be on its last step.
		for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > routines && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		if n := runtime.NumGoroutine(); n > routines {
			var all strings.Builder
			pprof.Lookup("goroutine").WriteTo(&all, 1)
			t.Errorf("%d goroutines are left, there were %d\n%s", n, routines, all.String())
		}
		for fd, what := range descriptors() {
			if open[fd] == "" {
				t.Errorf("descriptor %s is left: %s", fd, what)
			}
		}
		if h.Tree != nil && len(h.timers) > 0 {
			t.Errorf("%d timers are left", len(h.timers))
		}
	})
}

// descriptors are this process's, by number; without those that the runtime waits with,
// which stay from the first use on.
func descriptors() map[string]string {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil
	}
	out := map[string]string{}
	for _, e := range entries {
		to, err := os.Readlink("/proc/self/fd/" + e.Name())
		if err == nil && !strings.HasPrefix(to, "anon_inode:[event") {
			out[e.Name()] = to
		}
	}
	return out
}

// armed counts the timers of a tree whose loop runs.
func (h *harness) armed(t *testing.T) (n int) {
	if err := h.answered(posted{look: func() { n = len(h.timers) }}); err != nil {
		t.Error(err)
	}
	return n
}

package files

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ownProcess reports whether a file tells of this very process: its environment
// holds the keys of model providers, which no command gets to see either. Such
// files have no size, so that others need no look.
func ownProcess(f *os.File, size int64) (own bool) {
	if size != 0 {
		return false
	}
	c, err := f.SyscallConn() // Fd would let reads wait
	if err == nil {
		err = c.Control(func(fd uintptr) { own = ownFile(int(fd)) })
	}
	return own || err != nil // what cannot be told is not shown
}

func ownFile(fd int) bool {
	var st unix.Statfs_t
	if unix.Fstatfs(fd, &st) != nil || st.Type != unix.PROC_SUPER_MAGIC {
		return false
	}
	path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	if err != nil {
		return true
	}
	for part := range strings.SplitSeq(path, "/") {
		n, err := strconv.Atoi(part)
		if err != nil {
			continue
		}
		if _, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", n)); err == nil { // every thread has a name there
			return true
		}
	}
	return false
}

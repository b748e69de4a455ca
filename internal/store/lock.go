package store

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"evener/internal/id"
)

// Holder is who holds a tree, as its lock file tells.
type Holder struct {
	PID    int    `json:"pid"`
	BootID string `json:"boot_id"`
	Since  string `json:"since"`
}

// LockedError refuses a tree that another process writes.
type LockedError struct {
	Session id.Session
	Holder  Holder
	Gone    bool // the holder is dead; what it left behind still holds the lock
}

func (e *LockedError) Error() string {
	switch {
	case e.Holder.PID == 0:
		return fmt.Sprintf("session %s is locked by another process", e.Session)
	case e.Gone:
		return fmt.Sprintf("session %s was in use by process %d, which is dead, but its helper evener-keeper still ends its commands; try again, or end that helper", e.Session, e.Holder.PID)
	case e.Holder.Since == "":
		return fmt.Sprintf("session %s is in use by process %d; end that process or wait for it", e.Session, e.Holder.PID)
	}
	return fmt.Sprintf("session %s is in use by process %d (since %s); end that process or wait for it", e.Session, e.Holder.PID, e.Holder.Since)
}

// dyingWait is how long a lock waits for the helper of a holder that is dead:
// it is ending the commands of the tree and lets go when nothing is left.
const dyingWait = 5 * time.Second

// Lock takes the lock of a tree. The descriptor is meant to be inherited by
// the process that keeps the tree's commands, so that the lock frees only when
// the whole tree is dead. A living holder is refused at once, by name.
func (h Home) Lock(root id.Session, bootID string) (*os.File, error) {
	path := filepath.Join(h.Dir(root), "lock")
	if err := noLinks(h.Dir(root)); err != nil {
		return nil, err
	}
	f, err := openRegular(path, os.O_RDWR|os.O_CREATE)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s in %s", ErrNoSession, root, h.Sessions)
	}
	if err != nil {
		return nil, fmt.Errorf("lock session %s: %w", root, err)
	}
	if err := flock(f, syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			f.Close()
			return nil, fmt.Errorf("lock session %s: %w", root, err)
		}
		who := holder(f)
		if who.PID == 0 || who.BootID == bootID && syscall.Kill(who.PID, 0) != syscall.ESRCH {
			f.Close()
			return nil, &LockedError{root, who, false}
		}
		if !waitLock(f, dyingWait) {
			return nil, &LockedError{root, who, true}
		}
	}
	if !names(path, f) {
		f.Close()
		return nil, fmt.Errorf("%w: %s was deleted from %s by another process", ErrNoSession, root, h.Sessions)
	}
	me, err := json.Marshal(Holder{PID: os.Getpid(), BootID: bootID, Since: time.Now().UTC().Format(time.RFC3339)})
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt(append(me, '\n'), 0)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock session %s: %w", root, err)
	}
	return f, nil
}

// Held tells who holds a tree; false for nobody. It takes no lock where it can do
// without: for that moment a process that begins would be refused.
func (h Home) Held(root id.Session, bootID string) (Holder, bool, error) {
	f, err := openRegular(filepath.Join(h.Dir(root), "lock"), os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return Holder{}, false, nil
	}
	if err != nil {
		return Holder{}, false, fmt.Errorf("see who holds session %s: %w", root, err)
	}
	defer f.Close()
	who := holder(f)
	if pid := locker(f); pid != 0 {
		who.PID = cmp.Or(who.PID, pid)
		return who, true, nil
	}
	if who.PID == 0 || who.BootID != bootID || syscall.Kill(who.PID, 0) == syscall.ESRCH {
		return Holder{}, false, nil
	}
	err = flock(f, syscall.LOCK_SH|syscall.LOCK_NB)
	return who, errors.Is(err, syscall.EWOULDBLOCK), nil
}

// names reports whether a path still leads to an open file: who held the lock
// before may have removed the session.
func names(path string, f *os.File) bool {
	at, err := os.Stat(path)
	if err != nil {
		return false
	}
	mine, err := f.Stat()
	return err == nil && os.SameFile(at, mine)
}

// waitLock takes the lock within a time. When the time runs out the waiting
// call stays behind with the descriptor: flock cannot be cancelled, and the
// caller refuses the tree and exits.
func waitLock(f *os.File, limit time.Duration) bool {
	got := make(chan error, 1)
	go func() { got <- flock(f, syscall.LOCK_EX) }()
	select {
	case err := <-got:
		return err == nil
	case <-time.After(limit):
		return false
	}
}

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); err != syscall.EINTR {
			return err
		}
	}
}

func holder(f *os.File) Holder {
	var who Holder
	buf := make([]byte, 512)
	n, _ := f.ReadAt(buf, 0) // a short read is expected; an unreadable holder stays unnamed
	if json.Unmarshal(buf[:n], &who) != nil {
		return Holder{PID: locker(f)} // it has the lock and is about to write its name
	}
	return who
}

// locker asks the kernel who took the lock; 0 where it does not tell.
func locker(f *os.File) int {
	info, err := f.Stat()
	if err != nil {
		return 0
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	table, err := os.ReadFile("/proc/locks")
	if !ok || err != nil {
		return 0
	}
	inode := ":" + strconv.FormatUint(st.Ino, 10)
	for line := range strings.Lines(string(table)) { // "1: FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE 0 EOF"
		if w := strings.Fields(line); len(w) > 5 && w[1] == "FLOCK" && strings.HasSuffix(w[5], inode) {
			pid, _ := strconv.Atoi(w[4])
			return pid
		}
	}
	return 0
}

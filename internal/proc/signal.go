package proc

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// killByNumber is for systems without process descriptors: between the look
// and the signal the number could change hands.
func killByNumber(p process, sigs ...unix.Signal) error {
	now, ok := look(p.pid)
	if !ok || now.ticks != p.ticks {
		return nil
	}
	for _, s := range sigs {
		if err := unix.Kill(p.pid, s); err != nil && !errors.Is(err, unix.ESRCH) {
			return err
		}
	}
	return nil
}

// awaitByNumber looks every few milliseconds: without process descriptors
// nothing tells of the end of a process that is not our child.
func awaitByNumber(set []process, deadline time.Time) bool {
	for {
		living := false
		for _, p := range set {
			now, ok := look(p.pid)
			living = living || ok && now.ticks == p.ticks && !now.dead
		}
		if !living {
			return true
		}
		if !deadline.IsZero() && time.Now().After(deadline) {
			return false
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// killAll sends SIGKILL to what find finds until it finds nothing more, so that
// what is born meanwhile goes too. Processes that may not be signalled are refused;
// those that are still there after patience (zero: for ever) are survivors.
func killAll(find func() ([]process, error), patience time.Duration) (ended, survivors, refused []int) {
	var deadline time.Time
	if patience > 0 {
		deadline = time.Now().Add(patience)
	}
	known := map[int]bool{} // refused
	for {
		found, err := find()
		if err != nil {
			return ended, survivors, refused
		}
		set := found[:0]
		for _, p := range found {
			if known[p.pid] {
				continue
			}
			if err := kill(p, unix.SIGKILL); err != nil {
				known[p.pid] = true
				refused = append(refused, p.pid)
				continue
			}
			set = append(set, p)
		}
		if len(set) == 0 {
			return ended, survivors, refused
		}
		if !awaitGone(set, deadline) {
			for _, p := range set {
				if now, ok := look(p.pid); ok && now.ticks == p.ticks && !now.dead {
					survivors = append(survivors, p.pid)
				} else {
					ended = append(ended, p.pid)
				}
			}
			return ended, survivors, refused
		}
		ended = append(ended, pids(set)...)
	}
}

package proc

import (
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Recorded is the process of a job whose end a journal does not hold.
type Recorded struct {
	PID        int
	StartTicks uint64
	BootID     string
}

// Sweep ends what an earlier, killed evener left: recorded processes that still
// live (same boot, number and start time), what carries in its environment the id
// of a job that mine accepts, whose record may be gone, and what descends from these.
// SIGTERM first, SIGKILL after a second. It returns the processes that it ended
// and those that it may not signal or that did not go. This process and those
// above it are never touched.
func Sweep(records []Recorded, mine func(job string) bool) (ended, refused []int) {
	boot := BootID()
	now := slices.DeleteFunc(slices.Clone(records), func(r Recorded) bool {
		return r.BootID != "" && r.BootID != boot // nothing survives a boot
	})
	find := func() ([]process, error) {
		t, err := scan()
		if err != nil {
			return nil, err
		}
		return t.recorded(now, mine), nil
	}
	set, err := find()
	if err != nil || len(set) == 0 {
		return nil, nil
	}
	for _, p := range set {
		_ = kill(p, unix.SIGTERM, unix.SIGCONT)
	}
	awaitGone(set, time.Now().Add(closeGrace))
	killed, survivors, refused := killAll(find, killPatience)
	refused = append(refused, survivors...)
	for _, p := range set {
		if !slices.Contains(refused, p.pid) && !slices.Contains(killed, p.pid) {
			ended = append(ended, p.pid)
		}
	}
	ended = append(ended, killed...)
	slices.Sort(ended)
	slices.Sort(refused)
	return ended, refused
}

// recorded are the living processes that the records lead to.
func (t table) recorded(records []Recorded, mine func(job string) bool) []process {
	leaders := make(map[process]bool, len(records))
	for _, r := range records {
		if r.PID > 0 {
			leaders[process{pid: r.PID, ticks: r.StartTicks}] = true
		}
	}
	above := map[int]bool{}
	for pid := os.Getpid(); pid > 0 && !above[pid]; pid = t[pid].ppid {
		above[pid] = true
	}
	set := t.belonging(func(p process) bool {
		if above[p.pid] || p.dead {
			return false
		}
		return leaders[process{pid: p.pid, ticks: p.ticks}] || carries(p.pid, mine)
	})
	return slices.DeleteFunc(set, func(p process) bool { return above[p.pid] })
}

func carries(pid int, mine func(job string) bool) bool {
	job := jobOf(pid)
	return job != "" && mine(job)
}

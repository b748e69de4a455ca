package proc

import (
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Recorded is what a journal holds of a job whose end it does not hold. A job
// that was never started has no PID; processes may still carry its id.
type Recorded struct {
	PID        int
	StartTicks uint64
	BootID     string
	Job        string
}

// Sweep ends what an earlier, killed evener left: recorded processes that still
// live (same boot, number and start time), what carries the job's id in its
// environment, and what descends from these. SIGTERM first, SIGKILL after a
// second. It returns the processes that it ended and those that it may not signal
// or that did not go. This process and those above it are never touched.
func Sweep(records []Recorded) (ended, refused []int) {
	boot := BootID()
	now := slices.DeleteFunc(slices.Clone(records), func(r Recorded) bool {
		return r.BootID != "" && r.BootID != boot // nothing survives a boot
	})
	if len(now) == 0 {
		return nil, nil
	}
	find := func() ([]process, error) {
		t, err := scan()
		if err != nil {
			return nil, err
		}
		return t.recorded(now), nil
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
func (t table) recorded(records []Recorded) []process {
	jobs := make(map[string]bool, len(records))
	leaders := make(map[process]bool, len(records))
	for _, r := range records {
		if r.Job != "" {
			jobs[r.Job] = true
		}
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
		return leaders[process{pid: p.pid, ticks: p.ticks}] || jobs[jobOf(p.pid)]
	})
	return slices.DeleteFunc(set, func(p process) bool { return above[p.pid] })
}

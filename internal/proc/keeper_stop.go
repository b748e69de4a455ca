package proc

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// killPatience is how long a killed process may take before it is named as
	// a survivor: freeing a large memory takes its time.
	killPatience = 3 * time.Second
	// closeGrace is what jobs get when evener is gone, before SIGKILL.
	closeGrace = time.Second
	// leftSettle lets processes that are about to end, such as a tee whose
	// input just closed, not be counted as left behind.
	leftSettle = 20 * time.Millisecond
)

// members are a job's living processes. What was found once is remembered: when
// its parents die it may carry no sign of the job any more.
func (k *keeper) members(j *kept) ([]process, error) {
	s, err := k.lookout.look(unix.Getpid())
	if err != nil {
		return nil, err
	}
	j.look.Lock()
	defer j.look.Unlock()
	set := s.ofJob(j.job, j.leader, j.known)
	j.known = make(map[int]uint64, len(set))
	for _, p := range set {
		j.known[p.pid] = p.ticks
	}
	return set, nil
}

func (k *keeper) find(job string) *kept {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.jobs[job]
}

// stop runs the ladder beside the loop: TERM (and CONT, or a stopped process
// would never see it), the grace, KILL, until nothing of the job is left.
func (k *keeper) stop(job string, in *unpacker) {
	j, grace := k.find(job), time.Duration(in.num())
	if j == nil {
		k.send(pack(sayStopped, job).nums(nil))
		return
	}
	k.stops.Go(func() {
		k.terminate(j, grace)
		_, survivors, refused := killAll(func() ([]process, error) { return k.members(j) }, killPatience)
		k.reap() // the command's own end is told before that of its stop
		k.send(pack(sayStopped, job).nums(append(survivors, refused...)))
	})
}

// terminate asks politely and waits for everything to go, grace at most. The
// group is signalled as one, so that nothing is asked twice; what left the group
// is asked by itself.
func (k *keeper) terminate(j *kept, grace time.Duration) {
	deadline := time.Now().Add(grace)
	_, _ = k.members(j) // before the leader dies: lineage tells the most while it lives
	k.mu.Lock()
	grouped := !j.reaped
	if grouped {
		_ = unix.Kill(-j.leader.pid, unix.SIGTERM)
		_ = unix.Kill(-j.leader.pid, unix.SIGCONT)
	}
	k.mu.Unlock()
	set, err := k.members(j)
	if err != nil {
		return
	}
	for _, p := range set {
		if !grouped || p.pgrp != j.leader.pid {
			_ = kill(p, unix.SIGTERM, unix.SIGCONT)
		}
	}
	awaitGone(set, deadline)
}

// left counts what an ended job left behind.
func (k *keeper) left(job string) {
	j := k.find(job)
	if j == nil {
		k.send(pack(sayLeft, job).num(0))
		return
	}
	k.stops.Go(func() {
		set, _ := k.members(j)
		if len(set) > 0 {
			awaitGone(set, time.Now().Add(leftSettle))
			set, _ = k.members(j)
		}
		k.send(pack(sayLeft, job).num(int64(len(set))))
	})
}

// endAll ends everything below the keeper, however long it takes: the lock that
// the keeper holds says that the tree lives.
func (k *keeper) endAll() {
	below := func() ([]process, error) {
		t, err := scan()
		if err != nil {
			return nil, err
		}
		return t.below(unix.Getpid()), nil
	}
	set, _ := below()
	k.mu.Lock()
	var groups []int
	for pid := range k.leaders {
		groups = append(groups, pid)
		_ = unix.Kill(-pid, unix.SIGTERM)
		_ = unix.Kill(-pid, unix.SIGCONT)
	}
	k.mu.Unlock()
	for _, p := range set {
		if !slices.Contains(groups, p.pgrp) {
			_ = kill(p, unix.SIGTERM, unix.SIGCONT)
		}
	}
	awaitGone(set, time.Now().Add(closeGrace))
	killAll(below, 0)
	k.stops.Wait()
	k.reap()
}

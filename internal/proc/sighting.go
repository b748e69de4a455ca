package proc

import "sync"

// sighting is one look at all processes that the stops of many jobs share. What
// costs a read of its own is read once for all of them.
type sighting struct {
	table
	inside map[int]bool // what descends from the keeper

	mu   sync.Mutex
	jobs map[int]string // job ids that were read from environments
}

// lookout takes sightings. A caller gets one that began after it asked; callers
// that wait together share it, so that a thousand stops at once look a few times
// and not a thousand times each.
type lookout struct {
	clock sync.Mutex
	now   int64 // counts questions and looks

	mu   sync.Mutex // one look at a time
	last *sighting
	at   int64 // when the last look began
}

func (l *lookout) tick() int64 {
	l.clock.Lock()
	defer l.clock.Unlock()
	l.now++
	return l.now
}

// look is a sighting of everything, with what is below root marked.
func (l *lookout) look(root int) (*sighting, error) {
	asked := l.tick()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last != nil && l.at > asked {
		return l.last, nil
	}
	at := l.tick()
	t, err := scan()
	if err != nil {
		return nil, err
	}
	s := &sighting{table: t, inside: map[int]bool{}, jobs: map[int]string{}}
	for _, p := range t.below(root) {
		s.inside[p.pid] = true
	}
	l.last, l.at = s, at
	return s, nil
}

// jobOf is jobOf of a process in the table, read once.
func (s *sighting) jobOf(pid int) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	job, known := s.jobs[pid]
	if !known {
		job = jobOf(pid)
		s.jobs[pid] = job
	}
	return job
}

// ofJob are the living processes of a job: its leader, what is in the leader's
// session or group, what carries the job's id in its environment, what was known
// before, and what descends from any of these. Session and group count only below
// the keeper, where the leader's number cannot mean anybody else.
func (s *sighting) ofJob(job string, leader process, known map[int]uint64) []process {
	return s.belonging(func(p process) bool {
		if ticks, ok := known[p.pid]; ok && ticks == p.ticks || p.pid == leader.pid && p.ticks == leader.ticks {
			return true
		}
		if s.inside[p.pid] && (p.session == leader.pid || p.pgrp == leader.pid) {
			return true
		}
		return !p.dead && p.ticks >= leader.ticks && s.jobOf(p.pid) == job
	})
}

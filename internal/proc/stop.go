package proc

import "time"

// Stop ends a job: SIGTERM and SIGCONT to its group and to what left the group,
// then after the grace (zero: Options.StopGrace) SIGKILL to everything of the job.
// It returns at once; the job's Exited comes when all of it is gone or named in
// Survivors. A second Stop changes nothing. ErrNoJob: the end is already known.
func (h *Host) Stop(job string, grace time.Duration) error {
	j := h.job(job)
	if j == nil {
		return ErrNoJob
	}
	if grace <= 0 {
		grace = h.o.StopGrace
	}
	j.mu.Lock()
	if j.settled {
		j.mu.Unlock()
		return ErrNoJob
	}
	again := j.stopping
	j.stopping = true
	if !j.lost {
		j.over = time.Time{} // an exit that was just heard is not the end of a stop
	}
	j.mu.Unlock()
	if again {
		return nil
	}
	// A keeper that cannot be reached is dead, and its jobs are told so.
	_ = j.link.send(pack(askStop, job).num(int64(grace)))
	return nil
}

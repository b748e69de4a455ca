package proc

import "slices"

// Follow calls wake each time that a running job has printed more; wake must
// not wait, for the job's output waits with it. It reports false where all of
// the output is in the log already. end takes wake back.
func (h *Host) Follow(job string, wake func()) (end func(), ok bool) {
	j := h.job(job)
	if j == nil {
		return func() {}, false
	}
	f := &wake
	j.mu.Lock()
	defer j.mu.Unlock()
	j.followers = append(j.followers, f)
	j.followed.Store(true)
	return func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.followers = slices.DeleteFunc(j.followers, func(x *func()) bool { return x == f })
		j.followed.Store(len(j.followers) > 0)
	}, true
}

// printed wakes who follows the job.
func (j *running) printed() {
	if !j.followed.Load() {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, wake := range j.followers {
		(*wake)()
	}
}

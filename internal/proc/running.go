package proc

import (
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"evener/internal/joblog"

	"golang.org/x/sys/unix"
)

// running is one job from Start to Exited. Its pump goroutine owns the output
// and the log; what others report goes into the fields under mu and wakes it.
type running struct {
	host    *Host
	link    *link
	id      string
	pid     int
	ticks   uint64
	out     *os.File
	logPath string
	file    string // the stored text of a long command
	log     *joblog.Log
	began   chan error    // the keeper's answer to the start
	wake    chan struct{} // something under mu changed

	total, last atomic.Int64 // bytes; unix nanoseconds
	followed    atomic.Bool  // there are followers

	mu        sync.Mutex
	gate      fdWriter
	gated     bool // the gate is still ours to open
	abandoned bool
	keep      bool
	exited    bool // status is known
	others    bool // something may be left behind
	status    unix.WaitStatus
	stopping  bool // Stop was called
	stopped   bool // and everything is gone, or is in survivors
	survivors []int
	lost      bool // the keeper died first
	over      time.Time
	settled   bool // the event is being made: too late for Stop and Keep
	left      int
	leftKnown bool
	aborted   bool
	followers []*func()
}

// hear takes the keeper's word about this job.
func (j *running) hear(what kind, in *unpacker) {
	if what == sayStarted {
		pid, ticks, errno, step := in.num(), in.num(), in.num(), in.str()
		j.pid, j.ticks = int(pid), uint64(ticks)
		if errno != 0 {
			j.began <- &os.SyscallError{Syscall: step, Err: syscall.Errno(errno)}
			return
		}
		j.began <- nil
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	switch what {
	case sayExited:
		j.exited, j.status, j.others = true, unix.WaitStatus(in.num()), in.num() != 0
	case sayStopped:
		j.stopped, j.survivors = true, in.nums()
	case sayLeft:
		j.left, j.leftKnown = int(in.num()), true
	}
	j.changed()
}

// lose is called when the keeper is gone and what it left was ended.
func (j *running) lose(survivors []int) {
	select {
	case j.began <- ErrWaitFailed:
	default: // the start was answered before
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lost, j.leftKnown = true, true
	if !j.exited {
		j.survivors = survivors
	}
	j.changed()
}

// abort ends the reading of output that nobody waits for any more.
func (j *running) abort() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.aborted = true
	j.changed()
}

// changed wakes the pump, wherever it waits. Called with mu held. News while the
// reading already discards changes nothing but for an abort.
func (j *running) changed() {
	if j.settled && !j.aborted {
		select {
		case j.wake <- struct{}{}:
		default:
		}
		return
	}
	if j.over.IsZero() && j.done() {
		j.over = time.Now()
	}
	select {
	case j.wake <- struct{}{}:
	default:
	}
	_ = j.out.SetReadDeadline(time.Now()) // a closed pipe needs no waking
}

// done tells whether the end is known: the command's, and after a stop that of
// all its processes too. A stop that left nothing behind ended the command as
// well, so its exit is on the way even when the stop is heard first.
func (j *running) done() bool {
	return j.lost || j.stopped && (j.exited || len(j.survivors) > 0) || j.exited && !j.stopping
}

func (j *running) setKeep() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.keep = j.keep || !j.settled
	return j.keep
}

func (j *running) output() (int64, time.Time) {
	total, last := j.total.Load(), j.last.Load()
	if total == 0 {
		return 0, time.Time{}
	}
	return total, time.Unix(0, last)
}

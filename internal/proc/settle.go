package proc

import (
	"fmt"
	"time"

	"evener/internal/joblog"

	"golang.org/x/sys/unix"
)

// What a pump does next.
type drainStep int

const (
	drainMore drainStep = iota // read, or wait for news
	drainLook                  // the time is up: one last look at the pipe
	drainDone
)

// next decides from what is known, and sets how long the next read may wait. The
// end of the command is not the end of its output: it is drained until the pipe
// closes or has been quiet, but a leftover that goes on writing must not hold the
// report for ever.
func (j *running) next(eof bool) drainStep {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case j.aborted:
		return drainDone
	case !j.done():
		_ = j.out.SetReadDeadline(time.Time{})
		return drainMore
	case eof:
		return drainDone
	}
	if j.over.IsZero() {
		j.over = time.Now()
	}
	most := j.over.Add(drainMost)
	quiet := j.over
	if last := time.Unix(0, j.last.Load()); last.After(quiet) {
		quiet = last
	}
	quiet = quiet.Add(drainQuiet)
	now := time.Now()
	if !now.Before(most) {
		return drainDone
	}
	if !now.Before(quiet) {
		_ = j.out.SetReadDeadline(time.Time{})
		return drainLook
	}
	if quiet.After(most) {
		quiet = most
	}
	_ = j.out.SetReadDeadline(quiet)
	return drainMore
}

// setSettled closes the job to Stop and Keep, unless a Stop came first.
func (j *running) setSettled() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.settled = j.aborted || j.done()
	return j.settled
}

// settle makes the report. silent is set when nobody is owed one.
func (p *pump) settle() (ev Exited, silent bool) {
	j := p.j
	left := p.countLeft()
	j.mu.Lock()
	j.closeGate() // of a shell that ended while it was held
	keep, abandoned := j.keep, j.abandoned
	ev = Exited{
		Job: j.id, Stopped: j.stopping, LeftBehind: left, Survivors: j.survivors, At: j.over,
		Total: j.log.End(), Dropped: j.log.Dropped(),
	}
	if ev.At.IsZero() {
		ev.At = time.Now()
	}
	ev.Code, ev.Signal, ev.Err = j.outcome()
	j.mu.Unlock()
	if keep {
		p.note(j.log.Sync())
	}
	ev.Head, ev.Tail = p.head, p.newest()
	ev.Start = j.log.Start()
	p.note(j.log.Close())
	if abandoned {
		p.note(joblog.Remove(j.logPath))
	}
	ev.LogErr = p.logErr
	return ev, abandoned
}

// note keeps the first failure of the log.
func (p *pump) note(err error) {
	if p.logErr == nil {
		p.logErr = err
	}
}

// outcome reads the wait status. Called with mu held.
func (j *running) outcome() (code int, signal string, err error) {
	switch {
	case !j.exited && j.stopped:
		return -1, "", ErrUnkillable
	case !j.exited:
		return -1, "", ErrWaitFailed
	}
	code, signal = exitOf(j.status)
	return code, signal, nil
}

// exitOf tells an exit from a death by signal, which has no exit status.
func exitOf(ws unix.WaitStatus) (code int, signal string) {
	if !ws.Signaled() {
		return ws.ExitStatus(), ""
	}
	if signal = unix.SignalName(ws.Signal()); signal == "" {
		signal = fmt.Sprintf("SIG%d", ws.Signal())
	}
	return -1, signal
}

// countLeft asks the keeper what an ended job left behind; the keeper knows from
// the moment of the exit when there can be nothing. After a stop the survivors say it.
func (p *pump) countLeft() int {
	j := p.j
	j.mu.Lock()
	ask := j.exited && j.others && !j.stopping && !j.leftKnown
	j.mu.Unlock()
	if ask && j.link.send(pack(askLeft, j.id)) == nil {
		for !j.leftHeard() {
			<-j.wake
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.stopping {
		return len(j.survivors)
	}
	return j.left
}

func (j *running) leftHeard() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.leftKnown
}

// newest is the end of the output: from memory when all of it fits there or when
// the log lost bytes, else from the log.
func (p *pump) newest() []byte {
	end := p.j.log.End()
	if int64(len(p.head)) == end {
		return p.head
	}
	if p.tail != nil {
		return p.tail
	}
	tail, err := p.j.log.Window(max(p.j.log.Start(), end-tailKeep), end)
	p.note(err)
	return tail
}

// discard reads what comes after the report, until the last holder of the pipe
// is gone or the host closes.
func (h *Host) discard(j *running) {
	j.mu.Lock()
	if j.aborted {
		j.mu.Unlock()
		return
	}
	_ = j.out.SetReadDeadline(time.Time{}) // abort sets one, under the same lock
	j.mu.Unlock()
	rc, err := j.out.SyscallConn()
	if err != nil {
		return
	}
	for {
		var rerr error
		err := rc.Read(func(fd uintptr) bool {
			buf := h.bufs.get()
			defer h.bufs.put(buf)
			n := 0
			n, rerr = fillFrom(int(fd), buf[:])
			return n > 0 || rerr != nil
		})
		if rerr != nil || err != nil {
			return
		}
	}
}

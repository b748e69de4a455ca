package proc

import (
	"os"
	"os/signal"
	"runtime"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// The keeper is a process of its own: this binary, started again. It is the
// parent of every job and the subreaper of what jobs leave, and does nothing but
// start, signal, reap and report.

const (
	keeperName = "evener-keeper"
	keeperSock = 3 // inherited socket to evener; a lock, if any, stands above it
)

// init is where a process that was started as a keeper (or as the short step
// between evener and a detached command) lives and ends. It does not get as far
// as main: packages are initialised in the order of their import paths, so
// larger ones, which a keeper has no use for, would come after this one and cost
// several times what the keeper's own start does.
func init() {
	if len(os.Args) == 0 || os.Args[0] != keeperName {
		return
	}
	// Children get a signal when the thread that started them ends. Only the
	// main thread lives as long as the process, and only during initialisation
	// is this goroutine sure to run on it.
	runtime.LockOSThread()
	os.Exit(keeperMain())
}

// keeperMain is the keeper's whole life; its result is the exit status.
func keeperMain() int {
	if len(os.Args) > 1 && os.Args[1] == detachArg {
		return detachMain(os.Args[2:])
	}
	k := &keeper{jobs: map[string]*kept{}, leaders: map[int]*kept{}}
	if err := k.setUp(); err != nil {
		return 1
	}
	go k.reapAll()
	k.serve()
	k.endAll()
	return 0
}

type keeper struct {
	null int // /dev/null, the input of every job

	say sync.Mutex // one frame at a time

	// mu covers fork, reap and signals by number: while it is held, no number
	// in leaders can come to mean another process.
	mu      sync.Mutex
	jobs    map[string]*kept
	leaders map[int]*kept

	lookout lookout

	script scriptFile
	died   chan os.Signal
	stops  sync.WaitGroup
}

// kept is what the keeper knows of a job until evener forgets it.
type kept struct {
	job    string
	leader process
	reaped bool

	look  sync.Mutex
	known map[int]uint64 // members when last looked for: number and start
}

func (k *keeper) setUp() error {
	markCloseOnExec()
	if err := becomeKeeper(); err != nil {
		return err
	}
	// A signal meant for evener's group must not end the keeper: it ends when
	// evener does. Handled signals, unlike ignored ones, are back to their
	// defaults in children.
	signal.Notify(make(chan os.Signal, 1), unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
	k.died = make(chan os.Signal, 1)
	signal.Notify(k.died, unix.SIGCHLD)
	if err := os.Chdir("/"); err != nil {
		return err
	}
	null, err := unix.Open("/dev/null", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	k.null = null
	return err
}

// serve answers evener until its end of the socket closes.
func (k *keeper) serve() {
	for {
		head, fds, err := receive(keeperSock)
		if err != nil {
			return
		}
		what, in, err := readBody(fdReader(keeperSock), head)
		if err != nil {
			return
		}
		switch job := in.str(); what {
		case askStart:
			k.start(job, in, fds)
		case askStop:
			k.stop(job, in)
		case askLeft:
			k.left(job)
		case askForget:
			k.mu.Lock()
			delete(k.jobs, job)
			k.mu.Unlock()
		}
		for _, fd := range fds {
			_ = unix.Close(fd)
		}
	}
}

// send reports to evener. When evener is gone, nobody needs the report.
func (k *keeper) send(p *packer) {
	k.say.Lock()
	defer k.say.Unlock()
	_, _ = fdWriter(keeperSock).Write(p.frame())
}

// start forks a shell that waits at its gate.
func (k *keeper) start(job string, in *unpacker, fds []int) {
	path, dir, script := in.str(), in.str(), in.str()
	argv, env := in.strs(), in.strs()
	pid, ticks, errno, step := 0, uint64(0), syscall.EINVAL, "read the request"
	// The lock is held until the answer is sent, so that no exit overtakes it.
	k.mu.Lock()
	defer k.mu.Unlock()
	if in.err == nil && len(fds) == 2 {
		pid, ticks, errno, step = k.fork(job, path, dir, script, argv, env, fds[0], fds[1])
	}
	k.send(pack(sayStarted, job).num(int64(pid)).num(int64(ticks)).num(int64(errno)).str(step))
}

func (k *keeper) fork(job, path, dir, script string, argv, env []string, out, gate int) (int, uint64, syscall.Errno, string) {
	files := []uintptr{uintptr(k.null), uintptr(out), uintptr(out)}
	if script != "" {
		fd, err := k.script.open(script)
		if err != nil {
			return 0, 0, asErrno(err), "store the gate"
		}
		defer k.script.release(fd)
		files = append(files, uintptr(fd))
	}
	files = append(files, uintptr(gate))
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{Dir: dir, Env: env, Files: files, Sys: jobAttr()})
	if err != nil {
		return 0, 0, asErrno(err), "run " + path
	}
	leader, ok := look(pid)
	if !ok {
		leader = process{pid: pid}
	}
	j := &kept{job: job, leader: leader}
	k.jobs[job], k.leaders[pid] = j, j
	return pid, leader.ticks, 0, ""
}

// reapAll collects every child that ends, ours or adopted.
func (k *keeper) reapAll() {
	for range k.died {
		k.reap()
	}
}

func (k *keeper) reap() {
	k.mu.Lock()
	defer k.mu.Unlock()
	var reports []*packer
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, unix.WNOHANG, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			break
		}
		if j := k.leaders[pid]; j != nil {
			j.reaped = true
			delete(k.leaders, pid)
			reports = append(reports, pack(sayExited, j.job).num(int64(ws)))
		}
	}
	if len(reports) == 0 {
		return
	}
	others := int64(0)
	if k.adopted() {
		others = 1
	}
	for _, r := range reports {
		k.send(r.num(others))
	}
}

// adopted tells whether any child is not a leader: only then can an ended job
// have left something behind.
func (k *keeper) adopted() bool {
	list, ok := children()
	if !ok {
		return true
	}
	for _, pid := range list {
		if k.leaders[pid] == nil {
			return true
		}
	}
	return false
}

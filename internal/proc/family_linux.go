package proc

import (
	"os"
	"os/exec"
	"os/signal"
	"sync"

	"golang.org/x/sys/unix"
)

// adoption is the reaping of what falls to this process, while any Host is open.
type adoption struct {
	hosts int
	stop  chan struct{}
	done  sync.WaitGroup
}

// enter makes this process the subreaper of its keepers and starts reaping what
// falls to it; leave ends the reaping with the last Host.
func (k *kin) enter() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.hosts++; k.hosts > 1 {
		return nil
	}
	// Where these are refused, a keeper's death leaves more to the next restart.
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	k.stop = make(chan struct{})
	news := make(chan os.Signal, 1)
	signal.Notify(news, unix.SIGCHLD)
	k.done.Go(func() {
		defer signal.Stop(news)
		for {
			select {
			case <-news:
				k.reapAdopted()
			case <-k.stop:
				return
			}
		}
	})
	return nil
}

func (k *kin) leave() {
	k.mu.Lock()
	if k.hosts--; k.hosts == 0 {
		close(k.stop)
	}
	last := k.hosts == 0
	k.mu.Unlock()
	if last {
		k.done.Wait()
		k.reapAdopted()
	}
}

// strangers are children that this process did not start: each can be waited for
// by its number without taking an exit from os/exec. Called with mu held.
func (k *kin) strangers() []process {
	list, ok := children()
	if !ok {
		t, err := scan()
		if err != nil {
			return nil
		}
		for _, p := range t {
			if p.ppid == unix.Getpid() {
				list = append(list, p.pid)
			}
		}
	}
	session, err := unix.Getsid(0)
	if err != nil {
		return nil
	}
	var out []process
	for _, pid := range list {
		if p, ok := look(pid); ok && !k.owned[pid] && p.session != session {
			out = append(out, p)
		}
	}
	return out
}

func (k *kin) reapAdopted() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.strangers() {
		if p.dead {
			_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil)
		}
	}
}

// endAdopted ends what a dead keeper left to us, and names what it could not end.
func (k *kin) endAdopted() []int {
	_, survivors, refused := killAll(func() ([]process, error) {
		k.mu.Lock()
		defer k.mu.Unlock()
		roots := map[int]bool{}
		for _, p := range k.strangers() {
			roots[p.pid] = true
		}
		if len(roots) == 0 {
			return nil, nil
		}
		t, err := scan()
		if err != nil {
			return nil, err
		}
		return t.belonging(func(p process) bool { return roots[p.pid] }), nil
	}, killPatience)
	k.reapAdopted()
	return append(survivors, refused...)
}

// runDetached runs the step in between and reaps it. While it ends, this process
// is no subreaper: the command must not fall to us.
func (k *kin) runDetached(cmd *exec.Cmd) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
	defer func() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }()
	return cmd.Run()
}

package proc

import (
	"os"
	"os/exec"
	"os/signal"
	"slices"
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
	var own []process
	list, ok := children()
	for _, pid := range list {
		if p, ok := look(pid); ok {
			own = append(own, p)
		}
	}
	if !ok {
		t, err := scan()
		if err != nil {
			return nil
		}
		own = t.childrenOf(unix.Getpid())
	}
	return k.notOurs(own)
}

// notOurs leaves out what this process started itself. Called with mu held.
func (k *kin) notOurs(own []process) []process {
	session, err := unix.Getsid(0)
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(own, func(p process) bool { return k.owned[p.pid] || p.session == session })
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
// It takes its roots from the whole table: the kernel's list of children may miss
// some while others die. mu keeps the dead in the table, so that what is just
// falling from them to us is seen below one or the other.
func (k *kin) endAdopted() []int {
	_, survivors, refused := killAll(func() ([]process, error) {
		k.mu.Lock()
		defer k.mu.Unlock()
		t, err := scan()
		if err != nil {
			return nil, err
		}
		roots := map[int]bool{}
		for _, p := range k.notOurs(t.childrenOf(unix.Getpid())) {
			roots[p.pid] = true
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

package proc

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// link is the connection to one keeper.
type link struct {
	host *Host
	conn *socket
	cmd  *exec.Cmd
	ask  sync.Mutex    // one frame at a time
	gone chan struct{} // closed when the keeper was reaped and its jobs were told
}

// connect gives the link to the keeper, launching one where there is none.
func (h *Host) connect() (*link, error) {
	h.launch.Lock()
	defer h.launch.Unlock()
	h.mu.Lock()
	l := h.link
	h.mu.Unlock()
	if l != nil {
		return l, nil
	}
	l, err := h.launchKeeper()
	if err != nil {
		return nil, fmt.Errorf("start the process keeper: %w", err)
	}
	h.mu.Lock()
	h.link = l
	h.mu.Unlock()
	h.work.Go(l.listen)
	return l, nil
}

func (h *Host) launchKeeper() (*link, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	peer := os.NewFile(uintptr(theirs), "evener")
	defer func() { _ = peer.Close() }()
	conn, err := newSocket(ours)
	if err != nil {
		return nil, err
	}
	exe, err := selfExe()
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	cmd := &exec.Cmd{
		Path: exe, Args: []string{keeperName}, Env: without(h.o.Env, "BASH_ENV"), Dir: "/",
		ExtraFiles: []*os.File{peer},
		// Signals from a terminal must not reach it.
		SysProcAttr: keeperAttr(),
	}
	if h.o.Lock != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, h.o.Lock)
	}
	if err := family.start(cmd); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return &link{host: h, conn: conn, cmd: cmd, gone: make(chan struct{})}, nil
}

// send asks the keeper. Its descriptors travel with the head of the frame.
func (l *link) send(p *packer, fds ...int) error {
	b := p.frame()
	l.wake()
	l.ask.Lock()
	defer l.ask.Unlock()
	if len(fds) > 0 {
		if err := l.conn.sendRights(b[:frameHead], fds); err != nil {
			return err
		}
		b = b[frameHead:]
	}
	_, err := l.conn.Write(b)
	return err
}

// listen hears the keeper until its end, and then settles what it left.
func (l *link) listen() {
	h := l.host
	for {
		head := make([]byte, frameHead)
		if _, err := io.ReadFull(l.conn, head); err != nil {
			break
		}
		what, in, err := readBody(l.conn, head)
		if err != nil {
			break
		}
		if j := h.job(in.str()); j != nil && j.link == l {
			j.hear(what, in)
		}
	}
	// Only a broken keeper stops talking without ending.
	_ = l.conn.Close()
	_ = l.cmd.Process.Kill()
	state := family.wait(l.cmd)
	h.mu.Lock()
	closing := h.closed
	if h.link == l {
		h.link = nil
	}
	var orphans []*running
	for _, j := range h.jobs {
		if j.link == l {
			orphans = append(orphans, j)
		}
	}
	h.mu.Unlock()
	survivors := family.endAdopted()
	for _, j := range orphans {
		j.lose(survivors)
	}
	if !closing {
		h.o.Post(KeeperDied{State: state, At: time.Now()})
	}
	close(l.gone)
}

// wake lets a keeper go on that a command of its own has stopped.
func (l *link) wake() {
	_ = l.cmd.Process.Signal(unix.SIGCONT) // a dead one is heard of elsewhere
}

// end closes the keeper's socket, which ends everything below it, and waits.
func (l *link) end(ctx context.Context) error {
	l.wake()
	_ = l.conn.endWriting() // fails only when the keeper is gone already
	select {
	case <-l.gone:
		return nil
	case <-ctx.Done():
	}
	_ = l.cmd.Process.Kill()
	<-l.gone
	return fmt.Errorf("close the process host: %w", ctx.Err())
}

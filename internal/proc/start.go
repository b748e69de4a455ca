package proc

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"evener/internal/joblog"

	"golang.org/x/sys/unix"
)

const (
	jobVariable     = "EVENER_JOB_ID"
	scratchVariable = "EVENER_SCRATCH_DIR"
)

// Start creates the command's shell and holds it before the command. Release
// lets it run, Abandon ends it; nothing of the command has run before Release. It
// takes about the time of a fork, the first call also that of starting the keeper.
func (h *Host) Start(c Command) (Started, error) {
	if err := h.begin(); err != nil {
		return Started{}, err
	}
	defer h.calls.Done()
	env := merge(h.o.Env, append(append([]string(nil), c.Env...), jobVariable+"="+c.Job)...)
	p, err := h.prepare(c, env, gated)
	if err != nil {
		return Started{}, err
	}
	l, err := h.connect()
	if err != nil {
		removeFile(p.file)
		return Started{}, err
	}
	j, out, gate, err := h.admit(c, l)
	if err != nil {
		removeFile(p.file)
		return Started{}, err
	}
	err = l.send(pack(askStart, c.Job).str(p.path).str(c.Dir).str(p.script).strs(p.argv).strs(p.env), out, gate)
	_ = unix.Close(out)
	_ = unix.Close(gate)
	if err == nil {
		err = j.awaitStart(p.path)
	} else {
		err = fmt.Errorf("reach the process keeper: %w", err)
	}
	if err != nil {
		h.dismiss(j)
		removeFile(p.file)
		if _, serr := os.Stat(c.Dir); serr != nil { // it went away in between
			return Started{}, &NoDirError{c.Dir, serr}
		}
		return Started{}, err
	}
	j.file = p.file
	h.work.Go(j.pump)
	return Started{PID: j.pid, StartTicks: j.ticks, BootID: BootID()}, nil
}

// prepare refuses what the system would mangle and brings the command into shape.
func (h *Host) prepare(c Command, env []string, way holding) (shellPlan, error) {
	if err := checkNUL(c, env); err != nil {
		return shellPlan{}, err
	}
	if err := checkDir(c.Dir); err != nil {
		return shellPlan{}, err
	}
	if len(c.Line) <= MaxArgument {
		return plan(h.shell, c.Line, env, way), nil
	}
	p := plan(h.shell, c.Line, env, way)
	f, err := os.CreateTemp(c.Scratch, "command-*.sh")
	if err != nil {
		return shellPlan{}, fmt.Errorf("store a long command: %w", err)
	}
	_, err = f.WriteString(p.text)
	if err = errors.Join(err, f.Close()); err != nil {
		return shellPlan{}, fmt.Errorf("store a long command: %w", errors.Join(err, os.Remove(f.Name())))
	}
	p.file = f.Name()
	p.argv = []string{p.argv[0], p.file}
	return p, nil
}

// removeFile drops the stored text of a command, if there is one. The shell reads
// it bit by bit, so it must outlive the shell. What cannot be removed goes with
// the scratch folder.
func removeFile(file string) {
	if file != "" {
		_ = os.Remove(file)
	}
}

func checkNUL(c Command, env []string) error {
	for _, f := range []struct{ what, text string }{
		{"command", c.Line}, {"working directory", c.Dir}, {"job id", c.Job}, {"environment", strings.Join(env, "")},
	} {
		if i := strings.IndexByte(f.text, 0); i >= 0 {
			return fmt.Errorf("the %s %w, at byte %d", f.what, ErrNUL, i)
		}
	}
	return nil
}

func checkDir(dir string) error {
	if !filepath.IsAbs(dir) {
		return &NoDirError{dir, errors.New("not an absolute path")}
	}
	st, err := os.Stat(dir)
	if err != nil {
		return &NoDirError{dir, err}
	}
	if !st.IsDir() {
		return &NoDirError{dir, syscall.ENOTDIR}
	}
	return nil
}

// admit makes the job's pipes and enters it. out and gate are the child's ends.
func (h *Host) admit(c Command, l *link) (j *running, out, gate int, err error) {
	outR, out, err := pipe()
	if err != nil {
		return nil, 0, 0, fmt.Errorf("make the output pipe: %w", err)
	}
	gate, gateW, err := pipe()
	if err != nil {
		_ = unix.Close(outR)
		_ = unix.Close(out)
		return nil, 0, 0, fmt.Errorf("make the gate: %w", err)
	}
	// Only our end: blocking or not belongs to an end, and the command must
	// find its output blocking. A failure would show in the first read.
	_ = unix.SetNonblock(outR, true)
	j = &running{
		host: h, link: l, id: c.Job, gate: fdWriter(gateW), gated: true,
		out: os.NewFile(uintptr(outR), "output of "+c.Job), log: joblog.Create(c.LogPath, c.LogCap), logPath: c.LogPath,
		began: make(chan error, 1), wake: make(chan struct{}, 1), keep: c.Keep,
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.jobs[c.Job] != nil {
		err = fmt.Errorf("job %s is running already", c.Job)
	} else if h.link != l {
		err = fmt.Errorf("start %s: %w", c.Job, ErrWaitFailed)
	}
	if err != nil {
		_ = unix.Close(out)
		_ = unix.Close(gate)
		j.closeGate()
		_ = j.out.Close()
		return nil, 0, 0, err
	}
	h.jobs[c.Job] = j
	return j, out, gate, nil
}

// dismiss drops a job that did not start.
func (h *Host) dismiss(j *running) {
	h.mu.Lock()
	delete(h.jobs, j.id)
	h.mu.Unlock()
	j.mu.Lock()
	j.closeGate()
	j.mu.Unlock()
	_ = j.out.Close()
}

// Release opens the gate: the command runs. For a job that ended at its gate
// it does nothing; its Exited comes anyway.
func (h *Host) Release(job string) error {
	j := h.job(job)
	if j == nil {
		return ErrNoJob
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.gated {
		// The shell may be gone; then there is nothing to open.
		_, _ = io.WriteString(j.gate, gateOpen)
		j.closeGate()
	}
	return nil
}

// Abandon gives a held job up: its shell exits without having run the command,
// and no event is posted. A released job is not touched.
func (h *Host) Abandon(job string) {
	j := h.job(job)
	if j == nil {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.gated {
		j.abandoned = true
		j.closeGate()
	}
}

// closeGate is called with mu held, or before anybody else knows the job.
func (j *running) closeGate() {
	if j.gated {
		j.gated = false
		_ = unix.Close(int(j.gate))
	}
}

// awaitStart waits for the keeper's answer.
func (j *running) awaitStart(path string) error {
	if err := <-j.began; err != nil {
		return fmt.Errorf("start %s: %w", path, err)
	}
	return nil
}

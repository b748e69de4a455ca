package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// stage is where the demo plays: one folder, one session.
type stage struct {
	ctx     context.Context
	out     io.Writer
	bin     string
	dir     string
	model   string
	env     []string
	session string
	build   string // job ids
	soak    string
}

// newStage makes a folder that nothing outside it reaches: no configuration, no
// state and no key of the user's.
func newStage(ctx context.Context, out io.Writer, bin, dir, model string) (*stage, error) {
	// A .evener folder here keeps one further up from being used.
	for _, d := range []string{".evener", "config"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			return nil, err
		}
	}
	s := &stage{ctx: ctx, out: out, bin: bin, dir: dir, model: model}
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "EVENER_") && !strings.HasPrefix(kv, "OPENAI_") && !strings.HasPrefix(kv, "XDG_CONFIG_HOME=") {
			s.env = append(s.env, kv)
		}
	}
	s.env = append(s.env, "XDG_CONFIG_HOME="+filepath.Join(dir, "config"))
	return s, nil
}

// journal is a journal of the root session.
func (s *stage) journal(name string) string {
	return filepath.Join(s.dir, ".evener", "sessions", s.session, name)
}

func (s *stage) say(format string, args ...any) { fmt.Fprintf(s.out, "\n"+format+"\n", args...) }

// show prints a command as one would type it, and what it printed.
func (s *stage) show(command, printed string) {
	fmt.Fprintf(s.out, "\n$ %s\n", command)
	for line := range strings.Lines(printed) {
		fmt.Fprintf(s.out, "  %s\n", strings.TrimSuffix(line, "\n"))
	}
}

// command prepares evener, which ends with the demo at the latest.
func (s *stage) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.ctx, s.bin, args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = s.dir, s.env, 5*time.Second
	return cmd
}

// run runs evener to its end and returns its standard output.
func (s *stage) run(args ...string) (string, error) {
	var errs bytes.Buffer
	cmd := s.command(args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("evener %s: %w: %s", args[0], err, firstLine(errs.String()))
	}
	return string(out), nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// untilKill runs the session until middle, which reads its journal as it grows,
// says that it is time, and kills it there. Of its events only the first is read,
// for the session's id; the others, a few kilobytes, stay in the pipe.
func (s *stage) untilKill(prompt, moment string, middle func(*bufio.Reader) error) error {
	s.show(fmt.Sprintf("evener --model %s --output jsonl %q &", s.model, prompt), "")
	var errs bytes.Buffer
	cmd := s.command("--model", s.model, "--output", "jsonl", prompt)
	cmd.Stderr = &errs
	events, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	err = s.toTheMiddle(events, middle)
	if err == nil {
		s.show(fmt.Sprintf("kill -KILL %d    # %s", cmd.Process.Pid, moment), "")
	}
	_ = cmd.Process.Kill() // Wait says whether that was how it ended
	end := cmd.Wait()
	if err != nil {
		return fmt.Errorf("%w; evener: %v %s", err, end, firstLine(errs.String()))
	}
	if ws, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || ws.Signal() != syscall.SIGKILL {
		return fmt.Errorf("evener ended before it could be killed: %v", end)
	}
	return nil
}

// toTheMiddle takes the session's id from its first event and follows its
// journal up to the middle.
func (s *stage) toTheMiddle(events io.Reader, middle func(*bufio.Reader) error) error {
	var first struct {
		Session string `json:"session_id"`
	}
	line, err := bufio.NewReader(events).ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &first) != nil || first.Session == "" {
		return fmt.Errorf("the first event names no session: %q", line)
	}
	s.session = first.Session
	cmd := s.command("log", "-f", s.session)
	lines, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	s.show("evener log -f "+s.session+"    # here in words", "")
	err = middle(bufio.NewReader(lines))
	_ = cmd.Process.Signal(syscall.SIGTERM) // it follows until it is told to end
	if end := cmd.Wait(); err == nil && end != nil {
		err = fmt.Errorf("evener log: %w", end)
	}
	return err
}

// follow tells what the journal says as it grows, until the soak test has
// printed and the foreground command behind it is started.
func (s *stage) follow(lines *bufio.Reader) error {
	j := newJournal()
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("the journal ended before the soak test ran: %w", errors.Join(err, s.ctx.Err()))
		}
		news, err := j.add(line)
		if err != nil {
			return err
		}
		for _, n := range news {
			fmt.Fprintf(s.out, "  %s\n", n)
		}
		s.build, s.soak = j.background(0), j.background(1)
		switch {
		case j.ended:
			return errors.New("the run ended before the soak test ran")
		case s.soak != "" && j.foregroundAfter(s.soak):
			return s.printed(s.soak, "soaking")
		}
	}
}

// printed waits until the output of a job holds a line. Output has no journal
// lines, so the reader is asked again until it has it.
func (s *stage) printed(job, line string) error {
	for s.ctx.Err() == nil {
		if out, err := s.run("show", "job:"+job, "--match", "^"+line+"$"); err == nil && strings.Contains(out, line) {
			return nil
		}
	}
	return fmt.Errorf("waited %v for %q in the output of %s", limit, line, job)
}

// resume takes the killed session up and checks what it reports.
func (s *stage) resume(wants ...string) error {
	report, err := s.run("--model", s.model, "--resume", s.session, "What happened?")
	if err != nil {
		return err
	}
	s.show(fmt.Sprintf("evener --model %s --resume %s \"What happened?\"", s.model, s.session), report)
	for _, want := range wants {
		if !strings.Contains(report, want) {
			return fmt.Errorf("the report does not say %q: %s", want, firstLine(report))
		}
	}
	return nil
}

// verify holds the session's files against each other, and decides all of it again.
func (s *stage) verify() error {
	for _, command := range []string{"verify", "replay"} {
		out, err := s.run(command, s.session)
		if err != nil {
			return err
		}
		s.show("evener "+command+" "+s.session, strings.ReplaceAll(out, s.dir+"/", ""))
	}
	return nil
}

// Command demo shows what evener promises, on the real binary and without a
// network: a background job and its notice, a kill -9 in the middle of a second
// job, a resume that is told of the loss, and what the journal answers. With
// -delegates the same of three delegates.
//
// It uses the program as anybody would: its command line and its files. Each
// step is checked; the first thing that is not as promised ends the demo with one
// line and status 1. It waits for journal lines, never for time to pass.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

// limit is how long the whole demo may take. It needs about three seconds.
const limit = 90 * time.Second

func main() {
	flags := flag.NewFlagSet("demo", flag.ExitOnError)
	keep := flags.Bool("keep", false, "keep the demo's folder")
	delegates := flags.Bool("delegates", false, "the story of delegates in place of that of jobs")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: go run ./internal/demo [-delegates] [-keep] bin/evener")
		flags.PrintDefaults()
	}
	_ = flags.Parse(os.Args[1:]) // a wrong flag ends the program
	if flags.NArg() != 1 {
		flags.Usage()
		os.Exit(2)
	}
	story := jobs
	if *delegates {
		story = family
	}
	if err := demo(os.Stdout, flags.Arg(0), *keep, story); err != nil {
		fmt.Fprintf(os.Stderr, "demo: not as promised: %v\n", err)
		os.Exit(1)
	}
}

// story is what is played, and the scripted model for it.
type story struct {
	model string
	play  func(*stage) error
}

var jobs = story{"script/builtin:demo", (*stage).playJobs}

// demo runs a whole story with a binary. The error is one line.
func demo(out io.Writer, binary string, keep bool, told story) (err error) {
	bin, err := filepath.Abs(binary)
	if err != nil {
		return err
	}
	if _, err := os.Stat(bin); err != nil {
		return fmt.Errorf("there is no %s: make build makes it", binary)
	}
	dir, err := os.MkdirTemp("", "evener-demo-")
	if err != nil {
		return err
	}
	if keep {
		defer fmt.Fprintf(out, "kept: %s\n", dir)
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	s, err := newStage(ctx, out, bin, dir, told.model)
	if err != nil {
		return err
	}
	return told.play(s)
}

// playJobs is the story of two background jobs.
func (s *stage) playJobs() error {
	s.say("A scripted model starts a build in the background, works on, and is told of its end.")
	if err := s.untilKill("Build it, then soak it.", "while the soak test and a foreground command run", s.follow); err != nil {
		return err
	}
	s.say("Resume. What was running is said to be lost, once, and is not run again.")
	if err := s.resume(s.build, s.soak, "lost when evener was killed"); err != nil {
		return err
	}
	j, err := readJournal(s.journal("session.jsonl"))
	if err != nil {
		return err
	}
	if err := j.check(s.build, s.soak); err != nil {
		return err
	}
	if err := gone(j.pids); err != nil {
		return err
	}
	if err := s.verify(); err != nil {
		return err
	}
	if err := s.ask("session.jsonl", jobQuestions(j)); err != nil {
		return err
	}
	s.say("All as promised: %d jobs, each with one end; %d notices, each told once; no process left.", len(j.ends), len(j.told))
	return nil
}

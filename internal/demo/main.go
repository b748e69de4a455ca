// Command demo shows what evener promises, on the real binary and without a
// network: a background job and its notice, a kill -9 in the middle of a second
// job, a resume that is told of the loss, and what the journal answers.
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
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: go run ./internal/demo [-keep] bin/evener")
		flags.PrintDefaults()
	}
	_ = flags.Parse(os.Args[1:]) // a wrong flag ends the program
	if flags.NArg() != 1 {
		flags.Usage()
		os.Exit(2)
	}
	if err := demo(os.Stdout, flags.Arg(0), *keep); err != nil {
		fmt.Fprintf(os.Stderr, "demo: not as promised: %v\n", err)
		os.Exit(1)
	}
}

// demo runs the whole story with a binary. The error is one line.
func demo(out io.Writer, binary string, keep bool) (err error) {
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
	s, err := newStage(ctx, out, bin, dir)
	if err != nil {
		return err
	}
	return s.play()
}

// play is the story.
func (s *stage) play() error {
	s.say("A scripted model starts a build in the background, works on, and is told of its end.")
	if err := s.untilKill(); err != nil {
		return err
	}
	s.say("Resume. What was running is said to be lost, once, and is not run again.")
	if err := s.resume(); err != nil {
		return err
	}
	j, err := readJournal(s.journal())
	if err != nil {
		return err
	}
	if err := j.check(s.build, s.soak); err != nil {
		return err
	}
	if err := j.gone(); err != nil {
		return err
	}
	if err := s.verify(); err != nil {
		return err
	}
	if err := s.ask(j); err != nil {
		return err
	}
	s.say("All as promised: %d jobs, each with one end; %d notices, each told once; no process left.", len(j.ends), len(j.told))
	return nil
}

// Command soak plays random trees with the real binary and kills it at random
// moments: delegates, jobs, watches, steers, stops, branches. A model on loopback
// decides at random what is called, and keeps what it was told; what a session
// acknowledges on its standard output is kept as well. In the end those are held
// against the plain files: what was acknowledged is there once, what ended was told
// once, verify and replay find nothing, and nothing is left: no process, no lock that
// is held, no file or socket that the layout does not name. One life of each tree comes to
// rest, and what it holds then is explained by what lives: its descriptors, those of
// its keeper, its goroutines.
//
// It uses the program as anybody would and shares no code with it. A finding names
// its seed and keeps its folder. Moments differ from run to run, so a seed repeats
// the plan and not the race.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

func main() {
	flags := flag.NewFlagSet("soak", flag.ExitOnError)
	long := flags.Duration("for", 30*time.Minute, "how long new trees are begun")
	seed := flags.Uint64("seed", uint64(time.Now().UnixNano()), "of the first tree")
	trees := flags.Int("trees", 0, "how many trees; 0: as many as there is time for")
	beside := flags.Int("j", 2, "trees that are played beside each other")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: go run ./internal/soak [flags] bin/evener")
		flags.PrintDefaults()
	}
	_ = flags.Parse(os.Args[1:]) // a wrong flag ends the program
	if flags.NArg() != 1 || *beside < 1 {
		flags.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	found, err := soak(ctx, os.Stdout, flags.Arg(0), plan{*seed, *trees, *beside, *long})
	if err != nil {
		fmt.Fprintf(os.Stderr, "soak: %v\n", err)
		os.Exit(2)
	}
	if found > 0 {
		os.Exit(1)
	}
}

// plan is how much is played.
type plan struct {
	seed   uint64
	trees  int
	beside int
	long   time.Duration
}

// total is what was seen so far.
type total struct {
	trees, found int
	seen         counts
}

// soak plays trees until the time is up, and tells how many had a finding.
func soak(ctx context.Context, out io.Writer, binary string, p plan) (found int, err error) {
	bin, err := filepath.Abs(binary)
	if err != nil {
		return 0, err
	}
	if _, err := os.Stat(bin); err != nil {
		return 0, err
	}
	end := time.Now().Add(p.long)
	seeds := make(chan uint64)
	go func() {
		defer close(seeds)
		for n := 0; time.Now().Before(end) && ctx.Err() == nil && (p.trees == 0 || n < p.trees); n++ {
			select {
			case seeds <- p.seed + uint64(n):
			case <-ctx.Done():
			}
		}
	}()
	var mu sync.Mutex
	var sum total
	var all sync.WaitGroup
	for range p.beside {
		all.Go(func() {
			for seed := range seeds {
				seen, faults, dir := play(ctx, bin, seed)
				mu.Lock()
				sum.trees++
				sum.seen.add(seen)
				if len(faults) > 0 && ctx.Err() == nil {
					sum.found++
					fmt.Fprintf(out, "seed %d: %s\n", seed, dir)
					for _, f := range faults {
						fmt.Fprintf(out, "  %s\n", f)
					}
				}
				if sum.trees%20 == 0 {
					fmt.Fprintf(out, "%d trees, %d with findings; %s\n", sum.trees, sum.found, sum.seen)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	fmt.Fprintf(out, "%d trees from seed %d, %d with findings; %s\n", sum.trees, p.seed, sum.found, sum.seen)
	return sum.found, nil
}

// counts say how much was played, so that nothing passes for a soak that was none.
type counts struct {
	lives, kills, rests, requests, jobs, delegates, watches, notices, messages, prompts, branches int
}

func (c *counts) add(o counts) {
	c.lives += o.lives
	c.kills += o.kills
	c.rests += o.rests
	c.requests += o.requests
	c.jobs += o.jobs
	c.delegates += o.delegates
	c.watches += o.watches
	c.notices += o.notices
	c.messages += o.messages
	c.prompts += o.prompts
	c.branches += o.branches
}

func (c counts) String() string {
	return fmt.Sprintf("%d lives, %d killed, %d looked at while they rested; %d requests; acknowledged: %d jobs, %d delegates, %d watches, %d messages, %d prompts; %d notices, %d branches",
		c.lives, c.kills, c.rests, c.requests, c.jobs, c.delegates, c.watches, c.messages, c.prompts, c.notices, c.branches)
}

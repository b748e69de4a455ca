package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"evener/journal"
)

// probeArg makes this binary a small journal program, for strace to count.
const probeArg = "probe"

// probe creates a journal and appends n records to it, one sync each.
func probe(args []string) int {
	n, err := strconv.Atoi(args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	j, err := journal.Create(args[0], journal.Options{Quiet: -1})
	for i := 0; i < n && err == nil; i++ {
		_, err = j.Append(record())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	os.Exit(0) // without Close, which has a sync of its own
	return 0
}

func syncSides(*env) ([]side, error) {
	if _, err := exec.LookPath("strace"); err != nil {
		return nil, skip("no strace")
	}
	return []side{{"strace", func(e *env) (values, error) {
		dir, err := e.sub("syncs")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		create, err := countSyncs(dir, "a.jsonl", 0)
		if err != nil {
			return nil, err
		}
		nested, err := countSyncs(dir, "new/folder/b.jsonl", 0)
		if err != nil {
			return nil, err
		}
		const n = 100
		appends, err := countSyncs(dir, "c.jsonl", n)
		return values{"create": create, "create new": nested, "batch": (appends - create) / n}, err
	}}}, nil
}

// countSyncs runs the probe under strace and counts its syncs.
func countSyncs(dir, name string, n int) (float64, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	log := filepath.Join(dir, "strace.log")
	c := exec.Command("strace", "-f", "-qq", "-e", "trace=fsync,fdatasync,sync_file_range,syncfs,sync", "-o", log, self, probeArg, filepath.Join(dir, name), strconv.Itoa(n))
	if out, err := c.CombinedOutput(); err != nil {
		if bytes.Contains(out, []byte("PTRACE")) || bytes.Contains(out, []byte("ptrace")) {
			return 0, skip("strace may not trace here")
		}
		return 0, fmt.Errorf("strace: %w: %s", err, out)
	}
	b, err := os.ReadFile(log)
	if err != nil {
		return 0, err
	}
	count := 0
	for l := range bytes.Lines(b) {
		// A call that another thread interrupts shows as two lines; the first has no result.
		if bytes.Contains(l, []byte("sync")) && bytes.Contains(l, []byte("= ")) {
			count++
		}
	}
	return float64(count), nil
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"evener/journal"
)

func appendGroups() []group {
	return []group{
		{name: "append-1", sides: withCallers(1, "bbolt.Update", "etcd", "tidwall", "raft-wal", "SQLite"), rows: []row{
			appendRow("durable append, 1 caller", "raw", "one goroutine, write(2) + fdatasync a line", ratio("≥", 0.80)),
			appendRow("– against SQLite", "SQLite", "WAL, synchronous=FULL, one insert", ratio("≥", 0.85)),
			appendRow("– against bbolt", "bbolt.Update", "Update, one put", ratio("≥", 1.5)),
			appendRow("– against etcd", "etcd", "wal.Save, preallocated file", want{}),
			appendRow("– against raft-wal", "raft-wal", "StoreLogs, preallocated file", want{}),
			appendRow("– against tidwall/wal", "tidwall", "Write", want{}),
		}},
		{name: "append-8", sides: withCallers(8), rows: []row{
			appendRow("durable append, 8 callers", "raw", "write(8 lines) + fdatasync", ratio("≥", 0.85)),
		}},
		{name: "append-64", sides: withCallers(64, "bbolt.Batch", "bbolt.Update", "etcd", "tidwall", "SQLite"), rows: []row{
			appendRow("durable append, 64 callers", "raw", "write(64 lines) + fdatasync", ratio("≥", 0.80)),
			{what: "– lines a sync, mean", subject: "batch", want: value("≥", 56)},
			{what: "– 99th percentile of one append", subject: "p99", limit: "raw p99", limitIs: "write(64 lines) + fdatasync", unit: "ms", scale: 1e-3, want: ratio("≤", 2)},
			appendRow("– against bbolt.Batch", "bbolt.Batch", "64 callers", ratio("≥", 5)),
			appendRow("– against bbolt.Update", "bbolt.Update", "64 callers", want{}),
			appendRow("– against etcd", "etcd", "wal.Save, 64 callers", ratio("≥", 8)),
			appendRow("– against SQLite", "SQLite", "WAL, synchronous=FULL, 64 callers", ratio("≥", 8)),
			appendRow("– against tidwall/wal", "tidwall", "Write, 64 callers", ratio("≥", 8)),
		}},
		{name: "append-256", sides: withCallers(256), rows: []row{
			appendRow("durable append, 256 callers", "raw", "write(256 lines) + fdatasync", ratio("≥", 0.50)),
		}},
		{name: "append-async", sides: asyncSides, rows: []row{
			appendRow("asynchronous append, 1 producer", "raw", "write(256 lines) + fdatasync", ratio("≥", 0.70)),
		}},
		{name: "allocs", sides: allocSides, rows: []row{
			{what: "allocations an append, 1 caller", subject: "allocs 1", want: value("≤", 2)},
			{what: "allocations an append, 64 callers", subject: "allocs 64", want: value("≤", 2)},
		}},
		{name: "syncs", sides: syncSides, rows: []row{
			{what: "syncs a batch, counted by strace", subject: "batch", want: value("=", 1)},
			{what: "syncs of a create in an existing folder", subject: "create", limitIs: "1 file + 1 folder", want: value("=", 2)},
			{what: "syncs of a create below two new folders", subject: "create new", limitIs: "1 file + 1 folder + 2 new folders", want: value("=", 4)},
		}},
		{name: "create", sides: createSides, rows: []row{
			{what: "time of a create", subject: "create", limit: "bare", limitIs: "temp + fsync + rename + fsync(folder)", unit: "ms", scale: 1e-3, want: ratio("≤", 1.3)},
		}},
	}
}

func appendRow(what, limit, is string, w want) row {
	return row{what: what, subject: "journal", limit: limit, limitIs: is, unit: "lines/s", want: w}
}

func record() journal.Record {
	return journal.Record{Step: 1, At: time.Date(2026, 11, 30, 7, 0, 0, 0, time.UTC), Cause: []byte(`{"kind":"report","line":41}`),
		Events: []journal.Event{{Kind: "job.finished", Data: []byte(`{"job":"job_01JDMZ0000000000000000000AAAAAA","exit":0,"bytes":12345}`)}}}
}

// line is what a record becomes, with its newline: what the limits and the peers store.
func line(dir string) ([]byte, error) {
	path := filepath.Join(dir, "one.jsonl")
	defer os.Remove(path)
	j, err := journal.Create(path, journal.Options{Quiet: -1})
	if err != nil {
		return nil, err
	}
	_, err = j.Append(record())
	if cerr := j.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, err
	}
	var last []byte
	for e, err := range journal.Read(path, journal.Pos{}) {
		if err != nil {
			return nil, err
		}
		if e.Step == 1 {
			last = append(slices.Clone(e.Line), '\n')
		}
	}
	return last, nil
}

func withCallers(n int, against ...string) func(*env) ([]side, error) {
	return func(e *env) ([]side, error) {
		l, err := line(e.dir)
		if err != nil {
			return nil, err
		}
		sides := []side{rawSide(l, n), {"journal", func(e *env) (values, error) { return journalAppends(e, n) }}}
		for _, name := range against {
			sides = append(sides, peerSide(name, l, n))
		}
		return sides, nil
	}
}

// rawSide is the limit of n callers: one goroutine that writes n ready lines and syncs them.
func rawSide(l []byte, n int) side {
	return side{"raw", func(e *env) (values, error) {
		dir, err := e.sub("raw")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		f, err := os.OpenFile(filepath.Join(dir, "raw"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		buf := slices.Concat(slices.Repeat([][]byte{l}, n)...)
		rate, p99, err := callers(1, e.time, func() error { return writeSync(f, buf) })
		return values{"raw": rate * float64(n), "raw p99": p99}, err
	}}
}

func writeSync(f *os.File, b []byte) error {
	if n, err := syscall.Write(int(f.Fd()), b); err != nil || n != len(b) {
		return fmt.Errorf("write %d of %d bytes: %w", n, len(b), err)
	}
	return syscall.Fdatasync(int(f.Fd()))
}

// callers lets n goroutines call f again and again for a time.
func callers(n int, d time.Duration, f func() error) (perSecond, p99 float64, err error) {
	var wg sync.WaitGroup
	took, errs := make([][]time.Duration, n), make([]error, n)
	start := time.Now()
	for c := range n {
		wg.Go(func() {
			for now := start; now.Sub(start) < d; {
				if errs[c] = f(); errs[c] != nil {
					return
				}
				end := time.Now()
				took[c] = append(took[c], end.Sub(now))
				now = end
			}
		})
	}
	wg.Wait()
	all := slices.Concat(took...)
	for _, e := range errs {
		if e != nil {
			err = e
		}
	}
	return float64(len(all)) / time.Since(start).Seconds(), percentile(all, 0.99), err
}

func journalAppends(e *env, n int) (values, error) {
	dir, err := e.sub("journal")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "j.jsonl")
	j, err := journal.Create(path, journal.Options{Quiet: -1})
	if err != nil {
		return nil, err
	}
	defer j.Close()
	if _, err := j.Append(record()); err != nil {
		return nil, err
	}
	rate, p99, err := callers(n, e.time, func() error {
		_, err := j.Append(record())
		return err
	})
	if err != nil {
		return nil, err
	}
	lines, batches := 0.0, 0.0
	last, first := int64(0), false
	for e, err := range journal.Read(path, journal.Pos{}) {
		if err != nil {
			return nil, err
		}
		if first = first || e.Step == 1; !first { // what the package said before the first record
			continue
		}
		lines++
		if e.Batch != last {
			last, batches = e.Batch, batches+1
		}
	}
	return values{"journal": rate, "p99": p99, "batch": lines / batches}, nil
}

func asyncSides(e *env) ([]side, error) {
	l, err := line(e.dir)
	if err != nil {
		return nil, err
	}
	return []side{rawSide(l, 256), {"journal", func(e *env) (values, error) {
		dir, err := e.sub("journal")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		j, err := journal.Create(filepath.Join(dir, "j.jsonl"), journal.Options{Quiet: -1})
		if err != nil {
			return nil, err
		}
		defer j.Close()
		start, n := time.Now(), 0
		var last *journal.Ticket
		for time.Since(start) < e.time {
			for range 64 { // the clock is read once for many
				last = j.AppendAsync(record())
				n++
			}
		}
		if _, err := last.Wait(); err != nil {
			return nil, err
		}
		return values{"journal": float64(n) / time.Since(start).Seconds()}, nil
	}}}, nil
}

// allocSides counts what the heap gave out while appends went on.
func allocSides(*env) ([]side, error) {
	one := func(n int) side {
		name := fmt.Sprintf("allocs %d", n)
		return side{name, func(e *env) (values, error) {
			dir, err := e.sub("allocs")
			if err != nil {
				return nil, err
			}
			defer os.RemoveAll(dir)
			j, err := journal.Create(filepath.Join(dir, "j.jsonl"), journal.Options{Quiet: -1})
			if err != nil {
				return nil, err
			}
			defer j.Close()
			r := record()
			appends := func(each int) error {
				errs := make(chan error, n)
				for range n {
					go func() {
						for range each {
							if _, err := j.Append(r); err != nil {
								errs <- err
								return
							}
						}
						errs <- nil
					}()
				}
				for range n {
					if err := <-errs; err != nil {
						return err
					}
				}
				return nil
			}
			each := e.size(2000, 400) / min(n, 8)
			if err := appends(each); err != nil { // buffers grow to their size here
				return nil, err
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := appends(each); err != nil {
				return nil, err
			}
			runtime.ReadMemStats(&after)
			// The goroutines and the channel of this very loop are not the journal's.
			return values{name: float64(after.Mallocs-before.Mallocs-uint64(2*n)) / float64(each*n)}, nil
		}}
	}
	return []side{one(1), one(64)}, nil
}

func createSides(*env) ([]side, error) {
	repeat := func(name string, f func(dir string, i int) error) side {
		return side{name, func(e *env) (values, error) {
			dir, err := e.sub("create")
			if err != nil {
				return nil, err
			}
			defer os.RemoveAll(dir)
			n := e.size(100, 20)
			start := time.Now()
			for i := range n {
				if err := f(dir, i); err != nil {
					return nil, err
				}
			}
			return values{name: time.Since(start).Seconds() / float64(n)}, nil
		}}
	}
	return []side{repeat("bare", bareCreate), repeat("create", func(dir string, i int) error {
		j, err := journal.Create(filepath.Join(dir, fmt.Sprintf("j%d.jsonl", i)), journal.Options{Quiet: -1})
		if err != nil {
			return err
		}
		return j.Close()
	})}, nil
}

// bareCreate is the least that makes a file and its name durable at once.
func bareCreate(dir string, i int) error {
	tmp := filepath.Join(dir, fmt.Sprintf("tmp%d", i))
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, 300)); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Rename(tmp, filepath.Join(dir, fmt.Sprintf("f%d", i))); err != nil {
		return err
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// The benchmarks measure the package beside its limit, in turns within one run,
// since figures of a shared machine mean nothing across runs. They report the
// median of the ratios of the rounds. Run them with -bench . -benchtime 1x.

const benchRounds = 7

// benchTime is how long one side of one round runs.
func benchTime() time.Duration {
	if d, err := time.ParseDuration(os.Getenv("JOURNAL_BENCH_ROUND")); err == nil {
		return d
	}
	return 700 * time.Millisecond
}

func benchRecord() Record {
	return Record{Step: 1, At: time.Date(2026, 11, 30, 7, 0, 0, 0, time.UTC), Cause: []byte(`{"kind":"report","line":41}`),
		Events: []Event{{Kind: "job.finished", Data: []byte(`{"job":"job_01JDMZ0000000000000000000AAAAAA","exit":0,"bytes":12345}`)}}}
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// rawAppends is the limit: one goroutine that writes n ready lines and syncs them.
func rawAppends(b *testing.B, dir string, n int, d time.Duration) (perSecond float64, took []float64) {
	f, err := os.OpenFile(filepath.Join(dir, "raw"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	r := benchRecord()
	var buf []byte
	for range n {
		buf = appendLine(buf, 123456, 123456, appendBody(nil, &r, r.At))
	}
	start, count := time.Now(), 0
	for time.Since(start) < d {
		t := time.Now()
		if _, err := syscall.Write(int(f.Fd()), buf); err != nil {
			b.Fatal(err)
		}
		if err := fdatasync(int(f.Fd())); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(t).Seconds())
		count += n
	}
	return float64(count) / time.Since(start).Seconds(), took
}

func journalAppends(b *testing.B, dir string, callers int, d time.Duration) (perSecond, batch float64, took []float64) {
	path := filepath.Join(dir, "j-"+newFileID())
	fs := &countFS{}
	j, err := Create(path, Options{fs: fs})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := j.Append(benchRecord()); err != nil {
		b.Fatal(err)
	}
	before := fs.syncs.Load()
	var wg sync.WaitGroup
	var total atomic.Int64
	lat := make([][]float64, callers)
	start := time.Now()
	for c := range callers {
		wg.Go(func() {
			n := 0
			for now := start; now.Sub(start) < d; n++ {
				if _, err := j.Append(benchRecord()); err != nil {
					b.Error(err)
					return
				}
				end := time.Now()
				lat[c] = append(lat[c], end.Sub(now).Seconds())
				now = end
			}
			total.Add(int64(n))
		})
	}
	wg.Wait()
	perSecond = float64(total.Load()) / time.Since(start).Seconds()
	batch = float64(total.Load()) / float64(fs.syncs.Load()-before)
	if err := j.Close(); err != nil {
		b.Fatal(err)
	}
	return perSecond, batch, slices.Concat(lat...)
}

func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{1, 8, 64, 256} {
		b.Run(fmt.Sprintf("callers=%d", n), func(b *testing.B) {
			dir := b.TempDir()
			for b.Loop() {
				var rates, batches, tails, per []float64
				for range benchRounds {
					raw, rawTook := rawAppends(b, dir, n, benchTime())
					got, batch, took := journalAppends(b, dir, n, benchTime())
					rates, batches, per = append(rates, got/raw), append(batches, batch), append(per, got)
					tails = append(tails, p99(took)/p99(rawTook))
				}
				b.ReportMetric(median(rates), "ratio")
				b.ReportMetric(median(batches), "records/sync")
				b.ReportMetric(median(tails), "p99-ratio")
				b.ReportMetric(median(per), "appends/s")
			}
		})
	}
}

func p99(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)*99/100]
}

// countFS counts writes and syncs.
type countFS struct {
	osFS
	writes, syncs, dirSyncs atomic.Int64
}

type countFile struct {
	file
	fs *countFS
}

func (c *countFS) open(path string, flag int, perm uint32) (file, error) {
	f, err := c.osFS.open(path, flag, perm)
	if err != nil {
		return nil, err
	}
	return countFile{f, c}, nil
}

func (c *countFS) syncDir(path string) error {
	c.dirSyncs.Add(1)
	return c.osFS.syncDir(path)
}

func (f countFile) write(p []byte) (int, error) {
	f.fs.writes.Add(1)
	return f.file.write(p)
}

func (f countFile) sync() error {
	f.fs.syncs.Add(1)
	return f.file.sync()
}

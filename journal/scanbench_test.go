package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// manyLines writes a journal of n lines of about 260 bytes.
func manyLines(b *testing.B, n int) string {
	path := filepath.Join(b.TempDir(), "many")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	at := time.Date(2026, 11, 30, 7, 0, 0, 0, time.UTC)
	head := Header{Format: format, FileID: newFileID()}
	w.Write(appendLine(nil, 1, 1, ownBody(kindCreated, head, at)))
	kinds := []string{"job.started", "job.finished", "delegate.update", "attention.armed", "attention.consumed"}
	var line, body []byte
	for seq := int64(2); seq <= int64(n); seq++ {
		r := Record{Step: seq, Cause: []byte(`{"kind":"report","line":` + strconv.FormatInt(seq-1, 10) + `}`),
			Events: []Event{{kinds[seq%5], fmt.Appendf(nil, `{"delegate_id":"dlg_%016x","gen":%d,"status":"running","text":"checked the \"quoted\" part"}`, seq*2654435761, seq%7)}}}
		body = appendBody(body[:0], &r, at.Add(time.Duration(seq)*time.Millisecond))
		line = appendLine(line[:0], seq, seq, body)
		w.Write(line)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// eachRaw is the limit's reader: lines out of one buffer, nothing copied.
func eachRaw(b *testing.B, path string, do func([]byte)) {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	buf := make([]byte, 1<<20)
	lo, hi := 0, 0
	for {
		n, err := f.Read(buf[hi:])
		hi += n
		for {
			i := bytes.IndexByte(buf[lo:hi], '\n')
			if i < 0 {
				break
			}
			do(buf[lo : lo+i])
			lo += i + 1
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			b.Fatal(err)
		}
		copy(buf, buf[lo:hi])
		lo, hi = 0, hi-lo
	}
}

// handEnvelope is the least that routing a line takes: its checksum, its numbers,
// where the cause ends, and kind and data of each event.
func handEnvelope(l []byte) (seq, batch, step int64, cause, kind, data []byte, ok bool) {
	body := l[:len(l)-18]
	sum := hexSum(crc32.Checksum(body, castagnoli))
	if string(l[len(l)-10:len(l)-2]) != string(sum[:]) {
		return
	}
	num := func(key string, at int) (n int64, end int) {
		for at += len(key); body[at] >= '0' && body[at] <= '9'; at++ {
			n = n*10 + int64(body[at]-'0')
		}
		return n, at
	}
	seq, i := num(`{"seq":`, 0)
	batch, i = num(`,"b":`, i)
	step, i = num(`,"step":`, i)
	i += len(`,"at":"2026-11-30T07:19:33.000001Z","cause":`)
	end := balance(body, i)
	cause = body[i:end]
	i = end + len(`,"events":[{"kind":"`)
	n := bytes.IndexByte(body[i:], '"')
	kind = body[i : i+n]
	i += n + len(`","data":`)
	end = balance(body, i)
	return seq, batch, step, cause, kind, body[i:end], true
}

func balance(b []byte, i int) int {
	depth := 0
	for quoted := false; ; i++ {
		switch c := b[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
}

// cpuSeconds is what this process has used: others on the machine do not count.
func cpuSeconds() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}

// BenchmarkScan verifies and routes a million lines, in turns with its limit and
// with encoding/json for the envelope.
func BenchmarkScan(b *testing.B) {
	n := 1_000_000
	path := manyLines(b, n)
	timed := func(do func()) float64 {
		runtime.GC() // what came before is not to be swept on this one's time
		t := cpuSeconds()
		do()
		return cpuSeconds() - t
	}
	route := map[string]int{}
	for b.Loop() {
		var hand, per []float64
		for range benchRounds {
			limit := timed(func() {
				routed := 0
				eachRaw(b, path, func(l []byte) {
					if _, _, _, _, kind, data, ok := handEnvelope(l); ok && len(data) > 0 {
						route[string(kind)]++
						routed++
					}
				})
				if routed != n {
					b.Fatal(routed)
				}
			})
			got := timed(func() {
				r, err := Scan(path, Pos{}, func(e Entry) error {
					for kind := range e.Events() {
						route[kind]++
					}
					return nil
				})
				if err != nil || r.Lines != int64(n) {
					b.Fatal(r, err)
				}
			})
			hand, per = append(hand, limit/got), append(per, got/float64(n)*1e9)
		}
		std := timed(func() {
			eachRaw(b, path, func(l []byte) {
				var e struct {
					Seq, B, Step int64
					At           string
					Cause        json.RawMessage
					Events       []struct {
						Kind string
						Data json.RawMessage
					}
					CRC string
				}
				if err := json.Unmarshal(l, &e); err != nil {
					b.Fatal(err)
				}
			})
		})
		b.ReportMetric(median(hand), "ratio")
		b.ReportMetric(std*1e9/float64(n)/median(per), "x-encoding/json")
		b.ReportMetric(median(per), "ns/line")
	}
}

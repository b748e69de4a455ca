package match

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"
)

// log is output as builds and servers print it, 4 MiB of it.
func log() []byte {
	rnd := rand.New(rand.NewPCG(1, 2))
	words := []string{"compiling", "internal/store", "ok", "cached", "INFO", "request", "served", "in", "12ms", "warning:", "unused", "variable", "connect", "127.0.0.1:8080", "retry", "downloading"}
	var b bytes.Buffer
	for i := 0; b.Len() < 4<<20; i++ {
		fmt.Fprintf(&b, "2026-11-30T10:%02d:%02dZ", i/60%60, i%60)
		for range 3 + rnd.IntN(12) {
			fmt.Fprintf(&b, " %s", words[rnd.IntN(len(words))])
		}
		b.WriteByte('\n')
	}
	return b.Bytes()
}

var benchPatterns = []struct{ name, pattern string }{
	{"literal", "server is ready"},
	{"folded", "(?i)(ready|blocked|needs input)"},
	{"inner", `[0-9]+ tests? passed`},
	{"common", `request failed in [0-9]+ms`}, // its first word is in many lines
	{"weak", `[A-Z]{3}-[0-9]+$`},             // a dash is in every line
	{"none", `[A-Z]{5}[0-9]+$`},
	{"open", `(?s)[A-Z].*[#!]`},
	{"worst", `(?s)[A-Z].*[^ -~\n]`}, // all of the window may begin a match
}

// One pattern over one output, beside bytes.Index and the regexp alone.
func BenchmarkOne(b *testing.B) {
	output := log()
	for _, p := range benchPatterns {
		re := regexp.MustCompile("(?m)" + p.pattern)
		for _, size := range []int{256 << 10, 4 << 10, 100} {
			b.Run(fmt.Sprintf("%s/matcher/%d", p.name, size), func(b *testing.B) { benchMatchers(b, output, size, p.pattern) })
		}
		b.Run(p.name+"/regexp", func(b *testing.B) {
			b.SetBytes(int64(len(output)))
			for b.Loop() {
				re.FindIndex(output)
			}
		})
	}
	b.Run("bytes.Index", func(b *testing.B) {
		b.SetBytes(int64(len(output)))
		for b.Loop() {
			bytes.Index(output, []byte("server is ready"))
		}
	})
}

// Thirty-two patterns over one output.
func BenchmarkThirtyTwo(b *testing.B) {
	var patterns []string
	for i := range 32 {
		patterns = append(patterns, fmt.Sprintf("(?i)worker %d (ready|failed)", i))
	}
	output := log()
	for _, size := range []int{256 << 10, 4 << 10, 100} {
		b.Run(fmt.Sprint(size), func(b *testing.B) { benchMatchers(b, output, size, patterns...) })
	}
}

func benchMatchers(b *testing.B, output []byte, size int, patterns ...string) {
	var ms []*Matcher
	for _, p := range patterns {
		ms = append(ms, compiled(b, p).From(0, func(Occurrence) bool { return true }))
	}
	b.SetBytes(int64(len(output)))
	b.ReportAllocs()
	off := int64(0)
	for b.Loop() {
		for at := 0; at < len(output); at += size {
			part := output[at:min(at+size, len(output))]
			for _, m := range ms {
				m.Add(off+int64(at), part)
				m.Flush()
			}
		}
		off += int64(len(output))
	}
}

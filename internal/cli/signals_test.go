package cli

import (
	"os"
	"syscall"
	"testing"
	"time"
)

func TestSignalsOfOneBlow(t *testing.T) {
	type sent struct {
		s     os.Signal
		after time.Duration
		want  int
	}
	for name, all := range map[string][]sent{
		"timeout sends its own twice":        {{syscall.SIGTERM, 0, begun}, {syscall.SIGTERM, time.Millisecond, echoed}, {syscall.SIGTERM, time.Second, again}},
		"a person strikes twice":             {{syscall.SIGINT, 0, begun}, {syscall.SIGINT, 120 * time.Millisecond, again}},
		"another signal is no echo":          {{syscall.SIGINT, 0, begun}, {syscall.SIGTERM, time.Millisecond, again}},
		"a key held down ends it in the end": {{syscall.SIGINT, 0, begun}, {syscall.SIGINT, 50 * time.Millisecond, echoed}, {syscall.SIGINT, 100 * time.Millisecond, again}},
	} {
		t.Run(name, func(t *testing.T) {
			var b blow
			began := time.Now()
			for i, x := range all {
				if got := b.count(x.s, began.Add(x.after)); got != x.want {
					t.Errorf("signal %d: %d, want %d", i+1, got, x.want)
				}
			}
		})
	}
}

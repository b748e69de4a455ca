package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Each benchmark runs its limit interleaved with itself and reports the ratio.

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// BenchmarkTrue: a job from Start to Exited, against the bare shell run by
// os/exec, and against the same shell with the gate's script but no waiting.
func BenchmarkTrue(b *testing.B) {
	r := newRig(b)
	r.once("true")
	script := filepath.Join(r.dir, "gate")
	if err := os.WriteFile(script, []byte(strings.Replace(bashGate, "-u 4 ", "", 1)+"unset BASH_ENV\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	var job, bare, sourced, started []time.Duration
	for b.Loop() {
		t := time.Now()
		id := r.hold(r.command("true"))
		started = append(started, time.Since(t))
		if err := r.Release(id); err != nil {
			b.Fatal(err)
		}
		r.exit()
		job = append(job, time.Since(t))

		t = time.Now()
		cmd := &exec.Cmd{Path: r.shell, Args: []string{"bash", "-c", "true"}, Dir: r.dir, Stdin: strings.NewReader("\n")}
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		bare = append(bare, time.Since(t))

		t = time.Now()
		cmd = &exec.Cmd{Path: r.shell, Args: []string{"bash", "-c", "true"}, Dir: r.dir, Stdin: strings.NewReader("\n"), Env: append(os.Environ(), "BASH_ENV="+script)}
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		sourced = append(sourced, time.Since(t))
	}
	us := func(d []time.Duration) float64 { return float64(median(d).Microseconds()) }
	b.ReportMetric(us(job), "µs/job")
	b.ReportMetric(us(started), "µs/start")
	b.ReportMetric(us(bare), "µs/bare")
	b.ReportMetric(us(sourced)-us(bare), "µs/gate")
	b.ReportMetric(us(job)-us(bare), "µs/over")
}

// BenchmarkPump: a flood through the pump into its log, against the same command
// writing to a file itself. kept: everything fits; capped: holes are punched.
func BenchmarkPump(b *testing.B) {
	const volume = 1 << 30
	for _, c := range []struct {
		name, line string
		limit      int64
	}{
		{"zero/kept", fmt.Sprintf("head -c %d /dev/zero", volume), 2 * volume},
		{"zero/capped", fmt.Sprintf("head -c %d /dev/zero", volume), 64 << 20},
		{"yes/kept", fmt.Sprintf("yes | head -c %d", volume), 2 * volume},
		{"yes/capped", fmt.Sprintf("yes | head -c %d", volume), 64 << 20},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := newRig(b)
			r.once("true")
			var pumped, direct []time.Duration
			cpu0 := cpu()
			for b.Loop() {
				t := time.Now()
				file := filepath.Join(r.dir, "direct")
				r.once(c.line + " > " + file)
				direct = append(direct, time.Since(t))
				if err := os.Remove(file); err != nil {
					b.Fatal(err)
				}
				t = time.Now()
				cmd := r.command(c.line)
				cmd.LogCap = c.limit
				if err := r.Release(r.hold(cmd)); err != nil {
					b.Fatal(err)
				}
				x := r.exit()
				pumped = append(pumped, time.Since(t))
				if x.Total != volume {
					b.Fatalf("%+v", x.Total)
				}
				if err := os.Remove(r.log(cmd.Job)); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(volume)
			b.ReportMetric(float64(median(direct))/float64(median(pumped)), "of-direct")
			b.ReportMetric(float64(cpu()-cpu0)/float64(b.N)/1e6, "ms-cpu")
		})
	}
}

// cpu is the time that this process has used.
func cpu() time.Duration {
	var u unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

package proc

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"evener/internal/joblog"
)

// A death by signal is told from every exit status, also the ones that shells
// use for it.
//
// clause: JC-116 JC-423
func TestHowItEnded(t *testing.T) {
	r := newRig(t)
	for line, want := range map[string]struct {
		code   int
		signal string
	}{
		"true":                             {0, ""},
		"exit 3":                           {3, ""},
		"exec >&- 2>&-; sleep 0.3; exit 5": {5, ""},
		"exit 137":                         {137, ""},
		"exit 143":                         {143, ""},
		"kill -9 $$":                       {-1, "SIGKILL"},
		"kill -TERM $$":                    {-1, "SIGTERM"},
		"kill -SEGV $$":                    {-1, "SIGSEGV"},
		"bash -c 'kill -9 $$'; exit 5":     {5, ""},
		"no-such-command-anywhere":         {127, ""},
		"if then":                          {2, ""},
	} {
		if x := r.once(line); x.Code != want.code || x.Signal != want.signal || x.Stopped {
			t.Errorf("%s: code %d signal %q, want %+v", line, x.Code, x.Signal, want)
		}
	}
}

// The call ends when the command ends, not when the last holder of its pipe does;
// what is left behind is counted and ends with the host.
func TestLeftovers(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		left int
	}{
		"holds the pipe":       {`sleep 600 & echo started`, 1},
		"setsid, stderr":       {`setsid sleep 600 > out.log & echo started`, 1},
		"process substitution": {`exec > >(tee -a run.log) 2>&1; echo started`, 0},
		"pipe closed":          {`sleep 600 > /dev/null 2>&1 & echo started`, 1},
		"daemon":               {`(setsid sh -c 'sleep 600 & sleep 600' > /dev/null 2>&1 &); echo started`, 3},
		"keeps writing":        {`(while :; do echo more; sleep 0.02; done) & echo started`, 2},
		"nothing":              {`sleep 0.01 & wait; echo started`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.once("true") // the keeper is up
			begin := time.Now()
			x := r.once(c.line)
			if took := time.Since(begin); took > 5*time.Second { // and not 600
				t.Errorf("took %v", took)
			}
			ok := x.LeftBehind == c.left || name == "keeps writing" && x.LeftBehind > 0 || name == "daemon" && x.LeftBehind > 0
			if x.Code != 0 || !strings.Contains(string(x.Tail), "started\n") || !ok || x.Stopped || x.Survivors != nil {
				t.Errorf("%+v %q", x, x.Tail)
			}
			r.close()
			gone(t, 0, x.Job)
		})
	}
}

// What comes after the report does not change the log, and does not block its writer.
func TestOutputAfterTheReport(t *testing.T) {
	r := newRig(t)
	done := filepath.Join(r.dir, "done")
	x := r.once(`(sleep 0.6; head -c 1000000 /dev/zero; echo ok > ` + done + `) & echo first`)
	if string(x.Tail) != "first\n" || x.Total != 6 {
		t.Fatalf("%+v", x)
	}
	waitFile(t, done)
	if b, err := os.ReadFile(r.log(x.Job)); err != nil || string(b) != "first\n" {
		t.Fatalf("%d bytes in the log, %v", len(b), err)
	}
}

// Bytes arrive as they are.
//
// clause: JC-516 JC-420
func TestOutputBytes(t *testing.T) {
	r := newRig(t)
	var want []byte
	for range 64 {
		for b := range 256 {
			want = append(want, byte(b))
		}
	}
	want = append(want, 0xed, 0xa0, 0x80, 0xff)
	file := filepath.Join(r.dir, "bytes")
	if err := os.WriteFile(file, want, 0o600); err != nil {
		t.Fatal(err)
	}
	x := r.once("cat bytes")
	if got, err := os.ReadFile(r.log(x.Job)); err != nil || !bytes.Equal(got, want) || x.Total != 16388 {
		t.Fatalf("%d bytes differ, %v", len(got), err)
	}
	if !bytes.Equal(x.Tail, want) || !bytes.Equal(x.Head, want[:8<<10]) {
		t.Fatalf("head %d, tail %d", len(x.Head), len(x.Tail))
	}
	// Both streams at once: no byte is lost, lines stay whole.
	x = r.once(`for i in 1 2 3 4; do (for n in {1..500}; do echo out$i >&$((1 + i % 2)); done) & done; wait`)
	if x.Total != 4*500*5 || strings.Count(string(x.Tail), "\n") != 2000 {
		t.Fatalf("total %d", x.Total)
	}
}

func TestNULIsRefused(t *testing.T) {
	r := newRig(t)
	c := r.command("echo a\x00b")
	if _, err := r.Start(c); !errors.Is(err, ErrNUL) || !strings.Contains(err.Error(), "command") {
		t.Fatal(err)
	}
	c.Line, c.Env = "true", []string{"A=\x00"}
	if _, err := r.Start(c); !errors.Is(err, ErrNUL) {
		t.Fatal(err)
	}
	if _, err := r.Detach(Command{Line: "\x00", Dir: r.dir}); !errors.Is(err, ErrNUL) {
		t.Fatal(err)
	}
}

// A command that is too long for one argument runs from a file, which is gone afterwards.
func TestLongCommand(t *testing.T) {
	r := newRig(t)
	body := strings.Repeat("0123456789abcdef\n", 200_000/17)
	x := r.once("cat > out <<'END'\n" + body + "END\necho rc=$? args=$#\n")
	if string(x.Tail) != "rc=0 args=0\n" {
		t.Fatalf("%q", x.Tail)
	}
	if got, err := os.ReadFile(filepath.Join(r.dir, "out")); err != nil || string(got) != body {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
	if files, _ := filepath.Glob(filepath.Join(r.dir, "command-*")); files != nil {
		t.Fatalf("left: %v", files)
	}
}

// Nobody answers a command's questions: its input is empty and it has no terminal.
func TestInputIsEmpty(t *testing.T) {
	r := newRig(t)
	begin := time.Now()
	if x := r.once("read x; echo rc=$?; cat; (: < /dev/tty) 2> /dev/null || echo no terminal"); string(x.Tail) != "rc=1\nno terminal\n" {
		t.Fatalf("%q", x.Tail)
	}
	if time.Since(begin) > 5*time.Second {
		t.Error("took too long")
	}
}

// A working directory that vanished is a plain error of its own kind, and heals.
func TestMissingDirectory(t *testing.T) {
	r := newRig(t)
	w := filepath.Join(r.dir, "w")
	if err := os.Mkdir(w, 0o700); err != nil {
		t.Fatal(err)
	}
	c := r.command("rm -rf ../w")
	c.Dir = w
	if err := r.Release(r.hold(c)); err != nil {
		t.Fatal(err)
	}
	r.exit()
	c = r.command("echo alive")
	c.Dir = w
	var missing *NoDirError
	if _, err := r.Start(c); !errors.As(err, &missing) || missing.Dir != w || !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if _, err := r.Detach(c); !errors.As(err, &missing) {
		t.Fatal(err)
	}
	if err := os.Mkdir(w, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := r.Release(r.hold(c)); err != nil {
		t.Fatal(err)
	}
	if x := r.exit(); string(x.Tail) != "alive\n" {
		t.Fatalf("%+v", x)
	}
}

// More output than is kept: the command is not blocked, offsets are lifetime
// offsets, the newest bytes are kept, reads before them are refused.
//
// clause: JC-482
func TestMoreOutputThanKept(t *testing.T) {
	r := newRig(t)
	const total, limit = 96 << 20, 8 << 20
	c := r.command("yes 0123456 | head -c 100663296")
	c.LogCap = limit
	if err := r.Release(r.hold(c)); err != nil {
		t.Fatal(err)
	}
	x := r.exit()
	if x.Code != 0 || x.Total != total || x.Dropped != 0 || x.LogErr != nil {
		t.Fatalf("%+v", x)
	}
	in, err := joblog.Stat(r.log(c.Job))
	if err != nil || in.End != total || in.Start != x.Start || in.End-in.Start > limit || in.End-in.Start < limit*3/4 {
		t.Fatalf("%+v %v", in, err)
	}
	got, err := joblog.Window(r.log(c.Job), in.Start, limit)
	want := bytes.Repeat([]byte("0123456\n"), limit/8)[:len(got.Data)]
	if err != nil || sha256.Sum256(got.Data) != sha256.Sum256(want) {
		t.Fatalf("kept bytes differ: %v", err)
	}
	if len(x.Head) != headKeep || len(x.Tail) != tailKeep || !bytes.HasSuffix(x.Tail, []byte("0123456\n")) {
		t.Fatalf("head %d tail %d", len(x.Head), len(x.Tail))
	}
	if _, err := joblog.Window(r.log(c.Job), 0, 10); err == nil {
		t.Fatal("an evicted page is readable")
	}
}

// Live numbers while the command runs, and none when it is over.
func TestOutputNumbers(t *testing.T) {
	r := newRig(t)
	go_, up := filepath.Join(r.dir, "go"), filepath.Join(r.dir, "up")
	job := r.run("echo 12345; echo up > " + up + "; until [ -e " + go_ + " ]; do sleep 0.01; done")
	waitFile(t, up)
	var total int64
	var last time.Time
	for total == 0 {
		total, last = r.Output(job)
		time.Sleep(time.Millisecond)
	}
	if total != 6 || time.Since(last) > 5*time.Second {
		t.Fatalf("%d %v", total, last)
	}
	if !r.Keep(job) {
		t.Fatal("too late to keep a running job")
	}
	if err := os.WriteFile(go_, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if x := r.exit(); x.LogErr != nil {
		t.Fatalf("%+v", x)
	}
	if total, _ := r.Output(job); total != 0 || r.Keep(job) {
		t.Fatal("an ended job has live numbers")
	}
}

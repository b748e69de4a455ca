package journal

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary is also the program under test: with JOURNAL_HELPER it writes a
// journal and tells each answer on standard output, as
//
//	ack STEP | full STEP | poisoned STEP | refused STEP | closed [ERROR]
func TestMain(m *testing.M) {
	if path := os.Getenv("JOURNAL_HELPER"); path != "" {
		if err := helper(path, os.Getenv("JOURNAL_HELPER_LIMIT")); err != nil {
			fmt.Println("failed", err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func helper(path, limit string) error {
	if limit != "" {
		n, err := strconv.ParseUint(limit, 10, 64)
		if err != nil {
			return err
		}
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
			return err
		}
	}
	var step int64
	j, _, err := Open(path, Options{Quiet: -1, fs: pinFS{}, Visit: func(e Entry) error {
		step = max(step, e.Step)
		return nil
	}})
	if err != nil {
		return err
	}
	count, err := strconv.Atoi(os.Getenv("JOURNAL_HELPER_COUNT"))
	if err != nil {
		return err
	}
	for range count {
		step++
		_, err := j.Append(rec(step, fmt.Sprintf("t%d", step)))
		fmt.Println(answer(err), step)
	}
	fmt.Println("closed", j.Close())
	return nil
}

func answer(err error) string {
	switch {
	case err == nil:
		return "ack"
	case errors.Is(err, ErrFull):
		return "full"
	case errors.Is(err, ErrPoisoned):
		return "poisoned"
	}
	return "refused"
}

// pinFS keeps the writer on one thread: strace counts the calls of each thread.
type pinFS struct{ osFS }

type pinFile struct{ file }

func (p pinFS) open(path string, flag int, perm uint32) (file, error) {
	f, err := p.osFS.open(path, flag, perm)
	if err != nil {
		return nil, err
	}
	return pinFile{f}, nil
}

func (f pinFile) write(p []byte) (int, error) {
	runtime.LockOSThread()
	return f.file.write(p)
}

func helperCommand(path string, count int, wrapper ...string) *exec.Cmd {
	args := append(wrapper, os.Args[0])
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "JOURNAL_HELPER="+path, "JOURNAL_HELPER_COUNT="+strconv.Itoa(count))
	return cmd
}

// emptyJournal makes a journal that was closed in order, with one record.
func emptyJournal(t *testing.T, dir string) string {
	t.Helper()
	path := filepath.Join(dir, "j")
	j := mustCreate(t, path, Options{})
	if _, err := j.Append(rec(1, "t1")); err != nil {
		t.Fatal(err)
	}
	closeOK(t, j)
	return path
}

// answers are what a helper said, by step, and how it ended.
type answers struct {
	steps map[int64]string
	end   string
}

func parseAnswers(out []byte) answers {
	a := answers{steps: map[int64]string{1: "ack"}}
	for line := range strings.Lines(string(out)) {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if step, err := strconv.ParseInt(rest, 10, 64); err == nil && strings.HasSuffix(line, "\n") {
			a.steps[step] = word
		} else {
			a.end = line
		}
	}
	return a
}

// checkFile compares the file with the answers: all that was acknowledged is
// there, nothing that was refused, of the rest at most a beginning.
func checkFile(t *testing.T, path string, a answers) (texts []string) {
	t.Helper()
	there := map[int64]bool{}
	j, _, err := Open(path, Options{Quiet: -1, Visit: func(e Entry) error {
		if e.Step > 0 {
			if there[e.Step] {
				return fmt.Errorf("step %d twice", e.Step)
			}
			there[e.Step] = true
			texts = append(texts, strconv.FormatInt(e.Step, 10))
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	closeOK(t, j)
	unknown := 0
	for step, word := range a.steps {
		if word == "ack" && !there[step] {
			t.Errorf("step %d was acknowledged and is lost", step)
		}
		if word == "full" && there[step] {
			t.Errorf("step %d was refused and is there", step)
		}
	}
	for step := range there {
		if a.steps[step] != "ack" {
			unknown++
		}
	}
	if unknown > 1 {
		t.Errorf("%d records are there that were not acknowledged", unknown)
	}
	return texts
}

func (a answers) count(word string) (n int) {
	for _, w := range a.steps {
		if w == word {
			n++
		}
	}
	return n
}

// Killed again and again, with somebody outside who wrote down each
// acknowledgement. It runs for two seconds, longer with JOURNAL_KILL_FOR.
func TestKilledAgainAndAgain(t *testing.T) {
	limit, err := time.ParseDuration(os.Getenv("JOURNAL_KILL_FOR"))
	if err != nil {
		limit = 2 * time.Second
	}
	path := emptyJournal(t, t.TempDir())
	all := answers{steps: map[int64]string{1: "ack"}}
	kills := 0
	for start := time.Now(); time.Since(start) < limit; kills++ {
		cmd := helperCommand(path, 1<<30)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// After some acknowledgements, at no particular moment of the next write.
		said := bufio.NewReader(out)
		var got bytes.Buffer
		for range 1 + rand.Intn(60) {
			line, err := said.ReadString('\n')
			if err != nil {
				t.Fatalf("the helper ended by itself: %q %v", line, err)
			}
			got.WriteString(line)
		}
		if kills%3 == 0 {
			if _, _, err := Open(path, Options{}); !errors.Is(err, ErrLocked) {
				t.Errorf("opened beside a living writer: %v", err)
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		rest, _ := io.ReadAll(said)
		got.Write(rest)
		cmd.Wait() // killed: no news
		for step, word := range parseAnswers(got.Bytes()).steps {
			all.steps[step] = word
		}
	}
	// What was not acknowledged, one record a kill at most, was made durable by the next opening.
	there := map[int64]bool{}
	for e, err := range Read(path, Pos{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Step > 0 && there[e.Step] {
			t.Errorf("step %d twice", e.Step)
		}
		there[e.Step] = true
	}
	for step, word := range all.steps {
		if word != "ack" || !there[step] {
			t.Errorf("step %d: answer %s, there %v", step, word, there[step])
		}
	}
	if extra := len(there) - 1 - len(all.steps); extra > kills {
		t.Errorf("%d records more than were acknowledged after %d kills", extra, kills)
	}
	t.Logf("%d kills, %d acknowledged", kills, len(all.steps))
}

// Another process writes, this one follows: every line once, in order, to the last.
func TestFollowAcrossProcesses(t *testing.T) {
	path := emptyJournal(t, t.TempDir())
	cmd := helperCommand(path, 300)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var want int64
	closings := 0
	for e, err := range FollowFile(context.Background(), path, Pos{}, FollowOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if want++; e.Seq != want {
			t.Fatalf("seq %d, want %d", e.Seq, want)
		}
		for kind := range e.Events() {
			if kind == kindClosed {
				closings++
			}
		}
		if closings == 2 {
			break
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if want != 1+1+1+1+1+300+1 {
		t.Errorf("%d lines", want)
	}
}

// jq reads every file that survived something, to its end.
func TestJqReadsIt(t *testing.T) {
	if _, err := exec.LookPath("jq"); err != nil {
		t.Skip("SKIPPED, NOTHING WAS PROVED: no jq")
	}
	s := makeSample(t, false, 3, 2)
	fs := onFile(s.data[:len(s.data)-11])
	j, _, err := Open("/d/j", Options{fs: fs, Quiet: -1})
	if err != nil {
		t.Fatal(err)
	}
	deep := strings.Repeat(`{"a":`, MaxDepth) + "1" + strings.Repeat("}", MaxDepth)
	if _, err := j.Append(Record{Step: maxInt, Cause: []byte(deep), Events: []Event{{"x", []byte(deep)}, {"y", []byte(`"\u0000\ud83d\ude00"`)}}}); err != nil {
		t.Fatal(err)
	}
	closeOK(t, j)
	path := onDisk(t, fs.bytes("/d/j"))
	out, err := exec.Command("jq", "-r", "[.seq, .step, .events[0].kind] | @tsv", path).CombinedOutput()
	if err != nil {
		t.Fatal(err, string(out))
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if n := bytes.Count(fs.bytes("/d/j"), []byte("\n")); len(lines) != n || !strings.Contains(string(out), "9007199254740991") {
		t.Errorf("jq saw %d of %d lines:\n%s", len(lines), n, out)
	}
}

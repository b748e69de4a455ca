package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// work is how long the model asks for more.
const work = time.Second

// rest is how long a session may take to come to rest once its model has nothing more to ask.
const rest = 20 * time.Second

// idle is a life of a session on pipes that works for some prompts and then rests. What it holds
// then must be explained by what lives: a descriptor, a goroutine or a file of a job that
// has ended is a finding. SIGABRT ends it, for which the Go runtime tells all goroutines.
func (t *tree) idle() error {
	if t.root == "" {
		return nil // no process came as far
	}
	cmd := t.command("--model", "openai/m", "--resume", t.root, "--input", "jsonl")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	t.model.set(false)
	if err := cmd.Start(); err != nil {
		return err
	}
	t.seen.lives++
	limit := time.AfterFunc(patience, func() {
		t.fault("a session did not come to rest within %s; it is ended with SIGABRT", patience)
		cmd.Process.Signal(syscall.SIGABRT)
	})
	defer limit.Stop()
	answered := make(chan string, 100)
	var pipes sync.WaitGroup
	pipes.Go(func() { t.results(out, answered) })
	defer time.AfterFunc(work, func() { t.model.set(true) }).Stop()
	ok := true
	for range 3 {
		ok = ok && ask(in, answered, t.name())
	}
	t.model.set(true)
	ok = ok && ask(in, answered, t.name())
	var held holding
	if ok {
		end := time.Now().Add(rest)
		for held = t.holds(cmd.Process.Pid); len(held.strange) > 0 && time.Now().Before(end); held = t.holds(cmd.Process.Pid) {
			t.drop()
			time.Sleep(50 * time.Millisecond)
		}
		for _, s := range held.strange {
			t.fault("a session at rest holds %s", s)
		}
		cmd.Process.Signal(syscall.SIGABRT)
	}
	pipes.Wait()
	err = cmd.Wait()
	in.Close()
	if !ok {
		t.fault("a session that nobody killed ended: %v: %s", err, errs.String())
		return nil
	}
	t.seen.rests++
	if n, most := routines(errs.String()), ownRoutines+held.journals+2*held.sockets+routinesOfJob*held.live; n == 0 || n > most {
		t.fault("a session at rest with %d jobs, %d open journals and %d sockets has %d goroutines, %d at most:\n%s", held.live, held.journals, held.sockets, n, most, errs.String())
	}
	return t.ctx.Err()
}

// ask says a prompt and waits for its result; false is the end of the output.
func ask(in io.Writer, answered <-chan string, name string) bool {
	fmt.Fprintf(in, "{\"prompt\":%q,\"id\":%q}\n", "go "+name, name) // whoever reads may be dead
	for id := range answered {
		if id == name {
			return true
		}
	}
	return false
}

// results tells the prompts that have a result, and keeps which were acknowledged.
func (t *tree) results(out io.Reader, answered chan<- string) {
	defer close(answered)
	tee, w := io.Pipe()
	defer w.Close()
	go t.listen(tee)
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return
		}
		w.Write(line)
		var l struct {
			Type  string `json:"type"`
			Input string `json:"input_id"`
		}
		if json.Unmarshal(line, &l) == nil && l.Type == "turn_result" {
			answered <- l.Input
		}
	}
}

func (m *model) set(finishing bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.finishing, m.killAt = finishing, 0
}

// What a program at rest may hold beside what its jobs and journals explain. Of goroutines
// that are not the runtime's: the loop, input, output, signals; and two for each connection.
const (
	ownRoutines   = 10
	routinesOfJob = 2
	pipesOfJob    = 2
	ownPipes      = 4 // with which it wakes its own waits
	ownSockets    = 4 // the keeper's, and connections to the model
	ownPidfds     = 2
	ownEvents     = 4
)

// holding is what a program holds at a moment.
type holding struct {
	live, journals, sockets int
	strange                 []string
}

// holds looks at the descriptors of a program and of its keeper. What is strange may only
// be on its way to its end.
func (t *tree) holds(pid int) (h holding) {
	live, err := t.live()
	if err != nil {
		h.strange = []string{err.Error()}
		return h
	}
	running := runningJobs(t.dir)
	maps.Copy(running, live)
	h.live = len(running)
	count, inherited := map[string]int{}, map[string]bool{}
	for _, to := range descriptors(os.Getpid()) { // the pipes between us, too
		inherited[to] = true
	}
	for _, to := range descriptors(pid) {
		if inherited[to] {
			continue
		}
		kind := to
		switch base := filepath.Base(to); {
		case strings.HasPrefix(to, t.dir) && filepath.Base(filepath.Dir(to)) == "jobs":
			if kind = "log"; !live[strings.TrimSuffix(base, ".log")] {
				kind = "strange"
			}
		case strings.HasPrefix(to, t.dir) && strings.HasSuffix(base, ".jsonl"):
			h.journals++
		case strings.HasPrefix(to, t.dir) && base == "lock":
		case strings.HasSuffix(to, " (deleted)"):
			kind = "strange"
		case strings.HasPrefix(to, "/dev/"), strings.HasPrefix(to, "/sys/fs/cgroup/"): // the runtime looks at its limits
			kind = "device"
		case !strings.HasPrefix(to, "anon_inode:"):
			kind, _, _ = strings.Cut(to, ":[")
		}
		if kind == "strange" {
			h.strange = append(h.strange, to)
			continue
		}
		count[kind]++
	}
	h.sockets = count["socket"]
	most := map[string]int{"pipe": ownPipes + pipesOfJob*h.live, "socket": ownSockets, "anon_inode:[pidfd]": ownPidfds, "anon_inode:[eventpoll]": ownEvents, "anon_inode:[eventfd]": ownEvents,
		"log": 2 * h.live, "device": 6}
	for kind, n := range count {
		bound, known := most[kind]
		if strings.HasPrefix(kind, t.dir) {
			bound, known = 1, true // a file is open once
		}
		if !known || n > bound {
			h.strange = append(h.strange, fmt.Sprintf("%d of %s, %d at most with %d live jobs", n, kind, bound, h.live))
		}
	}
	for _, k := range children(pid) {
		n := 0
		for _, to := range descriptors(k) {
			if !inherited[to] {
				n++
			}
		}
		if most := 16 + pipesOfJob*h.live; n > most {
			h.strange = append(h.strange, fmt.Sprintf("%d descriptors of the keeper, %d at most with %d live jobs", n, most, h.live))
		}
	}
	return h
}

// fresh is a journal whose file had another name while it was made.
var fresh = regexp.MustCompile(`^(.*/)\.((?:session|delegates)\.jsonl)\.new-\w+ \(deleted\)$`)

func descriptors(pid int) (out []string) {
	all, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, path := range all {
		to, err := os.Readlink(path)
		if err != nil {
			continue // it was closed just now
		}
		if made := fresh.FindStringSubmatch(to); made != nil {
			if info, err := os.Stat(path); err == nil && info.Sys().(*syscall.Stat_t).Nlink == 1 {
				to = made[1] + made[2]
			}
		}
		out = append(out, to)
	}
	return out
}

// runningJobs are those that have processes, which may have outlived their job's end.
func runningJobs(dir string) map[string]bool {
	out := map[string]bool{}
	for _, p := range ours(dir) {
		pid, _, _ := strings.Cut(p, " ")
		env, _ := os.ReadFile("/proc/" + pid + "/environ") // it may have ended just now
		if j := jobOf.FindSubmatch(env); j != nil {
			out[string(j[1])] = true
		}
	}
	return out
}

var jobOf = regexp.MustCompile(`(?:^|\x00)EVENER_JOB_ID=(job_[0-9A-Z]{32})`)

// live are the jobs that began and have not ended, as the journals say.
func (t *tree) live() (map[string]bool, error) {
	r, err := t.read()
	out := map[string]bool{}
	for what := range r.ids {
		if j, began := strings.CutPrefix(what, "job.intended "); began && r.ids["job.finished "+j] == 0 {
			out[j] = true
		}
	}
	return out, err
}

var (
	routine = regexp.MustCompile(`(?m)^goroutine [1-9]\d* `)
	creator = regexp.MustCompile(`(?m)^created by runtime\.`)
)

// routines counts the goroutines of a dump that are not the runtime's.
func routines(dump string) int {
	return len(routine.FindAllString(dump, -1)) - len(creator.FindAllString(dump, -1))
}

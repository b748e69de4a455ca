package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

type scripted = map[string]any

func scriptedCall(name string, args any) scripted {
	return scripted{"calls": []any{scripted{"name": name, "arguments": args}}}
}

func scriptedReport(text string) scripted {
	return scriptedCall("communicate", scripted{"message": text, "end_turn": true})
}

// built makes the program and a scripted model for it in a folder of the test.
func built(t *testing.T, root, child []any) (dir, evener string) {
	t.Helper()
	dir = t.TempDir()
	evener = filepath.Join(dir, "evener")
	if out, err := exec.Command("go", "build", "-buildvcs=false", "-o", evener, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b, err := json.Marshal(scripted{"conversations": []any{
		scripted{"name": "child", "first_user": "^Child", "replies": child}, scripted{"name": "root", "replies": root}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "m.json"), b, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, evener
}

// Idle delegates cost no memory beyond the bound: their conversations stand in
// their journals. Neither a session with many of them nor its resume holds them all.
//
// clause: JC-661
func TestDelegatesLetGo(t *testing.T) {
	const delegates, size = 24, 1 << 20
	fill := scriptedCall("tasks", scripted{"operation": "list"})
	fill["text"] = strings.Repeat("x", size)
	var root []any
	for range delegates {
		root = append(root, scriptedCall("delegate", scripted{"prompt": "Child."}), scripted{"text": "I wait."})
	}
	root = append(root, scriptedReport("end"), scriptedReport("end"))
	dir, evener := built(t, root, []any{fill, fill, scriptedReport("full")})
	peak := func(state string, args ...string) int64 {
		t.Helper()
		cmd := exec.Command(evener, append([]string{"--model", "script/m.json", "--state-dir", state}, args...)...)
		cmd.Dir = dir
		var out, errs bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &errs
		if err := cmd.Run(); err != nil || out.String() != "end\n" {
			t.Fatalf("%v: %v\n%s%s", args, err, out.String(), errs.String())
		}
		return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10 // MB: Linux counts KiB
	}
	all := peak("all", "go")
	few := peak("few", "--max-retained-terminal", "1", "go")
	again := peak("all", "--resume-last", "go on")
	t.Logf("%d idle delegates of %d MB: at most %d MB of memory; with one of them held %d MB; the resume %d MB", delegates, 2*size>>20, all, few, again)
	if held := int64(delegates * 2 * size >> 20); all-few < held/2 || all-again < held/2 {
		t.Errorf("%d MB of conversations are held", held)
	}
}

// 50 delegates at work, each with a command that runs, fit into 40 MiB together
// with the keeper.
func TestDelegatesLive(t *testing.T) {
	const delegates, bound = 50, 40 << 10
	var calls []any
	for range delegates {
		calls = append(calls, scripted{"name": "delegate", "arguments": scripted{"prompt": "Child."}})
	}
	dir, evener := built(t, []any{scripted{"calls": calls}, scriptedCall("shell", scripted{"command": "exec sleep 3600"})},
		[]any{scriptedCall("shell", scripted{"command": "exec sleep 3600"})})
	cmd := exec.Command(evener, "--model", "script/m.json", "go")
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	started := func() (n int) {
		journals, _ := filepath.Glob(filepath.Join(dir, ".evener/sessions/*/session.jsonl"))
		for _, j := range journals {
			b, _ := os.ReadFile(j)
			n += bytes.Count(b, []byte(`"kind":"job.started"`))
		}
		return n
	}
	for end := time.Now().Add(time.Minute); started() < delegates+1; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("%d commands of %d have begun", started(), delegates+1)
			break
		}
	}
	total, processes := 0, []string{strconv.Itoa(cmd.Process.Pid)}
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", cmd.Process.Pid))
	for _, path := range threads { // the keeper is the child of one of them
		b, _ := os.ReadFile(path)
		processes = append(processes, strings.Fields(string(b))...)
	}
	if len(processes) != 2 {
		t.Errorf("there are the processes %v; want the program and its keeper", processes)
	}
	for _, pid := range processes {
		kib := resident(pid)
		t.Logf("process %s: %d KiB", pid, kib)
		total += kib
	}
	if total > bound {
		t.Errorf("%d KiB of memory, %d at most", total, bound)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	cmd.Wait() // ended by the signal
}

// resident is the memory of a process in KiB.
func resident(pid string) int {
	b, _ := os.ReadFile("/proc/" + pid + "/status")
	_, rest, _ := strings.Cut(string(b), "VmRSS:")
	f := strings.Fields(rest)
	if len(f) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(f[0])
	return n
}

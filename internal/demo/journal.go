package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// journal is what the demo reads of a session's journal, as any program could:
// the lines are JSON and docs/journal.md says what they hold.
type journal struct {
	order   []string // job ids, as intended
	mode    map[string]string
	about   map[string]string
	pids    map[string]int
	ends    map[string]string // job id to "status/reason"
	frames  map[string]string // notice to its text
	sources map[string]string // notice to its job
	told    map[string]int    // notice to how often a request carried it
	ended   bool              // a run has ended
}

func newJournal() *journal {
	return &journal{
		mode: map[string]string{}, about: map[string]string{}, pids: map[string]int{}, ends: map[string]string{},
		frames: map[string]string{}, sources: map[string]string{}, told: map[string]int{},
	}
}

func readJournal(path string) (*journal, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	j := newJournal()
	for r := bufio.NewReader(f); ; {
		line, err := r.ReadBytes('\n')
		if len(line) == 0 || err != nil {
			return j, nil // the end
		}
		if _, err := j.add(line); err != nil {
			return nil, err
		}
	}
}

// event holds the fields that the demo looks at.
type event struct {
	Kind string
	Data struct {
		Job         string   `json:"job_id"`
		Mode        string   `json:"mode"`
		Description string   `json:"description"`
		PID         int      `json:"pid"`
		Status      string   `json:"status"`
		Reason      string   `json:"reason"`
		Notice      string   `json:"attention_id"`
		Frame       string   `json:"frame"`
		Notices     []string `json:"attention_ids"`
	}
}

// add takes one line and says what is new in it.
func (j *journal) add(raw []byte) (news []string, err error) {
	var line struct{ Events []event }
	if err := json.Unmarshal(raw, &line); err != nil {
		return nil, fmt.Errorf("a journal line is no JSON: %w", err)
	}
	for _, e := range line.Events {
		d := e.Data
		switch e.Kind {
		case "job.intended":
			j.order = append(j.order, d.Job)
			j.mode[d.Job], j.about[d.Job] = d.Mode, d.Description
		case "job.started":
			j.pids[d.Job] = d.PID
			news = append(news, fmt.Sprintf("started   %s %s (%s)", d.Job, j.about[d.Job], j.mode[d.Job]))
		case "job.finished":
			if j.ends[d.Job] != "" {
				return nil, fmt.Errorf("job %s ended twice", d.Job)
			}
			j.ends[d.Job] = d.Status + "/" + d.Reason
			news = append(news, fmt.Sprintf("ended     %s %s: %s", d.Job, j.about[d.Job], d.Status))
		case "run.ended":
			j.ended = true
		case "attention.armed":
			j.frames[d.Notice], j.sources[d.Notice] = d.Frame, d.Job
		case "turn.requested":
			for _, n := range d.Notices {
				j.told[n]++
				news = append(news, fmt.Sprintf("announced %s to the model", j.sources[n]))
			}
		}
	}
	return news, nil
}

// background is the n-th background job that was started, if it was.
func (j *journal) background(n int) string {
	for _, id := range j.order {
		if j.mode[id] != "background" || j.pids[id] == 0 {
			continue
		}
		if n == 0 {
			return id
		}
		n--
	}
	return ""
}

// foregroundAfter tells whether a foreground command was started after a job.
func (j *journal) foregroundAfter(job string) bool {
	behind := false
	for _, id := range j.order {
		if behind && j.mode[id] == "foreground" && j.pids[id] != 0 {
			return true
		}
		behind = behind || id == job
	}
	return false
}

// check compares the journal with what was promised.
func (j *journal) check(build, soak string) error {
	if j.ends[build] != "completed/exit_zero" {
		return fmt.Errorf("the build should have completed, its end is %q", j.ends[build])
	}
	if j.ends[soak] != "stopped/runtime_lost" {
		return fmt.Errorf("the soak test should be stopped/runtime_lost, its end is %q", j.ends[soak])
	}
	for _, id := range j.order {
		if j.ends[id] == "" {
			return fmt.Errorf("job %s has no end", id)
		}
	}
	announced := map[string]bool{}
	for n, frame := range j.frames {
		if j.told[n] != 1 {
			return fmt.Errorf("notice %s was told %d times", n, j.told[n])
		}
		announced[j.sources[n]] = true
		if j.sources[n] == soak && !strings.Contains(frame, `reason="runtime_lost"`) {
			return fmt.Errorf("the notice of the soak test does not say runtime_lost: %s", firstLine(frame))
		}
	}
	if !announced[build] || !announced[soak] || len(announced) != 2 {
		return fmt.Errorf("notices should be of the two background jobs, but are of %d jobs", len(announced))
	}
	return nil
}

// gone checks that no process of a job is left.
func gone(pids map[string]int) error {
	for id, pid := range pids {
		if err := syscall.Kill(pid, 0); err != syscall.ESRCH {
			return fmt.Errorf("process %d of job %s is still there", pid, id)
		}
	}
	return nil
}

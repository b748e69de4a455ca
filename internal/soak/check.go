package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// record is what the journals of a tree say, read as anybody can read them.
type record struct {
	ids   map[string]int    // how often an event of a kind names an id: "job.finished job_…"
	said  map[string]int    // user texts, word for word: prompts and steers
	kept  map[string]string // events that keep a text, for looking it up: kind by text
	shown map[string]bool   // notices that were armed and not taken back, by job
}

type event struct {
	Kind string `json:"kind"`
	Data struct {
		Job       string   `json:"job_id"`
		Delegate  string   `json:"delegate_id"`
		Watch     string   `json:"watch_id"`
		Input     string   `json:"input_id"`
		Text      string   `json:"text"`
		Attention []string `json:"attention_ids"`
		Message   string   `json:"message_id"`
	} `json:"data"`
}

// begun is the tree's root session, "" where no process came as far.
func (t *tree) begun() string {
	journals, _ := filepath.Glob(filepath.Join(t.dir, ".evener/sessions/*/session.jsonl"))
	for _, j := range journals {
		f, err := os.Open(j)
		if err != nil {
			continue
		}
		line, _ := bufio.NewReader(f).ReadBytes('\n')
		f.Close()
		if !bytes.Contains(line, []byte(`parent_session_id`)) {
			return filepath.Base(filepath.Dir(j))
		}
	}
	return ""
}

func (t *tree) read() (record, error) {
	r := record{ids: map[string]int{}, said: map[string]int{}, kept: map[string]string{}, shown: map[string]bool{}}
	journals, err := filepath.Glob(filepath.Join(t.dir, ".evener/sessions/*/*.jsonl"))
	if err != nil {
		return r, err
	}
	for _, j := range journals {
		if err := r.journal(j); err != nil {
			return r, fmt.Errorf("%s: %w", j, err)
		}
	}
	return r, nil
}

func (r *record) journal(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewReader(f)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var l struct {
			Events []event `json:"events"`
		}
		if err := json.Unmarshal(line, &l); err != nil {
			return err
		}
		for _, e := range l.Events {
			r.take(e, line)
		}
	}
}

func (r *record) take(e event, line []byte) {
	d := e.Data
	if e.Kind == "attention.consumed" && !bytes.Contains(line, []byte(`"kind":"turn.ended"`)) && bytes.Contains(line, []byte(`"kind":"transcript.result"`)) {
		for _, id := range d.Attention { // by a result that shows it
			job, _, _ := strings.Cut(id, "/")
			delete(r.shown, job)
		}
	}
	for _, id := range []string{d.Job, d.Delegate, d.Watch} {
		if id != "" {
			r.ids[e.Kind+" "+id]++
		}
	}
	switch e.Kind {
	case "attention.armed":
		r.shown[d.Job] = true
	case "attention.discarded":
		for _, id := range d.Attention {
			job, _, _ := strings.Cut(id, "/")
			delete(r.shown, job)
		}
	case "attention.settled_inline":
		delete(r.shown, d.Job)
	case "transcript.user":
		r.said[d.Text]++
	case "prompt.dropped":
		r.ids["dropped "+d.Input]++
	}
	if e.Kind != "transcript.assistant" && e.Kind != "transcript.result" && e.Kind != "transcript.inherited" {
		for _, text := range steers.FindAllString(string(line), -1) {
			r.kept[text] = e.Kind
		}
	}
}

var (
	steers     = regexp.MustCompile(`(steer|task) n\d+`)
	ends       = regexp.MustCompile(`<job-notification job_id="(job_\w+)" event="(\w+)"`)
	reports    = regexp.MustCompile(`(?s)<delegate-notification [^>]*kind="report".*?</delegate-notification>`)
	reported   = regexp.MustCompile(`report n\d+`)
	failedCall = regexp.MustCompile(`^[a-z_]+: `)
)

// check holds what was acknowledged against the files.
func (t *tree) check() error {
	r, err := t.read()
	if err != nil {
		return err
	}
	t.model.mu.Lock()
	defer t.model.mu.Unlock()
	for name, all := range t.model.last {
		t.acknowledged(r, name, all)
		t.noticed(r, name, all)
	}
	for _, x := range knows(t.model.last[root], jobID) {
		if r.shown[x] && strings.HasPrefix(x, "job_"+t.root) && !strings.Contains(everything(t.model.last[root]), `<job-notification job_id="`+x+`" event=`) {
			t.fault("the end of %s is on record and was not told", x)
		}
	}
	for text := range t.accepted {
		t.seen.prompts++
		_, id, _ := strings.Cut(text, " ")
		if n := r.said[text] + r.ids["dropped "+id]; n != 1 {
			t.fault("prompt %q was acknowledged and stands %d times in the journals", text, n)
		}
	}
	for text, n := range r.said {
		if n > 1 && steers.MatchString(text) {
			t.fault("%q was said %d times", text, n)
		}
	}
	t.left(r)
	return nil
}

func everything(all []message) string {
	var b strings.Builder
	for _, m := range all {
		b.WriteString(m.text())
	}
	return b.String()
}

// acknowledged looks for what the results of a conversation promise.
func (t *tree) acknowledged(r record, name string, all []message) {
	once := func(kind, id string) {
		if n := r.ids[kind+" "+id]; n != 1 {
			t.fault("conversation %s was told of %s, which has %d %s", name, id, n, kind)
		}
	}
	arguments, tools := map[string]string{}, map[string]string{}
	for _, m := range all {
		for _, c := range m.ToolCalls {
			arguments[c.ID], tools[c.ID] = c.Function.Arguments, c.Function.Name
		}
		if m.Role != "tool" || failedCall.MatchString(m.text()) {
			continue
		}
		var result struct {
			Job      string `json:"job_id"`
			Delegate string `json:"delegate_id"`
			Watch    string `json:"watch_id"`
			Watching bool   `json:"watching"`
			Action   string `json:"action"`
		}
		first, _, _ := strings.Cut(m.text(), "\n")
		if json.Unmarshal([]byte(first), &result) != nil && json.Unmarshal([]byte(m.text()), &result) != nil {
			continue
		}
		if tools[m.ToolCallID] == "tasks" || result.Action != "" {
			for _, text := range steers.FindAllString(arguments[m.ToolCallID], -1) {
				if t.seen.messages++; r.kept[text] == "" {
					t.fault("conversation %s: %q was accepted and is not on record", name, text)
				}
			}
		}
		switch {
		case tools[m.ToolCallID] == "shell" && result.Job != "":
			t.seen.jobs++
			once("job.intended", result.Job)
			once("job.finished", result.Job)
		case tools[m.ToolCallID] == "delegate" && result.Delegate != "":
			t.seen.delegates++
			once("delegate.created", result.Delegate)
		case tools[m.ToolCallID] == "job_watch" && result.Watching:
			t.seen.watches++
			once("watch.created", result.Watch)
			once("watch.ended", result.Watch)
		}
	}
}

// noticed counts what a conversation was told of ends.
func (t *tree) noticed(r record, name string, all []message) {
	told := map[string]int{}
	for _, m := range all {
		if m.Role != "user" {
			continue
		}
		for _, found := range ends.FindAllStringSubmatch(m.text(), -1) {
			if found[2] != "watch" {
				told["the end of "+found[1]]++
			}
		}
		for _, frame := range reports.FindAllString(m.text(), -1) {
			if text := reported.FindString(frame); text != "" {
				told[text]++
			}
		}
	}
	for what, n := range told {
		if t.seen.notices++; n > 1 {
			t.fault("conversation %s was told %d times of %s", name, n, what)
		}
	}
}

// left looks for what the tree left behind.
func (t *tree) left(r record) {
	if found := ours(t.dir); len(found) > 0 {
		for end := time.Now().Add(5 * time.Second); len(found) > 0 && time.Now().Before(end); found = ours(t.dir) {
			time.Sleep(50 * time.Millisecond) // one that was killed just now is still there for a moment
		}
		if len(found) > 0 {
			t.fault("processes are left: %s", strings.Join(found, "; "))
		}
	}
	t.files(r)
}

// ours are the processes of a tree, by their environment.
func ours(dir string) (out []string) {
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, path := range all {
		b, _ := os.ReadFile(path)
		if bytes.Contains(b, []byte("SOAK_TREE="+dir+"\x00")) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
			if len(line) > 0 { // a dead one has none
				out = append(out, filepath.Base(filepath.Dir(path))+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
			}
		}
	}
	return out
}

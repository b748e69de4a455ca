package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

var family = story{"script/builtin:delegates", (*stage).playDelegates}

// playDelegates is the story of three delegates.
func (s *stage) playDelegates() error {
	s.say("A scripted model hands out three things at once. It steers the counter while it counts;\n" +
		"the auditor's result will not fit its schema; the soaker takes its time.")
	if err := s.untilKill("Count, audit, soak.", "while the soaker works; the reports of the others are told", s.followDelegates); err != nil {
		return err
	}
	s.say("Resume. The soaker's run is said to be lost, once; the soaker itself goes on.")
	if err := s.resume("All three have reported", "lost when evener was killed"); err != nil {
		return err
	}
	f, err := s.readFamily()
	if err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	if err := gone(f.pids); err != nil {
		return err
	}
	if err := s.verify(); err != nil {
		return err
	}
	if err := s.ask("delegates.jsonl", f.questions()); err != nil {
		return err
	}
	s.say("All as promised: 3 delegates at once, %d runs, each with one end; %d reports, each told once; nothing owed, no process left.", len(f.begun), len(f.ends))
	return nil
}

// followDelegates tells what the root's journal says as it grows, until it was
// told of two reports and those turns have ended.
func (s *stage) followDelegates(lines *bufio.Reader) error {
	f := newFamilyTree()
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("the journal ended before two delegates had reported: %w", errors.Join(err, s.ctx.Err()))
		}
		news, err := f.add(line)
		if err != nil {
			return err
		}
		for _, n := range news {
			fmt.Fprintf(s.out, "  %s\n", n)
		}
		switch {
		case f.over:
			return errors.New("the run ended before it could be killed")
		case len(f.consumed) == 2:
			return nil
		}
	}
}

// familyTree is what the demo reads of a tree: its journal and those of its
// sessions, line by line, in any order of the files. docs/delegates.md says what
// they hold.
type familyTree struct {
	name     map[string]string // delegate to its name
	sessions []string          // of the delegates
	begun    []string          // runs: delegate/number
	ends     map[string]packet // report to what it says
	order    []string          // begun and ended runs as they came
	owed     map[string]int    // report to how often it is handed over
	armed    map[string]int    // report to how often it arrived
	told     map[string]int    // report to how often a request carried it
	consumed map[string]int    // report to how often that was settled
	heard    []string          // what delegates were told, in their own journals
	pids     map[string]int    // of jobs
	over     bool              // the root's run has ended
}

type packet struct {
	Status      string `json:"status"`
	Reason      string `json:"reason"`
	Message     string `json:"message"`
	SchemaError string `json:"structured_result_error"`
}

func newFamilyTree() *familyTree {
	return &familyTree{
		name: map[string]string{}, ends: map[string]packet{}, owed: map[string]int{}, armed: map[string]int{},
		told: map[string]int{}, consumed: map[string]int{},
		pids: map[string]int{},
	}
}

// add takes one line of any journal of the tree and says what is new in it.
func (f *familyTree) add(raw []byte) (news []string, err error) {
	var line struct {
		Journal string // of another session than the root, in a log of the tree
		Events  []struct {
			Kind string
			Data struct {
				Delegate   string `json:"delegate_id"`
				Session    string `json:"child_session_id"`
				Descriptor struct{ Name string }
				Generation int
				Delivery   string `json:"delivery_id"`
				Packet     packet
				Notice     string   `json:"attention_id"`
				Notices    []string `json:"attention_ids"`
				Request    int
				Text       string
				Name       string
				Job        string `json:"job_id"`
				PID        int
				Result     struct {
					Delegate string `json:"delegate_id"`
					Action   string
				} `json:"data"`
			}
		}
	}
	if err := json.Unmarshal(raw, &line); err != nil {
		return nil, fmt.Errorf("a journal line is no JSON: %w", err)
	}
	if strings.HasSuffix(line.Journal, "/session.jsonl") {
		return nil, nil // what a delegate does and says by itself
	}
	for _, e := range line.Events {
		d := e.Data
		switch e.Kind {
		case "delegate.created":
			f.name[d.Delegate] = d.Descriptor.Name
			f.sessions = append(f.sessions, d.Session)
		case "delegate.generation_started":
			f.begun = append(f.begun, fmt.Sprintf("%s/%d", d.Delegate, d.Generation))
			f.order = append(f.order, "begin")
		case "delegate.finished":
			if _, twice := f.ends[d.Delivery]; twice {
				return nil, fmt.Errorf("run %s ended twice", d.Delivery)
			}
			f.ends[d.Delivery] = d.Packet
			f.order = append(f.order, "end")
		case "delegate.delivered":
			f.owed[d.Delivery]++
		case "transcript.result":
			if d.Name == "delegate" {
				news = append(news, "created   "+d.Result.Delegate)
			} else if d.Name == "delegate_send" {
				news = append(news, fmt.Sprintf("%-9s %s", d.Result.Action, d.Result.Delegate))
			}
		case "attention.delegate_armed":
			f.armed[d.Notice]++
			news = append(news, "reported  "+d.Notice)
		case "turn.requested":
			for _, n := range d.Notices {
				f.told[n]++
				news = append(news, fmt.Sprintf("announced %s to the model, in request %d", n, d.Request))
			}
		case "attention.consumed":
			for _, n := range d.Notices {
				f.consumed[n]++
			}
		case "job.started":
			f.pids[d.Job] = d.PID
		case "transcript.user":
			f.heard = append(f.heard, d.Text)
		case "run.ended":
			f.over = true
		}
	}
	return news, nil
}

// readFamily reads all journals of the tree.
func (s *stage) readFamily() (*familyTree, error) {
	f := newFamilyTree()
	if err := f.read(s.journal("delegates.jsonl")); err != nil {
		return nil, err
	}
	if err := f.read(s.journal("session.jsonl")); err != nil {
		return nil, err
	}
	for _, child := range f.sessions {
		if err := f.read(filepath.Join(s.dir, ".evener", "sessions", child, "session.jsonl")); err != nil {
			return nil, err
		}
	}
	return f, nil
}

func (f *familyTree) read(path string) error {
	body, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(body)) {
		if _, err := f.add([]byte(line)); err != nil {
			return err
		}
	}
	return nil
}

// wanted are the ends of the runs, by name of the delegate and number.
var wanted = map[string]string{
	"counter/1": "completed", "auditor/1": "completed", "soaker/1": "failed runtime_lost", "soaker/2": "completed",
}

// check compares the journals with what was promised.
func (f *familyTree) check() error {
	if first := slices.Index(f.order, "end"); first != 3 {
		return fmt.Errorf("three delegates should run at once, but the first end comes after %d beginnings", first)
	}
	if len(f.begun) != len(wanted) || len(f.ends) != len(wanted) {
		return fmt.Errorf("there should be %d runs, each with its end; %d began and %d ended", len(wanted), len(f.begun), len(f.ends))
	}
	for id, p := range f.ends {
		dlg, n, _ := strings.Cut(id, "/")
		run := f.name[dlg] + "/" + n
		if got := strings.TrimSpace(p.Status + " " + p.Reason); got != wanted[run] {
			return fmt.Errorf("the end of %s should be %q, it is %q", run, wanted[run], got)
		}
		if fits := p.SchemaError == ""; fits == (run == "auditor/1") {
			return fmt.Errorf("the result of %s: %q", run, p.SchemaError)
		}
		for what, n := range map[string]int{"handed over": f.owed[id], "received": f.armed[id], "told": f.told[id], "settled": f.consumed[id]} {
			if n != 1 {
				return fmt.Errorf("the report of %s was %s %d times", run, what, n)
			}
		}
	}
	if !slices.ContainsFunc(f.heard, func(text string) bool { return strings.HasSuffix(text, "\nHidden files, too.") }) {
		return errors.New("the counter did not hear what it was told while it ran")
	}
	return nil
}

func (f *familyTree) questions() []question {
	var ends, reports []string
	for run, end := range wanted {
		ends = append(ends, strings.Replace(run, "/", " ", 1)+" ends: "+end)
	}
	for _, p := range f.ends {
		reports = append(reports, p.Status+": "+p.Message)
	}
	return []question{
		{"How did the runs go?", "-rs",
			`[.[] | .at as $at | .events[] | .data + {at: $at, kind}] | (map(select(.kind == "delegate.created")
      | {(.delegate_id): .descriptor.name}) | add) as $name | .[] |
      if .kind == "delegate.generation_started" then "\(.at) \($name[.delegate_id]) \(.generation) begins: \(.text)"
      elif .kind == "delegate.finished" then "\(.at) \($name[.delegate_id]) \(.generation) ends: \(.status) \(.reason // "")"
      else empty end`, ends},
		{"What did they report?", "-r",
			`.events[].data.packet | select(. != null) | "\(.status): \(.message) \(.structured_result_error // "")"`,
			append(reports, "/issues: want integer, got string")},
		{"Is anything owed still?", "-cs",
			`[.[].events[]] | map(select(.kind == "delegate.delivered").data.delivery_id) as $told |
      map(select(.data.delivery_id and .kind != "delegate.delivered").data.delivery_id) - $told`, []string{"[]"}},
	}
}

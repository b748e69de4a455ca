package tree_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/model"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/transcript"
	"evener/internal/tree"
)

var update = flag.Bool("update", false, "rewrite the golden halves of the stories")

// A story is a txtar file: a script of inputs, and what each came to: its
// events, its effects (marked !) and the messages that a request adds. A line
// of the script is one input, or changes the world:
//
//	mode living | limits {JSON} | full on | full low | full out | full off | tools {JSON}
//	schema {JSON} | schema off  what the output of the runs that follow must fit
//	prompt [@ID] TEXT | open | interrupt [ID] | end-input [ERROR]
//	fork {JSON} | inherit      and indented: {JSON of an entry}
//	reply [@REQUEST]           and indented: text TEXT, call ID TOOL ARGUMENTS, broken ID TOOL WHY, usage {JSON}
//	context N                  context_tokens of the runs that follow
//	named TEXT
//	failed TEXT | overflow LIMIT TEXT | summarised TEXT
//	launched JOB | launch-failed JOB TEXT
//	print JOB [Nx] "QUOTED"
//	exited JOB {JSON of the exit}
//	detached CALL PID | detached CALL ! TEXT
//	read CALL {JSON} | read CALL ! TEXT
//	files CALL {JSON of what was seen} "TEXT" | files CALL ! TEXT
//	timer KEY                  whether it is due or not
//	at +DURATION               lets time pass and fires what is due
//	close WHY | abandon | archive | unarchive
//	restart                    the process is lost; another takes the session up
//
// Each input comes a second after the one before. Jobs are $j1, $j2, … in the
// order they were started.
func TestStories(t *testing.T) {
	for _, file := range stories(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(a.Files) == 0 || a.Files[0].Name != "script" {
				t.Fatalf("%s begins without a script", file)
			}
			p := play(t, string(a.Files[0].Data))
			defer p.w.close()
			got := p.out.Bytes()
			if *update {
				a.Files = []txtar.File{a.Files[0], {Name: "want", Data: got}}
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if len(a.Files) != 2 || !bytes.Equal(a.Files[1].Data, got) {
				t.Errorf("the story goes otherwise; got\n%s\n%s", got, firstDifference(string(a.Files[1].Data), string(got)))
			}
		})
	}
}

func stories(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	return files
}

func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			return fmt.Sprintf("first difference at line %d:\nwant %s\ngot  %s", i+1, w[i], g[i])
		}
	}
	return "one is longer"
}

// player plays a script and writes down what came of it.
type player struct {
	w      *world
	out    bytes.Buffer
	mode   session.Mode
	limits session.Limits
	told   session.ContextSet
	schema json.RawMessage
	sent   int // messages that an earlier request carried
	summed int // entries that a summary stood for then
}

func play(t testing.TB, script string) *player {
	t.Helper()
	p := &player{w: newWorld(t), mode: session.OneShot, limits: stock, told: told}
	lines := strings.Split(strings.TrimRight(script, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		var more []string
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  ") {
			i++
			more = append(more, strings.TrimSpace(lines[i]))
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		p.step(line, more)
	}
	return p
}

func (p *player) step(line string, more []string) {
	w := p.w
	w.t.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "mode":
		p.mode = session.Mode(rest)
	case "full":
		w.room = map[string]int64{"on": 256 << 10, "low": 50 << 10, "out": 20 << 10}[rest]
		w.full = ""
		if w.room > 0 {
			w.full = "/state/sessions"
		}
	case "limits":
		p.parse(rest, &p.limits)
	case "context":
		p.told.ContextTokens, _ = strconv.ParseInt(rest, 10, 64)
	case "tools":
		p.told.Tools = json.RawMessage(rest)
	case "schema":
		p.schema = nil
		if rest != "off" {
			p.schema = json.RawMessage(rest)
		}
	case "print":
		p.print(rest)
	case "at":
		p.pass(rest)
	case "restart":
		p.restart()
	default:
		w.now = w.now.Add(time.Second)
		p.take(line, p.input(verb, rest, more))
	}
}

func (p *player) parse(s string, v any) {
	p.w.t.Helper()
	if err := json.Unmarshal([]byte(s), v); err != nil {
		p.w.t.Fatalf("%s: %v", s, err)
	}
}

func (p *player) job(name string) id.Job {
	p.w.t.Helper()
	j := p.w.real("$" + name)
	if strings.HasPrefix(j, "$") {
		p.w.t.Fatalf("there is no job %s yet", name)
	}
	return id.Job(j)
}

func (p *player) print(rest string) {
	p.w.t.Helper()
	name, text, _ := strings.Cut(rest, " ")
	times := 1
	if n, q, ok := strings.Cut(text, "x "); ok && !strings.HasPrefix(text, `"`) {
		times, _ = strconv.Atoi(n)
		text = q
	}
	text, err := strconv.Unquote(text)
	if err != nil {
		p.w.t.Fatalf("print %s: %v", rest, err)
	}
	o := p.w.printed[p.job(name)]
	if o == nil {
		o = &output{}
		p.w.printed[p.job(name)] = o
	}
	o.text += strings.Repeat(text, times)
	o.last = p.w.now
}

func (p *player) pass(rest string) {
	p.w.t.Helper()
	d, err := time.ParseDuration(strings.TrimPrefix(rest, "+"))
	if err != nil {
		p.w.t.Fatal(err)
	}
	end := p.w.now.Add(d)
	for {
		x, ok := p.w.due(end)
		if !ok {
			break
		}
		p.w.now = x.due
		p.take(fmt.Sprintf("at +%s timer %s", x.due.Sub(began), x.key), session.TimerFired{Key: x.key})
	}
	p.w.now = end
}

// restart goes over the disk: what is not there is forgotten.
func (p *player) restart() {
	w := p.w
	w.t.Helper()
	w.close()
	st, err := store.Resume(w.store.Home, root, "test", "boot")
	if err != nil {
		w.t.Fatal(err)
	}
	w.store, w.timers, w.request, w.ended = st, nil, 0, false
	w.now = w.now.Add(time.Minute)
	p.take("restart", w.lost())
}

func (p *player) input(verb, rest string, more []string) session.Input {
	w := p.w
	w.t.Helper()
	first, text, _ := strings.Cut(rest, " ")
	text = w.real(text)
	switch verb {
	case "prompt":
		name, said := "", rest
		if n, ok := strings.CutPrefix(first, "@"); ok {
			name, said = n, text
		}
		in := w.prompt(w.real(said), p.mode, p.limits)
		in.ID, in.Context, in.OutputSchema = name, p.told, p.schema
		return in
	case "open":
		in := w.prompt("", p.mode, p.limits)
		in.Context, in.OutputSchema = p.told, p.schema
		return session.Open{Prompt: in}
	case "interrupt":
		return session.Interrupt{ID: rest}
	case "end-input":
		return session.EndInput{Error: rest}
	case "reply":
		return p.reply(rest, more)
	case "fork":
		var f session.Forked
		p.parse(rest, &f)
		return session.Inherit{Create: &session.Created{Session: root, Root: root, Dir: "/w"}, Fork: &f}
	case "inherit":
		in := session.Inherit{}
		for _, m := range more {
			var e transcript.Inherited
			p.parse(m, &e)
			in.Entries = append(in.Entries, e)
		}
		return in
	case "failed":
		return session.ModelFailed{Request: w.request, Text: rest}
	case "overflow":
		limit, _ := strconv.ParseInt(first, 10, 64)
		return session.ModelFailed{Request: w.request, Text: text, Overflow: true, Limit: limit}
	case "named":
		return session.NameFound{Text: rest, Usage: transcript.Usage{Input: 5, Output: 1}}
	case "summarised":
		return session.Summarised{Request: w.request, Text: rest, Model: "x", Usage: transcript.Usage{Input: 7, Output: 3}}
	case "launched":
		n := len(w.jobs)
		return session.Launched{Job: p.job(first), Launch: job.Launch{PID: 1000 + n, StartTicks: uint64(n), BootID: "boot"}}
	case "launch-failed":
		return session.LaunchFailed{Job: p.job(first), Text: text}
	case "exited":
		var x job.Exit
		p.parse(text, &x)
		return w.exit(p.job(first), x)
	case "detached":
		if why, bad := strings.CutPrefix(text, "! "); bad {
			return session.Detached{Call: first, Error: why}
		}
		pid, _ := strconv.Atoi(text)
		return session.Detached{Call: first, PID: pid}
	case "read":
		if why, bad := strings.CutPrefix(text, "! "); bad {
			return session.ReadDone{Call: first, IsError: true, Text: why}
		}
		return session.ReadDone{Call: first, Data: []byte(text)}
	case "files":
		return w.files(first, text)
	case "scanned":
		in := session.WatchScanned{Call: first, Watch: w.scans[first]}
		p.parse(text, &in)
		return in
	case "matched":
		in := session.WatchMatched{Watch: id.Watch(w.real(first))}
		p.parse(text, &in)
		return in
	case "output-lost":
		return session.WatchLost{Watch: id.Watch(w.real(first))}
	case "timer":
		return session.TimerFired{Key: w.real(rest)}
	case "close":
		return session.Close{Why: rest}
	case "abandon":
		return session.Abandon{}
	case "archive", "unarchive":
		return session.Archive{Undo: verb == "unarchive"}
	}
	w.t.Fatalf("no such line: %s %s", verb, rest)
	return nil
}

func (p *player) reply(rest string, more []string) session.Input {
	w := p.w
	w.t.Helper()
	in := session.Replied{Request: w.request, Reply: transcript.AssistantSaid{Finish: "stop", Model: "x", Usage: transcript.Usage{Input: 10, Output: 2}}}
	if n, ok := strings.CutPrefix(rest, "@"); ok {
		in.Request, _ = strconv.ParseInt(n, 10, 64)
	} else {
		w.request = 0
	}
	for _, m := range more {
		kind, m, _ := strings.Cut(m, " ")
		if kind == "text" {
			in.Reply.Text = m
			continue
		}
		if kind == "usage" {
			p.parse(m, &in.Reply.Usage)
			continue
		}
		in.Reply.Finish = "tool_calls"
		call, m, _ := strings.Cut(m, " ")
		name, args, _ := strings.Cut(m, " ")
		c := transcript.Call{ID: call, Name: name, Arguments: w.real(args)}
		if kind == "broken" {
			c.Arguments, c.Broken = `{"comm`, args
		}
		in.Reply.Calls = append(in.Reply.Calls, c)
	}
	return in
}

// take decides an input and writes down what came of it.
func (p *player) take(line string, in session.Input) {
	w := p.w
	w.t.Helper()
	fmt.Fprintf(&p.out, "> %s\n", w.named(line))
	w.asked = false
	d, refusal := w.decide(in)
	p.tell(d, refusal)
}

func (p *player) tell(d tree.Decision, refusal *fault.Error) {
	w := p.w
	if refusal != nil {
		fmt.Fprintf(&p.out, "  refused %s\n", w.named(refusal.Error()))
	}
	for _, x := range d.Writes {
		for _, e := range x.Events {
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(e); err != nil {
				w.t.Fatal(err)
			}
			fmt.Fprintf(&p.out, "  %s %s\n", e.Kind(), short(w.named(strings.TrimSpace(b.String()))))
		}
	}
	for _, e := range d.Effects {
		fmt.Fprintf(&p.out, "  ! %s\n", short(w.named(strings.TrimPrefix(fmt.Sprintf("%T%+v", e.Effect, e.Effect), "effect."))))
	}
	if w.asked {
		p.tellRequest()
	}
	if refusal == nil && len(d.Writes)+len(d.Effects) == 0 {
		p.out.WriteString("  nothing\n")
	}
}

// tellRequest writes the messages that the request adds to the one before.
func (p *player) tellRequest() {
	s := p.w.session()
	all := messages(s.Transcript.Entries)
	if n := s.Transcript.Summed(); n != p.summed { // from here on it is told otherwise
		p.summed, p.sent = n, 0
		fmt.Fprintf(&p.out, "      a summary stands for %d of %d entries\n", n, len(s.Transcript.Entries))
	}
	for _, m := range all[p.sent:] {
		who := m.Role
		if m.Role == model.RoleTool {
			who += " " + m.CallID
		}
		for i, l := range strings.Split(m.Text, "\n") {
			if i > 0 {
				who = strings.Repeat(" ", len(who))
			}
			fmt.Fprintf(&p.out, "      %s| %s\n", who, short(p.w.named(l)))
		}
		for _, c := range m.Calls {
			fmt.Fprintf(&p.out, "      %s  call %s %s %s\n", strings.Repeat(" ", len(m.Role)), c.ID, c.Name, p.w.named(c.Arguments))
		}
	}
	p.sent = len(all)
}

// short keeps a line of the story readable.
func short(s string) string {
	if len(s) <= 1200 {
		return s
	}
	return fmt.Sprintf("%s …%d bytes… %s", s[:400], len(s)-800, s[len(s)-400:])
}

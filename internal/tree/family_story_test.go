package tree_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"evener/internal/attention"
	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/model"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/transcript"
	"evener/internal/tree"
)

// A story of a family is a script of inputs for several sessions, and what each
// came to: its events with the journal they go to (tree is delegates.jsonl), its
// effects (marked !) and the messages that a request adds. Between two lines ---
// stands what is made durable at once. A line of the script is one of
//
//	mode living | limits {JSON}      of the runs that follow
//	prompt TEXT | interrupt | end-input | close WHY
//	reply WHO                        and indented: text TEXT, call ID TOOL ARGUMENTS
//	failed WHO TEXT
//	prepared NAME [worktree]         answers the oldest delegate call: the child is NAME from there on
//	prepared NAME ! TEXT             refuses it
//	looked {JSON of the evidence}    answers the oldest look at a worktree
//	launched | exited [signalled]    of the oldest command that waits for it
//	timer WHO KEY                    whether it is due or not
//	restart                          the process is lost; another takes the tree up
//
// WHO is root, or the name of a child, whose session is $NAME and whose delegate
// dlg_$NAME.
func TestFamilyStories(t *testing.T) {
	for _, file := range familyStories(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := tellFamily(t, string(a.Files[0].Data)).out.Bytes()
			if *update {
				a.Files = []txtar.File{a.Files[0], {Name: "want", Data: got}}
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if len(a.Files) != 2 || !bytes.Equal(a.Files[1].Data, got) {
				t.Errorf("the story goes otherwise; got\n%s\n%s", got, firstDifference(string(a.Files[len(a.Files)-1].Data), string(got)))
			}
		})
	}
}

func familyStories(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/family/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no stories: %v", err)
	}
	return files
}

// teller plays a script and writes down what came of it.
type teller struct {
	*family
	tb      testing.TB
	out     bytes.Buffer
	all     []decided // every batch, in order
	sent    map[id.Session]int
	known   []string     // names in the order they were given, by pairs with what they stand for
	mode    session.Mode // of the runs that follow
	limits  session.Limits
	jobs    int
	between bool // something of this line is on disk already
}

// storyLimits are those of a story that sets none.
var storyLimits = session.Limits{
	CommandTimeoutMS: 120_000, StopGraceMS: 2_000, InlineOutputBytes: 200, OutputKeepTotal: 1 << 30, MaxTurns: 200, MaxSubagentDepth: 3, JobListChars: 20_000,
	MaxConcurrentDelegates: 3, AttentionDriveLimit: 2, AttentionDriveTimeoutMS: 300_000, AttentionDrivePaceMS: 15_000, QuietWatchdogMS: 600_000,
}

// limitsOf finds what a story leaves out: the limits of a run are its own and change with every new one.
var limitsOf = regexp.MustCompile(`,"limits":\{[^}]*\}`)

// plain is a family in which nothing happens by chance.
func plain(t tester) *family {
	f := emptyFamily(t)
	f.drawn, f.crashes = func(int) int { return 0 }, 99
	return f
}

func tellFamily(t testing.TB, script string) *teller {
	t.Helper()
	p := &teller{family: plain(t), tb: t, sent: map[id.Session]int{}, mode: session.OneShot, limits: storyLimits}
	p.known = []string{"$s", string(root)}
	p.done = p.write
	lines := strings.Split(strings.TrimRight(script, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		var more []string
		for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  ") {
			i++
			more = append(more, p.real(strings.TrimSpace(lines[i])))
		}
		if line != "" && !strings.HasPrefix(line, "#") {
			p.line(line, more)
		}
	}
	return p
}

func (p *teller) line(line string, more []string) {
	p.tb.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	switch verb {
	case "mode":
		p.mode = session.Mode(rest)
		return
	case "limits":
		p.parse(rest, &p.limits)
		return
	}
	fmt.Fprintf(&p.out, "> %s\n", line)
	before := p.out.Len()
	p.between = false
	p.now = p.now.Add(time.Second)
	if verb == "restart" {
		p.restart()
	} else {
		p.take(p.input(verb, p.real(rest), more))
	}
	if p.out.Len() == before {
		p.out.WriteString("  nothing\n")
	}
}

func (p *teller) parse(s string, v any) {
	p.tb.Helper()
	if err := json.Unmarshal([]byte(s), v); err != nil {
		p.tb.Fatalf("%s: %v", s, err)
	}
}

func (p *teller) input(verb, rest string, more []string) tree.Input {
	p.tb.Helper()
	who, text, _ := strings.Cut(rest, " ")
	s := root
	if who != "root" {
		s = id.Session(p.real("$" + who))
	}
	switch verb {
	case "prompt":
		in := session.Prompt{Text: rest, Mode: p.mode, Limits: p.limits, Context: told}
		if p.state.Session().ID == "" {
			in.Create = &session.Created{Session: root, Root: root, Dir: "/w"}
		}
		p.ended = false
		return tree.Input{Session: root, In: in}
	case "interrupt":
		return tree.Input{Session: root, In: session.Interrupt{}}
	case "end-input":
		return tree.Input{Session: root, In: session.EndInput{}}
	case "close":
		return tree.Input{Session: root, In: session.Close{Why: rest}}
	case "reply":
		return p.answer(s, p.reply(more))[0]
	case "failed":
		n := p.requests[s]
		delete(p.requests, s)
		return tree.Input{Session: s, In: session.ModelFailed{Request: n, Text: text}}
	case "prepared":
		return p.prepared(who, text)
	case "looked":
		return p.looked(rest)
	case "launched":
		p.jobs++
		p.name("$j"+strconv.Itoa(p.jobs), string(p.first(p.launch()).In.(session.Launched).Job))
		p.shells = append([]id.Job{id.Job(p.real("$j" + strconv.Itoa(p.jobs)))}, p.shells...)
		return p.first(p.launch())
	case "exited":
		in := p.first(p.exit())
		x := in.In.(session.Exited)
		x.Exit = job.Exit{Signalled: rest == "signalled"}
		in.In = x
		return in
	case "timer":
		return p.fire(timerOf{s, text})[0]
	}
	p.tb.Fatalf("no such line: %s %s", verb, rest)
	return tree.Input{}
}

func (p *teller) first(in []tree.Input) tree.Input {
	p.tb.Helper()
	if len(in) == 0 {
		p.tb.Fatal("nothing waits for that")
	}
	return in[0]
}

func (p *teller) prepared(name, rest string) tree.Input {
	p.tb.Helper()
	in := p.first(p.prepare())
	x := in.In.(tree.Prepared)
	p.name("$"+name, string(x.Child))
	x.Descriptor.Worktree, x.Descriptor.Dir = nil, "/w"
	p.made = map[string]int{}
	if why, refused := strings.CutPrefix(rest, "! "); refused {
		x.Refused = fault.Invalid("%s", why)
	} else if rest == "worktree" {
		p.isolate(&x)
	}
	in.In = x
	return in
}

func (p *teller) looked(evidence string) tree.Input {
	p.tb.Helper()
	in := p.first(p.look())
	x := in.In.(tree.WorktreeLooked)
	p.parse(evidence, &x.Evidence)
	in.In = x
	return in
}

func (p *teller) reply(more []string) transcript.AssistantSaid {
	r := transcript.AssistantSaid{Finish: "stop", Model: "x"}
	for _, m := range more {
		kind, m, _ := strings.Cut(m, " ")
		if kind == "text" {
			r.Text = m
			continue
		}
		r.Finish = "tool_calls"
		call, m, _ := strings.Cut(m, " ")
		name, args, _ := strings.Cut(m, " ")
		r.Calls = append(r.Calls, transcript.Call{ID: call, Name: name, Arguments: args})
	}
	return r
}

// write tells what one batch came to.
func (p *teller) write(b decided) {
	if len(b.lines) > 0 {
		p.all = append(p.all, b)
	}
	if len(b.lines)+len(b.effects)+len(b.refused) == 0 {
		return
	}
	if p.between {
		p.out.WriteString("  ---\n")
	}
	p.between = true
	for _, why := range b.refused {
		fmt.Fprintf(&p.out, "  refused %s\n", p.named(why))
	}
	for _, r := range b.lines {
		for _, e := range r.events {
			var text bytes.Buffer
			enc := json.NewEncoder(&text)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(e); err != nil {
				p.tb.Fatal(err)
			}
			fmt.Fprintf(&p.out, "  %-4s %s %s\n", p.who(r.journal), e.Kind(), short(limitsOf.ReplaceAllString(p.named(strings.TrimSpace(text.String())), "")))
		}
	}
	var asked []id.Session
	for _, e := range b.effects {
		kind := strings.TrimPrefix(fmt.Sprintf("%T", e.Effect), "effect.")
		fmt.Fprintf(&p.out, "  ! %s %s\n", p.who(e.Session), short(p.named(kind+strings.TrimPrefix(fmt.Sprintf("%+v", e.Effect), "effect."))))
		if kind == "CallModel" {
			asked = append(asked, e.Session)
		}
	}
	for _, s := range asked {
		p.request(s)
	}
}

// request writes the messages that a request adds to the one before.
func (p *teller) request(s id.Session) {
	p.tb.Helper()
	all := messages(p.state.Sessions[s].Transcript.Entries)
	if err := model.Check(all); err != nil {
		p.tb.Errorf("request of %s: %v", p.who(s), err)
	}
	for _, m := range all[p.sent[s]:] {
		if m.Role != model.RoleAssistant {
			fmt.Fprintf(&p.out, "      %s < %s\n", p.who(s), short(strings.ReplaceAll(p.named(m.Text), "\n", "⏎")))
		}
	}
	p.sent[s] = len(all)
}

func (p *teller) name(name, what string) { p.known = append(p.known, name, what) }

func (p *teller) who(s id.Session) string {
	switch s {
	case root:
		return "root"
	case "":
		return "tree"
	}
	return strings.TrimPrefix(p.named(string(s)), "$")
}

func (p *teller) named(s string) string {
	for i := len(p.known) - 2; i >= 0; i -= 2 { // job ids hold those of sessions
		s = strings.ReplaceAll(s, p.known[i+1], p.known[i])
	}
	return strings.ReplaceAll(s, string(told.Tools), "[]")
}

func (p *teller) real(s string) string {
	for i := 0; i < len(p.known); i += 2 {
		s = strings.ReplaceAll(s, p.known[i], p.known[i+1])
	}
	return s
}

// Every story of a family is cut behind each batch and within it: a crash leaves
// any number of the first lines of each journal that the batch wrote. What is
// left is settled by a restart, which has nothing to say a second time; that
// restart is cut in the same way and made again. Then everything comes to its end,
// and what was accepted was told once, in order.
//
// clause: JC-199 JC-542 JC-543 JC-570 JC-588 JC-590 JC-592 JC-593 RC-012 RC-021
func TestFamilyCrashes(t *testing.T) {
	for _, file := range familyStories(t) {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			p := tellFamily(t, script(t, file))
			for _, b := range p.all {
				for kept := range combinations(b.lines) {
					left := slices.Concat(p.disk[:b.from], prefixes(b.lines, kept))
					f, again := p.taken(left)
					for _, r := range again {
						for kept := range combinations(r.lines) {
							g, _ := p.taken(slices.Concat(f.disk[:r.from], prefixes(r.lines, kept)))
							g.settled()
							if want, got := outcome(f.state), outcome(g.state); want != got {
								f.fatalf("a restart that was cut comes out otherwise:\n%s\nnot\n%s", p.named(got), p.named(want))
							}
						}
					}
					f.settled()
					f.toTheEnd()
				}
			}
		})
	}
}

// combinations are the numbers of lines of each journal that may be left of a
// batch; the last is all of it.
func combinations(lines []record) func(yield func(map[id.Session]int) bool) {
	whole := map[id.Session]int{}
	for _, r := range lines {
		whole[r.journal]++
	}
	names := slices.Sorted(maps.Keys(whole))
	return func(yield func(map[id.Session]int) bool) {
		kept := map[id.Session]int{}
		for {
			if !yield(maps.Clone(kept)) {
				return
			}
			i := 0
			for ; i < len(names) && kept[names[i]] == whole[names[i]]; i++ {
				kept[names[i]] = 0
			}
			if i == len(names) {
				return
			}
			kept[names[i]]++
		}
	}
}

// taken takes up what a crash left, as a new process does, and gives what its
// restart wrote, batch by batch.
func (p *teller) taken(disk []record) (f *family, wrote []decided) {
	f = plain(p.tb)
	f.disk, f.now, f.mint = slices.Clone(disk), p.now.Add(time.Hour), p.mint+1000
	f.done = func(b decided) {
		if len(b.lines) > 0 {
			wrote = append(wrote, b)
		}
	}
	f.state = f.fold()
	f.take(tree.Input{Session: root, In: foundOf(f.state)})
	f.done = nil
	return f, wrote
}

// toTheEnd lets everything come to its end, twice: what is stopped at the end of
// a run is told in the next one.
func (f *family) toTheEnd() {
	for range 2 {
		f.home()
		f.check()
	}
	for name, s := range f.state.Sessions {
		if left := s.Attention.Pending(); len(left) > 0 {
			f.fatalf("%s was not told of %v", f.name(name), left)
		}
	}
}

// outcome is what must not depend on when a restart was lost itself.
func outcome(s *tree.State) string {
	var b strings.Builder
	for d := range s.Delegates.All {
		fmt.Fprintf(&b, "%s: %d, owes %d", d.ID, d.Generation, len(d.Owed))
		if d.Last != nil {
			fmt.Fprintf(&b, ", last %s %s", d.Last.Status, d.Last.Reason)
		}
		b.WriteString("\n")
	}
	for _, name := range slices.Sorted(maps.Keys(s.Sessions)) {
		x := s.Sessions[name]
		fmt.Fprintf(&b, "%s: %s, %d entries, %d messages\n", name, x.Run.Outcome, len(x.Transcript.Entries), len(x.Messages))
		for d := range s.Delegates.All {
			for g := range d.Generation {
				report := fmt.Sprintf("%s/%d", d.ID, g+1)
				if state := x.Attention.StateOf(report); state != attention.NotArmed {
					fmt.Fprintf(&b, "  %s %s\n", report, state)
				}
			}
		}
	}
	return b.String()
}

// What a story wrote goes through the real journals: they fold to the same.
func TestFamilyOnDisk(t *testing.T) {
	for _, file := range familyStories(t) {
		p := tellFamily(t, script(t, file))
		st, err := store.Create(home(memory(t)), root, "test", "boot")
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range p.all {
			var writes []tree.Write
			for _, r := range b.lines {
				writes = append(writes, tree.Write{Session: r.journal, Step: r.step, At: r.at, Cause: []byte(`{"kind":"story"}`), Events: r.events})
			}
			if err := st.Append(writes); err != nil {
				t.Fatal(err)
			}
		}
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := store.Load(st.Home, root, 0)
		if err != nil {
			t.Fatal(err)
		}
		want := p.fold()
		if !reflect.DeepEqual(got.Delegates, want.Delegates) || !reflect.DeepEqual(got.Sessions, want.Sessions) {
			t.Errorf("%s: the journals fold to something else", file)
		}
	}
}

package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"evener/internal/pattern"
	"evener/internal/transcript"
)

// A recording answers with the replies that a journal has. It holds no place of
// its own: the n-th reply of a session is the n-th that was recorded for the
// session in the same place of its tree, so it goes on where it stood after the
// program was killed and started again. docs/replay.md has the rules.

// Recording is what the sessions of a tree said, by their places in it.
type Recording struct {
	// Places has the root under "", its second delegate under "2" and that one's
	// first under "2.1", counted in the order in which they were made.
	Places map[string]Recorded
}

// Recorded is one session's part of it.
type Recorded struct {
	Session string
	Name    string             // that the session was given, if any
	Entries []transcript.Entry // its own, from where the replies are to begin
}

// What a request is for where it is none of the conversation's own.
const (
	ForName    = "name"
	ForSummary = "summary"
)

func openReplay(name string, c Config) (Model, error) {
	if c.Recording == nil {
		return nil, fmt.Errorf("model replay/%s: no recording is at hand", name)
	}
	return &replay{name: "replay/" + name, recording: *c.Recording, trace: c.Trace, scrub: newScrubber(c.Secrets), told: map[string]bool{}}, nil
}

type replay struct {
	name      string
	recording Recording
	trace     *Trace
	scrub     scrubber

	mu   sync.Mutex
	told map[string]bool // sessions of which a divergence was told
}

// Complete implements Model.
func (m *replay) Complete(ctx context.Context, r Request, progress func(Progress)) (Reply, error) {
	return unsent(m.trace, m.scrub, m.name, r, func() (Reply, error) {
		reply, err := m.complete(r)
		if err == nil && progress != nil {
			progress(Progress{Attempt: 1, Bytes: int64(len(reply.Text))})
		}
		return reply, errors.Join(err, ctx.Err())
	})
}

func (m *replay) fault(r Request, format string, args ...any) *Error {
	return &Error{Kind: Scripted, Text: oneLine(fmt.Sprintf("%s: session %s: ", m.name, r.Session) + fmt.Sprintf(format, args...))}
}

func (m *replay) complete(r Request) (Reply, error) {
	x, ok := m.recording.Places[r.Place]
	if !ok {
		return Reply{}, m.fault(r, "it is delegate %s of its tree, and none was recorded in that place", r.Place)
	}
	if r.For == ForName {
		return Reply{Text: x.Name, Finish: FinishStop}, nil
	}
	have, was := rounds(r.Own), rounds(x.Entries)
	n := len(have) - 1
	if n >= len(was) || was[n].reply == nil {
		return Reply{}, m.fault(r, "request %d wants reply %d, and session %s has recorded %s here", r.Number, n+1, x.Session, plural(n, "reply", "replies"))
	}
	ids := newRenaming(x.Session, r.Session)
	other := ""
	for i := range have {
		ids.learn(was[i], have[i])
		if d := ids.difference(was[i], have[i]); d != "" && other == "" {
			other = fmt.Sprintf("before reply %d %s", i+1, d)
		}
	}
	reply, err := m.reply(r, ids, was[n].reply)
	if err == nil && other != "" {
		reply.Warning = m.tell(r, other)
	}
	return reply, err
}

// tell says once of a session that it goes another way than the recorded one.
func (m *replay) tell(r Request, what string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.told[r.Session] {
		return ""
	}
	m.told[r.Session] = true
	return oneLine(fmt.Sprintf("%s: session %s goes another way than the recorded one, whose replies are given all the same: %s", m.name, r.Session, what))
}

// reply gives a recorded entry for what is asked for now. A summary that stands
// where a reply is asked for was wanted by an overflow then.
func (m *replay) reply(r Request, ids *renaming, e *transcript.Entry) (Reply, error) {
	switch {
	case r.For == ForSummary && e.Compacted == nil:
		return Reply{}, m.fault(r, "a summary is asked for, and a reply is recorded in its place")
	case r.For == ForSummary:
		c := e.Compacted
		return Reply{Text: ids.put(c.Summary), Finish: FinishStop, Model: c.Model, Usage: usageOf(c.Usage)}, nil
	case e.Compacted != nil:
		err := m.fault(r, "the conversation was too long here, and a summary is recorded")
		err.Kind = Overflow
		return Reply{}, err
	}
	a := e.Assistant
	out := Reply{Text: ids.put(a.Text), Reasoning: ids.put(a.Reasoning), ReasoningField: a.ReasoningField, Finish: a.Finish, Model: a.Model, Usage: usageOf(a.Usage)}
	for _, c := range a.Calls {
		out.Calls = append(out.Calls, Call{ID: cmp.Or(c.SentID, c.ID), Name: c.Name, Arguments: ids.put(c.Arguments), Broken: c.Broken})
	}
	return out, nil
}

func usageOf(u transcript.Usage) Usage {
	return Usage{Input: u.Input, Output: u.Output, CacheRead: u.Cached}
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// round is what came before a reply, and the reply; nil where none came yet.
type round struct {
	said  []transcript.Entry // of the user and of tools
	owed  []transcript.Entry // notices, which come when they come
	reply *transcript.Entry
}

func rounds(all []transcript.Entry) []round {
	out := []round{{}}
	for i := range all {
		at := &out[len(out)-1]
		switch e := &all[i]; e.Role {
		case transcript.Assistant, transcript.Summary:
			at.reply = e
			out = append(out, round{})
		case transcript.Frames:
			at.owed = append(at.owed, *e)
		default:
			at.said = append(at.said, *e)
		}
	}
	return out
}

// renaming puts the ids of this session into what the recorded one said. They are
// learnt from results and notices, which name new jobs, watches and delegates in
// the order of the calls that made them.
type renaming struct {
	ids map[string]string
}

var (
	idForm = pattern.New(`\b(?:(?:job|watch)_[0-9A-HJKMNP-TV-Z]{32}|(?:dlg_)?[0-9A-HJKMNP-TV-Z]{26})\b`)
	// When, by which process and by which model something was done is another each time.
	passing = pattern.New(`"model":"[^"]*"|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?|"(?:pid|[a-z_]*_ms)":\d+|\b\d+(?:\.\d+)? ?m?s\b`)
)

func newRenaming(was, is string) *renaming {
	return &renaming{ids: map[string]string{was: is, "dlg_" + was: "dlg_" + is}}
}

func (n *renaming) learn(was, is round) {
	n.pair(was.said, is.said)
	n.pair(was.owed, is.owed)
}

func (n *renaming) pair(was, is []transcript.Entry) {
	for i := range min(len(was), len(is)) {
		a, b := idForm().FindAllString(timeless(was[i].Text), -1), idForm().FindAllString(timeless(is[i].Text), -1)
		for k := range min(len(a), len(b)) {
			if len(a[k]) != len(b[k]) { // of another kind: what follows is something else
				break
			}
			if n.ids[a[k]] == "" {
				n.ids[a[k]] = b[k]
			}
		}
	}
}

// put writes the ids of this session in place of the recorded one's.
func (n *renaming) put(s string) string {
	return idForm().ReplaceAllStringFunc(s, func(x string) string { return cmp.Or(n.ids[x], x) })
}

// difference says what came before a reply otherwise than it was recorded; "" if
// only ids, times and processes differ.
func (n *renaming) difference(was, is round) string {
	for i := range max(len(was.said), len(is.said)) {
		switch {
		case i >= len(is.said):
			return fmt.Sprintf("there is no more %s", whose(was.said[i]))
		case i >= len(was.said):
			return fmt.Sprintf("there is %s that was not recorded: %q", whose(is.said[i]), short(is.said[i].Text))
		}
		if d := n.differs(was.said[i], is.said[i]); d != "" {
			return d
		}
	}
	if a, b := joined(was.owed), joined(is.owed); n.timeless(a) != timeless(b) {
		return fmt.Sprintf("the notices are %q, recorded were %q", short(b), short(a))
	}
	return ""
}

func (n *renaming) differs(was, is transcript.Entry) string {
	if was.Role == is.Role && was.Name == is.Name && n.timeless(was.Text) == timeless(is.Text) {
		return ""
	}
	a, b := apart(n.put(was.Text), is.Text)
	return fmt.Sprintf("%s is %q, recorded was %q", whose(is), b, a)
}

func (n *renaming) timeless(s string) string { return timeless(n.put(s)) }

func timeless(s string) string { return passing().ReplaceAllString(s, "~") }

func joined(all []transcript.Entry) string {
	var texts []string
	for _, e := range all {
		texts = append(texts, e.Text)
	}
	return strings.Join(texts, "\n")
}

func whose(e transcript.Entry) string {
	if e.Role == transcript.Tool {
		return fmt.Sprintf("the result of %s (%s)", e.Name, e.Call)
	}
	return "the text of the user"
}

// apart cuts two texts to about the place where they differ.
func apart(a, b string) (string, string) {
	const before, after = 16, 44
	ra, rb := []rune(a), []rune(b)
	i := 0
	for i < len(ra) && i < len(rb) && ra[i] == rb[i] {
		i++
	}
	cut := func(r []rune) string {
		from, to, s := max(0, i-before), min(len(r), i+after), ""
		if from > 0 {
			s = "…"
		}
		s += string(r[from:to])
		if to < len(r) {
			s += "…"
		}
		return s
	}
	return cut(ra), cut(rb)
}

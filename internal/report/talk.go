package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"evener/internal/delegate"
	"evener/internal/evidence"
	"evener/internal/job"
	"evener/internal/text"
	"evener/internal/transcript"
	"evener/internal/watch"
)

// chunk is how many entries stand together in a part that a browser lays out only
// where it is seen. A turn can have thousands.
const chunk = 40

// sizes are classes of such parts, for a browser to guess how high they are.
var sizes = []struct {
	upTo  int
	class string
}{{3, "c c1"}, {12, "c c2"}, {chunk, "c c3"}}

// maxLinks bounds the links of one record to what it caused.
const maxLinks = 50

func printable(s string) string { return text.Printable(s) }

// session writes a conversation, with the records of what went on beside it.
func (w *writer) session(g *group) {
	w.put("<article id=\"s", num(g.n), "\">\n<h2>")
	w.say(name(g))
	w.put("</h2>\n")
	w.facts(g)
	for _, k := range []kind{kindRun, kindDelegate} {
		for _, x := range g.byKind[k] {
			w.record(x)
		}
	}
	if g.session != nil {
		t := talking{writer: w, page: w.to, g: g, c: evidence.ConversationOf(g.session), written: map[*item]bool{}}
		t.all()
	}
	w.put("</article>\n")
}

func (w *writer) facts(g *group) {
	w.put("<dl>")
	fact := func(term, what string) {
		if what != "" {
			w.put("<dt>", term, "</dt><dd>")
			w.say(what)
			w.put("</dd>")
		}
	}
	if d := g.delegate; d != nil {
		fact("delegate", string(d.ID))
		fact("agent type", d.Descriptor.AgentType)
		fact("owner", string(d.Owner))
	}
	fact("session", string(g.id))
	s := g.session
	if s == nil {
		w.put("</dl>\n<p>Its journal is not there.</p>\n")
		return
	}
	fact("name", s.Name)
	if f := s.Fork; f.Parent != "" {
		fact("begins with", fmt.Sprintf("the conversation of session %s before turn %d", f.Parent, f.Divergence))
	}
	fact("directory", s.Dir)
	fact("model", s.Context.Model)
	fact("requests", fmt.Sprintf("%d, %s tokens in, %s out", s.Requests, text.Thousands(int(s.Tokens.Input)), text.Thousands(int(s.Tokens.Output))))
	w.put("</dl>\n")
	if s.Context.System != "" {
		w.put("<details><summary>System prompt</summary>")
		w.pre(s.Context.System)
		w.put("</details>\n")
	}
}

// talking writes the turns of a conversation.
type talking struct {
	*writer
	g       *group
	c       evidence.Conversation
	turn    int64
	opened  bool
	part    *bytes.Buffer // the open chunk; nil: none is
	in      int           // entries of it
	page    io.Writer     // where that goes
	written map[*item]bool
}

func (t *talking) all() {
	for n, e := range t.c.Entries {
		if e.Turn != 0 && (e.Turn != t.turn || !t.opened) { // results stand where their calls do
			t.begin(e.Turn)
		}
		t.room()
		for _, x := range t.g.talk.before[n] {
			t.record(x)
		}
		t.in++
		t.entry(n, e)
	}
	for _, x := range t.g.talk.before[len(t.c.Entries)] {
		t.room()
		t.record(x)
	}
	t.end()
	for _, x := range t.g.byKind[kindTurn] { // in which nothing was said
		if !t.written[x] {
			t.put("<section class=\"turn", stateClasses[x.state], "\" id=\"i", num(x.n), "\">")
			t.turnHead(x)
			t.put("</section>\n")
		}
	}
	t.untold()
}

func (t *talking) begin(turn int64) {
	t.end()
	t.turn, t.opened = turn, true
	x := t.g.talk.turns[turn]
	if x == nil || t.written[x] { // of another session, which this one began with
		t.put("<section class=\"turn\"><h3>Turn ", fmt.Sprint(turn), "</h3>\n")
		return
	}
	t.written[x] = true
	t.put("<section class=\"turn", stateClasses[x.state], "\" id=\"i", num(x.n), "\">")
	t.turnHead(x)
}

func (t *talking) turnHead(x *item) {
	t.put("<h3><a href=\"#i", num(x.n), "\">")
	t.say(x.name)
	t.put("</a> <span>")
	t.say(x.how)
	t.put(" · ", stamp(x.start), " · ", took(x), "</span></h3>\n")
}

// room opens a chunk where there is none, or none that has room.
func (t *talking) room() {
	if t.in >= chunk {
		t.closeChunk()
	}
	if t.part == nil {
		t.part = &bytes.Buffer{}
		t.to = t.part
	}
}

// closeChunk writes a chunk. A browser that runs scripts takes what stands in
// noscript for one text and makes no elements of it; the script has them made where
// they are looked at, and the rest when there is time. There is no < in it that was
// not put there, so nothing in it ends it early.
func (t *talking) closeChunk() {
	if t.part == nil {
		return
	}
	t.to = t.page
	class := sizes[len(sizes)-1].class
	for _, s := range slices.Backward(sizes) {
		if t.in <= s.upTo {
			class = s.class
		}
	}
	t.put("<div class=\"", class, "\"><noscript>", t.part.String(), "</noscript></div>\n")
	t.part, t.in = nil, 0
}

func (t *talking) end() {
	t.closeChunk()
	if t.opened {
		t.put("</section>\n")
		t.opened = false
	}
}

// entry writes what was said, asked or answered.
func (t *talking) entry(n int, e transcript.Entry) {
	at := ""
	if n < len(t.g.talk.times) {
		at = clock(t.g.talk.times[n])
	}
	if notices := t.g.talk.notices[n]; len(notices) > 0 {
		for _, x := range notices {
			if t.written[x] {
				t.block("notice", nil, "Notice, told again", at, t.g.talk.frames[x])
				continue
			}
			t.record(x)
		}
		return
	}
	parts := t.c.Parts(e)
	for i, p := range parts {
		var x *item
		class := classes[e.Role]
		if e.IsError {
			class = "error"
		}
		if e.Assistant != nil {
			if c := i - len(parts) + len(e.Assistant.Calls); c >= 0 {
				x, class = t.g.talk.calls[e.Assistant.Calls[c].ID], "call"
			}
		}
		t.block(class, x, p.Head, at, fields(p.Body))
	}
}

var classes = map[transcript.Role]string{transcript.User: "user", transcript.Assistant: "said", transcript.Tool: "result", transcript.Frames: "notice", transcript.Summary: "summary"}

// untold writes the notices that no request carried.
func (t *talking) untold() {
	head := false
	for _, x := range t.g.byKind[kindNotice] {
		if t.written[x] {
			continue
		}
		if !head {
			t.put("<section class=\"turn\"><h3>Notices that no request carried</h3>\n")
			head = true
		}
		t.room()
		t.in++
		t.record(x)
	}
	if head {
		t.closeChunk()
		t.put("</section>\n")
	}
}

// record writes what an item is that is no words of a conversation.
func (t *talking) record(x *item) {
	t.written[x] = true
	t.writer.record(x)
}

func (g *group) dir() string {
	if g.session == nil {
		return ""
	}
	return g.session.Dir
}

func (w *writer) record(x *item) {
	switch r := x.record.(type) {
	case *job.State:
		w.block("job", x, "Job "+x.name, "", jobRecord(r, x.group.dir()))
	case watch.Watch:
		w.block("watch", x, "Watch "+x.name, "", fmt.Sprintf("source: %s\n%s\nframes delivered: %d", r.Config.Source, r.Config.Condition(), r.Deliveries))
	case *delegate.State:
		w.block("delegate", x, "Run of "+x.name, "", x.label)
	default:
		head := x.name
		if x.kind == kindNotice {
			head = "Notice: " + x.label
		}
		w.block(kindNames[x.kind], x, head, "", x.group.talk.frames[x])
	}
}

// jobRecord is what listings tell of a job. Where it ran is told only of one that
// did not run where its session is.
func jobRecord(s *job.State, dir string) string {
	var b strings.Builder
	b.WriteString(s.Command + "\n\n" + string(s.Mode))
	v := job.View(s, job.Live{}, s.Ended)
	if s.Promoted {
		fmt.Fprintf(&b, ", handed off after %d ms", s.WaitElapsedMS)
	}
	if v.EndedAt != nil {
		fmt.Fprintf(&b, ", ended %s, %d bytes of output", clock(s.Ended), v.TotalBytes)
	}
	if v.Pruned {
		b.WriteString(", removed by retention")
	}
	if s.StopBy != "" {
		fmt.Fprintf(&b, "\nstop asked for by: %s", s.StopBy)
	}
	if s.Dir != dir {
		fmt.Fprintf(&b, "\nin: %s", s.Dir)
	}
	if v.Error != "" {
		fmt.Fprintf(&b, "\nerror: %s", v.Error)
	}
	return b.String()
}

// block writes one piece with its heading, and with what caused it and what it
// caused where it is an item.
func (w *writer) block(class string, x *item, head, at, body string) {
	w.put("<div class=\"e ", class)
	if x != nil {
		w.put(stateClasses[x.state], "\" id=\"i", num(x.n))
	}
	w.put("\"><h4>")
	if x == nil {
		w.say(head)
		w.put(" <span>", at, "</span></h4>")
	} else {
		w.put("<a href=\"#i", num(x.n), "\">")
		w.say(head)
		w.put("</a> <span>", cmp.Or(at, clock(x.start)), " · ")
		w.say(x.how)
		w.put(" · ", took(x))
		w.links(x)
		w.put("</span></h4>")
	}
	if body != "" {
		w.pre(body)
	}
	w.put("</div>\n")
}

func (w *writer) links(x *item) {
	link := func(x *item) { w.put("<a href=\"#i", num(x.n), "\">", kindNames[x.kind], "</a>") }
	if x.cause != nil {
		w.put(" · from ")
		link(x.cause)
	}
	for i, e := range x.effects {
		if i == maxLinks {
			w.put(" and ", num(len(x.effects)-i), " more")
			break
		}
		if i == 0 {
			w.put(" · led to ")
		} else {
			w.put(", ")
		}
		link(e)
	}
	if x.told != nil && x.told.n >= 0 {
		w.put(" · in ")
		link(x.told)
	}
}

// pre writes a text as it stands. The parser takes a line end behind the tag away.
func (w *writer) pre(body string) {
	body, _ = text.Elide(text.Printable(body), w.most, func(n int) string {
		return fmt.Sprintf("\n… %s characters left out …\n", text.Thousands(n))
	})
	w.put("<pre>\n")
	w.say(body)
	w.put("</pre>")
}

// brief shows the arguments of a call in a line: the first one, then the others by name.
func brief(args string) string {
	all, ok := members(args)
	if !ok {
		return args
	}
	var parts []string
	for i, m := range all {
		value := string(m.value)
		var said string
		if json.Unmarshal(m.value, &said) == nil {
			value = said
		}
		if i > 0 {
			value = m.key + "=" + value
		}
		parts = append(parts, value)
	}
	return strings.Join(parts, " ")
}

// member is a field of an object.
type member struct {
	key   string
	value json.RawMessage
}

// members are the fields of an object of JSON in their order.
func members(s string) (all []member, ok bool) {
	if !strings.HasPrefix(s, "{") || !json.Valid([]byte(s)) {
		return nil, false
	}
	d := json.NewDecoder(strings.NewReader(s))
	if _, err := d.Token(); err != nil {
		return nil, false
	}
	for d.More() {
		var m member
		key, err := d.Token()
		if err == nil {
			err = d.Decode(&m.value)
		}
		if m.key, ok = key.(string); err != nil || !ok {
			return nil, false
		}
		all = append(all, m)
	}
	return all, true
}

// fields shows an object of JSON with a line for each field, so that texts in it
// have their line ends. Anything else stays as it is.
func fields(s string) string {
	all, ok := members(s)
	if !ok {
		return s
	}
	var b strings.Builder
	for _, m := range all {
		b.WriteString(m.key + ": " + field(m.value) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// field is a value: a text with line ends stands indented below its name.
func field(value json.RawMessage) string {
	var said string
	if !bytes.HasPrefix(value, []byte(`"`)) || json.Unmarshal(value, &said) != nil {
		return string(value)
	}
	said = strings.TrimSuffix(text.Printable(said), "\n")
	if !strings.Contains(said, "\n") {
		return said
	}
	return "\n  " + strings.ReplaceAll(said, "\n", "\n  ")
}

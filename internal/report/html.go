package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"evener/internal/text"
)

//go:embed page.css
var style string

//go:embed page.js
var script string

// writer writes the page. Markup is written by put, which is given constants and
// numbers alone, and everything else by say, between tags and never in one.
type writer struct {
	to   io.Writer
	err  error // the first one; nothing is written behind it
	most int   // characters of one text
}

func (w *writer) put(markup ...string) {
	for _, m := range markup {
		if w.err == nil {
			_, w.err = io.WriteString(w.to, m)
		}
	}
}

// say writes a text that came from anywhere.
func (w *writer) say(s ...string) {
	for _, s := range s {
		w.put(escape.Replace(text.Printable(s)))
	}
}

// escape leaves quotes as they are: they mean something in a tag alone.
var escape = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func num(n int) string { return strconv.Itoa(n) }

// policy lets the page do what it is for: its own style and its own script, and
// nothing that is asked for or sent anywhere.
func policy() string {
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; style-src " + hash(style) + "; script-src " + hash(script) + "; base-uri 'none'; form-action 'none'"
}

// The script stands before the list and the conversations: the timeline is drawn
// while those are read.
func (w *writer) page(p *Page) {
	g := p.groups[0]
	w.put("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"", policy(), "\">\n",
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"referrer\" content=\"no-referrer\">\n<title>")
	w.say(title(g), " · evener")
	w.put("</title>\n<style>", style, "</style>\n</head>\n<body>\n<header>\n<h1>")
	w.say(title(g))
	w.put("</h1>\n<p>")
	w.say(summary(p))
	w.put("</p>\n</header>\n", tools, "<main>\n<section id=\"view\" aria-label=\"Timeline\">\n", timeline, "<script type=\"application/json\" id=\"data\">")
	w.put(string(data(p))) // encoding/json leaves no < in it
	w.put("</script>\n<script>", script, "</script>\n<div id=\"list\">\n<h2>Timeline</h2>\n<noscript>")
	w.list(g)
	w.put("</noscript></div>\n</section>\n<div id=\"talk\" tabindex=\"-1\">\n")
	for _, g := range p.groups {
		w.session(g)
	}
	w.put("<footer><p>Made by evener report. Times are UTC. Objects of JSON are shown field by field, and of texts above ", text.Thousands(w.most),
		" characters the middle is left out; <code>evener show</code> has them as they stand, and what jobs printed.</p></footer>\n</div>\n</main>\n</body>\n</html>\n")
}

// tools and timeline are for the script, which takes the attribute hidden away.
const tools = `<form id="tools" role="search" aria-label="Filter the timeline" hidden>
<fieldset id="kinds"><legend>Show</legend></fieldset>
<label class="box"><input type="checkbox" id="failed"> failed only</label>
<label>Find <input type="search" id="find" placeholder="text or id" autocomplete="off" spellcheck="false"></label>
<output id="count"></output>
<span class="zoom"><button type="button" id="out" aria-label="Zoom out" title="Zoom out (-)">−</button><button type="button" id="in" aria-label="Zoom in" title="Zoom in (+)">+</button><button type="button" id="fit" title="Show all of it (0)">fit</button></span>
<button type="button" id="aslist" aria-pressed="false">list</button>
</form>
`

const timeline = `<div id="time" tabindex="0" role="application" aria-roledescription="timeline" aria-label="Timeline" aria-describedby="keys" hidden><div id="all"><canvas id="canvas"></canvas></div></div>
<p id="keys" hidden><kbd>+</kbd> <kbd>−</kbd> <kbd>0</kbd> or the wheel zoom, <kbd>←</kbd> <kbd>→</kbd> <kbd>↑</kbd> <kbd>↓</kbd> or a drag move, a drag on the clock zooms into it, <kbd>n</kbd> <kbd>p</kbd> pick the next or the previous bar, <kbd>Enter</kbd> goes to its text, <kbd>Esc</kbd> comes back</p>
<div id="about" aria-live="polite" hidden></div>
`

// list tells the timeline without a drawing. What is below a session stands in it
// where it begins.
func (w *writer) list(g *group) {
	w.put("<ol>\n")
	below := g.below
	for _, x := range g.ordered() {
		for len(below) > 0 && !below[0].begins().After(x.start) {
			w.nested(below[0])
			below = below[1:]
		}
		w.put("<li class=\"", kindNames[x.kind], stateClasses[x.state], "\"><a href=\"#i", num(x.n), "\">", clock(x.start), " ")
		if x.kind == kindRun || x.kind == kindTurn {
			w.say(x.name)
		} else { // the ids of the others stand with their texts
			w.put(kindNames[x.kind])
		}
		w.put("</a> ")
		if x.label != "" {
			w.say(x.label, " · ")
		}
		w.say(x.how)
		if x.took() > 0 {
			w.put(" · ", took(x))
		}
		w.put("\n") // an item ends where the next one begins
	}
	for _, g := range below {
		w.nested(g)
	}
	w.put("</ol>\n")
}

func (w *writer) nested(g *group) {
	w.put("<li class=\"below\"><a href=\"#s", num(g.n), "\">")
	w.say(name(g))
	w.put("</a>\n")
	w.list(g)
	w.put("</li>\n")
}

var stateClasses = [...]string{stateOK: "", stateFailed: " failed", stateOpen: " open", stateStopped: " stopped"}

// ordered are the items of a group by their starts.
func (g *group) ordered() []*item {
	var all []*item
	for _, of := range g.byKind {
		all = append(all, of...)
	}
	sortByStart(all)
	return all
}

// begins is when the first thing of a group began; of one without any, the beginning of time.
func (g *group) begins() time.Time {
	var first time.Time
	for _, of := range g.byKind {
		if len(of) > 0 && (first.IsZero() || of[0].start.Before(first)) {
			first = of[0].start
		}
	}
	return first
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05.000") }

// stamp is a whole moment.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// took is how long something took, as much of it as means something.
func took(x *item) string {
	d := x.took()
	switch {
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}

// name is what a group is called where several are told apart.
func name(g *group) string {
	switch d := g.delegate; {
	case d == nil:
		return "session " + string(g.id)
	case d.Descriptor.Name != "":
		return "delegate " + d.Descriptor.Name
	default:
		return "delegate " + string(d.ID)
	}
}

func title(g *group) string {
	if g.session != nil && g.session.Name != "" {
		return g.session.Name
	}
	if g.delegate != nil {
		return name(g)
	}
	if first := g.talk.turns[1]; first != nil && g.session.Fork.Parent == "" {
		return text.Preview(first.label, 80)
	}
	return name(g)
}

func summary(p *Page) string {
	g, c := p.groups[0], p.counts()
	parts := []string{"session " + string(g.id)}
	if s := g.session; s.Run.Open {
		parts = append(parts, "run not ended")
	} else {
		parts = append(parts, string(s.Run.Outcome))
	}
	if len(p.items) > 0 {
		first, last := span(p)
		parts = append(parts, stamp(first)+" to "+stamp(last))
	}
	for _, n := range []struct {
		n    int
		what string
	}{{c.turns, "turn"}, {c.calls, "call"}, {c.jobs, "job"}, {c.sessions - 1, "delegate"}, {c.watches, "watch"}, {c.notices, "notice"}} {
		if n.n > 0 {
			parts = append(parts, counted(n.n, n.what))
		}
	}
	if p.at > 0 {
		parts = append(parts, fmt.Sprintf("as it was after decision %d", p.at))
	}
	return strings.Join(parts, " · ")
}

func counted(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "ch"):
		what += "e"
	}
	return text.Thousands(n) + " " + what + "s"
}

func span(p *Page) (first, last time.Time) {
	for i, x := range p.items {
		if i == 0 || x.start.Before(first) {
			first = x.start
		}
		if i == 0 || x.end.After(last) {
			last = x.end
		}
	}
	return first, last
}

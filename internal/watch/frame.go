package watch

import (
	"fmt"
	"strings"

	"evener/internal/id"
	"evener/internal/text"
)

// Bounds of a frame, in code points but where it says bytes.
const (
	excerptsLen = 5    // lines that one frame shows of what matched
	excerptLen  = 4096 // bytes of one
	argsLen     = 2000
	messageLen  = 4000
	TailLen     = 2000 // of output that progress shows
)

// Occurrence is an event that watches can ask for.
type Occurrence struct {
	Event     string      `json:"event"`
	Tool      string      `json:"tool_name,omitempty"`
	Status    string      `json:"status,omitempty"`         // of a tool result: ok or error; of a job: how it ended
	Arguments string      `json:"arguments_json,omitempty"` // as the model sent them
	Message   string      `json:"message,omitempty"`        // of a communicate
	EndTurn   bool        `json:"end_turn,omitempty"`
	Job       id.Job      `json:"job_id,omitempty"`      // of a notification
	Delegate  id.Delegate `json:"delegate_id,omitempty"` // of one
	Reason    string      `json:"reason,omitempty"`
	ExitCode  *int        `json:"exit_code,omitempty"`
	Total     *int64      `json:"output_bytes,omitempty"`
}

// Wants reports whether the watch asks for this event.
func (c Config) Wants(o Occurrence) bool {
	asked := false
	for _, k := range c.Events {
		asked = asked || k == Any || k == o.Event
	}
	if j := c.Job(); j != "" && o.Job != j {
		return false
	}
	f := c.Filter
	return asked && (f == nil || (f.Tool == "" || f.Tool == o.Tool) && (f.Status == "" || f.Status == o.Status))
}

// What is in a frame: lines, escaped already.
type What struct {
	attrs string
	lines []string
}

func (w *What) add(format string, args ...any) {
	for i, a := range args {
		if s, ok := a.(string); ok {
			args[i] = text.Escape(s)
		}
	}
	w.lines = append(w.lines, fmt.Sprintf(format, args...))
}

// OfEvent shows an event; count is how many this frame stands for.
func OfEvent(o Occurrence, count int64) What {
	w := What{attrs: fmt.Sprintf(` kind="%s"`, o.Event)}
	if count > 1 {
		w.add("%d such events since the last frame that you saw; this is the latest.", count)
	}
	switch o.Event {
	case Tool:
		w.add("tool_name: %s", text.Preview(o.Tool, 80))
		w.add("status: %s", o.Status)
		w.add("arguments_json: %s", text.Preview(o.Arguments, argsLen))
	case Communicate:
		w.add("end_turn: %v", o.EndTurn)
		w.add("message: %s", text.Printable(text.Preview(o.Message, messageLen)))
	case Notification:
		name := string(o.Job)
		if o.Delegate != "" {
			name = string(o.Delegate)
		}
		w.add("about: %s", name)
		w.add("status: %s", o.Status)
		if o.Reason != "" {
			w.add("reason: %s", text.Preview(o.Reason, 400))
		}
		if o.ExitCode != nil && *o.ExitCode >= 0 {
			w.add("exit_code: %d", *o.ExitCode)
		}
		if o.Total != nil {
			w.add("output_bytes: %d", *o.Total)
		}
	}
	if o.Job != "" {
		w.readWith(o.Job)
	}
	return w
}

func (w *What) readWith(j id.Job) {
	w.add(`read with: read_transcript(transcript_ref="%s")`, "job:"+string(j))
}

// OfMatches shows what matched: a count, and the latest lines.
func OfMatches(c Config, o Owed) What {
	var w What
	w.add("%d match%s of %s", o.Count, plural(o.Count), text.Preview(c.OutputMatch, 200))
	if n := o.Count - int64(len(o.Excerpts)); n > 0 {
		w.add("the latest %d:", int64(len(o.Excerpts)))
	}
	for _, e := range o.Excerpts {
		w.add("excerpt: %s", text.Printable(e))
	}
	w.readWith(c.Job())
	return w
}

func plural(n int64) string {
	if n == 1 {
		return ""
	}
	return "es"
}

// OfProgress shows how far a running job is.
func OfProgress(c Config, count, total int64, tail string) What {
	var w What
	w.add("progress: running, output_bytes %d, %d interval(s) of %d ms", total, count, c.ProgressMS)
	w.add("excerpt:\n%s", strings.TrimRight(text.Printable(tail), "\n"))
	w.readWith(c.Job())
	return w
}

// OfTick shows a timer's fire.
func OfTick(c Config, count int64) What {
	var w What
	if c.AfterS != 0 {
		w.add("timer: %d s have passed", c.AfterS)
	} else {
		w.add("timer: %d time(s) %d s have passed", count, c.RepeatS)
	}
	return w
}

// OfTerminal shows the end of a delegate's run that a watch was bound to.
func OfTerminal(status, reason string) What {
	w := What{attrs: ` kind="delegate.terminal"`}
	w.add("status: %s", status)
	if reason != "" {
		w.add("reason: %s", text.Preview(reason, 400))
	}
	return w
}

// Frame renders a frame of the watch. depth is how deep it stands in its own
// influence: 0 is not at all. most bounds what it shows, in code points; 0 does not.
func (w *Watch) Frame(delivery string, depth int, what What, most int64) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<job-notification event="watch" job_type="watch" watch_id="%s" delivery_id="%s" source="%s"%s>`+"\n", w.Watch, delivery, w.Config.Source, what.attrs)
	switch {
	case depth == 1:
		b.WriteString("↳ this turn responded to your last message.\n")
	case depth > 1:
		fmt.Fprintf(&b, "↳ you're ~%d exchanges deep responding to your own influence — consider disengaging.\n", depth)
	}
	if w.Config.Note != "" {
		b.WriteString("note: " + text.Escape(text.Printable(w.Config.Note)) + "\n")
	}
	body := strings.Join(what.lines, "\n")
	if most > 0 {
		body, _ = text.Elide(body, int(most), func(n int) string { return fmt.Sprintf("\n… %d characters left out …\n", n) })
	}
	b.WriteString(body + "\n</job-notification>")
	return b.String()
}

// EndFrame tells that the watch is active no more, and why; empty where the end
// needs no telling: the caller asked for it, or the notice of the job tells it.
func (w *Watch) EndFrame(reason string) string {
	why := ""
	switch reason {
	case BudgetExhausted:
		why = fmt.Sprintf("it fired %d times, which is its budget. Create it again with a tighter condition: higher every or narrower output_match", w.Fires)
	case RuntimeLost:
		why = "the process that held it is gone, and nothing is observed since. Create it again if it is still needed"
	case ManagerClosed:
		why = "this session was stopped. Create it again if it is still needed"
	case OutputLost:
		why = "output came faster than it could be searched, and part of it was not. Search what is kept with read_transcript; create the watch again to go on from here"
	case AutoRemoved:
		if w.Config.Job() == "" {
			why = "the run that it watched has ended. Create it again for the next run"
		}
	}
	if why == "" {
		return ""
	}
	return w.about("ended", reason, "This watch (%s) has ended: "+why+".")
}

// RearmedFrame tells that a new process goes on with the watch.
func (w *Watch) RearmedFrame() string {
	return w.about("active", "rearmed", "Evener was restarted. This watch (%s) goes on; what happened in between was not observed.")
}

// DropFrame tells that an echo was not delivered.
func (w *Watch) DropFrame(depth int) string {
	return w.about("active", "runaway", fmt.Sprintf("A frame of this watch (%%s) was dropped: it stood %d exchanges deep in the watch's own influence. "+
		"Later ones of this chain are dropped without a word; the next user input begins anew.", depth))
}

// about is a frame about the watch itself; %s in words is its condition.
func (w *Watch) about(status, reason, words string) string {
	words = fmt.Sprintf(words, text.Escape(text.Printable(w.Config.Condition())))
	return fmt.Sprintf(`<job-notification event="watch" job_type="watch" watch_id="%s" source="%s" status="%s" reason="%s">`+"\n%s\n</job-notification>",
		w.Watch, w.Config.Source, status, reason, words)
}

// MaxDepth is how deep in its own influence a frame may stand; a deeper one is dropped.
const MaxDepth = 8

// Latest are the excerpts to show after more matches.
func Latest(before, more []string) []string {
	all := append(append([]string{}, before...), more...)
	all = all[max(0, len(all)-excerptsLen):]
	for i, e := range all {
		if len(e) > excerptLen {
			all[i] = strings.ToValidUTF8(e[:excerptLen], "")
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

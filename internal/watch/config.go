package watch

import (
	"fmt"
	"slices"
	"strings"

	"evener/internal/fault"
	"evener/internal/id"
	"evener/internal/match"
	"evener/internal/text"
)

// Kinds of events that a watch can ask for.
const (
	Tool         = "assistant.tool"
	Communicate  = "communicate"
	Notification = "job.notification"
	Any          = "*"
)

var kinds = []string{Tool, Communicate, Notification}

// Sources that are no id.
const (
	Self   = "self"
	Parent = "parent"
)

// Limits of a watch. They stand in the text of the tool.
const (
	MaxWatches = 32 // live ones on the sources of one session
	MaxTimers  = 8  // live ones of one session, among them
	Budget     = 50 // fires of one configuration, of output matches and events
	MaxNote    = 2048

	maxToolName = 200 // bytes; no tool has a name so long

	minProgress, maxProgress = 1000, 3_600_000 // ms; clamped
	minAfter, maxAfter       = 60, 86_400      // s; refused
	minRepeat, maxRepeat     = 60, 3600
)

// Filter narrows a watch of assistant.tool events.
type Filter struct {
	Tool   string `json:"tool_name,omitempty"`
	Status string `json:"status,omitempty"` // ok or error
}

// Request is what a call asks for, as it came. Pointers are absent or null.
type Request struct {
	Source        string
	OutputMatch   string
	ProgressMS    *int64
	Events        []string
	Filter        Filter
	Every         *int64
	After, Repeat *int64
	Note          string
}

// Config is a checked request: what a watch does, and what makes two of them the same.
type Config struct {
	Source      string   `json:"source"`
	OutputMatch string   `json:"output_match,omitempty"`
	ProgressMS  int64    `json:"progress_interval_ms,omitempty"`
	Events      []string `json:"events,omitempty"`
	Filter      *Filter  `json:"event_filter,omitempty"`
	Every       int64    `json:"every,omitempty"` // each Nth; 0 is each
	AfterS      int64    `json:"after_seconds,omitempty"`
	RepeatS     int64    `json:"repeat_seconds,omitempty"`
	Note        string   `json:"note,omitempty"`
}

func invalid(format string, args ...any) *fault.Error {
	return fault.Invalid("job_watch: "+format, args...)
}

// Check makes a configuration of a request, or says what is wrong with it.
func Check(r Request) (Config, *fault.Error) {
	c := Config{Source: r.Source, OutputMatch: r.OutputMatch, AfterS: value(r.After), RepeatS: value(r.Repeat), ProgressMS: value(r.ProgressMS), Every: value(r.Every)}
	c.Note, _ = text.Elide(r.Note, MaxNote, func(int) string { return "…" })
	if c.Timer() {
		return c.timer(r)
	}
	isJob, isDelegate := strings.HasPrefix(c.Source, "job_"), strings.HasPrefix(c.Source, "dlg_")
	switch {
	case c.Source == "":
		return Config{}, invalid("source is required: self, parent, dlg_... or job_...; only a timer has self without saying so")
	case !isJob && !isDelegate && c.Source != Self && c.Source != Parent:
		return Config{}, invalid("no source %s; it is self, parent, dlg_... or job_...", text.Quote(c.Source, 80))
	case c.ProgressMS < 0:
		return Config{}, invalid("progress_interval_ms must not be negative (got %d)", c.ProgressMS)
	case c.OutputMatch != "" && !isJob:
		return Config{}, invalid("output_match needs a job_... source; %s prints nothing", text.Preview(c.Source, 80))
	case c.ProgressMS != 0 && !isJob:
		return Config{}, invalid("progress_interval_ms needs a job_... source; a timer is repeat_seconds")
	case c.Every < 0:
		return Config{}, invalid("every must not be negative (got %d)", c.Every)
	}
	if c.ProgressMS != 0 {
		c.ProgressMS = min(max(c.ProgressMS, minProgress), maxProgress)
	}
	if err := c.events(r); err != nil {
		return Config{}, err
	}
	if c.OutputMatch == "" && c.ProgressMS == 0 && len(c.Events) == 0 {
		if isJob || c.Source == Self {
			return Config{}, invalid("no condition: give output_match, events or progress_interval_ms for a job_... source, events or a timer for self")
		}
		c.Events = []string{Any}
	}
	if c.OutputMatch != "" {
		if _, err := match.Compile(c.OutputMatch); err != nil {
			return Config{}, invalid("output_match: %v", err)
		}
	}
	return c, nil
}

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// Timer reports whether the watch is one.
func (c Config) Timer() bool { return c.AfterS != 0 || c.RepeatS != 0 }

func (c Config) timer(r Request) (Config, *fault.Error) {
	if c.Source == "" {
		c.Source = Self
	}
	switch {
	case c.Source != Self:
		return Config{}, invalid("a timer has source self, not %s", text.Preview(c.Source, 80))
	case c.AfterS != 0 && c.RepeatS != 0:
		return Config{}, invalid("give after_seconds or repeat_seconds, not both")
	case c.OutputMatch != "" || c.ProgressMS != 0 || len(r.Events) > 0 || c.Every != 0 || r.Filter != (Filter{}):
		return Config{}, invalid("a timer has no other condition beside after_seconds or repeat_seconds")
	case c.AfterS != 0 && (c.AfterS < minAfter || c.AfterS > maxAfter):
		return Config{}, invalid("after_seconds is %d to %d (got %d)", minAfter, maxAfter, c.AfterS)
	case c.RepeatS != 0 && (c.RepeatS < minRepeat || c.RepeatS > maxRepeat):
		return Config{}, invalid("repeat_seconds is %d to %d (got %d)", minRepeat, maxRepeat, c.RepeatS)
	}
	return c, nil
}

// events checks what the watch asks of events.
func (c *Config) events(r Request) *fault.Error {
	for _, k := range r.Events {
		switch {
		case k != Any && !slices.Contains(kinds, k):
			return invalid("no event kind %s; the kinds are %s, and * for all", text.Quote(k, 80), strings.Join(kinds, ", "))
		case !slices.Contains(c.Events, k):
			c.Events = append(c.Events, k)
		}
	}
	if r.Filter != (Filter{}) {
		if len(c.Events) != 1 || c.Events[0] != Tool {
			return invalid(`event_filter is for events: ["assistant.tool"] alone`)
		}
		if s := r.Filter.Status; s != "" && s != "ok" && s != "error" {
			return invalid(`event_filter.status is "ok" or "error" (got %s)`, text.Quote(s, 80))
		}
		if n := len(r.Filter.Tool); n > maxToolName {
			return invalid("event_filter.tool_name has %d bytes; %d at most", n, maxToolName)
		}
		c.Filter = &r.Filter
	}
	switch {
	case c.Every > 1 && (len(c.Events) != 1 || c.Events[0] == Any):
		return invalid("every needs events with exactly one kind")
	case c.Every == 1: // each
		c.Every = 0
	}
	return nil
}

// Same reports whether two configurations are one.
func (c Config) Same(o Config) bool {
	filter := func(c Config) Filter {
		if c.Filter == nil {
			return Filter{}
		}
		return *c.Filter
	}
	return c.Source == o.Source && c.OutputMatch == o.OutputMatch && c.ProgressMS == o.ProgressMS && slices.Equal(c.Events, o.Events) &&
		filter(c) == filter(o) && c.Every == o.Every && c.AfterS == o.AfterS && c.RepeatS == o.RepeatS && c.Note == o.Note
}

// Job is the job whose output, progress or end is watched, or "".
func (c Config) Job() id.Job {
	j, _ := id.ParseJob(c.Source)
	return j
}

// OnlyMatches reports whether output is all that the watch looks at.
func (c Config) OnlyMatches() bool {
	return c.OutputMatch != "" && c.ProgressMS == 0 && len(c.Events) == 0
}

// Condition is the trigger in one line, as listings show it.
func (c Config) Condition() string {
	return c.line("output_match: %s", "progress_interval_ms: %d", "after_seconds: %d", "repeat_seconds: %d")
}

// Line is the trigger as the result of its creation names it.
func (c Config) Line() string {
	return c.line("output_match %s", "progress_interval_ms %dms", "after %ds", "every %ds")
}

func (c Config) line(match, progress, after, repeat string) string {
	var parts []string
	add := func(format string, v any) { parts = append(parts, fmt.Sprintf(format, v)) }
	if c.OutputMatch != "" {
		add(match, c.OutputMatch)
	}
	if len(c.Events) > 0 {
		add("events: %s", strings.Join(c.Events, ", "))
	}
	if c.Filter != nil {
		if c.Filter.Tool != "" {
			add("tool_name: %s", c.Filter.Tool)
		}
		if c.Filter.Status != "" {
			add("status: %s", c.Filter.Status)
		}
	}
	if c.Every != 0 {
		add("every %d", c.Every)
	}
	if c.ProgressMS != 0 {
		add(progress, c.ProgressMS)
	}
	if c.AfterS != 0 {
		add(after, c.AfterS)
	}
	if c.RepeatS != 0 {
		add(repeat, c.RepeatS)
	}
	if c.Note != "" {
		add("note: %s", c.Note)
	}
	return strings.Join(parts, "; ")
}

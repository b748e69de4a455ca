package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"evener/internal/host"
	"evener/internal/job"
	"evener/internal/term"
	"evener/internal/text"
	"evener/internal/transcript"
)

// previewed is how many characters of a value are looked at for a row.
const previewed = 300

// bare arguments say what a call is about; they are shown first and without their name.
var bare = []string{"command", "path", "pattern", "target", "transcript_ref", "url"}

// arguments shows what a call was made with, the important first. Whatever the
// model sent is shown somehow.
func arguments(raw string) string {
	d := json.NewDecoder(strings.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return text.Preview(raw, previewed)
	}
	var first, rest []string
	for d.More() {
		key, err := d.Token()
		name, ok := key.(string)
		var value json.RawMessage
		if err != nil || !ok || d.Decode(&value) != nil {
			return text.Preview(raw, previewed)
		}
		shown := string(value)
		if s := ""; json.Unmarshal(value, &s) == nil {
			shown = s
		}
		switch {
		case slices.Contains(bare, name):
			first = append(first, text.Preview(shown, previewed))
		case name != "description":
			rest = append(rest, text.Preview(name, 40)+"="+text.Preview(shown, 60))
		}
	}
	return strings.Join(append(first, rest...), " ")
}

// outcome is the row of a call's result.
func outcome(d transcript.Answered, took time.Duration) term.Row {
	if d.IsError {
		return term.Row{Spans: []term.Span{{Text: indented}, {Text: "error", Mark: term.Bad}, {Text: " · " + firstLine(d.Text)}}}
	}
	var r struct {
		Mode     string     `json:"mode"`
		Status   job.Status `json:"status"`
		Reason   string     `json:"reason"`
		ExitCode *int       `json:"exit_code"`
		TimedOut bool       `json:"timed_out"`
		Output   string     `json:"output"`
		PID      int        `json:"pid"`
	}
	_ = json.Unmarshal(d.Data, &r) // a result of another form says nothing here
	state, rest := term.Span{Text: "ok"}, span(took)
	switch {
	case d.Name != "shell":
		if what := found(d); what != "" {
			rest = what + " · " + rest
		}
	case r.TimedOut:
		state.Text, rest = "still runs after "+rest, "goes on in the background"
	case r.Mode == string(job.Background):
		rest = "in the background"
	case r.Mode == string(job.Detached):
		rest = fmt.Sprintf("detached, pid %d", r.PID)
	default:
		if r.Status != job.Completed {
			state.Mark = term.Bad
		}
		state.Text = ended(r.Status, r.Reason, r.ExitCode)
		if last := lastLine(r.Output); last != "" {
			rest += " · " + last
		}
	}
	return term.Row{Spans: []term.Span{{Text: indented}, state, {Text: " · " + rest, Mark: term.Dim}}}
}

// found is what a result comes to, where its tool says so in a number or a word.
func found(d transcript.Answered) string {
	var r struct {
		Status       string `json:"status"`
		From         int64  `json:"from_line"`
		To           int64  `json:"to_line"`
		Lines        int64  `json:"lines"`
		Replacements int64  `json:"replacements"`
		Count        int64  `json:"count"`
		Total        int64  `json:"total_count"`
		Matches      int64  `json:"matches"`
		Files        int64  `json:"files"`
		Open         int64  `json:"open_count"`
	}
	_ = json.Unmarshal(d.Data, &r) // a result of another form comes to nothing
	switch d.Name {
	case "job_status", "job_stop":
		return r.Status
	case "read_file":
		if r.To >= r.From && r.From > 0 {
			return counted(r.To-r.From+1, "line")
		}
	case "write_file":
		return counted(r.Lines, "line")
	case "edit_file":
		return counted(r.Replacements, "replacement")
	case "list_files":
		return fmt.Sprintf("%d found", r.Count)
	case "search_files":
		return fmt.Sprintf("%d found in %s", r.Matches, counted(r.Files, "file"))
	case "job_list":
		return counted(r.Total, "job")
	case "tasks":
		return fmt.Sprintf("%d of %d open", r.Open, r.Total)
	}
	return ""
}

// indented stands before what belongs to the row above.
const indented = "  "

// ended says in few words how a command ended.
func ended(s job.Status, reason string, code *int) string {
	switch s {
	case job.Completed:
		return "ok · exit 0"
	case job.ExitedNonzero:
		if code != nil {
			return fmt.Sprintf("exit %d", *code)
		}
	}
	if reason == "" {
		return string(s)
	}
	return string(s) + " (" + reason + ")"
}

func ending(d host.JobData) string {
	if d.Status == job.Completed || d.Status == job.Cancelled {
		return string(d.Status)
	}
	return ended(d.Status, d.Reason, d.ExitCode)
}

// jobRow is the row of a job that started or ended; took is 0 where that is not
// known. What stands before the id is seen on a narrow terminal too.
func jobRow(d host.JobData, state string, took time.Duration) term.Row {
	rest := " · " + oneLine(d.Description, d.Command)
	if took > 0 {
		rest = " · " + span(took) + rest
	}
	mark := term.Plain
	if d.Status != job.Running && d.Status != job.Completed && d.Status != job.Cancelled {
		mark = term.Bad
	}
	return term.Row{Spans: []term.Span{{Text: "job "}, {Text: state, Mark: mark}, {Text: ": "}, {Text: string(d.Job), Whole: true}, {Text: rest, Mark: term.Dim}}}
}

func firstLine(s string) string {
	return text.Preview(strings.TrimSpace(s), previewed)
}

// lastLine is the last line of an output that says something.
func lastLine(s string) string {
	s = strings.TrimRight(s, " \t\r\n")
	s = s[strings.LastIndexByte(s, '\n')+1:]
	return text.Preview(s, previewed)
}

// instant reads the time of an event.
func instant(stamp string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil {
		return time.Now()
	}
	return t
}

// span is a length of time in few characters.
func span(d time.Duration) string {
	switch {
	case d < time.Second && d%time.Second != 0:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second && d%time.Second != 0:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d:%02d min", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d:%02d h", int(d.Hours()), int(d.Minutes())%60)
}

func counted(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// short is a count that need not be exact.
func short(n int64) string {
	switch {
	case n < 10_000:
		return text.Thousands(int(n))
	case n < 1_000_000:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1_000_000)
}

package attention

import (
	"fmt"
	"strings"

	"evener/internal/id"
	"evener/internal/text"
)

// ExcerptLen bounds the output excerpt of a notice, in code points.
const ExcerptLen = 8000

// ShellEnd is what a terminal notice of a shell job says.
type ShellEnd struct {
	Job      id.Job
	Status   string
	Reason   string
	ExitCode *int   // nil or a sentinel below 0: not shown, since only a real code means something
	Total    int64  // output bytes
	Known    bool   // Total and Tail are what the job printed; false after a loss
	Tail     string // last bytes of the output, as they came
}

// words says how a status reads in the notice's first line.
var words = map[string]string{
	"completed":              "completed",
	"failed":                 "failed",
	"command_exited_nonzero": "exited nonzero",
	"command_killed":         "was killed",
	"cancelled":              "cancelled",
	"stopped":                "stopped",
}

// Frame renders the notice. Output is untrusted: every < in it is escaped, so
// that it can neither close the frame nor open another.
func Frame(e ShellEnd) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<job-notification job_id="%s" event="%s" job_type="shell" status="%s" reason="%s"`, e.Job, e.Status, e.Status, attr(e.Reason))
	if e.Known {
		fmt.Fprintf(&b, ` output_bytes="%d"`, e.Total)
	}
	if e.ExitCode != nil && *e.ExitCode >= 0 {
		fmt.Fprintf(&b, ` exit_code="%d"`, *e.ExitCode)
	}
	fmt.Fprintf(&b, ">\nJob %s %s. ", e.Job, words[e.Status])
	excerpt, cut := text.Tail(text.Printable(e.Tail), ExcerptLen)
	cut = cut || int64(len(e.Tail)) < e.Total
	if e.Known && !cut {
		b.WriteString("Complete output below.\n")
	} else {
		fmt.Fprintf(&b, "Output is available through read_transcript(transcript_ref=\"job:%s\") if needed.\n", e.Job)
	}
	if e.Known {
		b.WriteString("excerpt:\n")
		b.WriteString(text.Escape(excerpt))
		if excerpt != "" && !strings.HasSuffix(excerpt, "\n") {
			b.WriteString("\n")
		}
		if cut {
			b.WriteString("[excerpt truncated]\n")
		}
	}
	b.WriteString("</job-notification>")
	return b.String()
}

// DelegateFrame renders a notice of a delegate. body is harmless already: a
// packet whose JSON escapes every <, or an update that went through Escape.
func DelegateFrame(d id.Delegate, name string, c Class, body string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<delegate-notification delegate_id="%s"`, d)
	if c != Quiet {
		if name != "" {
			fmt.Fprintf(&b, ` name="%s"`, attr(text.Printable(name)))
		}
		fmt.Fprintf(&b, ` kind="%s"`, c)
	}
	b.WriteString(">" + body + "</delegate-notification>")
	return b.String()
}

func attr(s string) string {
	return strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", "\n", " ").Replace(s)
}

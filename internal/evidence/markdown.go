package evidence

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"evener/internal/fault"
	"evener/internal/job"
	"evener/internal/joblog"
	"evener/internal/text"
)

// windowBytes is how much of the retained tail the markdown view looks at.
const windowBytes = 256 << 10

// maxCommand bounds the command line in the view, in characters.
const maxCommand = 2000

type markdownView struct {
	Ref         string `json:"transcript_ref"`
	Format      string `json:"format"`
	ContentType string `json:"content_type"`
	Content     string `json:"content"`
	Meta        meta   `json:"meta"`
}

type meta struct {
	Truncated   bool  `json:"truncated"` // the render was elided
	TotalBytes  int64 `json:"total_bytes"`
	WindowStart int64 `json:"window_start_bytes"` // where the shown window of the output begins
	Dropped     int64 `json:"dropped_bytes,omitempty"`
	Pruned      bool  `json:"output_pruned,omitempty"`
	LeftOut     bool  `json:"output_left_out,omitempty"` // of the bundle that the session is from
}

// markdown is the default view: the record, then the tail of the retained
// output. It still renders when the output is gone.
func (r Reader) markdown(rec Record) (any, *fault.Error) {
	c, err := joblog.Tail(r.log(rec), windowBytes)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, r.unavailable(rec, err)
	}
	total, dropped := max(rec.Total, c.End), max(rec.Start, c.Start)
	left := err != nil && r.leftOut(rec)
	switch {
	case left:
		dropped = rec.Start
	case rec.Pruned || err != nil && rec.Total > 0:
		dropped = total
	}
	data, window := wholeLines(c)
	out := text.Printable(string(data))
	var b strings.Builder
	fmt.Fprintf(&b, "# Shell Job %s\n\n- status: %s\n- command: %s\n- total_bytes: %d\n", rec.ID, rec.Status, command(rec.Command), total)
	if dropped > 0 {
		fmt.Fprintf(&b, "- dropped_bytes: %d\n", dropped)
	}
	if left {
		b.WriteString("- output: left out when the bundle was made\n")
	}
	room := max(0, r.MaxChars-b.Len()-16)
	out, cut := text.Elide(out, room, func(n int) string {
		return fmt.Sprintf("\n… %s characters elided from this oversized turn; additional output is not available from this transcript view …\n", text.Thousands(n))
	})
	f := fence(out)
	fmt.Fprintf(&b, "\n%s\n%s", f, out)
	if out != "" && !strings.HasSuffix(out, "\n") {
		b.WriteString("\n")
	}
	b.WriteString(f + "\n")
	return markdownView{Ref: job.Ref(rec.ID), Format: "markdown", ContentType: "text/markdown", Content: b.String(),
		Meta: meta{Truncated: cut, TotalBytes: total, WindowStart: window, Dropped: dropped, Pruned: rec.Pruned, LeftOut: left}}, nil
}

// wholeLines drops the cut line at the beginning of a window that starts in
// the middle of the output, where there is another line behind it.
func wholeLines(c joblog.Chunk) ([]byte, int64) {
	data, at := c.Data, c.Offset
	if at > c.Start {
		for i, x := range data[:min(len(data), 4096)] {
			if x == '\n' {
				return data[i+1:], at + int64(i) + 1
			}
		}
	}
	return data, at
}

// command shows the command line on one line.
func command(s string) string {
	s, cut := text.Head(text.Printable(s), maxCommand)
	s = strings.ReplaceAll(strings.TrimSpace(s), "\n", "⏎ ")
	if cut {
		s += "…"
	}
	return s
}

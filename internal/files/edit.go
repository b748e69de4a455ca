package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"evener/internal/fault"
	"evener/internal/session"
	"evener/internal/text"
)

type editData struct {
	Path         string  `json:"path"`
	Replacements int     `json:"replacements"`
	At           []int64 `json:"at_lines"` // first lines of the new text, at most 100
	Bytes        int64   `json:"bytes"`    // of the file now
	Lines        int64   `json:"lines"`
}

const mostAt = 100

func (p Place) edit(ctx context.Context, c session.EditFileCall, known map[string]session.KnownFile) Result {
	n, bad := p.name("edit_file", c.Path)
	if bad == nil {
		bad = p.target(&n)
	}
	if bad != nil {
		return Result{Err: bad}
	}
	old, err := n.current(ctx, hashBytes)
	if errors.Is(err, fs.ErrNotExist) {
		bad := p.missing(n)
		bad.Text += "; write_file makes new files"
		return Result{Err: bad}
	}
	if err != nil {
		return Result{Err: p.refused(n, err)}
	}
	if old.sum == "" {
		return Result{Err: fault.Invalid("edit_file: %s has %s bytes; above %d MiB use a command such as sed", n.shown(), text.Thousands(int(old.info.Size())), hashBytes>>20)}
	}
	if kind := binary(old.content[:min(len(old.content), headBytes)]); kind != "" {
		return Result{Err: fault.Invalid("edit_file: %s is no text but %s; use a command for it", n.shown(), kind)}
	}
	if bad := session.CheckEdit(lookup(known, n.real), old.seen(n.real), n.given); bad != nil {
		return Result{Err: bad}
	}
	e, bad := findEdit(old.content, c, n)
	if bad != nil {
		return Result{Err: bad}
	}
	if size := e.size(); size > hashBytes {
		return Result{Err: fault.Invalid("edit_file: %s would have %s bytes after %d replacements; above %d MiB use a command", n.shown(), text.Thousands(int(size)), len(e.at), hashBytes>>20)}
	}
	content := e.apply()
	now, err := n.replace(ctx, old, content)
	if err != nil {
		return Result{Err: n.failed(err)}
	}
	d := editData{Path: n.given, Replacements: len(e.at), At: e.newLines(mostAt), Bytes: int64(len(content)), Lines: countLines(content)}
	said := fmt.Sprintf("edited %s: %s%s\n%s", n.shown(), plural(int64(len(e.at)), "replacement"), old.note(), e.diff())
	return Result{Text: said, Data: d, Seen: seenAs(n.real, session.FileEdited, now, content)}
}

// edit is one text replaced by another, at certain offsets of a content.
type edit struct {
	content  []byte
	old, new []byte
	at       []int // in order, not overlapping
}

// findEdit finds what is to be replaced: exactly as given, or with the line ends
// that the file has.
func findEdit(content []byte, c session.EditFileCall, n name) (edit, *fault.Error) {
	e := edit{content: content, old: []byte(c.OldString), new: []byte(c.NewString)}
	// A byte order mark is no part of the text: read_file does not show it.
	if !bytes.HasPrefix(content, []byte(bom)) {
		e.old = bytes.TrimPrefix(e.old, []byte(bom))
	}
	crlf, lf := lineEnds(content)
	if crlf > 0 && lf == 0 {
		e.old, e.new = toCRLF(e.old), toCRLF(e.new)
	}
	e.find()
	if len(e.at) == 0 && crlf > 0 && lf > 0 && bytes.IndexByte(e.old, '\n') >= 0 {
		e.old, e.new = toCRLF(e.old), toCRLF(e.new)
		if e.find(); len(e.at) == 0 {
			e.old, e.new = []byte(c.OldString), []byte(c.NewString)
		}
	}
	switch {
	case bytes.Equal(e.old, e.new):
		return e, fault.Invalid("edit_file: old_string and new_string differ only in their line ends, which stay as the file has them")
	case len(e.at) == 0:
		return e, fault.Invalid("edit_file: old_string is not in %s: %s", n.shown(), nearest(content, c.OldString))
	case len(e.at) > 1 && !c.ReplaceAll:
		return e, fault.Invalid("edit_file: old_string is found %d times in %s, at lines %s; add lines around it to make it unique, or set replace_all", len(e.at), n.shown(), listed(e.lines(6), len(e.at)))
	}
	return e, nil
}

func (e *edit) find() {
	e.at = nil
	if len(e.old) == 0 {
		return
	}
	for from := 0; ; {
		i := bytes.Index(e.content[from:], e.old)
		if i < 0 {
			return
		}
		e.at = append(e.at, from+i)
		from += i + len(e.old)
	}
}

// size is how long the new content is.
func (e edit) size() int64 {
	return int64(len(e.content)) + int64(len(e.at))*int64(len(e.new)-len(e.old))
}

func (e edit) apply() []byte {
	out := make([]byte, 0, e.size())
	from := 0
	for _, i := range e.at {
		out = append(append(out, e.content[from:i]...), e.new...)
		from = i + len(e.old)
	}
	return append(out, e.content[from:]...)
}

// lines are the numbers of the lines at which the old text stands, at most so many.
func (e edit) lines(most int) (out []int64) {
	n, from := int64(1), 0
	for _, i := range e.at[:min(len(e.at), most)] {
		n += int64(bytes.Count(e.content[from:i], []byte("\n")))
		from = i
		out = append(out, n)
	}
	return out
}

// newLines are those of the new text.
func (e edit) newLines(most int) (out []int64) {
	grown := int64(bytes.Count(e.new, []byte("\n")) - bytes.Count(e.old, []byte("\n")))
	for i, n := range e.lines(most) {
		out = append(out, n+int64(i)*grown)
	}
	return out
}

func listed(lines []int64, of int) string {
	var b strings.Builder
	for i, n := range lines {
		switch {
		case i > 0 && i == len(lines)-1 && len(lines) == of:
			b.WriteString(" and ")
		case i > 0:
			b.WriteString(", ")
		}
		fmt.Fprint(&b, n)
	}
	if len(lines) < of {
		b.WriteString(", …")
	}
	return b.String()
}

func lineEnds(b []byte) (crlf, lf int) {
	crlf = bytes.Count(b, []byte("\r\n"))
	return crlf, bytes.Count(b, []byte("\n")) - crlf
}

// toCRLF writes every line end as \r\n.
func toCRLF(b []byte) []byte {
	b = bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))
}

package files

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"evener/internal/fault"
	"evener/internal/session"
	"evener/internal/text"
)

// searchLine is how much is shown of one line, in bytes.
const searchLine = 400

type searchData struct {
	Pattern    string `json:"pattern"`
	Path       string `json:"path"`
	Matches    int64  `json:"matches"` // lines shown that match; with files_only 0
	Files      int64  `json:"files"`   // in which they are
	Offset     int64  `json:"offset,omitempty"`
	Next       int64  `json:"next_offset,omitempty"`
	Searched   int64  `json:"searched_files"`
	Binary     int    `json:"binary_files,omitempty"` // passed over
	Ignored    int    `json:"ignored,omitempty"`      // entries that .gitignore excludes, as far as the search came
	Unreadable int    `json:"unreadable,omitempty"`   // folders and files
	TimedOut   bool   `json:"timed_out,omitempty"`
	StoppedAt  string `json:"stopped_at,omitempty"` // the file that was searched when the time was over
}

// search is one search_files call under way.
type search struct {
	name
	ctx     context.Context
	call    session.SearchFilesCall
	re      *regexp.Regexp
	filter  *prefilter // may be nil
	globs   globs
	data    searchData
	limit   int64
	seen    int64 // matches met, skipped ones too
	badFile int
	out     strings.Builder
	lines   *lines
	full    bool // a bound is reached: nothing more is shown
}

func (p Place) search(ctx context.Context, c session.SearchFilesCall) Result {
	n, info, bad := p.existing("search_files", cmp.Or(c.Path, "."))
	if bad != nil {
		return Result{Err: bad}
	}
	s := &search{name: n, ctx: ctx, call: c, data: searchData{Pattern: c.Pattern, Path: n.given, Offset: c.Offset},
		limit: rows(c.Limit, session.SearchDefault), lines: newLines(nil)}
	var err error
	if s.re, err = regexp.Compile(c.Pattern); err != nil {
		return Result{Err: fault.Invalid("search_files: pattern is no RE2 pattern: %v", err)}
	}
	if parsed, err := syntax.Parse(c.Pattern, syntax.Perl); err == nil {
		if breaks(parsed) {
			return Result{Err: fault.Invalid("search_files: the pattern wants a line break, and lines are matched one by one; search for one of the lines, with context_lines")}
		}
		s.filter = prefilterOf(parsed)
	}
	if c.Glob != "" {
		if s.globs, err = parseGlobs(strings.TrimSuffix(c.Glob, "/")); err != nil {
			return Result{Err: fault.Invalid("search_files: glob %q is no glob: %v", c.Glob, err)}
		}
	}
	w := p.walker(ctx, c.IncludeIgnored, s.visit)
	if info.IsDir() {
		err = w.run(n.real)
	} else if err = s.file(n, c.Path); err != nil && ctx.Err() == nil {
		return Result{Err: p.refused(n, err)}
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded):
		s.data.TimedOut = true
	case err != nil:
		return Result{Err: n.failed(err)}
	}
	s.data.Ignored, s.data.Unreadable = w.ignored, w.unreadable+s.badFile
	return Result{Text: s.out.String() + s.notes(w.unreadable), Data: s.data}
}

// breaks reports whether all that matches holds a line break.
func breaks(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '\n')
	case syntax.OpCapture, syntax.OpPlus:
		return breaks(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min > 0 && breaks(re.Sub[0])
	case syntax.OpConcat:
		return slices.ContainsFunc(re.Sub, breaks)
	}
	return false
}

func (s *search) visit(parts []string, e fs.DirEntry) verdict {
	if e.IsDir() {
		if s.globs != nil && !s.globs.within(parts) {
			return pass
		}
		return goOn
	}
	if !e.Type().IsRegular() || s.globs != nil && !s.globs.match(parts, false) {
		return goOn
	}
	path := filepath.Join(append([]string{s.real}, parts...)...)
	err := s.file(name{tool: s.tool, path: path}, below(s.call.Path, parts))
	switch {
	case s.ctx.Err() != nil:
		s.data.StoppedAt = below(s.call.Path, parts)
		return stop
	case s.data.Next > 0:
		return stop
	case err != nil:
		s.badFile++
	}
	return goOn
}

// file searches one file.
func (s *search) file(n name, shown string) error {
	f, _, err := n.open()
	if err != nil {
		return err
	}
	defer f.Close()
	s.lines.reset(cancelled{s.ctx, f})
	s.lines.fill(0)
	if binary(s.lines.buf[:min(s.lines.end, headBytes)]) != "" {
		s.data.Binary++
		return nil
	}
	s.data.Searched++
	h := &hits{search: s, f: f, shown: shown}
	if s.filter != nil {
		s.filter.reset()
	}
	for {
		if s.filter != nil && h.after == 0 {
			s.lines.skip(s.filter.find, int(s.call.ContextLines))
		}
		l, ok := s.lines.next()
		if !ok {
			break
		}
		if !h.line(l) {
			return nil
		}
	}
	if s.lines.err != io.EOF {
		return s.lines.err
	}
	return nil
}

// hits are the matches in one file.
type hits struct {
	*search
	f      *os.File
	shown  string
	found  bool
	before []string // lines of context that were not shown, the newest last
	after  int64    // lines of context still owed
	last   int64    // the line shown last
}

// line looks at one line; false ends this file.
func (h *hits) line(l line) bool {
	from, to, ok := h.match(l)
	if !ok {
		h.context(l)
		return true
	}
	h.seen++
	switch {
	case h.seen <= h.call.Offset:
		h.before = nil // what comes next does not stand right behind it
	case h.call.FilesOnly:
		h.show(shownName(h.shown)+"\n", 0)
	default:
		h.hit(l, from, to)
	}
	return h.data.Next == 0 && !h.call.FilesOnly
}

// match looks for the pattern in a line. One that is not held whole is read from
// the file rune by rune.
func (h *hits) match(l line) (from, to int64, ok bool) {
	var loc []int
	if l.whole() {
		loc = h.re.FindIndex(l.text)
	} else if in := io.NewSectionReader(h.f, l.at, l.size); h.filter == nil || h.filter.in(cancelled{h.ctx, in}) {
		in.Seek(0, io.SeekStart) // within bounds: it cannot fail
		loc = h.re.FindReaderIndex(bufio.NewReaderSize(cancelled{h.ctx, in}, 64<<10))
	}
	if loc == nil {
		return 0, 0, false
	}
	return int64(loc[0]), int64(loc[1]), true
}

// context shows a line behind a match, or keeps it for the next one.
func (h *hits) context(l line) {
	n := h.call.ContextLines
	if n == 0 || h.full {
		return
	}
	row := fmt.Sprintf("%d-%s\n", l.n, h.excerpt(l, 0, 0))
	if h.after > 0 {
		if h.after--; h.out.Len()+len(row) <= listBytes {
			h.out.WriteString(row)
			h.last = l.n
			return
		}
		h.after = 0
	}
	h.before = append(h.before, row)
	if int64(len(h.before)) > n {
		h.before = h.before[1:]
	}
}

// hit shows a matching line with what stands before it, below the file's name.
func (h *hits) hit(l line, from, to int64) {
	var b strings.Builder
	first := l.n - int64(len(h.before))
	switch {
	case !h.found && h.out.Len() > 0:
		b.WriteString("\n" + shownName(h.shown) + "\n")
	case !h.found:
		b.WriteString(shownName(h.shown) + "\n")
	case h.call.ContextLines > 0 && first > h.last+1:
		b.WriteString("--\n")
	}
	for _, row := range h.before {
		b.WriteString(row)
	}
	fmt.Fprintf(&b, "%d:%s\n", l.n, h.excerpt(l, from, to))
	if !h.show(b.String(), 1) {
		return
	}
	h.before, h.after, h.last, h.found = nil, h.call.ContextLines, l.n, true
}

// show adds to the result, or finds that there is no room for it.
func (h *hits) show(s string, matches int64) bool {
	shown := h.data.Files
	if matches > 0 {
		shown = h.data.Matches
	}
	if shown == h.limit || h.out.Len()+len(s) > listBytes && shown > 0 {
		h.full, h.data.Next = true, h.call.Offset+shown
		return false
	}
	h.out.WriteString(s)
	h.data.Matches += matches
	if matches == 0 || !h.found {
		h.data.Files++
	}
	return true
}

// excerpt is a line, or of a long one the part around its match.
func (h *hits) excerpt(l line, from, to int64) string {
	if l.size <= searchLine {
		return text.Printable(string(l.text))
	}
	start := max(0, min(from-searchLine/4, l.size-searchLine))
	if to <= searchLine {
		start = 0
	}
	part := make([]byte, searchLine)
	if end := start + searchLine; end <= int64(len(l.text)) {
		copy(part, l.text[start:end])
	} else if n, err := h.f.ReadAt(part, l.at+start); err != nil && err != io.EOF {
		return "(this line could not be read again: " + reason(err) + ")"
	} else {
		part = part[:n]
	}
	for start > 0 && len(part) > 0 && part[0]&0xC0 == 0x80 { // not from the middle of a rune
		part = part[1:]
		start++
	}
	part = part[:runeEnd(part)]
	shown := text.Printable(string(part))
	if start > 0 {
		shown = "…" + shown
	}
	if start+int64(len(part)) < l.size {
		shown += "…"
	}
	return shown + fmt.Sprintf(" (of a line of %s bytes)", text.Thousands(int(l.size)))
}

func (s *search) notes(folders int) string {
	d := s.data
	var notes []string
	unit := fmt.Sprintf("%s in %s", plural(d.Matches, "match"), plural(d.Files, "file"))
	if s.call.FilesOnly {
		unit = plural(d.Files, "file") + " with a match"
	}
	switch {
	case d.Next > 0:
		notes = append(notes, fmt.Sprintf("%s, and there are more; go on with offset=%d", unit, d.Next))
	case d.Files > 0:
		notes = append(notes, unit)
	case s.seen > 0:
		notes = append(notes, fmt.Sprintf("there are only %d matches", s.seen))
	default:
		notes = append(notes, fmt.Sprintf("no match in %s", plural(d.Searched, "file")))
	}
	if d.Binary > 0 {
		notes = append(notes, fmt.Sprintf("%s passed over", plural(int64(d.Binary), "binary file")))
	}
	if d.Ignored > 0 && d.Files == 0 {
		notes = append(notes, fmt.Sprintf("%s ignored by .gitignore; include_ignored searches them", entries(int64(d.Ignored))))
	}
	return inBrackets(append(notes, troubles(folders, s.badFile, d.TimedOut, d.StoppedAt)...))
}

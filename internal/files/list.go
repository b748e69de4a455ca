package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"evener/internal/fault"
	"evener/internal/session"
)

// listBytes bounds the text of a listing, and of a search.
const listBytes = 32 << 10

type listData struct {
	Path       string `json:"path"`
	Pattern    string `json:"pattern,omitempty"`
	Count      int64  `json:"count"` // entries shown
	Offset     int64  `json:"offset,omitempty"`
	Next       int64  `json:"next_offset,omitempty"`
	Ignored    int    `json:"ignored,omitempty"`    // entries that .gitignore excludes, as far as the listing came
	Unreadable int    `json:"unreadable,omitempty"` // folders that could not be read
	TimedOut   bool   `json:"timed_out,omitempty"`
}

// listing is one list_files call under way.
type listing struct {
	name
	call  session.ListFilesCall
	globs globs
	data  listData
	limit int64
	seen  int64 // entries met, skipped ones too
	out   strings.Builder
}

func (p Place) list(ctx context.Context, c session.ListFilesCall) Result {
	n, info, bad := p.existing("list_files", cmp.Or(c.Path, "."))
	if bad != nil {
		return Result{Err: bad}
	}
	if !info.IsDir() {
		return Result{Err: fault.Invalid("list_files: %s is a file, not a folder; read_file reads it", n.shown())}
	}
	l := &listing{name: n, call: c, data: listData{Path: n.given, Pattern: c.Pattern, Offset: c.Offset}, limit: rows(c.Limit, session.ListDefault)}
	if c.Pattern != "" {
		var err error
		if l.globs, err = parseGlobs(c.Pattern); err != nil {
			return Result{Err: fault.Invalid("list_files: pattern %q is no glob: %v", c.Pattern, err)}
		}
	}
	w := p.walker(ctx, c.IncludeIgnored, l.visit)
	switch err := w.run(n.real); {
	case errors.Is(err, context.DeadlineExceeded):
		l.data.TimedOut = true
	case err != nil:
		return Result{Err: n.failed(err)}
	}
	l.data.Ignored, l.data.Unreadable = w.ignored, w.unreadable
	return Result{Text: l.out.String() + l.notes(), Data: l.data}
}

// rows is how many entries a call gives.
func rows(limit, def int64) int64 {
	if limit == 0 {
		return def
	}
	return min(limit, session.MostRows)
}

// visit takes what is in the folder itself; with a pattern, what matches at any depth.
func (l *listing) visit(parts []string, e fs.DirEntry) verdict {
	v := pass
	if l.globs != nil {
		if e.IsDir() && l.globs.within(parts) {
			v = goOn
		}
		if !l.globs.match(parts, e.IsDir()) {
			return v
		}
	}
	l.seen++
	if l.seen <= l.call.Offset {
		return v
	}
	line := l.entry(parts, e)
	if l.data.Count == l.limit || l.out.Len()+len(line) > listBytes && l.data.Count > 0 {
		l.data.Next = l.call.Offset + l.data.Count
		return stop
	}
	l.data.Count++
	l.out.WriteString(line)
	return v
}

func (l *listing) entry(parts []string, e fs.DirEntry) string {
	s := below(l.call.Path, parts)
	mark := ""
	switch t := e.Type(); {
	case t.IsDir():
		mark = "/"
	case t&fs.ModeSymlink != 0:
		if to, err := os.Readlink(filepath.Join(append([]string{l.real}, parts...)...)); err == nil {
			mark = " -> " + shownName(to)
		}
	case !t.IsRegular():
		mark = " (" + strings.TrimPrefix(notPlain(t).Error(), "is ") + ")"
	}
	return shownName(s) + mark + "\n"
}

// below is the name of what stands below a folder, as calls may give it.
func below(folder string, parts []string) string {
	rel := strings.Join(parts, "/")
	folder = strings.TrimPrefix(folder, "./")
	switch trimmed := strings.TrimRight(folder, "/"); {
	case folder == "" || folder == ".":
		return rel
	default:
		return trimmed + "/" + rel
	}
}

func (l *listing) notes() string {
	var notes []string
	d := l.data
	switch {
	case d.Next > 0:
		notes = append(notes, fmt.Sprintf("%s, and there are more; go on with offset=%d", entries(d.Count), d.Next))
	case d.Count == 0 && l.seen > 0:
		notes = append(notes, fmt.Sprintf("there are only %s", entries(l.seen)))
	case d.Count == 0 && d.Pattern != "":
		notes = append(notes, "nothing matches")
	case d.Count == 0:
		notes = append(notes, "nothing is in it")
	}
	if d.Ignored > 0 && (d.Count == 0 || d.Pattern == "") {
		notes = append(notes, fmt.Sprintf("%s ignored by .gitignore; include_ignored shows them", entries(int64(d.Ignored))))
	}
	return inBrackets(append(notes, troubles(d.Unreadable, 0, d.TimedOut, "")...))
}

func entries(n int64) string { return plural(n, "entry") }

// troubles say why something may be missing.
func troubles(folders, files int, timedOut bool, at string) (notes []string) {
	if folders > 0 {
		notes = append(notes, plural(int64(folders), "folder")+" could not be read")
	}
	if files > 0 {
		notes = append(notes, plural(int64(files), "file")+" could not be read")
	}
	if timedOut {
		if at != "" {
			at = " at " + shownName(at)
		}
		notes = append(notes, fmt.Sprintf("stopped after %v%s, before the end: name a folder further down, or a pattern with a plain word in it", Limit, at))
	}
	return notes
}

func inBrackets(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	return "(" + strings.Join(notes, "; ") + ")\n"
}

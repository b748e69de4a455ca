package session

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"evener/internal/effect"
	"evener/internal/fault"
	"evener/internal/transcript"
)

// FileUse is what a call did to a file.
type FileUse string

const (
	FileRead    FileUse = "read"
	FileWritten FileUse = "write" // made, or replaced whole
	FileEdited  FileUse = "edit"
)

// FileSeen: a call saw a file, or left it, as this. What the session knows of
// files is folded from these, so that it knows them after a restart too.
type FileSeen struct {
	Path   string  `json:"path"` // absolute, symbolic links resolved
	By     FileUse `json:"by"`   // `read`, `write` or `edit`
	Size   int64   `json:"size"`
	Time   int64   `json:"mtime_ns"`
	SHA256 string  `json:"sha256,omitempty"` // of all of it; none of a file above 32 MiB
	From   int64   `json:"from_line,omitempty"`
	To     int64   `json:"to_line,omitempty"` // of a read: the lines that were shown
	Lines  int64   `json:"lines,omitempty"`   // that it has
}

func (FileSeen) Kind() string { return "file.seen" }

// KnownFile is what a session knows of a file.
type KnownFile struct {
	FileSeen
	Shown [][2]int64 // lines that were shown, from and to, in order, apart
	Whole bool       // all of it was shown, or written by the session
}

// changed reports whether a file is another than the one known. Its content
// decides; where that was too large, size and time do.
func (k KnownFile) changed(now FileSeen) bool {
	if k.SHA256 != "" && now.SHA256 != "" {
		return k.SHA256 != now.SHA256
	}
	return k.Size != now.Size || k.Time != now.Time || k.SHA256 != now.SHA256
}

// KnownFiles is a copy of what the session knows of files, by path.
func (s *State) KnownFiles() map[string]KnownFile {
	out := make(map[string]KnownFile, len(s.files))
	for p, k := range s.files {
		out[p] = k
	}
	return out
}

func (s *State) applyFile(e FileSeen) error {
	old, known := s.files[e.Path]
	k := KnownFile{FileSeen: e}
	switch e.By {
	case FileRead:
		if known && !old.changed(e) {
			k.Shown, k.Whole = old.Shown, old.Whole
		}
		if e.From > 0 {
			k.Shown = addLines(k.Shown, [2]int64{e.From, e.To})
		}
		all := e.Lines == 0 || len(k.Shown) == 1 && k.Shown[0] == [2]int64{1, e.Lines}
		k.Whole = k.Whole || e.SHA256 != "" && all
	case FileWritten:
		k.Whole = true
	case FileEdited: // of a file that is not what was known no edit is made
		k.Whole = old.Whole
	default:
		return fmt.Errorf("file %s: seen by %q", e.Path, e.By)
	}
	if k.Whole {
		k.Shown = nil
	}
	s.files[e.Path] = k
	return nil
}

// addLines adds a stretch of lines to others, joining what touches. The others
// are left as they are: copies of them are about.
func addLines(to [][2]int64, add [2]int64) (out [][2]int64) {
	for _, x := range to {
		if x[0] > add[1]+1 || x[1]+1 < add[0] {
			out = append(out, x)
			continue
		}
		add = [2]int64{min(add[0], x[0]), max(add[1], x[1])}
	}
	out = append(out, add)
	slices.SortFunc(out, func(a, b [2]int64) int { return int(a[0] - b[0]) })
	return out
}

// CheckEdit is the rule of an edit: old_string shows that its text is known, so
// the file need not have been read; but one that was read must not have changed.
// k is nil for a file that the session does not know, and now is what stands there.
func CheckEdit(k *KnownFile, now FileSeen, name string) *fault.Error {
	if k == nil || !k.changed(now) {
		return nil
	}
	return fault.New(fault.FileChanged, "edit_file: %s has changed since this session saw it (a command, a formatter or somebody else did that); read_file it again, then edit", name)
}

// CheckOverwrite is the rule of a write over a file that is there: nothing is
// destroyed that the session has not seen as it is now.
func CheckOverwrite(k *KnownFile, now FileSeen, name string) *fault.Error {
	switch {
	case k == nil:
		return fault.New(fault.FileUnread, "write_file: %s exists and this session has not read it; read_file it first, or change parts of it with edit_file", name)
	case k.changed(now):
		return fault.New(fault.FileChanged, "write_file: %s has changed since this session saw it (a command, a formatter or somebody else did that); read_file it again first", name)
	case !k.Whole && now.SHA256 == "":
		return fault.New(fault.FileUnread, "write_file: %s is too large to be known whole (%d bytes); change it with a command, or remove it first", name, now.Size)
	case !k.Whole:
		return fault.New(fault.FileUnread, "write_file: of %s this session has seen only %s; read_file the rest before replacing all of it, or change parts of it with edit_file", name, k.shown())
	}
	return nil
}

func (k KnownFile) shown() string {
	var parts []string
	for _, x := range k.Shown {
		parts = append(parts, fmt.Sprintf("lines %d-%d", x[0], x[1]))
	}
	if len(parts) == 0 {
		return "what edit_file changed"
	}
	if len(parts) > 5 {
		parts = append(parts[:4], "…")
	}
	return fmt.Sprintf("%s of %d", strings.Join(parts, ", "), k.Lines)
}

// useFiles checks the arguments of a file tool and has the call carried out. The
// line that holds the call is on disk by then, so a write that a crash leaves
// without a result is known to have been under way.
func (w *work) useFiles(c transcript.Call, a Call) bool {
	err := CheckFiles(a)
	if err == nil && w.facts.Full != "" {
		err = fault.New(fault.StateFull, "%s: the filesystem of %s is full, so the result could not be recorded; free space there with a shell command, or end the turn", c.Name, w.facts.Full)
	}
	if err != nil {
		w.refuse(c, err)
		return false
	}
	w.order(effect.UseFiles{Call: c.ID, Dir: w.s.Dir})
	return true
}

// mayHaveDone is what must be said of a call that nobody waits for any more.
func (w *work) mayHaveDone(c transcript.Call) string {
	if w.s.Wait != nil && w.s.Wait.Call == c.ID {
		return "; the message was taken, only the wait for its answer has ended"
	}
	if c.Name == "write_file" || c.Name == "edit_file" {
		return "; whether it took effect is unknown"
	}
	return ""
}

// fullResult is how long a result may be while the disk is full, in bytes: what
// was set aside is for the ends of things.
const fullResult = 4 << 10

// filesDone records what a file tool came to, and what it saw, in one line.
func (w *work) filesDone(in FilesDone) {
	c, ok := w.waiting(in.Call)
	if !ok {
		return
	}
	if in.Seen != nil {
		w.emit(*in.Seen)
	}
	if n := len(in.Text) + len(in.Data); w.facts.Full != "" && n > fullResult {
		end := "was done"
		if in.IsError {
			end = "failed"
		}
		w.refuse(c, fault.New(fault.StateFull, "%s: it %s, and the filesystem of %s is full, so its result of %d bytes could not be recorded", c.Name, end, w.facts.Full, n))
	} else {
		w.emit(transcript.Answered{Call: c.ID, Name: c.Name, IsError: in.IsError, Text: in.Text, Data: json.RawMessage(in.Data)})
	}
	w.calls()
}

// Bounds of the file tools that their arguments are held to. A limit above its
// most means the most.
const (
	ReadLines     = 2000
	ListDefault   = 200
	SearchDefault = 100
	MostRows      = 1000
	mostPath      = 4096 // bytes, as with Linux
	mostPattern   = 1000 // bytes
)

// CheckFiles applies the rules of a file tool's arguments that need no world.
func CheckFiles(a Call) *fault.Error {
	switch a := a.(type) {
	case ReadFileCall:
		return firstOf(checkPath("read_file", a.Path, true), notNegative("read_file", "offset", a.Offset), notNegative("read_file", "limit", a.Limit))
	case WriteFileCall:
		return checkPath("write_file", a.Path, true)
	case EditFileCall:
		return firstOf(checkPath("edit_file", a.Path, true), checkStrings(a))
	case ListFilesCall:
		return firstOf(checkPath("list_files", a.Path, false), notLong("list_files", "pattern", a.Pattern), notNegative("list_files", "limit", a.Limit), notNegative("list_files", "offset", a.Offset))
	case SearchFilesCall:
		return firstOf(checkPath("search_files", a.Path, false), notLong("search_files", "pattern", a.Pattern), notLong("search_files", "glob", a.Glob), checkSearch(a), notNegative("search_files", "limit", a.Limit), notNegative("search_files", "offset", a.Offset))
	}
	return fault.Invalid("%T is no call of a file tool", a)
}

func firstOf(all ...*fault.Error) *fault.Error {
	for _, err := range all {
		if err != nil {
			return err
		}
	}
	return nil
}

func checkPath(tool, path string, needed bool) *fault.Error {
	switch at := strings.IndexByte(path, 0); {
	case path == "" && needed:
		return fault.Invalid("%s: path is empty", tool)
	case len(path) > mostPath:
		return fault.Invalid("%s: path has %d bytes; no path may have more than %d", tool, len(path), mostPath)
	case at >= 0:
		return fault.Invalid("%s: path holds a NUL character at byte %d, which no file name can", tool, at)
	}
	return nil
}

func notNegative(tool, name string, n int64) *fault.Error {
	if n < 0 {
		return fault.Invalid("%s: %s must not be negative (got %d)", tool, name, n)
	}
	return nil
}

func notLong(tool, name, s string) *fault.Error {
	if len(s) > mostPattern {
		return fault.Invalid("%s: %s has %d bytes; at most %d are taken", tool, name, len(s), mostPattern)
	}
	return nil
}

func checkStrings(a EditFileCall) *fault.Error {
	switch {
	case a.OldString == "":
		return fault.Invalid("edit_file: old_string is empty; give the text to replace, or make a new file with write_file")
	case a.OldString == a.NewString:
		return fault.Invalid("edit_file: old_string and new_string are the same, which would change nothing")
	}
	return nil
}

func checkSearch(a SearchFilesCall) *fault.Error {
	if a.ContextLines < 0 || a.ContextLines > maxContext {
		return fault.Invalid("search_files: context_lines must be from 0 to %d (got %d)", maxContext, a.ContextLines)
	}
	if a.Pattern == "" {
		return fault.Invalid("search_files: pattern is empty; list_files lists files")
	}
	if _, err := regexp.Compile(a.Pattern); err != nil {
		return fault.Invalid("search_files: pattern is no RE2 pattern: %v", err)
	}
	return nil
}

// Package files carries out the file tools: all of their work on file systems.
//
//   - A path is relative to the session's working directory, absolute, or ~/…,
//     and may name whatever the user may access. Nothing is written into the
//     state folder, through whatever links a path leads.
//   - What is written stands beside the target first, is synced, takes over the
//     mode, and replaces the target by one rename: there is the old file or the
//     new one. The result is told after the folder is synced too.
//   - Whether a file may be changed is the core's rule, given what stands there:
//     session.CheckEdit, session.CheckOverwrite. Other processes may change a
//     file at any time; between the last look and the rename is a moment in
//     which that is not seen.
//   - Every result is bounded, in lines, bytes and time, and says how to go on.
//     No length of a line is a trap. Only plain files are read: a pipe or a device
//     would wait for somebody.
//   - What is shown is valid UTF-8 with control characters visible.
package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"evener/internal/fault"
	"evener/internal/session"
	"evener/internal/text"
)

// Limit bounds the time of one call. A listing or a search that reaches it
// returns what it has.
const Limit = 30 * time.Second

// Place is where the calls of a session work.
type Place struct {
	Dir      string // working directory
	Sessions string // the state folder: nothing is written there
	Scratch  string // but for what is below this
}

// Result is what a call came to.
type Result struct {
	Text string
	Data any               // documented JSON
	Seen *session.FileSeen // the file as the session knows it now
	Err  *fault.Error
}

// Do carries out one call. known is what the session has seen of files.
func Do(ctx context.Context, p Place, call session.Call, known map[string]session.KnownFile) Result {
	ctx, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
	switch c := call.(type) {
	case session.ReadFileCall:
		return p.read(ctx, c)
	case session.WriteFileCall:
		return p.write(ctx, c, known)
	case session.EditFileCall:
		return p.edit(ctx, c, known)
	case session.ListFilesCall:
		return p.list(ctx, c)
	case session.SearchFilesCall:
		return p.search(ctx, c)
	}
	return Result{Err: fault.Invalid("%T is no call of a file tool", call)}
}

// A name is a file that a call names: as it was given, as it is opened, and
// where it really is.
type name struct {
	tool  string
	given string // as shown
	path  string // absolute
	real  string // absolute, symbolic links resolved
}

// name takes a path as a call gives it. A relative one needs the working
// directory, which a command may have removed.
func (p Place) name(tool, given string) (name, *fault.Error) {
	n := name{tool: tool, given: shownName(given), path: given}
	if rest, ok := strings.CutPrefix(given, "~"); ok && (rest == "" || rest[0] == '/') {
		home, err := os.UserHomeDir()
		if err != nil {
			return n, fault.Invalid("%s: %s needs a home directory, and HOME is not set; give the whole path", tool, n.given)
		}
		n.path = home + rest
	}
	if !filepath.IsAbs(n.path) {
		if info, err := os.Stat(p.Dir); err != nil || !info.IsDir() {
			why := "is no longer a folder"
			if err != nil {
				why = "is gone: " + reason(err)
			}
			return n, fault.New(fault.DirectoryGone, "%s: the session's working directory %s %s; nothing was done, as paths are relative to it. Once it is there again calls work; absolute paths work now", tool, shownName(p.Dir), why)
		}
		n.path = p.Dir + "/" + n.path // not cleaned: link/.. is above where the link leads
	}
	return n, nil
}

// existing is name for a file that must be there.
func (p Place) existing(tool, given string) (name, fs.FileInfo, *fault.Error) {
	n, bad := p.name(tool, given)
	if bad != nil {
		return n, nil, bad
	}
	info, err := os.Stat(n.path)
	if err == nil {
		n.real, err = filepath.EvalSymlinks(n.path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil, p.missing(n)
	}
	if err != nil {
		return n, nil, n.failed(err)
	}
	return n, info, nil
}

// shown is the name for a message: where it leads, if that is elsewhere.
func (n name) shown() string {
	if n.real == "" || n.real == filepath.Clean(n.path) {
		return n.given
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(n.path)); err == nil && filepath.Join(dir, filepath.Base(n.path)) == n.real {
		return n.given // only a folder on the way is a link
	}
	return n.given + " (a link to " + shownName(n.real) + ")"
}

// failed turns an error of the system into a refusal that names the file.
func (n name) failed(err error) *fault.Error {
	switch {
	case errors.Is(err, errChanged):
		return fault.New(fault.FileChanged, "%s: %s: somebody else changed it in this moment, so nothing was written; read_file it again", n.tool, n.given)
	case errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.FileFailed, "%s: %s: not done within %v, so it was given up", n.tool, n.given, Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fault.New(fault.FileFailed, "%s: %s: it gave nothing more to read for %v; use a shell command for it", n.tool, n.given, mostWait)
	case errors.Is(err, context.Canceled):
		return fault.New(fault.Closing, "%s: %s: given up, the session is closing", n.tool, n.given)
	case errors.Is(err, errOwn), errors.Is(err, fs.ErrPermission), errors.Is(err, unix.EROFS):
		return fault.New(fault.FileDenied, "%s: %s: %s", n.tool, n.shown(), reason(err))
	case errors.Is(err, fs.ErrNotExist):
		return fault.New(fault.FileNotFound, "%s: %s is not there", n.tool, n.given)
	case errors.Is(err, unix.ENOTDIR):
		return fault.New(fault.FileNotFound, "%s: %s: a part of this path is a file, not a folder", n.tool, n.given)
	case errors.Is(err, unix.ELOOP), err.Error() == "EvalSymlinks: too many links":
		return fault.Invalid("%s: %s: its symbolic links lead in a circle", n.tool, n.given)
	case errors.Is(err, unix.ENAMETOOLONG):
		return fault.Invalid("%s: %s: the name is too long for the file system", n.tool, n.given)
	}
	return fault.New(fault.FileFailed, "%s: %s: %s", n.tool, n.shown(), reason(err))
}

// reason is an error of the system without the path, which the caller shows.
func reason(err error) string {
	return text.Preview(bare(err).Error(), 300)
}

// shownName is a path on one line. One with control characters, or that is not
// UTF-8, is quoted as Go does.
func shownName(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == utf8.RuneError }) && text.Printable(s) == s {
		return s
	}
	return strconv.Quote(s)
}

// missing says that a file is not there, with what may have been meant.
func (p Place) missing(n name) *fault.Error {
	dir := filepath.Dir(filepath.Clean(n.path))
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		for {
			up := filepath.Dir(dir)
			if info, err := os.Stat(up); err == nil && info.IsDir() || up == dir {
				return fault.New(fault.FileNotFound, "%s: %s is not there: %s has no folder %s%s", n.tool, n.given, shownName(up), shownName(filepath.Base(dir)), p.rooted(n))
			}
			dir = up
		}
	}
	hint := p.rooted(n)
	if near := closeNames(dir, filepath.Base(n.path)); hint == "" && len(near) > 0 {
		for i, x := range near {
			near[i] = shownName(filepath.Join(filepath.Dir(n.given), x))
		}
		hint = "; there is " + strings.Join(near, ", ")
	}
	if _, err := os.Lstat(n.path); err == nil {
		hint = "; it is a symbolic link to what does not exist"
	}
	return fault.New(fault.FileNotFound, "%s: %s is not there%s", n.tool, n.given, hint)
}

// rooted helps with a path that was written as absolute and is meant relative.
func (p Place) rooted(n name) string {
	if !filepath.IsAbs(n.given) {
		return ""
	}
	rel := strings.TrimLeft(n.given, "/")
	if _, err := os.Stat(filepath.Join(p.Dir, rel)); err != nil || rel == "" {
		return ""
	}
	return "; in the working directory there is " + shownName(rel)
}

// mostNames bounds how much of a folder is looked at for close names.
const mostNames = 5000

// closeNames are up to three names of a folder that are like the given one, the
// most alike first.
func closeNames(dir, base string) []string {
	f, err := os.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	names, _ := f.Readdirnames(mostNames)
	var best [3]string
	var cost [3]int
	for _, x := range names {
		d := distance(strings.ToLower(x), strings.ToLower(base))
		if d > max(1, min(len(base), len(x))/3) {
			continue
		}
		for i := range best {
			if best[i] == "" || d < cost[i] || d == cost[i] && x < best[i] {
				copy(best[i+1:], best[i:])
				copy(cost[i+1:], cost[i:])
				best[i], cost[i] = x, d
				break
			}
		}
	}
	var out []string
	for _, x := range best {
		if x != "" {
			out = append(out, x)
		}
	}
	return out
}

// distance is how many bytes must be changed, added or taken away.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// mostWait bounds how long a file may keep a reader waiting for something to read.
const mostWait = 2 * time.Second

// open opens a plain file for reading. It is looked at before it is opened, as
// opening a device can do something, and once more behind that; a file that is
// read piece by piece from a driver gives what it has and does not wait.
func (n name) open() (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(n.path)
	if err == nil && !info.Mode().IsRegular() {
		return nil, info, notPlain(info.Mode())
	}
	var f *os.File
	if err == nil {
		f, err = os.OpenFile(n.path, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	}
	if err != nil {
		return nil, info, err
	}
	if info, err = f.Stat(); err == nil && !info.Mode().IsRegular() {
		err = notPlain(info.Mode())
	}
	if err == nil && ownProcess(f, info.Size()) {
		err = errOwn
	}
	if err != nil {
		f.Close()
		return nil, info, err
	}
	// Only a file of the system's own, such as a log of the kernel, can be waited
	// for; of any other this fails, and its reads do not wait.
	f.SetReadDeadline(time.Now().Add(mostWait))
	return f, info, nil
}

var errOwn = errors.New("tells of evener's own process, whose keys are nobody's to read")

// notPlain says what stands in the place of a plain file.
type notPlain fs.FileMode

func (m notPlain) Error() string {
	switch m := fs.FileMode(m); {
	case m.IsDir():
		return "is a folder"
	case m&fs.ModeNamedPipe != 0:
		return "is a named pipe (a FIFO)"
	case m&fs.ModeSocket != 0:
		return "is a socket"
	case m&fs.ModeDevice != 0:
		return "is a device"
	}
	return "is no plain file"
}

// refused turns what open failed with into a refusal.
func (p Place) refused(n name, err error) *fault.Error {
	mode, ok := errors.AsType[notPlain](err)
	switch {
	case ok && fs.FileMode(mode).IsDir():
		return fault.Invalid("%s: %s is a folder; list_files shows what is in it", n.tool, n.shown())
	case ok:
		return fault.Invalid("%s: %s %s, not a plain file; use a shell command for it", n.tool, n.shown(), mode)
	case errors.Is(err, fs.ErrNotExist):
		return p.missing(n)
	}
	return n.failed(err)
}

// cancelled gives a reader an end when the call is over.
type cancelled struct {
	ctx context.Context
	f   interface{ Read([]byte) (int, error) }
}

func (r cancelled) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := r.f.Read(b)
	return n, err
}

func plural(n int64, one string) string {
	if n == 1 {
		return "1 " + one
	}
	many := one + "s"
	switch {
	case strings.HasSuffix(one, "ch"):
		many = one + "es"
	case strings.HasSuffix(one, "y"):
		many = strings.TrimSuffix(one, "y") + "ies"
	}
	return fmt.Sprintf("%d %s", n, many)
}

package files

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"evener/internal/fault"
	"evener/internal/session"
)

type writeData struct {
	Path    string `json:"path"`
	Created bool   `json:"created"` // false: an existing file was replaced
	Bytes   int64  `json:"bytes"`
	Lines   int64  `json:"lines"`
}

func (p Place) write(ctx context.Context, c session.WriteFileCall, known map[string]session.KnownFile) Result {
	n, bad := p.name("write_file", c.Path)
	if bad != nil {
		return Result{Err: bad}
	}
	if strings.HasSuffix(c.Path, "/") {
		return Result{Err: fault.Invalid("write_file: %s names a folder, not a file", n.given)}
	}
	bad = p.target(&n)
	if bad != nil {
		return Result{Err: bad}
	}
	content := []byte(c.Content)
	d := writeData{Path: n.given, Created: true, Bytes: int64(len(content)), Lines: countLines(content)}
	old, err := n.current(ctx, hashBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if bad := p.makeParents(n); bad != nil {
			return Result{Err: bad}
		}
	case err != nil:
		return Result{Err: p.refused(n, err)}
	default:
		d.Created = false
		if bad := session.CheckOverwrite(lookup(known, n.real), old.seen(n.real), n.given); bad != nil {
			return Result{Err: bad}
		}
	}
	now, err := n.replace(ctx, old, content)
	if err != nil {
		return Result{Err: n.failed(err)}
	}
	verb := "created"
	if !d.Created {
		verb = "overwrote"
	}
	return Result{Text: fmt.Sprintf("%s %s: %s, %s%s", verb, n.shown(), plural(d.Bytes, "byte"), plural(d.Lines, "line"), old.note()), Data: d, Seen: seenAs(n.real, session.FileWritten, now, content)}
}

func countLines(b []byte) int64 {
	n := int64(bytes.Count(b, []byte("\n")))
	if len(b) > 0 && b[len(b)-1] != '\n' {
		n++
	}
	return n
}

func lookup(known map[string]session.KnownFile, path string) *session.KnownFile {
	if k, ok := known[path]; ok {
		return &k
	}
	return nil
}

// target finds where a write goes: through links, also one whose target is not
// there yet. Nothing goes into the state folder.
func (p Place) target(n *name) *fault.Error {
	real, err := realPath(n.path)
	if err != nil {
		return n.failed(err)
	}
	n.real = real
	sessions, err := os.Stat(p.Sessions)
	if err != nil {
		return nil // there is none to protect
	}
	scratch, _ := os.Stat(p.Scratch) // made with the first command
	for dir := real; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil {
			if scratch != nil && os.SameFile(info, scratch) {
				return nil
			}
			if os.SameFile(info, sessions) {
				return fault.New(fault.FileDenied, "%s: %s lies in the state folder of evener (%s), where only evener writes", n.tool, n.shown(), shownName(p.Sessions))
			}
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// realPath resolves symbolic links, of what is there and of what a link would
// lead to; what is missing behind that stays as it is.
func realPath(path string) (string, error) {
	var done string // resolved
	rest := path
	for links := 0; rest != ""; {
		part, more, _ := strings.Cut(strings.TrimLeft(rest, "/"), "/")
		rest = more
		switch part {
		case "", ".":
			continue
		case "..":
			done = strings.TrimSuffix(filepath.Dir("/"+done), "/")
			continue
		}
		next := done + "/" + part
		target, err := os.Readlink(next)
		switch {
		case err == nil:
			if links++; links > 40 {
				return "", unix.ELOOP
			}
			if filepath.IsAbs(target) {
				done = ""
			}
			rest = target + "/" + rest
		case errors.Is(err, unix.EINVAL), errors.Is(err, fs.ErrNotExist): // no link
			done = next
		default:
			return "", err
		}
	}
	if done == "" {
		return "/", nil
	}
	return filepath.Clean(done), nil
}

// makeParents makes the folders above a new file, each entry synced.
func (p Place) makeParents(n name) *fault.Error {
	if err := makeFolder(filepath.Dir(n.real)); err != nil {
		if errors.Is(err, unix.ENOTDIR) {
			return fault.Invalid("%s: %s: a part of this path is a file, not a folder", n.tool, n.given)
		}
		return n.failed(err)
	}
	return nil
}

func makeFolder(dir string) error {
	switch info, err := os.Stat(dir); {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return unix.ENOTDIR
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	up := filepath.Dir(dir)
	if err := makeFolder(up); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(up)
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}

// present is a file as it stands before it is changed.
type present struct {
	info    fs.FileInfo // nil: there is none
	content []byte      // if it is not too large
	sum     string      // of the content; empty if it is too large
}

// current reads the file that a write would replace.
func (n name) current(ctx context.Context, most int64) (present, error) {
	at := n
	at.path = n.real
	f, info, err := at.open()
	if err != nil {
		return present{}, err
	}
	defer f.Close()
	was := present{info: info}
	if info.Size() > most {
		return was, nil
	}
	was.content, err = io.ReadAll(io.LimitReader(cancelled{ctx, f}, most+1))
	if err != nil || int64(len(was.content)) > most {
		was.content = nil
		return was, err
	}
	sum := sha256.Sum256(was.content)
	was.sum = hex.EncodeToString(sum[:])
	return was, nil
}

func (was present) seen(path string) session.FileSeen {
	s := session.FileSeen{Path: path, Size: was.info.Size(), Time: was.info.ModTime().UnixNano(), SHA256: was.sum}
	if was.sum != "" {
		s.Size = int64(len(was.content))
	}
	return s
}

// note says what a replacement could not keep.
func (was present) note() string {
	if was.info != nil {
		if st, ok := was.info.Sys().(*syscall.Stat_t); ok && st.Nlink > 1 {
			return fmt.Sprintf(" (it had %d hard links; the other names keep the old content)", st.Nlink)
		}
	}
	return ""
}

func seenAs(path string, by session.FileUse, info fs.FileInfo, content []byte) *session.FileSeen {
	if !utf8.ValidString(path) {
		return nil // a journal could not name it
	}
	s := &session.FileSeen{Path: path, By: by, Size: int64(len(content)), Time: info.ModTime().UnixNano(), Lines: countLines(content)}
	if len(content) <= hashBytes {
		sum := sha256.Sum256(content)
		s.SHA256 = hex.EncodeToString(sum[:])
	}
	return s
}

// replace puts content in the place of a file, or where none was: whole or not
// at all. A file that may not be written is not replaced either, though its
// folder would allow it.
func (n name) replace(ctx context.Context, was present, content []byte) (fs.FileInfo, error) {
	if was.info != nil {
		if was.info.Mode().Perm()&0o222 == 0 || unix.Access(n.real, unix.W_OK) != nil {
			return nil, readOnly(was.info.Mode().Perm())
		}
	}
	dir := filepath.Dir(n.real)
	tmp := filepath.Join(dir, tempName(filepath.Base(n.real)))
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("its folder takes no new file: %w", bare(err))
	}
	info, err := fillFile(ctx, f, was.info, content)
	if err == nil {
		err = n.unchanged(was)
	}
	if err == nil {
		err = bare(os.Rename(tmp, n.real))
	}
	if err != nil {
		os.Remove(tmp) // the first error says why
		return nil, err
	}
	if err := syncFolder(dir); err != nil {
		return nil, fmt.Errorf("it is written, but its folder could not be synced: %w", bare(err))
	}
	return info, nil
}

// tempName is a name beside a file for what is to replace it. Names may have 255 bytes.
func tempName(base string) string {
	var r [5]byte
	rand.Read(r[:]) // never fails
	if len(base) > 200 {
		base = base[:200]
	}
	return "." + base + ".evener-" + hex.EncodeToString(r[:])
}

// fillFile writes and syncs the new file, with the mode and as far as allowed the
// owner of the one that it replaces.
func fillFile(ctx context.Context, f *os.File, old fs.FileInfo, content []byte) (info fs.FileInfo, err error) {
	defer func() {
		if cerr := f.Close(); err == nil {
			err = bare(cerr)
		}
	}()
	for rest := content; len(rest) > 0; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := f.Write(rest[:min(len(rest), 1<<20)])
		if err != nil {
			return nil, bare(err)
		}
		rest = rest[n:]
	}
	if old != nil {
		if st, ok := old.Sys().(*syscall.Stat_t); ok {
			if f.Chown(int(st.Uid), int(st.Gid)) != nil {
				f.Chown(-1, int(st.Gid)) // a file of somebody else becomes one's own
			}
		}
		if err := f.Chmod(old.Mode() & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)); err != nil {
			return nil, bare(err)
		}
	}
	if err := f.Sync(); err != nil {
		return nil, bare(err)
	}
	return f.Stat()
}

var errChanged = errors.New("changed in this moment")

// unchanged looks once more, right before the rename.
func (n name) unchanged(was present) error {
	info, err := os.Lstat(n.real)
	switch {
	case was.info == nil && errors.Is(err, fs.ErrNotExist):
		return nil
	case was.info == nil && err == nil:
		return errChanged
	case err != nil:
		return bare(err)
	case !os.SameFile(info, was.info) || info.Size() != was.info.Size() || !info.ModTime().Equal(was.info.ModTime()):
		return errChanged
	}
	return nil
}

type readOnly fs.FileMode

func (m readOnly) Error() string {
	return fmt.Sprintf("it is read-only (mode %04o); chmod u+w allows it, if it may be changed", uint32(m))
}

func (readOnly) Is(target error) bool { return target == fs.ErrPermission }

// bare is an error without the name of a temporary file.
func bare(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

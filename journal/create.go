package journal

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Create makes a journal that does not exist yet, with the folders above it
// that are missing, and with the records that it is born with, if any. When it
// returns the file, its name and each folder that it made are durable; if it
// fails it leaves no file of that name, as far as the disk lets it. An existing
// file is fs.ErrExist.
func Create(path string, o Options, recs ...Record) (*Journal, error) {
	o = o.filled()
	j, err := create(path, o, recs)
	if err != nil {
		return nil, fmt.Errorf("create journal: %w", err)
	}
	j.start()
	return j, nil
}

func create(path string, o Options, recs []Record) (*Journal, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if o.Owner != nil && !validCompact(o.Owner) {
		return nil, fmt.Errorf("%w: owner is not compact JSON", ErrInvalid)
	}
	j := &Journal{o: o, path: path, hash: newChain(Closing{})}
	j.head = Header{Format: format, FileID: newFileID(), Owner: o.Owner, BootID: bootID()}
	sc, err := encode(recs, o.Now)
	if err != nil {
		return nil, err
	}
	defer sc.free()
	b := j.firstBatch(sc)
	if n := bytes.IndexByte(b.buf, '\n'); n >= MaxLine {
		return nil, fmt.Errorf("owner: %w", ErrTooLong)
	}
	if j.f, err = publish(o.fs, path, func(f file) (int64, error) { return int64(len(b.buf)), writeAll(f, b.buf) }); err != nil {
		return nil, err
	}
	if j.info, err = j.f.stat(); err != nil {
		return nil, errors.Join(pathError("stat", path, err), closeFile(j.f, path))
	}
	j.durable, j.durAt = b.last, b.lastAt
	return j, nil
}

// firstBatch is the header and, if the file is born with records, these behind
// the line that says which program wrote them.
func (j *Journal) firstBatch(sc *scratch) *batch {
	b := j.newBatch()
	now := j.o.Now()
	j.lastAt = now
	j.put(b, ownBody(kindCreated, j.head, now), now)
	if len(sc.parts) > 0 {
		j.put(b, openedBody(j.o.Version, now), now)
		j.opened = j.next.Seq
		sc.each(func(body []byte, at time.Time) { j.put(b, body, at) })
	}
	return b
}

func newFileID() string {
	var id [16]byte
	rand.Read(id[:]) // never fails: the program ends if the system has no randomness
	return hex.EncodeToString(id[:])
}

const unborn = ".new-"

// Unborn reports whether a file of this name is what Create leaves of the journal of a
// base name when the process ends in the midst of it. It was never a journal, and may
// be removed by whoever knows that nobody is making that journal now.
func Unborn(name, base string) bool { return strings.HasPrefix(name, "."+base+unborn) }

// publish makes a file that appears under its name whole and durable, or not at
// all: written and synced under another name, linked to its own, which fails if
// there is one, then the folder is synced. The file comes back open and locked.
func publish(fsys filesystem, path string, fill func(file) (int64, error)) (file, error) {
	made, err := makeFolders(fsys, filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	temp := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+unborn+newFileID()[:12])
	f, err := fsys.open(temp, syscall.O_RDWR|syscall.O_APPEND|syscall.O_CREAT|syscall.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := settle(fsys, f, temp, path, fill); err != nil {
		return nil, errors.Join(err, dropTemp(fsys, temp), closeFile(f, temp))
	}
	if err := syncFolders(fsys, filepath.Dir(path), made); err != nil {
		// The name may or may not last. It must not look like a journal that was given out.
		return nil, errors.Join(err, fsys.remove(path), closeFile(f, path))
	}
	return f, nil
}

func settle(fsys filesystem, f file, temp, path string, fill func(file) (int64, error)) error {
	if err := f.lock(); err != nil {
		return pathError("lock", temp, err)
	}
	size, err := fill(f)
	if err != nil {
		return pathError("write", temp, err)
	}
	if err := hasSize(f, temp, size); err != nil {
		return err
	}
	if err := f.sync(); err != nil {
		return pathError("sync", temp, err)
	}
	return exclusive(fsys, temp, path)
}

// exclusive moves temp to path unless there is a file of that name. Where the
// file system has no links, looking first must do.
func exclusive(fsys filesystem, temp, path string) error {
	err := fsys.link(temp, path)
	switch {
	case err == nil:
		if err := fsys.remove(temp); err != nil {
			return errors.Join(err, fsys.remove(path))
		}
		return nil
	case !errors.Is(err, syscall.EPERM) && !errors.Is(err, syscall.EOPNOTSUPP) && !errors.Is(err, syscall.ENOSYS):
		return err
	}
	switch _, err := fsys.stat(path); {
	case err == nil:
		return pathError("create", path, syscall.EEXIST)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return fsys.rename(temp, path)
}

func dropTemp(fsys filesystem, temp string) error {
	if err := fsys.remove(temp); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// makeFolders makes dir and what is missing above it, and returns what it made,
// the lowest first.
func makeFolders(fsys filesystem, dir string) (made []string, err error) {
	for at := dir; ; at = filepath.Dir(at) {
		_, err := fsys.stat(at)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || at == filepath.Dir(at) {
			return nil, err
		}
		made = append(made, at)
	}
	for i := len(made) - 1; i >= 0; i-- {
		if err := fsys.mkdir(made[i], 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	return made, nil
}

// syncFolders makes the name in dir durable, then the name of each new folder in
// the one above it.
func syncFolders(fsys filesystem, dir string, made []string) error {
	if err := fsys.syncDir(dir); err != nil {
		return err
	}
	for _, d := range made {
		if err := fsys.syncDir(filepath.Dir(d)); err != nil {
			return err
		}
	}
	return nil
}

// hasSize catches another writer, a truncation, a system that took bytes and did
// not write them, and a file that was deleted behind its writer.
func hasSize(f file, path string, want int64) error {
	info, err := f.stat()
	switch {
	case err != nil:
	case info.deleted:
		err = errors.New("the file was deleted while it was being written")
	case info.size != want:
		err = fmt.Errorf("%d bytes where %d were written", info.size, want)
	}
	return pathError("stat", path, err)
}

// syncPath makes the name of a file durable, and the names of the folders above
// it. A folder that may not be read is left out.
func syncPath(fsys filesystem, path string) error {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if err := fsys.syncDir(dir); err != nil && !errors.Is(err, fs.ErrPermission) {
			return err
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

func writeAll(f file, b []byte) error {
	for len(b) > 0 {
		n, err := f.write(b)
		if err == nil && n == 0 {
			err = syscall.EIO
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

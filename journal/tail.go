package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"syscall"
)

// stretch is a part of the file, from one offset to another.
type stretch struct{ from, to int64 }

// settleTail makes the last write durable, if that is not certain yet. After a
// kill its pages may be in the cache only, and after a failed sync they may be
// marked clean, so that syncing again would not write them. So they are written
// over with the same bytes first.
func (j *Journal) settleTail() error {
	if j.tail == nil {
		return nil
	}
	if err := rewrite(j.o.fs, j.f, j.path, j.info, *j.tail); err != nil {
		return fmt.Errorf("make the last write durable: %w", err)
	}
	j.tail = nil
	return nil
}

// rewrite uses a second descriptor, because writing at an offset through one
// that appends would append.
func rewrite(fs filesystem, f file, path string, info fileInfo, part stretch) (err error) {
	w, err := fs.open(path, syscall.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeFile(w, path)) }()
	if got, err := w.stat(); err != nil || !got.same(info) {
		return errors.Join(err, pathError("open", path, ErrTruncated))
	}
	off := part.from
	err = eachChunk(f, part.from, part.to, func(b []byte) error {
		if err := writeAllAt(w, b, off); err != nil {
			return pathError("write", path, err)
		}
		off += int64(len(b))
		return nil
	})
	if err != nil {
		return err
	}
	return pathError("sync", path, w.sync())
}

func writeAllAt(w file, b []byte, off int64) error {
	for len(b) > 0 {
		n, err := w.writeAt(b, off)
		if err == nil && n == 0 {
			err = syscall.EIO
		}
		if err != nil {
			return err
		}
		b, off = b[n:], off+int64(n)
	}
	return nil
}

// tornName names the copies of a tail that was cut before seq: one, and more if
// the repair was itself torn.
func tornName(path string, seq int64, try int) string {
	name := path + ".torn-" + strconv.FormatInt(seq, 10)
	if try > 1 {
		name += "-" + strconv.Itoa(try)
	}
	return name
}

// saveTorn copies what stands behind the last whole line to a file of its own,
// durable when it returns. A copy that an interrupted repair left is used again
// if it is the same, else let be.
func saveTorn(fsys filesystem, f file, path string, end Pos, size int64) (*Torn, error) {
	t := &Torn{Offset: end.Off, Bytes: size - end.Off, Seq: end.Seq + 1}
	zero := true
	sum := sha256.New()
	err := eachChunk(f, end.Off, size, func(b []byte) error {
		sum.Write(b)
		for _, c := range b {
			zero = zero && c == 0
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the torn tail: %w", err)
	}
	t.SHA256 = hex.EncodeToString(sum.Sum(nil))
	if zero {
		return t, nil
	}
	for try := 1; ; try++ {
		t.Saved = tornName(path, t.Seq, try)
		err := copyTorn(fsys, f, t, size)
		if !errors.Is(err, fs.ErrExist) {
			if err != nil {
				return nil, fmt.Errorf("put the torn tail aside: %w", err)
			}
			return t, nil
		}
		old, err := readTorn(fsys, t.Saved)
		if err != nil {
			return nil, fmt.Errorf("compare the torn tail put aside before: %w", err)
		}
		if old.Bytes == t.Bytes && old.SHA256 == t.SHA256 {
			return t, syncTorn(fsys, t.Saved)
		}
	}
}

func copyTorn(fsys filesystem, f file, t *Torn, size int64) (err error) {
	w, err := fsys.open(t.Saved, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = eachChunk(f, t.Offset, size, func(b []byte) error {
		return pathError("write", t.Saved, writeAll(w, b))
	})
	if err == nil {
		err = hasSize(w, t.Saved, t.Bytes)
	}
	if err == nil {
		err = pathError("sync", t.Saved, w.sync())
	}
	if err = errors.Join(err, closeFile(w, t.Saved)); err != nil {
		return err
	}
	return fsys.syncDir(filepath.Dir(t.Saved))
}

// syncTorn makes a copy durable that an interrupted repair may have left in the cache.
func syncTorn(fsys filesystem, name string) error {
	w, err := fsys.open(name, syscall.O_RDWR, 0)
	if err != nil {
		return err
	}
	info, err := w.stat()
	if err == nil {
		err = rewrite(fsys, w, name, info, stretch{0, info.size})
	}
	if err = errors.Join(err, closeFile(w, name)); err != nil {
		return err
	}
	return fsys.syncDir(filepath.Dir(name))
}

func readTorn(fsys filesystem, name string) (t Torn, err error) {
	r, err := fsys.open(name, syscall.O_RDONLY, 0)
	if err != nil {
		return t, err
	}
	defer func() { err = errors.Join(err, closeFile(r, name)) }()
	info, err := r.stat()
	if err != nil {
		return t, pathError("stat", name, err)
	}
	sum := sha256.New()
	err = eachChunk(r, 0, info.size, func(b []byte) error {
		sum.Write(b)
		return nil
	})
	t.Bytes, t.SHA256, t.Saved = info.size, hex.EncodeToString(sum.Sum(nil)), name
	return t, err
}

// findTorn finds the copy of a tail that was cut at the end of the file without
// the line that tells of it. That line would be the next one.
func findTorn(fsys filesystem, path string, end Pos) (*Torn, error) {
	var last string
	for try := 1; ; try++ {
		name := tornName(path, end.Seq+1, try)
		_, err := fsys.stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, err
		}
		last = name
	}
	if last == "" {
		return nil, nil
	}
	t, err := readTorn(fsys, last)
	t.Offset, t.Seq = end.Off, end.Seq+1
	return &t, err
}

// Package regular reads the files that flags and settings name. What is no
// regular file is refused: a pipe could wait for a writer that never comes, a
// device could give bytes without end. So is a file above the caller's bound.
package regular

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Read returns the whole of a regular file of at most limit bytes, or of one
// that a link leads to. Its errors name the path.
func Read(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path) // first: to open a device can be to do something with it
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, &fs.PathError{Op: "open", Path: path, Err: e.Err}
	}
	if err := fits(path, info, limit); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err == nil { // another may stand there by now
		err = fits(path, info, limit)
	}
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit { // it grew meanwhile, or its size is not told, as below /proc
		err = tooLarge(path, limit)
	}
	return data, err
}

// Open opens a regular file itself: no link is followed, also where one was put
// since it was looked at, and nothing else is held open or waited for. flag is as
// in os.OpenFile; a file that is created is its owner's.
func Open(path string, flag int) (*os.File, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0o600)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(cmp.Or(err, fmt.Errorf("%s: it is no regular file", path)), f.Close())
	}
	return f, nil
}

func tooLarge(path string, limit int64) error {
	return &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("it is larger than %d bytes", limit)}
}

func fits(path string, info fs.FileInfo, limit int64) error {
	what := ""
	switch m := info.Mode(); {
	case m.IsRegular() && info.Size() > limit:
		return tooLarge(path, limit)
	case m.IsRegular():
		return nil
	case m.IsDir():
		return &fs.PathError{Op: "read", Path: path, Err: syscall.EISDIR}
	case m&fs.ModeNamedPipe != 0:
		what = "a pipe"
	case m&fs.ModeSocket != 0:
		what = "a socket"
	default:
		what = "a device"
	}
	return &fs.PathError{Op: "read", Path: path, Err: errors.New("it is " + what + "; want a regular file")}
}

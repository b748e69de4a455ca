package bundle

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"evener/internal/joblog"
)

func newBytes(b []byte) io.Reader { return bytes.NewReader(b) }

// openRegular follows no link, also where one was put since it was looked at.
func openRegular(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}

// start is the offset at which the output of an item begins, by its name.
func (x item) start() int64 {
	_, base, ok := strings.Cut(x.name, ".log@")
	if !ok {
		return 0
	}
	n, _ := strconv.ParseInt(base, 10, 64) // written by this package
	return n
}

// logReader reads output by its offsets. What a running job pushes out meanwhile
// reads as zero bytes, so that offsets stay true.
type logReader struct {
	path    string
	at, end int64
	rest    []byte
}

const logPage = 256 << 10

func (r *logReader) Read(b []byte) (int, error) {
	if len(r.rest) == 0 {
		if r.at >= r.end {
			return 0, io.EOF
		}
		c, err := joblog.Window(r.path, r.at, int(min(logPage, r.end-r.at)))
		if gone, ok := errors.AsType[*joblog.EvictedError](err); ok {
			c.Data, err = make([]byte, min(logPage, gone.Start-r.at, r.end-r.at)), nil
		}
		if err != nil {
			return 0, err
		}
		if len(c.Data) == 0 {
			return 0, io.ErrUnexpectedEOF
		}
		r.rest, r.at = c.Data, r.at+int64(len(c.Data))
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func (r *logReader) Close() error { return nil }

// copy copies size bytes of an item without its secrets, and makes sure that none is left.
func (p *packer) copy(w io.Writer, r io.Reader, x item, size int64) error {
	if len(p.Secrets) == 0 {
		_, err := io.CopyN(w, r, size)
		return err
	}
	clean, check := newRedactor(p.Secrets, true), newRedactor(p.Secrets, true)
	clean.hits = p.found
	var in, seen []byte
	page := make([]byte, logPage)
	start, left := true, size
	for {
		n, err := io.ReadFull(r, page[:min(int64(len(page)), left)])
		if left -= int64(n); err != nil && left > 0 {
			return err
		}
		in = append(in, page[:n]...)
		out, taken := in, len(in)
		if x.raw {
			out, taken = clean.piece(in, start, left == 0)
		}
		if _, err := w.Write(out); err != nil {
			return err
		}
		seen = append(seen, out...)
		_, looked := check.piece(seen, false, left == 0)
		for _, s := range p.Secrets {
			if check.hits[s.Name] {
				return &StillThereError{s.Name, x.name}
			}
		}
		seen = append(seen[:0], seen[looked:]...)
		in, start = append(in[:0], in[taken:]...), false
		if left == 0 {
			return nil
		}
	}
}

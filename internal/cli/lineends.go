package cli

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
)

// hasWindowsEnds tells whether the first line of a file ends in \r\n.
func hasWindowsEnds(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return bytes.HasSuffix(line, []byte("\r\n")), nil
	}
}

// unixEnds copies a file with \r\n as \n and without empty lines. A journal has
// neither inside a line, so the copy of a journal that was changed in nothing
// else is the journal, and its checksums say so.
func unixEnds(src, dst string) (err error) {
	in, err := os.Open(src)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(dst, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	defer func() {
		err = errors.Join(err, w.Flush(), out.Sync(), out.Close())
		if err != nil {
			os.Remove(dst) // of no use; the error says why
		}
	}()
	r := bufio.NewReader(in)
	last := byte('\n')
	for {
		c, err := r.ReadByte()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if next, _ := r.Peek(1); c == '\r' && len(next) == 1 && next[0] == '\n' || c == '\n' && last == '\n' {
			continue
		}
		last = c
		if err := w.WriteByte(c); err != nil {
			return err
		}
	}
}

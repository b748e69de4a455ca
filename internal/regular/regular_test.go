package regular

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Whatever stands under a name, a read of it ends at once: with all of a regular
// file, or with why not.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, size := range map[string]int{"empty": 0, "fits": 10, "long": 11} {
		if err := os.WriteFile(at(name), []byte(strings.Repeat("x", size)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := errors.Join(syscall.Mkfifo(at("pipe"), 0o600), os.Symlink("fits", at("link")), os.Symlink("pipe", at("topipe")), os.Symlink("loop", at("loop"))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		size int
		want string
	}{
		{at("empty"), 0, ""},
		{at("fits"), 10, ""},
		{at("link"), 10, ""},
		{at("long"), 0, "read " + at("long") + ": it is larger than 10 bytes"},
		{dir, 0, "read " + dir + ": is a directory"},
		{at("pipe"), 0, "read " + at("pipe") + ": it is a pipe; want a regular file"},
		{at("topipe"), 0, "read " + at("topipe") + ": it is a pipe; want a regular file"},
		{at("socket"), 0, "read " + at("socket") + ": it is a socket; want a regular file"},
		{"/dev/zero", 0, "read /dev/zero: it is a device; want a regular file"},
		{at("loop"), 0, "open " + at("loop") + ": too many levels of symbolic links"},
		{at("none"), 0, "open " + at("none") + ": no such file or directory"},
	} {
		data, err := Read(c.path, 10)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != c.want || err == nil && len(data) != c.size {
			t.Errorf("%s: %d bytes, %q, want %q", c.path, len(data), got, c.want)
		}
	}
	if _, err := Read(at("none"), 10); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
}

package files

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"evener/internal/fault"
	"evener/internal/session"
)

// TestRealPath compares with the system: what is opened by a path is what its
// real path names.
func TestRealPath(t *testing.T) {
	dir := tempDir(t)
	tree(t, dir, map[string]string{"a/b/f": "x", "c/": ""})
	for link, to := range map[string]string{"l": "a/b", "a/up": "..", "abs": dir + "/c", "c/new": "../a/none", "deep": "l/../b/f", "none": "nowhere/else", "x1": "x2", "x2": "x1", "a/root": "/"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"a/b/f": "a/b/f", "l/f": "a/b/f", "l/../b/f": "a/b/f", "a/up/l/f": "a/b/f", "deep": "a/b/f", "abs/x": "c/x", "c/new": "a/none", "none": "nowhere/else",
		"a/./b//f": "a/b/f", "a/b/../../c": "c", "missing/x/y": "missing/x/y", "abs/../c/z": "c/z", "l/": "a/b",
	} {
		got, err := realPath(dir + "/" + path)
		if err != nil || got != filepath.Join(dir, want) {
			t.Errorf("%s: %s, %v; want %s", path, got, err, want)
		}
	}
	if got, err := realPath(dir + "/a/root/"); err != nil || got != "/" {
		t.Errorf("the root: %s, %v", got, err)
	}
	if _, err := realPath(dir + "/x1"); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("a circle: %v", err)
	}
	if _, err := realPath(dir + "/a/b/f/x"); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("below a file: %v", err)
	}
}

func TestStateFolderIsNotWritten(t *testing.T) {
	dir := tempDir(t)
	tree(t, dir, map[string]string{"state/sessions/s/session.jsonl": "x\n", "state/sessions/s/scratch/f": "x\n"})
	for link, to := range map[string]string{"in": "state/sessions", "file": "state/sessions/s/session.jsonl", "up": "state/sessions/s/scratch/.."} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	p := Place{Dir: dir, Sessions: dir + "/state/sessions", Scratch: dir + "/state/sessions/s/scratch"}
	for path, ok := range map[string]bool{
		"state/sessions/new": false, "in/new": false, "in/a/b/new": false, "file": false, "up/new": false, "state/x/../sessions/new": false,
		"state/sessions/s/scratch/../new": false, "state/sessions/s/scratch/new": true, "state/new": true, "up/scratch/a/new": true,
	} {
		r := Do(t.Context(), p, session.WriteFileCall{Path: path, Content: "x"}, nil)
		if ok != (r.Err == nil) || !ok && r.Err.Code != fault.FileDenied {
			t.Errorf("%s: %v", path, r.Err)
		}
	}
	if r := Do(t.Context(), p, session.EditFileCall{Path: "file", OldString: "x", NewString: "y"}, nil); r.Err == nil || r.Err.Code != fault.FileDenied {
		t.Errorf("edit: %v", r.Err)
	}
	if r := Do(t.Context(), p, session.ReadFileCall{Path: "file"}, nil); r.Err != nil {
		t.Errorf("read: %v", r.Err)
	}
}

func TestWriteKeepsModeAndOwner(t *testing.T) {
	dir := tempDir(t)
	path := filepath.Join(dir, "f")
	tree(t, dir, map[string]string{"f": "old"})
	if err := os.Chmod(path, 0o4751); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := errors.Join(os.Chown(path, 12, 34), os.Chmod(path, 0o4751)); err != nil {
			t.Fatal(err)
		}
	}
	before, _ := os.Stat(path)
	mode := before.Mode()
	p := Place{Dir: dir}
	if r := Do(t.Context(), p, session.EditFileCall{Path: "f", OldString: "old", NewString: "new"}, nil); r.Err != nil {
		t.Fatal(r.Err)
	}
	after, _ := os.Stat(path)
	st := after.Sys().(*syscall.Stat_t)
	if after.Mode() != mode || os.Getuid() == 0 && (st.Uid != 12 || st.Gid != 34) {
		t.Errorf("mode %v, was %v; owner %d:%d", after.Mode(), mode, st.Uid, st.Gid)
	}
	if os.SameFile(before, after) {
		t.Error("the file was written in place")
	}
	// A new file has the mode that any program's would have.
	umask := syscall.Umask(0o027)
	r := Do(t.Context(), p, session.WriteFileCall{Path: "n/new", Content: "x"}, nil)
	syscall.Umask(umask)
	if info, err := os.Stat(filepath.Join(dir, "n/new")); r.Err != nil || err != nil || info.Mode() != 0o640 {
		t.Errorf("%v, %v, %v", r.Err, err, info)
	}
}

// Somebody else changes the file between the look and the rename.
func TestWriteLooksOnceMore(t *testing.T) {
	dir := tempDir(t)
	tree(t, dir, map[string]string{"f": "old"})
	n := name{tool: "edit_file", given: "f", path: dir + "/f", real: dir + "/f"}
	was, err := n.current(t.Context(), hashBytes)
	if err != nil {
		t.Fatal(err)
	}
	tree(t, dir, map[string]string{"f": "other"})
	_, err = n.replace(t.Context(), was, []byte("new"))
	if bad := n.failed(err); bad.Code != fault.FileChanged {
		t.Errorf("%v", bad)
	}
	_, err = n.replace(t.Context(), present{}, []byte("new")) // where none was
	if bad := n.failed(err); bad.Code != fault.FileChanged {
		t.Errorf("%v", bad)
	}
	if b, _ := os.ReadFile(dir + "/f"); string(b) != "other" {
		t.Errorf("the file is %q", b)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".f*")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

func TestNames(t *testing.T) {
	dir := tempDir(t)
	long := strings.Repeat("n", 255)
	tree(t, dir, map[string]string{long: "x", "new\nline": "y", "\u202eright": "z"})
	p := Place{Dir: dir}
	if r := Do(t.Context(), p, session.EditFileCall{Path: long, OldString: "x", NewString: "y"}, nil); r.Err != nil {
		t.Error(r.Err)
	}
	if r := Do(t.Context(), p, session.WriteFileCall{Path: long + "n", Content: "y"}, nil); r.Err == nil || !strings.Contains(r.Err.Text, "name is too long") {
		t.Error(r.Err)
	}
	r := Do(t.Context(), p, session.ListFilesCall{}, nil)
	if want := fmt.Sprintf("%q\n%s\n%q\n", "new\nline", long, "\u202eright"); r.Text != want {
		t.Errorf("listed as\n%s\nwant\n%s", r.Text, want)
	}
	if r := Do(t.Context(), p, session.ReadFileCall{Path: "new\nline"}, nil); r.Err != nil || !strings.HasPrefix(r.Text, "1\ty\n") {
		t.Errorf("%v, %s", r.Err, r.Text)
	}
}

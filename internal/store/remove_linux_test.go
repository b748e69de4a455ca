package store

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"evener/internal/id"
)

const gone, child, other = id.Session("01JE5K8Q0ZAAAAAAAAAAAAAAAA"), id.Session("01JE5K8Q0ZBBBBBBBBBBBBBBBB"), id.Session("01JE5K8Q0ZCCCCCCCCCCCCCCCC")

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a state folder with a root, a session below it and another root, all
// of nobody, and a folder outside that the first one's scratch points to.
func world(t *testing.T) (h Home, outside string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "evener-remove-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	h, outside = Home{Sessions: filepath.Join(dir, "sessions")}, filepath.Join(dir, "outside")
	for _, d := range []string{outside, h.Scratch(gone), h.Scratch(child), h.Dir(other)} {
		must(t, os.MkdirAll(d, 0o700))
	}
	must(t, os.WriteFile(filepath.Join(outside, "precious"), []byte("x"), 0o600))
	for _, s := range []id.Session{gone, child, other} {
		must(t, os.WriteFile(h.Journal(s), []byte(s), 0o600))
		root := s
		if s == child {
			root = gone
		}
		must(t, os.WriteFile(h.metaPath(s), []byte(`{"session_id":"`+string(s)+`","root_session_id":"`+string(root)+`","journal_bytes":26}`), 0o600))
	}
	return h, outside
}

// hostile fills a scratch folder with what makes a removal stop or stray.
func hostile(t *testing.T, scratch, outside string) {
	t.Helper()
	at := func(name string) string { return filepath.Join(scratch, name) }
	must(t, os.MkdirAll(at("closed/deep/er"), 0o700))
	must(t, os.WriteFile(at("closed/deep/er/file"), nil, 0o400))
	must(t, os.MkdirAll(at("name\nwith\x1b[31m line"), 0o700))
	must(t, os.WriteFile(at("name\nwith\x1b[31m line/\xff"), nil, 0o600))
	must(t, os.Symlink(outside, at("to a folder")))
	must(t, os.Symlink(filepath.Join(outside, "precious"), at("to a file")))
	must(t, os.Symlink("/", at("to everything")))
	must(t, os.Symlink("../../..", at("up")))
	must(t, os.Symlink("loop", at("loop")))
	must(t, os.Link(filepath.Join(outside, "precious"), at("hard")))
	must(t, syscall.Mkfifo(at("pipe"), 0o600))
	l, err := net.Listen("unix", at("socket"))
	must(t, err)
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	must(t, l.Close())
	must(t, os.MkdirAll(filepath.Join(scratch, strings.Repeat("d/", 500)), 0o700))
	for _, d := range []string{"closed/deep/er", "closed/deep", "closed"} {
		must(t, os.Chmod(at(d), map[string]fs.FileMode{"closed/deep": 0}[d]|map[string]fs.FileMode{"closed": 0o500, "closed/deep/er": 0o100}[d]))
	}
}

// asNobody runs f as a user who has no more rights than the owner of what is
// below dir. The rights are those of the thread, which ends with the goroutine.
func asNobody(t *testing.T, dir string, f func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		f()
		return
	}
	const nobody = 65534
	must(t, filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(p, nobody, nobody))
	}))
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if _, _, e := syscall.RawSyscall(syscall.SYS_SETFSUID, nobody, 0, 0); e != 0 {
			t.Errorf("setfsuid: %v", e)
			return
		}
		f()
	}()
	<-done
}

func listing(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// A removal takes the whole tree, whatever a command made of its scratch, and
// nothing else.
func TestRemove(t *testing.T) {
	h, outside := world(t)
	hostile(t, h.Scratch(gone), outside)
	hostile(t, h.Scratch(child), outside)
	asNobody(t, filepath.Dir(outside), func() {
		below, err := h.Below(gone)
		if err != nil || len(below) != 1 || below[0] != child {
			t.Errorf("below the root: %v, %v", below, err)
		}
		if err := h.Remove(gone, below); err != nil {
			t.Error(err)
		}
	})
	if got := listing(t, h.Sessions); got != string(other) {
		t.Errorf("left: %s", got)
	}
	if got := listing(t, outside); got != "precious" {
		t.Errorf("outside: %s", got)
	}
}

// Wherever a removal was cut short, the tree is there as a whole or for nobody,
// and the next one finishes it.
func TestRemoveCutShort(t *testing.T) {
	for _, c := range []struct {
		name string
		cut  func(Home) error
	}{
		{"root set aside", func(h Home) error { return h.setAside(gone) }},
		{"root begun", func(h Home) error { return errors.Join(h.setAside(gone), os.Remove(h.aside(gone)+"/session.jsonl")) }},
		{"child set aside", func(h Home) error { return errors.Join(h.setAside(gone), h.setAside(child)) }},
		{"child begun", func(h Home) error {
			return errors.Join(h.setAside(gone), h.setAside(child), os.Remove(h.aside(child)+"/meta.json"))
		}},
		{"child gone", func(h Home) error {
			return errors.Join(h.setAside(gone), h.setAside(child), clear(h.Sessions, removing+string(child)))
		}},
	} {
		h, outside := world(t)
		hostile(t, h.Scratch(gone), outside)
		must(t, c.cut(h))
		if _, err := h.Lock(gone, "boot"); !errors.Is(err, ErrNoSession) {
			t.Errorf("%s: locked: %v", c.name, err)
		}
		left, err := h.Leftovers()
		must(t, err)
		for _, s := range left {
			if err := h.Finish(s); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		if got := listing(t, h.Sessions); got != string(other) {
			t.Errorf("%s: left: %s", c.name, got)
		}
		if again, err := h.Leftovers(); err != nil || len(again) > 0 {
			t.Errorf("%s: leftovers %v, %v", c.name, again, err)
		}
	}
}

// What is not a session's own folder is not touched.
func TestRemoveForeign(t *testing.T) {
	h, outside := world(t)
	must(t, os.RemoveAll(h.Dir(other)))
	must(t, os.Symlink(outside, h.Dir(other)))
	if err := h.Plain(other); err == nil || !strings.Contains(err.Error(), "a link or a file") {
		t.Errorf("a link: %v", err)
	}
	if err := h.Plain("01JE5K8Q0ZDDDDDDDDDDDDDDDD"); !errors.Is(err, ErrNoSession) {
		t.Errorf("nothing: %v", err)
	}
	must(t, h.Plain(gone))
	must(t, os.RemoveAll(h.Scratch(gone)))
	must(t, os.Symlink(outside, h.Scratch(gone)))
	must(t, h.DropScratch(gone))
	must(t, h.DropScratch(gone))
	if got := listing(t, outside); got != "precious" {
		t.Errorf("outside: %s", got)
	}
	if got := listing(t, h.Dir(gone)); got != "meta.json session.jsonl" {
		t.Errorf("of the session: %s", got)
	}
}

// What is mounted in a session keeps it as it is.
func TestRemoveMounted(t *testing.T) {
	h, outside := world(t)
	at := filepath.Join(h.Scratch(child), "a b")
	must(t, os.Mkdir(at, 0o700))
	if err := syscall.Mount(outside, at, "", syscall.MS_BIND, ""); err != nil {
		t.Skipf("mounting: %v", err)
	}
	defer syscall.Unmount(at, 0)
	if err := h.Remove(gone, []id.Session{child}); err == nil || !strings.Contains(err.Error(), at+" is a mount point; unmount it first") {
		t.Errorf("removed: %v", err)
	}
	if err := h.DropScratch(child); err == nil || !strings.Contains(err.Error(), "is a mount point") {
		t.Errorf("scratch: %v", err)
	}
	if got := listing(t, h.Sessions); got != strings.Join([]string{string(gone), string(child), string(other)}, " ") {
		t.Errorf("left: %s", got)
	}
	if got := listing(t, outside); got != "precious" {
		t.Errorf("outside: %s", got)
	}
}

// Who waited for the lock of a session that was removed meanwhile has no session.
func TestLockOfARemovedSession(t *testing.T) {
	h, _ := world(t)
	first, err := h.Lock(gone, "boot")
	must(t, err)
	must(t, os.WriteFile(filepath.Join(h.Dir(gone), "lock"), []byte(`{"pid":4194304,"boot_id":"boot"}`), 0o600)) // a dead holder is waited for
	got := make(chan error)
	go func() {
		_, err := h.Lock(gone, "boot")
		got <- err
	}()
	must(t, h.Remove(gone, nil))
	must(t, first.Close())
	if err := <-got; !errors.Is(err, ErrNoSession) {
		t.Error(err)
	}
}

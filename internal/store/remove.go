package store

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"evener/internal/delegate"
	"evener/internal/id"
)

// removing is the beginning of a folder's name while what was a session is
// being removed. No listing shows such a folder. One that a killed process
// left is removed by the next Finish.
const removing = ".deleted-"

// Plain reports what keeps a name in sessions/ from being a session's own
// folder; ErrNoSession if there is nothing. What a link leads to is somebody else's.
func (h Home) Plain(s id.Session) error {
	info, err := os.Lstat(h.Dir(s))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s in %s", ErrNoSession, s, h.Sessions)
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder but a link or a file; nothing was removed", h.Dir(s))
	}
	return nil
}

// Remove removes a root session, whose lock the caller holds, with the sessions
// below it. The root's folder gets its new name first, durably: from then on the
// tree is gone for everybody, and however far the rest comes, Finish can go on
// with it. Links are removed and not followed, and what is mounted below keeps
// the tree from being touched at all.
func (h Home) Remove(root id.Session, below []id.Session) error {
	for _, s := range append([]id.Session{root}, below...) {
		if at := mountBelow(h.Dir(s)); at != "" {
			return fmt.Errorf("%s is a mount point; unmount it first, nothing was removed", at)
		}
	}
	if err := h.setAside(root); err != nil {
		return fmt.Errorf("remove session %s, of which nothing was removed: %w", root, err)
	}
	return h.finish(root, below)
}

// Below lists the sessions of a root's delegates by their own records or
// summaries, for where the root's own record cannot tell.
func (h Home) Below(root id.Session) ([]id.Session, error) {
	list, err := h.List()
	var below []id.Session
	if err != nil {
		return nil, err
	}
	for _, s := range list {
		of := s.Root
		if s.Err != nil {
			if of, err = h.TreeOf(s.Session); err != nil {
				return nil, err
			}
		}
		if of == root && s.Session != root {
			below = append(below, s.Session)
		}
	}
	return below, nil
}

// RootOf is the root of a session by its summary: itself where there is none.
func (h Home) RootOf(s id.Session) id.Session {
	return cmp.Or(h.summary(s).Root, s)
}

// TreeOf is the root of a session, as far as anything that can be read says so:
// its first decision, its summary, the journal of delegates that it is in.
func (h Home) TreeOf(s id.Session) (id.Session, error) {
	if root := h.rootOf(s); root != s {
		return root, nil
	}
	if root := h.RootOf(s); root != s {
		return root, nil
	}
	ids, err := h.IDs()
	if err != nil {
		return s, err
	}
	for _, root := range ids {
		if root != s && exists(h.Delegates(root)) && h.created(root, s) {
			return root, nil
		}
	}
	return s, nil
}

// created reports whether a tree has a delegate of this session, by those lines
// of its journal that stand in front of any damage.
func (h Home) created(root, s id.Session) bool {
	for e, err := range Read(h.Delegates(root)) {
		if err != nil {
			return false
		}
		for kind, data := range e.Events() {
			ev, err := decode(h, root, kind, data)
			if c, ok := ev.(delegate.Created); err == nil && ok && c.Session == s {
				return true
			}
		}
	}
	return false
}

func (h Home) aside(s id.Session) string { return filepath.Join(h.Sessions, removing+string(s)) }

// setAside takes a session out of every listing.
func (h Home) setAside(s id.Session) error {
	if err := os.Rename(h.Dir(s), h.aside(s)); err != nil {
		return err
	}
	return syncDir(h.Sessions) // before the first file goes: else a lost machine could bring back a session with holes
}

// finish removes a tree whose root is set aside. The root's folder goes last:
// it says that the rest must go.
func (h Home) finish(root id.Session, below []id.Session) error {
	var left error
	for _, s := range below {
		err := h.setAside(s)
		if err == nil {
			err = clear(h.Sessions, removing+string(s))
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // removed already, or by another process
			left = errors.Join(left, err)
		}
	}
	if left != nil {
		return left
	}
	return clear(h.Sessions, removing+string(root))
}

// Leftovers are sessions whose removal was begun and not finished.
func (h Home) Leftovers() ([]id.Session, error) {
	entries, err := os.ReadDir(h.Sessions)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	var out []id.Session
	for _, e := range entries {
		name, ok := strings.CutPrefix(e.Name(), removing)
		if s, valid := id.ParseSession(name); ok && valid && e.IsDir() {
			out = append(out, s)
		}
	}
	return out, nil
}

// Finish goes on with a removal that a lost process began. That another one is
// at it as well does no harm.
func (h Home) Finish(s id.Session) error {
	below, err := h.Below(s)
	if err != nil {
		return err
	}
	return h.finish(s, below)
}

// Begun tells a session from a folder that a process was making when it was
// killed: a lock and the draft of a branch at most, and an id that nobody has
// heard of. A folder that holds more has lost its journal, if it has none.
func (h Home) Begun(s id.Session) bool {
	entries, err := os.ReadDir(h.Dir(s))
	if err != nil {
		return true // reading the journal says what is wrong
	}
	for _, e := range entries {
		if e.Name() != "lock" && !strings.HasPrefix(e.Name(), ".") && !strings.HasSuffix(e.Name(), drafted) {
			return true
		}
	}
	return false
}

// unbegunFor is how long a folder may stand there before its session begins: who
// is making one has not locked it yet.
const unbegunFor = time.Minute

// DropUnbegun removes folders of sessions that never began, which a killed process left.
func (h Home) DropUnbegun(bootID string) error {
	ids, err := h.IDs()
	if err != nil {
		return err
	}
	var left error
	for _, s := range ids {
		info, err := os.Lstat(h.Dir(s))
		if err != nil || !info.IsDir() || time.Since(info.ModTime()) < unbegunFor || h.Has(s) || h.Begun(s) {
			continue
		}
		lock, err := h.Lock(s, bootID)
		if err != nil {
			continue // somebody is at it
		}
		if !h.Begun(s) {
			err = h.Remove(s, nil)
		}
		left = errors.Join(left, err, lock.Close())
	}
	return left
}

// DropScratch removes the scratch folder of a tree.
func (h Home) DropScratch(root id.Session) error {
	if at := mountBelow(h.Scratch(root)); at != "" {
		return fmt.Errorf("the scratch folder of session %s stays: %s is a mount point", root, at)
	}
	if err := clear(h.Dir(root), "scratch"); err != nil {
		return fmt.Errorf("the scratch folder of session %s stays: %w", root, err)
	}
	return nil
}

// clear removes one entry of a folder with everything below it. Nothing outside
// is reached, whatever links are there or are put there meanwhile. Folders that
// a command made read-only are opened up.
func clear(dir, name string) error {
	r, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	if err = r.RemoveAll(name); err == nil {
		return nil
	}
	openUp(r, name)
	if err = r.RemoveAll(name); err != nil {
		return fmt.Errorf("remove %s: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// openUp makes the folders below an entry writable, as far as it can; the
// removal that follows says what it could not.
func openUp(r *os.Root, name string) {
	info, err := r.Lstat(name)
	if err != nil || !info.IsDir() {
		return
	}
	if info.Mode().Perm()&0o700 != 0o700 {
		r.Chmod(name, 0o700) // if this fails so will the removal
	}
	d, err := r.Open(name)
	if err != nil {
		return
	}
	entries, err := d.ReadDir(-1)
	d.Close()
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() {
			openUp(r, filepath.Join(name, e.Name()))
		}
	}
}

package bundle

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"evener/internal/id"
	"evener/internal/store"
	"evener/journal"
)

// editAll makes copies of the journals without the secrets, for those in which one
// stands, and of the bodies that journals name. Copies that no longer fold are
// refused: then a secret is a part of what records are made of.
func (p *packer) editAll(all []id.Session) error {
	var err error
	if p.temp, err = os.MkdirTemp("", "evener-bundle-"); err != nil {
		return err
	}
	for _, s := range all {
		if err := os.MkdirAll(filepath.Join(p.temp, "sessions", string(s), "files"), 0o700); err != nil {
			return err
		}
	}
	bodies := map[string]item{}
	for i := range p.items {
		x := &p.items[i]
		if !journalName().MatchString(filepath.Base(x.name)) {
			continue
		}
		if err := cmp.Or(p.ctx.Err(), p.edit(x, bodies)); err != nil {
			return fmt.Errorf("take secrets out of %s: %w", x.from, err)
		}
	}
	for _, b := range bodies {
		p.items = append(p.items, b)
	}
	if _, err := store.Load(p.Home, p.Root, p.step); err != nil {
		return nil // it is damaged, and so is its copy
	}
	if _, err := store.Load(store.Home{Sessions: filepath.Join(p.temp, "sessions")}, p.Root, 0); err != nil {
		return fmt.Errorf("a secret is a word that records are made of, such as a state or an id, so they do not hold without it: %s", whyUnfit(err))
	}
	return nil
}

// edit makes the copy of one journal.
func (p *packer) edit(x *item, bodies map[string]item) error {
	source := filepath.Join(p.temp, filepath.FromSlash(x.name)+".part")
	if err := copyPart(source, x.from, x.size); err != nil {
		return err
	}
	r := newRedactor(p.Secrets, false)
	changed := false
	session := filepath.Base(filepath.Dir(x.from))
	target := filepath.Join(p.temp, filepath.FromSlash(x.name))
	found, err := journal.SalvageEdited(source, target, func(_ string, b []byte) ([]byte, error) {
		var out []byte
		err := p.ctx.Err()
		if err != nil {
			return nil, err
		}
		if name, ok := store.Aside(b); ok {
			out, err = p.body(r, session, name, b, bodies)
		} else {
			out, err = r.json(b)
		}
		changed = changed || string(out) != string(b)
		return out, err
	})
	for name := range r.hits {
		p.found[name] = true
	}
	whole := found.Bytes == 0 && found.Skipped == 0 && len(found.Lost) == 0 // what is in no line cannot be looked through
	switch {
	case err != nil:
		return err
	case changed || !whole:
		info, err := os.Stat(target)
		if err != nil {
			return err
		}
		x.from, x.size = target, info.Size()
		return os.Remove(source)
	}
	return os.Rename(source, target) // nothing stands there: it stays as it is
}

// body makes the copy of a body that a line names, and what names it then.
func (p *packer) body(r *redactor, session, name string, data []byte, bodies map[string]item) ([]byte, error) {
	to := "sessions/" + session + "/files/"
	from := filepath.Join(p.Home.Sessions, session, "files", name)
	if !bodyName().MatchString(name) || !regular(from) {
		p.problem(to+name, "is not there")
		return data, nil
	}
	raw, err := os.ReadFile(from)
	if err != nil {
		return nil, err
	}
	clean, err := r.json(raw)
	if err != nil {
		return nil, err
	}
	if string(clean) != string(raw) {
		if name, data, err = store.NamedAside(clean); err != nil {
			return nil, err
		}
	}
	copied := filepath.Join(p.temp, filepath.FromSlash(to), name)
	bodies[to+name] = item{name: to + name, from: copied, size: -1}
	return data, os.WriteFile(copied, clean, 0o600)
}

func copyPart(to, from string, size int64) error {
	in, err := openRegular(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.CopyN(out, in, size)
	return errors.Join(err, out.Close())
}

// whyUnfit leaves out the place in a copy that nobody will see.
func whyUnfit(err error) string {
	if bad, ok := errors.AsType[*store.FoldError](err); ok {
		return fmt.Sprintf("line %d of %s: %v", bad.Line, filepath.Base(bad.Path), bad.Err)
	}
	return err.Error()
}

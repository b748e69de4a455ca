package role

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"evener/internal/enclosure"
	"evener/internal/text"
)

// Bounds of what is read: of a cloned repository nobody knows how much it brings.
const (
	maxFile    = 1 << 20 // bytes of one file
	maxFolder  = 8 << 20 // bytes of all files of a folder
	maxEntries = 1000    // names in a folder
)

// Dir is a folder of role files.
type Dir struct {
	Path   string
	Root   string // what links may not lead out of; empty: they may lead anywhere
	Source Source
}

// Load reads the role files of folders, the strongest first: the earlier of two
// roles with one name counts, in a folder the one whose file sorts first. A
// folder need not exist. warn is told, in one line each, what does not count.
func Load(dirs []Dir, warn func(string)) Catalog {
	var all []Role
	for _, d := range dirs {
		for _, file := range d.files(warn) {
			r, ok := file.role(warn)
			if !ok {
				continue
			}
			if i := slices.IndexFunc(all, func(o Role) bool { return o.Name == r.Name }); i >= 0 {
				warn(fmt.Sprintf("%s:1: the agent type %s of %s is used in its place", path(r.Path), r.Name, path(all[i].Path)))
				continue
			}
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Role) int { return strings.Compare(a.Name, b.Name) })
	return Catalog{all}
}

type file struct {
	path   string
	source Source
	data   []byte
}

// files are the role files of a folder, read, in the order of their names.
func (d Dir) files(warn func(string)) []file {
	names, err := d.names()
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			warn(fmt.Sprintf("%s: its agent types are ignored: %v", path(d.Path), err))
		}
		return nil
	}
	var all []file
	room := maxFolder
	for _, name := range names {
		f := file{path: filepath.Join(d.Path, name), source: d.Source}
		f.data, err = enclosure.Read(f.path, d.Root, maxFile+1)
		switch {
		case err != nil:
			f.ignored(warn, 1, err.Error())
			continue
		case len(f.data) > maxFile:
			f.ignored(warn, 1, fmt.Sprintf("it has more than %d bytes", maxFile))
			continue
		}
		if room -= len(f.data); room < 0 {
			f.ignored(warn, 1, fmt.Sprintf("the files up to here have more than %d bytes together; this one and those after it are not read", maxFolder))
			return all
		}
		all = append(all, f)
	}
	return all
}

// names are the role files of a folder: *.md, less hidden ones.
func (d Dir) names() ([]string, error) {
	target, err := enclosure.Resolve(d.Path, d.Root)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(target)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.Readdirnames(maxEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(entries) > maxEntries {
		return nil, fmt.Errorf("it holds more than %d files", maxEntries)
	}
	entries = slices.DeleteFunc(entries, func(n string) bool { return !strings.HasSuffix(n, ".md") || strings.HasPrefix(n, ".") })
	slices.Sort(entries)
	return entries, nil
}

// role parses a file; ok is false where it does not count.
func (f file) role(warn func(string)) (r Role, ok bool) {
	r, notes, bad := parse(f.data)
	if bad != nil {
		f.ignored(warn, bad.line, bad.text)
		return Role{}, false
	}
	for _, n := range notes {
		warn(fmt.Sprintf("%s:%d: %s", path(f.path), n.line, n.text))
	}
	r.Path, r.Source = f.path, f.source
	return r, true
}

func (f file) ignored(warn func(string), line int, why string) {
	warn(fmt.Sprintf("%s:%d: the file is ignored: %s", path(f.path), line, why))
}

// path is a file's name as a message may carry it: a name may hold any byte.
func path(p string) string {
	if p != text.Printable(p) || strings.ContainsAny(p, "\n\t") {
		return fmt.Sprintf("%q", p)
	}
	return p
}

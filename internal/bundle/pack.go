// Package bundle packs the tree of a session for a report of a fault: a gzipped tar
// that unpacks to a state folder. The rules:
//
//   - What evener recorded goes in: journals and what they name, output of jobs,
//     what repairs kept aside. What commands left in scratch does not.
//   - The order is that of the names and no time, owner or machine is told, so that
//     the same session gives the same bytes.
//   - No symbolic link is followed.
//   - A session in use is packed up to a decision behind which nothing is taken:
//     what is packed is a state that a crash could have left.
//   - Secrets are taken out of copies of the journals, which say that they are
//     edited ones; the lines keep their numbers, output its offsets.
package bundle

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"evener/internal/id"
	"evener/internal/joblog"
	"evener/internal/pattern"
	"evener/internal/store"
	"evener/journal"
)

// Options say what is packed.
type Options struct {
	Home     store.Home
	Root     id.Session
	Held     bool // a process is at work in it
	NoOutput bool
	Secrets  []Secret
	Version  string // of this program
}

// Report is what came of it.
type Report struct {
	Files    int
	Bytes    int64 // before they were compressed
	LeftOut  int   // outputs
	Problems []string
	Found    []string // names of secrets that stood somewhere
}

// StillThereError: a secret stands where it cannot be taken out.
type StillThereError struct{ Name, File string }

func (e *StillThereError) Error() string {
	return fmt.Sprintf("the value of %s stands in %s as a number or a name, where it cannot be taken out", e.Name, e.File)
}

// item is one file of the bundle.
type item struct {
	name string // in the archive
	from string // what is read
	size int64  // how much of it; -1 all
	log  bool   // output of a job, read by its offsets
	link string // of a log that begins behind 0
	body []byte // in place of a file
	dir  bool
	raw  bool // bytes of any kind, from which secrets are still to be taken
}

type packer struct {
	Options
	ctx    context.Context
	temp   string // where copies of journals are made
	step   int64
	items  []item
	says   store.Bundled
	found  map[string]bool
	report Report
}

// Pack writes the bundle. Once ctx is done it gives up, leaves nothing and returns why.
func Pack(ctx context.Context, w io.Writer, o Options) (Report, error) {
	slices.SortFunc(o.Secrets, func(a, b Secret) int { return cmp.Compare(a.Name, b.Name) })
	o.Secrets = slices.CompactFunc(o.Secrets, func(a, b Secret) bool { return a.Name == b.Name })
	p := &packer{ctx: ctx, Options: o, says: store.NewBundled(o.Root, o.Version), found: map[string]bool{}}
	if was, ok, err := o.Home.Bundled(o.Root); err != nil {
		return p.report, err
	} else if ok { // a bundle of what a bundle had: what is not there was left out before
		p.says.Step, p.says.Secrets, p.says.Outputs, p.says.Problems = was.Step, was.Secrets, was.Outputs, was.Problems
	}
	for _, s := range o.Secrets {
		p.says.Secrets = append(p.says.Secrets, s.Name)
	}
	slices.Sort(p.says.Secrets)
	p.says.Secrets = slices.Compact(p.says.Secrets)
	before := len(p.says.Outputs)
	defer func() {
		if p.temp != "" {
			os.RemoveAll(p.temp)
		}
	}()
	if err := p.collect(); err != nil {
		return p.report, err
	}
	err := p.write(w)
	for _, s := range o.Secrets {
		if p.found[s.Name] {
			p.report.Found = append(p.report.Found, s.Name)
		}
	}
	p.report.LeftOut, p.report.Problems = len(p.says.Outputs)-before, p.says.Problems
	return p.report, err
}

// collect finds what is packed, makes the copies without secrets and orders all of it.
func (p *packer) collect() error {
	all, err := p.sessions()
	if err == nil && p.Held {
		p.findStep(all)
		all, err = p.sessions() // with those that were made meanwhile
	}
	if err != nil {
		return err
	}
	p.items = append(p.items, item{name: "sessions/", dir: true})
	for _, s := range all {
		if err := cmp.Or(p.ctx.Err(), p.session(s)); err != nil {
			return err
		}
	}
	if len(p.Secrets) > 0 {
		if err := p.editAll(all); err != nil {
			return err
		}
	}
	raw, err := json.MarshalIndent(p.says, "", "  ")
	if err != nil {
		return err
	}
	p.items = append(p.items, item{name: "sessions/" + string(p.Root) + "/" + store.BundleFile, body: append(raw, '\n')})
	slices.SortFunc(p.items, func(a, b item) int { return cmp.Compare(a.name, b.name) })
	return nil
}

// findStep finds the decision behind which nothing is taken. All that was decided
// before the write that it belongs to is on disk by now, in every journal: a
// write begins after the one before it is synced everywhere.
func (p *packer) findStep(all []id.Session) {
	for _, path := range p.journals(all) {
		for e, err := range journal.Read(path, journal.Pos{}) {
			if err != nil {
				break // what is damaged is packed as it is
			}
			p.step = max(p.step, e.Step)
		}
	}
	p.says.Step = p.step
}

// sessions are those of the tree, but for one that was made behind the step.
func (p *packer) sessions() (all []id.Session, err error) {
	below, err := p.Home.Below(p.Root)
	if err != nil {
		return nil, err
	}
	all = append(all, p.Root)
	for _, s := range below {
		if p.step == 0 || p.begun(s) {
			all = append(all, s)
		}
	}
	return all, nil
}

// begun reports whether a session has a decision up to the step, or is damaged.
func (p *packer) begun(s id.Session) bool {
	for e, err := range journal.Read(p.Home.Journal(s), journal.Pos{}) {
		if err != nil || e.Step > p.step {
			return err != nil
		}
		if !e.Own() {
			return true
		}
	}
	return false
}

func (p *packer) journals(all []id.Session) (paths []string) {
	for _, s := range all {
		paths = append(paths, p.Home.Journal(s))
	}
	if path := p.Home.Delegates(p.Root); regular(path) {
		paths = append(paths, path)
	}
	return paths
}

func regular(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// upTo is how much of a journal is taken: all of one at rest, else the lines up to
// the step and what the journal says of itself behind them.
func (p *packer) upTo(path string) (size int64, err error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, err
	}
	if !p.Held {
		return info.Size(), nil
	}
	for e, err := range journal.Read(path, journal.Pos{}) {
		if err != nil {
			return info.Size(), nil // what is damaged is packed as it is
		}
		if e.Step > p.step {
			return size, nil
		}
		size = e.End
	}
	return size, nil
}

var (
	journalName = pattern.New(`^(session|delegates)\.jsonl$`)
	keptName    = pattern.New(`^(session|delegates)\.jsonl\.(torn-\d+(-\d+)?|damaged(-\d+)?|repaired)$`)
	bodyName    = pattern.New(`^[0-9a-f]{64}$`)
	logName     = pattern.New(`^(job_[0-9A-Z]+)\.log$`)
)

// session collects the files of one session.
func (p *packer) session(s id.Session) error {
	dir, to := p.Home.Dir(s), "sessions/"+string(s)
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return cmp.Or(err, fmt.Errorf("%s is no folder, or a link, which is not followed", dir))
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	p.items = append(p.items, item{name: to + "/", dir: true})
	for _, e := range entries {
		from := filepath.Join(dir, e.Name())
		switch name := e.Name(); {
		case journalName().MatchString(name), keptName().MatchString(name), name == "meta.json":
			err = p.file(from, to+"/"+name)
		case name == "jobs":
			err = p.folder(from, to+"/"+name, p.logFile)
		case name == "files":
			err = p.folder(from, to+"/"+name, func(from, to string) error {
				if !bodyName().MatchString(filepath.Base(from)) || len(p.Secrets) > 0 { // then those that the copies name
					return nil
				}
				return p.file(from, to)
			})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// problem says what is not in the bundle and why.
func (p *packer) problem(name, why string) {
	p.says.Problems = append(p.says.Problems, name+" "+why)
}

func (p *packer) file(from, to string) error {
	name := path.Base(to)
	if !regular(from) {
		p.problem(to, "is a link or no regular file, which is not followed")
		return nil
	}
	switch {
	case name == "meta.json" && (p.Held || len(p.Secrets) > 0): // it is made again from the journals
		return nil
	case journalName().MatchString(name):
		size, err := p.upTo(from)
		if err != nil {
			return err
		}
		p.items = append(p.items, item{name: to, from: from, size: size})
		return nil
	}
	p.items = append(p.items, item{name: to, from: from, size: -1, raw: keptName().MatchString(name)})
	return nil
}

func (p *packer) folder(from, to string, each func(from, to string) error) error {
	info, err := os.Lstat(from)
	if err == nil && !info.IsDir() {
		p.problem(to, "is a link or no folder, which is not followed")
		return nil
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	p.items = append(p.items, item{name: to + "/", dir: true})
	for _, e := range entries {
		if err := each(filepath.Join(from, e.Name()), to+"/"+e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// logFile takes the output of a job. One that begins behind 0 is packed as the
// part that is kept, with a link to it under its own name, as package joblog reads it.
func (p *packer) logFile(from, to string) error {
	m := logName().FindStringSubmatch(filepath.Base(from))
	if m == nil {
		return nil
	}
	info, err := joblog.Stat(from)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		p.problem(to, fmt.Sprintf("cannot be read: %v", err))
		return nil
	case p.NoOutput:
		if j, ok := id.ParseJob(m[1]); ok {
			p.says.Outputs = append(p.says.Outputs, store.LeftOut{Job: j, Bytes: info.End - info.Start})
		}
		return nil
	case info.Start == 0:
		p.items = append(p.items, item{name: to, from: from, size: info.End, log: true, raw: true})
		return nil
	}
	kept := fmt.Sprintf("%s@%d", to, info.Start)
	p.items = append(p.items, item{name: kept, from: from, size: info.End - info.Start, log: true, raw: true}, item{name: to, link: path.Base(kept)})
	return nil
}

// write writes the archive.
func (p *packer) write(w io.Writer) error {
	z := gzip.NewWriter(w)
	t := tar.NewWriter(z)
	for _, x := range p.items {
		if err := p.put(t, x); err != nil {
			return fmt.Errorf("pack %s: %w", x.name, err)
		}
	}
	return errors.Join(t.Close(), z.Close())
}

func (p *packer) put(t *tar.Writer, x item) error {
	h := &tar.Header{Name: x.name, Mode: 0o600, ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
	switch {
	case x.dir:
		h.Typeflag, h.Mode = tar.TypeDir, 0o700
		return t.WriteHeader(h)
	case x.link != "":
		h.Typeflag, h.Linkname = tar.TypeSymlink, x.link
		return t.WriteHeader(h)
	}
	r, size, err := p.open(x)
	if err != nil {
		return err
	}
	defer r.Close()
	h.Typeflag, h.Size = tar.TypeReg, size
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	p.report.Files++
	p.report.Bytes += size
	return p.copy(t, r, x, size)
}

// open opens what is read of an item, and says how much that is.
func (p *packer) open(x item) (io.ReadCloser, int64, error) {
	if x.body != nil {
		return io.NopCloser(newBytes(x.body)), int64(len(x.body)), nil
	}
	if x.log {
		return &logReader{path: x.from, at: x.start(), end: x.start() + x.size}, x.size, nil
	}
	f, err := openRegular(x.from)
	if err != nil || x.size >= 0 {
		return f, x.size, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}

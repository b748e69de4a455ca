package audit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"evener/internal/attention"
	"evener/internal/delegate"
	"evener/internal/id"
	"evener/internal/job"
	"evener/internal/joblog"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/tree"
)

// checked is a tree while what its journals promise one another is checked.
type checked struct {
	*Verified
	home store.Home
	root id.Session
	tree *tree.State

	decisions []decisionAt
	journals  []string
	at        map[string]int
	last      map[string]int64 // seq of each journal, by its place below the root's folder or beside it
	found     map[string]int64 // what the latest restart found there
	foundAt   place

	leftOut map[id.Job]bool // output that whoever made a bundle left out

	owed      map[string]place // deliveries that a delegate's journal line made
	delivered map[string]place
	dropped   map[string]bool
	arrived   map[string]place // in the owners' journals
	owners    map[string]id.Session
}

// place is a line of a journal.
type place struct {
	path      string
	line, off int64
}

type decisionAt struct {
	step          int64
	journal, line int32
}

func (c *checked) visit(l store.Line, events []session.Event) {
	if c.at == nil {
		c.at, c.last = map[string]int{}, map[string]int64{}
		c.owed, c.delivered, c.arrived = map[string]place{}, map[string]place{}, map[string]place{}
		c.dropped, c.owners = map[string]bool{}, map[string]id.Session{}
	}
	n, known := c.at[l.Path]
	if !known {
		n = len(c.journals)
		c.at[l.Path] = n
		c.journals = append(c.journals, l.Path)
	}
	c.last[c.name(l)] = l.Seq
	if l.Own() {
		return
	}
	c.decisions = append(c.decisions, decisionAt{l.Step, int32(n), int32(l.N)})
	here := place{l.Path, l.N, l.Off}
	for _, e := range events {
		switch e := e.(type) {
		case delegate.UpdateQueued:
			c.owed[e.Delivery] = here
		case delegate.Finished:
			if e.Delivery != "" {
				c.owed[e.Delivery] = here
			}
		case delegate.Delivered:
			c.delivered[e.Delivery] = here
		case delegate.Discarded:
			for _, x := range e.Deliveries {
				c.dropped[x] = true
			}
		case attention.DelegateArmed:
			if e.Class != attention.Quiet {
				c.arrived[e.ID], c.owners[e.ID] = here, l.Session
			}
		}
	}
	if bytes.HasPrefix(l.Cause, restarted) {
		c.restarts(l, here)
	}
}

var restarted = []byte(`{"kind":"restarted"`)

// restarts notes what a restart found of each journal: less there can never be again.
func (c *checked) restarts(l store.Line, here place) {
	var found struct {
		Seqs map[string]int64 `json:"seqs"`
	}
	if json.Unmarshal(l.Cause, &found) == nil {
		if c.found == nil {
			c.found = map[string]int64{}
		}
		for name, seq := range found.Seqs {
			c.found[name] = max(c.found[name], seq)
		}
		c.foundAt = here
	}
}

// name is a journal's name in the causes of restarts.
func (c *checked) name(l store.Line) string {
	if l.Session == "" || l.Session == c.root {
		return filepath.Base(l.Path)
	}
	return string(l.Session) + "/" + filepath.Base(l.Path)
}

func (c *checked) wrong(at place, format string, args ...any) {
	c.find(Finding{Path: at.path, Line: at.line, Offset: at.off, Text: fmt.Sprintf("journal %s line %d, offset %d: ", at.path, at.line, at.off) + fmt.Sprintf(format, args...)})
}

// steps checks that decisions are numbered once over the tree, and that no journal
// is shorter than a restart found it.
func (c *checked) steps() {
	slices.SortStableFunc(c.decisions, func(a, b decisionAt) int {
		if a.step != b.step {
			return int(min(max(a.step-b.step, -1), 1))
		}
		return 0
	})
	for i := 1; i < len(c.decisions); i++ {
		a, b := c.decisions[i-1], c.decisions[i]
		switch {
		case a.step == b.step:
			c.damage(c.journals[b.journal], "decision %d stands twice: %s line %d and %s line %d", a.step, c.journals[a.journal], a.line, c.journals[b.journal], b.line)
		case a.journal == b.journal && a.line > b.line:
			c.damage(c.journals[a.journal], "journal %s: line %d holds decision %d and stands behind line %d, which holds a later one", c.journals[a.journal], a.line, a.step, b.line)
		}
	}
	for name, seq := range c.found {
		if have := c.last[name]; have < seq {
			c.wrong(c.foundAt, "a restart found %d records in %s, which has %d now: its end is lost", seq, name, have)
		}
	}
}

// deliveries checks that what delegates owed has arrived once, is on its way, or was dropped.
func (c *checked) deliveries() {
	for x, at := range c.delivered {
		if _, arrived := c.arrived[x]; !arrived {
			c.wrong(at, "%s is recorded as handed over, and its owner's journal has it not", x)
		}
	}
	waiting := 0
	for x := range c.owed {
		_, arrived := c.arrived[x]
		if _, told := c.delivered[x]; !told && !c.dropped[x] && !arrived {
			waiting++
		}
	}
	if waiting > 0 {
		c.note(c.home.Delegates(c.root), "%d reports or updates of delegates are on their way; the next resume hands them over", waiting)
	}
	for x, at := range c.arrived {
		if _, owed := c.owed[x]; !owed {
			c.wrong(at, "%s arrived, and the journal of delegates knows nothing of it", x)
		}
	}
}

// delegates checks that each delegate has the conversation that its tree says.
func (c *checked) delegates() {
	for d := range c.tree.Delegates.All {
		path := c.home.Journal(d.Session)
		x := c.tree.Sessions[d.Session]
		switch {
		case x == nil || x.ID == "":
			if d.Last != nil {
				c.damage(path, "%s has ended a run, and its session %s is gone", d.ID, d.Session)
			} else {
				c.note(path, "%s has not begun yet; the next resume says that it was lost", d.ID)
			}
		case x.ID != d.Session || x.Delegate != d.ID || x.Parent != d.Owner:
			c.damage(path, "session %s says that it is of %s below %s; the journal of delegates says of %s below %s", x.ID, cmp.Or(string(x.Delegate), "no delegate"), cmp.Or(string(x.Parent), "none"), d.ID, d.Owner)
		case d.Last != nil && (x.Run.Generation < d.Last.Generation || x.Run.Open && x.Run.Generation == d.Last.Generation):
			c.damage(path, "journal %s ends before run %d does, whose end the journal of delegates has: its own end is lost", path, d.Last.Generation)
		case x.Run.Generation > d.Generation:
			c.damage(path, "session %s has run %d times, and the journal of delegates knows of %d", d.Session, x.Run.Generation, d.Generation)
		}
	}
}

// bundled learns what was left out on purpose, where the tree is from a bundle.
func (c *checked) bundled() {
	b, ok, err := c.home.Bundled(c.root)
	if err != nil {
		c.damage(filepath.Join(c.home.Dir(c.root), store.BundleFile), "%v", err)
	}
	if !ok {
		return
	}
	c.leftOut = map[id.Job]bool{}
	for _, x := range b.Outputs {
		c.leftOut[x.Job] = true
	}
	for _, what := range b.Problems {
		c.note(c.home.Dir(c.root), "not in the bundle: %s", what)
	}
}

// sessions are those of the tree, the root first.
func (c *checked) sessions() []*session.State {
	out := []*session.State{c.tree.Session()}
	for d := range c.tree.Delegates.All {
		if x := c.tree.Sessions[d.Session]; x != nil && x.ID != "" {
			out = append(out, x)
		}
	}
	return out
}

// session checks one session against the files that stand beside its journal.
func (c *checked) session(s *session.State) {
	path := c.home.Journal(s.ID)
	if s.ID == "" { // made, and killed before its first decision
		return
	}
	if want := id.Session(filepath.Base(filepath.Dir(path))); s.ID != want {
		c.damage(path, "the folder %s holds the journal of session %s", want, s.ID)
		return
	}
	if s.Run.Open {
		c.note(path, "run %d is open: a process is at work, or the next resume ends it", s.Run.N)
	}
	if n := len(s.Live()); n > 0 {
		c.note(path, "%d jobs have no end yet: they run, or the next resume says that they were lost", n)
	}
	if n := len(s.Attention.Pending()); n > 0 {
		c.note(path, "%d notices wait for a turn that settles them", n)
	}
	c.summary(s)
	c.planted(s)
	if p := s.Fork.Parent; p != "" && !c.home.Has(p) {
		c.note(path, "the session %s, whose conversation this one begins with, is not here", p)
	}
	known := map[string]bool{}
	for _, j := range s.Jobs() {
		known[filepath.Base(c.home.Log(j.ID))] = true
		c.output(s, j)
	}
	for _, j := range s.Live() { // also one in the foreground, which has no record yet
		known[filepath.Base(c.home.Log(j.ID))] = true
	}
	c.strangers(s.ID, known)
}

// unborn tells of sessions whose journal holds nothing of them any more, though what
// stands beside it was made of more.
func (c *checked) unborn() {
	for _, s := range append([]id.Session{c.root}, below(c.home, c.root)...) {
		if x := c.tree.Sessions[s]; x != nil && x.ID != "" {
			continue
		}
		dir := c.home.Dir(s)
		if size, lost := c.home.SummaryOfMore(s); lost {
			c.note(filepath.Join(dir, "meta.json"), "the summary of session %s was made of a journal of %d bytes, of which no decision is left: its end is lost, or an older one was put in its place", s, size)
		}
		c.strangers(s, nil)
	}
}

// summary checks what listings take for what the journal says.
func (c *checked) summary(s *session.State) {
	what, unused := c.home.SummaryFault(s, c.tree)
	path := filepath.Join(c.home.Dir(s.ID), "meta.json")
	switch {
	case unused:
		c.note(path, "the summary of session %s %s; listings read the journal instead", s.ID, what)
	case what != "":
		c.damage(path, "%s: the summary of session %s %s; remove it: listings read the journal then, and the next run of the session writes it again", path, s.ID, what)
	}
}

// planted tells what is neither a file nor a folder in a session's folder.
func (c *checked) planted(s *session.State) {
	entries, err := os.ReadDir(c.home.Dir(s.ID))
	if err != nil {
		c.damage(c.home.Dir(s.ID), "%v", err)
	}
	for _, e := range entries {
		path := filepath.Join(c.home.Dir(s.ID), e.Name())
		switch {
		case e.Name() == "meta.json" || e.Name() == store.BundleFile && s.ID == c.root: // told of where they are read
		case e.Type().IsRegular() || e.IsDir():
		case e.Type()&fs.ModeSymlink != 0:
			c.damage(path, "%s is a symbolic link, which is not followed there; remove it", path)
		default:
			c.damage(path, "%s is neither a file nor a folder; remove it", path)
		}
	}
}

// output checks the log of a job against what its end says.
func (c *checked) output(s *session.State, j *job.State) {
	if !j.Terminal() || !j.End.Kept || j.Pruned {
		return
	}
	path := c.home.Log(j.ID)
	info, err := joblog.Stat(path)
	printed := j.End.TotalBytes - j.End.LostBytes
	switch {
	case errors.Is(err, fs.ErrNotExist) && c.leftOut[j.ID]:
		c.note(path, "the output of %s, %d bytes, was left out when the bundle was made", j.ID, printed)
	case errors.Is(err, fs.ErrNotExist) && printed > 0:
		c.damage(path, "the output of %s is gone: %d bytes", j.ID, printed)
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		c.damage(path, "the output of %s cannot be read: %v", j.ID, err)
	case info.End != j.End.TotalBytes:
		c.damage(path, "the output of %s ends at byte %d, and its record says %d", j.ID, info.End, j.End.TotalBytes)
	case info.Start > j.End.RetainedStart:
		c.damage(path, "the output of %s begins at byte %d, and its record says %d", j.ID, info.Start, j.End.RetainedStart)
	}
}

// strangers notes logs that belong to no job.
func (c *checked) strangers(s id.Session, known map[string]bool) {
	dir := filepath.Join(c.home.Dir(s), "jobs")
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return // there is none; a link is told as such
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		c.damage(dir, "%v", err)
	}
	for _, e := range entries {
		name, _, _ := strings.Cut(e.Name(), ".log")
		if !known[e.Name()] && !known[name+".log"] {
			c.note(filepath.Join(dir, e.Name()), "belongs to no job of session %s", s)
		}
	}
}

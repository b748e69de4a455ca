package store

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/transcript"
	"evener/internal/tree"
	"evener/journal"
)

// ErrNothing answers for a session whose conversation has nothing to begin with.
var ErrNothing = errors.New("it has no finished turn yet")

// Cut is how far a conversation is copied.
type Cut int

const (
	// WholeTurns copies up to the end of the last turn that has ended.
	WholeTurns Cut = iota
	// WholeRounds copies up to the last round of calls that are all answered, also
	// of a turn that is open.
	WholeRounds
	// BeforeTurn copies what stands before the turn Copy.Turn.
	BeforeTurn
)

// Copy says what a new session is to begin with.
type Copy struct {
	From id.Session // read only; it may be live in another process
	How  session.ForkHow
	Cut  Cut
	Turn int64  // of BeforeTurn
	Step int64  // number of the first decision; a new root begins with 1
	At   int64  // the decision of the other behind which nothing is copied; 0 is none
	Dir  string // of the new session, in place of the other's
	// Settings says that the folder and what the model is told come along, too.
	Settings bool
}

// Copied is what came of it.
type Copied struct {
	session.Forked
	LeftOut int64 // the turn that is open, of which something is not in the copy though the copy goes up to there; 0 for none
	// Message is the user's text of the turn before which the copy ends. It is
	// handed back and stands nowhere in the copy.
	Message *string
	Dir     string // the folder of the new session
	context *session.ContextSet
	round   begunRound // the last one, where it is in the copy without those calls that are open
	bound   []string   // the tools that the source could not go beyond; nil for a root's
}

// Fork makes a session that begins with the conversation of another, and opens
// it. On an error nothing is left of it.
func Fork(h Home, create session.Created, c Copy, version, bootID string) (*Tree, Copied, error) {
	if !h.Has(c.From) {
		return nil, Copied{}, fmt.Errorf("%w: %s in %s", ErrNoSession, c.From, h.Sessions)
	}
	if err := h.Make(); err != nil {
		return nil, Copied{}, err
	}
	if err := h.DropUnbegun(bootID); err != nil {
		return nil, Copied{}, fmt.Errorf("remove what a killed fork left: %w", err)
	}
	if err := makeDurable(h.Dir(create.Session)); err != nil {
		return nil, Copied{}, fmt.Errorf("make session %s: %w", create.Session, err)
	}
	lock, err := h.Lock(create.Session, bootID)
	if err == nil {
		var done Copied
		if done, err = h.Begin(create, c, version); err == nil {
			t, err := openTree(h, create.Session, lock, version)
			return t, done, err
		}
		err = errors.Join(err, lock.Close())
	}
	return nil, Copied{}, errors.Join(err, os.RemoveAll(h.Dir(create.Session)))
}

// drafted ends the name of a journal that is being copied.
const drafted = ".forking"

// Begin writes the journal of a new session that begins with the conversation of
// another. It takes its name only when it is whole and durable; the folder is
// there already. Memory does not grow with the conversation: the source is read
// twice, a line at a time.
func (h Home) Begin(create session.Created, c Copy, version string) (Copied, error) {
	end, err := h.survey(c)
	if err != nil {
		return Copied{}, err
	}
	in := session.Inherit{Create: &create, Fork: &end.Forked}
	if c.Settings {
		create.Dir, in.Context, end.Tools = cmp.Or(c.Dir, end.Dir, create.Dir), end.context, end.bound
	}
	end.Dir = create.Dir
	events := []session.Event{create, end.Forked}
	if in.Context != nil {
		events = append(events, *in.Context)
	}
	draft := h.Journal(create.Session) + drafted
	own, err := ownerOf(create.Session, Lineage{Parent: end.Parent, Divergence: end.Divergence})
	if err != nil {
		return Copied{}, err
	}
	j, err := journal.Create(draft, journal.Options{Version: version, Owner: own})
	if err != nil {
		return Copied{}, err
	}
	w := &copier{h: h, j: j, session: create.Session, step: c.Step, at: time.Now().UTC().Truncate(time.Microsecond)}
	w.put(in, events...)
	_, err = h.conversation(c, func(e *transcript.Inherited, at place) error {
		if at.entries > end.Entries {
			return errEnough
		}
		if e != nil {
			w.add(end.round.of(*e, at))
		}
		return w.err
	})
	w.flush()
	w.wait(0)
	err = errors.Join(noErr(err, errEnough), w.err, j.Close())
	if err == nil && w.entries != end.Entries {
		err = fmt.Errorf("its journal was changed meanwhile")
	}
	if err == nil {
		err = os.Rename(draft, h.Journal(create.Session))
	}
	if err == nil {
		err = syncDir(h.Dir(create.Session))
	}
	if err != nil {
		return Copied{}, errors.Join(fmt.Errorf("copy the conversation of session %s: %w", c.From, err), noErr(os.Remove(draft), os.ErrNotExist))
	}
	return end, nil
}

// errEnough ends a reading early.
var errEnough = errors.New("enough was read")

func noErr(err, expected error) error {
	if errors.Is(err, expected) {
		return nil
	}
	return err
}

// copier writes the lines of a copy.
type copier struct {
	h       Home
	j       *journal.Journal
	session id.Session
	step    int64
	at      time.Time
	batch   []transcript.Inherited
	bytes   int
	entries int64
	out     []*journal.Ticket // lines whose outcome is not known
	err     error
}

// linesOut is how many lines are on their way.
const linesOut = 16

func (w *copier) add(e transcript.Inherited) {
	w.batch = append(w.batch, e)
	w.entries++
	if w.bytes += e.Size(); w.bytes >= transcript.LineBytes {
		w.flush()
	}
}

func (w *copier) flush() {
	if len(w.batch) == 0 {
		return
	}
	var events []session.Event
	for _, e := range w.batch {
		events = append(events, e)
	}
	w.put(session.Inherit{Entries: w.batch}, events...)
	w.batch, w.bytes = nil, 0
}

// wait learns the outcome of all lines but the last few.
func (w *copier) wait(but int) {
	for len(w.out) > but {
		if _, err := w.out[0].Wait(); err != nil && w.err == nil {
			w.err = err
		}
		w.out = w.out[1:]
	}
}

// put writes one line. Its outcome is learnt later.
func (w *copier) put(in session.Inherit, events ...session.Event) {
	if w.err != nil {
		return
	}
	r, err := encode(w.h, w.session, tree.Write{Session: w.session, Step: w.step, At: w.at, Cause: tree.Cause(in), Events: events})
	if err == nil {
		w.step++
		w.out = append(w.out, w.j.AppendAsync(r))
		w.wait(linesOut)
	}
	if err != nil && w.err == nil {
		w.err = err
	}
}

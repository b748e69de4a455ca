// Package report makes one page of a session and what is below it: a timeline of
// turns, calls, jobs, delegates, watches and notices, and the conversations beside it.
//
// Rules:
//
//   - The page is a function of the journals alone: the fold says what is, its lines
//     say when. Job output, which no journal holds, is not in it.
//   - It is one file. It asks for nothing, and its policy lets it ask for nothing:
//     the hashes in it name the one style and the one script that may count.
//   - Every text of a session passes through text.Printable and is escaped, in the page
//     by html, in the data by encoding/json; there is one function for each.
//   - What is told without scripts is in the page itself: the list and the conversations.
//     The script adds the drawing and reads nothing but the data.
package report

import (
	"errors"
	"io"

	"evener/internal/delegate"
	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/tree"
)

// Of reads what a page shows of a session in the tree of root, and of what is below
// it, as far as home looks. ErrNotBegun: the session is not there by then.
func Of(home store.Home, root, of id.Session) (*Page, error) {
	b := &builder{talks: map[id.Session]*talk{}, keys: map[string]*item{}}
	t, err := store.LoadVisited(home, root, b.line)
	if err != nil {
		return nil, err
	}
	if s := t.Sessions[of]; s == nil || s.ID == "" {
		return nil, ErrNotBegun
	}
	p := b.page(t, of)
	p.at = home.At
	return p, nil
}

// Write writes the page. The same journals give the same bytes.
func (p *Page) Write(to io.Writer) error {
	w := &writer{to: to, most: p.room()}
	w.page(p)
	return w.err
}

// Limits of texts, in characters: of each, and about of all together, since a browser
// reads the whole page. None is cut to less than the last.
const (
	maxBody = 20_000
	maxPage = 16_000_000
	minBody = 500
)

// room is how long a text of the page may be.
func (p *Page) room() int {
	n := 1
	for _, g := range p.groups {
		n += len(g.talk.times) + len(g.talk.items)
	}
	return min(maxBody, max(minBody, maxPage/n))
}

// ErrNotBegun: the session was not there at the moment that is looked at.
var ErrNotBegun = errors.New("report: the session had not begun")

// Page is what a page shows: the session that it is of, then all below it, each
// behind its owner.
type Page struct {
	groups []*group
	items  []*item // in the order of groups, kinds and time
	at     int64   // the decision behind which nothing is seen; 0 is none
}

// group is one session on the page.
type group struct {
	n        int
	parent   int // -1: the first
	depth    int
	id       id.Session
	session  *session.State  // nil: its journal is not there
	delegate *delegate.State // nil: a root
	talk     *talk
	byKind   [kinds][]*item
	lanes    [kinds]int
	below    []*group
}

// counts are what the head of the page sums up.
type counts struct{ sessions, turns, calls, jobs, watches, notices int }

func (p *Page) counts() counts {
	c := counts{sessions: len(p.groups)}
	for _, x := range p.items {
		switch x.kind {
		case kindTurn:
			c.turns++
		case kindCall:
			c.calls++
		case kindJob:
			c.jobs++
		case kindWatch:
			c.watches++
		case kindNotice:
			c.notices++
		}
	}
	return c
}

// page orders what was gathered.
func (b *builder) page(t *tree.State, of id.Session) *Page {
	p := &Page{}
	b.settle(t)
	below := map[id.Session][]*delegate.State{}
	var own *delegate.State
	for d := range t.Delegates.All {
		if below[d.Owner] = append(below[d.Owner], d); d.Session == of {
			own = d
		}
	}
	p.add(b, t, of, own, nil, below)
	for _, g := range p.groups {
		for k := range g.byKind {
			sortByStart(g.byKind[k])
			g.lanes[k] = pack(g.byKind[k])
			for _, x := range g.byKind[k] {
				x.n = len(p.items)
				p.items = append(p.items, x)
			}
		}
	}
	for _, x := range p.items {
		x.cause = b.keys[x.causeKey]
		if x.cause != nil && x.cause.n < 0 { // of a session that is not shown
			x.cause = nil
		}
		if x.cause != nil {
			x.cause.effects = append(x.cause.effects, x)
		}
	}
	return p
}

func (p *Page) add(b *builder, t *tree.State, of id.Session, own *delegate.State, parent *group, below map[id.Session][]*delegate.State) *group {
	g := &group{n: len(p.groups), parent: -1, id: of, session: t.Sessions[of], delegate: own, talk: b.talk(of)}
	if parent != nil {
		g.parent, g.depth = parent.n, parent.depth+1
	}
	for _, x := range g.talk.items {
		x.group = g
		g.byKind[x.kind] = append(g.byKind[x.kind], x)
	}
	p.groups = append(p.groups, g)
	for _, d := range below[of] {
		g.below = append(g.below, p.add(b, t, d.Session, d, g, below))
	}
	return g
}

package evidence

import (
	"cmp"
	"slices"
	"strings"

	"evener/internal/fault"
	"evener/internal/session"
	"evener/internal/transcript"
)

// picked are the turns that a read asks for. What has no room is left out at
// the end, or at the beginning where the newest are wanted.
type picked struct {
	from, to int64 // 0 of to: not known yet, and none of them is beyond it
	newest   bool
	last     int64 // so many of the newest; 0 is all
	expand   bool
}

// pick reads the arguments, as far as they tell without the number of turns.
func pick(a session.ReadTranscriptCall) (picked, *fault.Error) {
	if n := a.ExpandTurn; n != nil {
		return picked{from: *n, to: *n, expand: true}, nil
	}
	if a.Range == nil {
		return picked{from: 1, newest: true}, nil
	}
	t, refusal := session.ParseTurns(*a.Range)
	switch {
	case refusal != nil:
		return picked{}, refusal
	case t.Last > 0:
		return picked{from: 1, newest: true, last: t.Last}, nil
	case t.First > 0:
		return picked{from: 1, to: t.First}, nil
	}
	return picked{from: t.From, to: t.To}, nil
}

// within bounds the turns by those that there are.
func (p picked) within(turns int64, a session.ReadTranscriptCall) (picked, *fault.Error) {
	switch {
	case a.ExpandTurn != nil && *a.ExpandTurn > turns:
		return p, fault.Invalid("read_transcript: expand_turn %d: the conversation has %d turns", *a.ExpandTurn, turns)
	case a.Range != nil && !p.newest && p.from > max(1, turns):
		return p, fault.Invalid("read_transcript: range %s: the conversation has %d turns", *a.Range, turns)
	case p.last > 0:
		p.from = max(1, turns-p.last+1)
	}
	if p.to == 0 || p.to > turns {
		p.to = turns
	}
	return p, nil
}

// gathering keeps of a conversation, as it passes, the turns that can be shown.
// They are in order; a turn in which nothing was said is none of them.
type gathering struct {
	picked
	room  int
	turns []*turn
	size  int // of all of them
}

// add takes the next entry, which is of turn n.
func (g *gathering) add(c Conversation, e transcript.Entry, n int64) {
	if n < g.from || g.to > 0 && n > g.to {
		return
	}
	t := g.turnFor(n)
	if t == nil {
		return
	}
	g.size -= t.size
	for _, k := range c.blocks(e) {
		t.add(k)
	}
	g.size += t.size
	for g.newest && len(g.turns) > 1 && (g.size-g.turns[0].size > g.room || g.last > 0 && g.turns[0].n <= n-g.last) {
		g.size -= g.turns[0].size
		g.turns = g.turns[1:]
	}
}

// turnFor is the turn that an entry belongs to; nil for one that will not be
// shown, since those before it fill the view.
func (g *gathering) turnFor(n int64) *turn {
	if i := len(g.turns) - 1; i >= 0 && g.turns[i].n >= n {
		if g.turns[i].n == n {
			return g.turns[i]
		}
		return nil
	}
	if !g.newest && g.size > g.room {
		return nil
	}
	t := newTurn(n, g.room, g.expand)
	g.turns, g.size = append(g.turns, t), g.size+t.size
	return t
}

// window is the part of a conversation that has room.
type window struct {
	text        string
	first, last int64 // turns
	cut         bool  // of a shown turn something is left out
	shortened   []int64
}

// window renders the picked turns, as many as have room. One that has not is
// cut to fit while half of the room is left, else it ends the window.
func (g *gathering) window(p picked, room int) window {
	w := window{first: p.from, last: p.to}
	if p.from > p.to {
		w.text = "\nNothing was said yet.\n"
		return w
	}
	left, n := room, int64(0)
	var parts []string
	for ; n <= p.to-p.from; n++ {
		t := g.turn(p, n)
		r := rendered{}
		fits := t.whole()
		if fits {
			r = t.render(usual)
			fits = runes(r.text) <= left
		}
		if !fits && left < room/2 {
			break
		}
		if !fits {
			r = t.fit(left)
		}
		parts, left = append(parts, r.text), left-runes(r.text)
		w.cut = w.cut || r.short || r.cut
		if r.short {
			w.shortened = append(w.shortened, t.n)
		}
		if !fits {
			n++
			break
		}
	}
	if p.newest {
		w.first = p.to - n + 1
		slices.Reverse(parts)
		slices.Reverse(w.shortened)
	} else {
		w.last = p.from + n - 1
	}
	w.text = strings.Join(parts, "")
	return w
}

// turn is the i-th turn of a window: one that was kept, or an empty one.
func (g *gathering) turn(p picked, i int64) *turn {
	n := p.from + i
	if p.newest {
		n = p.to - i
	}
	at, ok := slices.BinarySearchFunc(g.turns, n, func(t *turn, n int64) int { return cmp.Compare(t.n, n) })
	if ok {
		return g.turns[at]
	}
	return newTurn(n, g.room, g.expand)
}

package evidence

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"evener/internal/fault"
	"evener/internal/session"
	"evener/internal/store"
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

// tally estimates what the texts of a conversation take that is about to be read,
// so that what cannot be shown need not be.
type tally struct {
	picked
	room  int
	turns [][2]int64 // the latest that may have room, in order: number, and what it takes at least
	size  int64      // what all of these take
}

// count looks at an entry and wants none. Of the newest turns as many are kept as
// may have room.
func (t *tally) count(w store.Words) bool {
	if !t.newest || w.Inherited() || w.Kind == "transcript.assistant" { // which may be nothing to show
		return false
	}
	if n := len(t.turns); n == 0 || t.turns[n-1][0] != w.Turn {
		t.turns = append(t.turns, [2]int64{w.Turn, 0})
	}
	n := takes(w)
	t.turns[len(t.turns)-1][1] += n
	t.size += n
	for t.size-t.turns[0][1] > int64(t.room) {
		t.size -= t.turns[0][1]
		t.turns = t.turns[1:]
	}
	return false
}

// takes is what a text takes at least where it is shown as any is, in characters:
// its heading and fence, and of what it says so much as its JSON must come from. Of a
// result that has a text beside its data it is not known how long that is.
func takes(w store.Words) int64 {
	const block, escape = 16, 6 // the most that JSON makes of a character
	before, said, ok := bytes.Cut(w.JSON, []byte(`"data":`))
	if w.Kind == "transcript.user" {
		_, said, ok = bytes.Cut(w.JSON, []byte(`"text":"`))
		said, _, _ = bytes.Cut(said, []byte(`","`)) // within a text quotes have a backslash
	}
	if !ok || bytes.Contains(before, []byte(`"text":"`)) && w.Kind != "transcript.user" {
		return block
	}
	return block + int64(min(max(0, len(said)-8)/escape, usual.other))
}

// shown tells the entries that may be shown of a conversation of so many turns;
// it may have become longer meanwhile.
func (t *tally) shown(turns int64) func(store.Words) bool {
	from, to := t.from, t.to
	if t.newest {
		if t.last > 0 {
			from = max(from, turns-t.last+1)
		}
		if len(t.turns) > 0 && t.size > int64(t.room) {
			from = max(from, t.turns[0][0])
		}
	}
	return func(w store.Words) bool {
		return w.Inherited() || from <= w.Turn && (to == 0 || w.Turn <= to)
	}
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

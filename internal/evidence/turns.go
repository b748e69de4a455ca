package evidence

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"evener/internal/text"
)

// limits is how much of a block is shown, in characters: of arguments and
// results, and of what somebody said.
type limits struct{ other, said int }

// usual is for a turn that is not expanded and has room.
var usual = limits{1000, 4000}

// least is how short blocks become before some are left out whole.
const least = 250

// window is the part of a conversation that has room.
type window struct {
	text        string
	first, last int64 // turns
	cut         bool  // of a shown turn something is left out
	shortened   []int64
}

// window renders the picked turns, as many as have room. One that has not is
// cut to fit while half of the room is left, else it ends the window.
func (p picked) window(all []turn, room int) window {
	w := window{first: p.from, last: p.to}
	if p.from > p.to {
		w.text = "\nNothing was said yet.\n"
		return w
	}
	picks := slices.Clone(all[p.from-1 : p.to])
	if p.newest {
		slices.Reverse(picks)
	}
	left, n := room, 0
	var parts []string
	for _, t := range picks {
		r := t.render(usual, false)
		fits := !p.expand && runes(r.text) <= left
		if !fits && left < room/2 {
			break
		}
		if !fits {
			r = t.fit(left, p.expand)
		}
		n++
		parts, left = append(parts, r.text), left-runes(r.text)
		w.cut = w.cut || r.short || r.cut
		if r.short {
			w.shortened = append(w.shortened, t.n)
		}
		if !fits {
			break
		}
	}
	if p.newest {
		w.first = p.to - int64(n) + 1
		slices.Reverse(parts)
		slices.Reverse(w.shortened)
	} else {
		w.last = p.from + int64(n) - 1
	}
	w.text = strings.Join(parts, "")
	return w
}

// rendered is a turn as text. Short: expand_turn shows more of it; cut: nothing does.
type rendered struct {
	text       string
	short, cut bool
}

func (t turn) heading() string { return fmt.Sprintf("\n## Turn %d\n", t.n) }

func (t turn) render(l limits, expand bool) rendered {
	r := rendered{}
	parts := []string{t.heading()}
	for _, k := range t.blocks {
		if k.expanded && !expand {
			continue
		}
		part, shortened := k.render(l, t.n, expand)
		parts = append(parts, part)
		r.short, r.cut = r.short || shortened && !expand, r.cut || shortened && expand
	}
	r.text = strings.Join(parts, "")
	return r
}

// fit renders a turn in the room there is. Long blocks give way first; where
// that is not enough the middle of the turn is left out.
func (t turn) fit(room int, expand bool) rendered {
	l := usual
	if expand {
		l = limits{room, room}
	}
	for ; l.other >= least; l.other, l.said = l.other/2, l.said/2 {
		if r := t.render(l, expand); runes(r.text) <= room {
			return r
		}
	}
	return t.middleOut(room, expand)
}

// middleOut keeps the blocks of the beginning that take a third of the room,
// and those of the end that take the rest.
func (t turn) middleOut(room int, expand bool) rendered {
	var parts []string
	left, short := 0, min(least, room/10) // left: characters that are not shown
	for _, k := range t.blocks {
		if !k.expanded || expand {
			part, _ := k.render(limits{short, short}, t.n, expand)
			parts, left = append(parts, part), left+runes(part)
		}
	}
	room -= runes(t.heading()) + runes(oversized(left))
	head, tail := 0, len(parts)
	for third := room / 3; head < tail && runes(parts[head]) <= third; head++ {
		n := runes(parts[head])
		third, left, room = third-n, left-n, room-n
	}
	for ; tail > head && runes(parts[tail-1]) <= room; tail-- {
		n := runes(parts[tail-1])
		left, room = left-n, room-n
	}
	out := t.heading() + strings.Join(parts[:head], "")
	if head < tail {
		out += oversized(left)
	}
	return rendered{text: out + strings.Join(parts[tail:], ""), cut: true}
}

// oversized stands for what no view of the conversation shows.
func oversized(n int) string {
	return fmt.Sprintf("\n… %s characters elided from this oversized turn; additional output is not available from this transcript view …\n", text.Thousands(n))
}

// render shows a block in a fence, so that nothing in it reads as a heading.
func (k block) render(l limits, n int64, expand bool) (string, bool) {
	limit := l.other
	if k.said {
		limit = l.said
	}
	marker := oversized
	if !expand {
		marker = func(left int) string {
			return fmt.Sprintf("\n… %s characters left out; expand_turn=%d shows more …\n", text.Thousands(left), n)
		}
	}
	out, cut := text.Elide(text.Printable(k.body), limit, marker)
	f := fence(out)
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	return fmt.Sprintf("\n### %s\n\n%s\n%s%s\n", k.head, f, out, f), cut
}

func runes(s string) int { return utf8.RuneCountInString(s) }

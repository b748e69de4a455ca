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

func (l limits) of(k block) int {
	if k.said {
		return l.said
	}
	return l.other
}

// usual is for a turn that is not expanded and has room.
var usual = limits{1000, 4000}

// least is how short blocks become before some are left out whole.
const least = 250

// turn is one turn as it is shown: a heading and blocks, each with its own. It
// takes the blocks one after the other and keeps of them what can be shown in
// the room that there is at most: shorter ones as the turn grows, and at last
// only those of its beginning and its end. So it needs no more memory than that,
// however long it becomes.
type turn struct {
	n      int64
	room   int
	expand bool
	blocks []block
	limits limits // what is kept of each
	size   int    // of the turn with these, in characters
	// over: no limits make it fit. Its blocks are cut to the shortest; end are the
	// latest of them, and what stood before those is gone.
	over   bool
	left   int // characters that blocks may still take of the beginning
	end    []block
	ending int // size of end
	gone   int // characters
}

type block struct {
	head, body string
	gap        int  // characters that are left out of the middle of body
	size       int  // as it is shown with the limits of its turn
	said       bool // somebody's words, which are shortened less
	expanded   bool // shown only where the turn is expanded
	tool       string
}

func newTurn(n int64, room int, expand bool) *turn {
	t := &turn{n: n, room: room, expand: expand, limits: usual}
	if expand {
		t.limits = limits{room, room}
	}
	t.size = runes(t.heading())
	return t
}

func (t *turn) heading() string { return fmt.Sprintf("\n## Turn %d\n", t.n) }

// add takes the next block.
func (t *turn) add(k block) {
	if k.expanded && !t.expand {
		return
	}
	k.body = text.Printable(k.body)
	k = t.cut(k)
	if t.over {
		t.split(k)
		return
	}
	t.blocks = append(t.blocks, k)
	for t.size += k.size; t.size > t.room && !t.over; {
		t.tighten()
	}
}

// cut brings a block within the limits of the turn.
func (t *turn) cut(k block) block {
	k = k.keep(t.limits)
	s, _ := k.render(t.limits, t.n, t.expand)
	k.size = runes(s)
	return k
}

// keep leaves of the body what a rendering within the limits can show.
func (k block) keep(l limits) block {
	most := l.of(k)
	n := runes(k.body)
	if n <= 2*most {
		return k
	}
	head, _ := text.Head(k.body, most)
	tail, _ := text.Tail(k.body, most)
	k.body, k.gap = strings.Clone(head)+tail, k.gap+n-2*most
	return k
}

// shortest is what blocks are cut to before some are left out.
func (t *turn) shortest() limits {
	n := min(least, t.room/20)
	return limits{n, n}
}

// tighten shortens all blocks, or gives some up.
func (t *turn) tighten() {
	t.limits = limits{t.limits.other / 2, t.limits.said / 2}
	if t.limits.other < least {
		t.over, t.limits, t.left = true, t.shortest(), t.room/3
	}
	t.size = runes(t.heading())
	for i, k := range t.blocks {
		t.blocks[i] = t.cut(k)
		t.size += t.blocks[i].size
	}
	if t.over {
		all := t.blocks
		t.blocks, t.size = nil, t.room+1
		for _, k := range all {
			t.split(k)
		}
	}
}

// split gives a block to the beginning, as far as that has room and one more, or
// to the end, which then gives up what is far from it.
func (t *turn) split(k block) {
	if t.left >= 0 {
		t.blocks, t.left = append(t.blocks, k), t.left-k.size
		return
	}
	t.end, t.ending = append(t.end, k), t.ending+k.size
	for t.ending-t.end[0].size > t.room {
		t.ending, t.gone = t.ending-t.end[0].size, t.gone+t.end[0].size
		t.end = t.end[1:]
	}
}

// rendered is a turn as text. Short: expand_turn shows more of it; cut: nothing does.
type rendered struct {
	text       string
	short, cut bool
}

// whole reports whether the turn is shown as any turn is.
func (t *turn) whole() bool { return t.limits == usual && !t.over && !t.expand }

func (t *turn) render(l limits) rendered {
	r := rendered{}
	parts := []string{t.heading()}
	for _, k := range t.blocks {
		part, shortened := k.render(l, t.n, t.expand)
		parts = append(parts, part)
		r.short, r.cut = r.short || shortened && !t.expand, r.cut || shortened && t.expand
	}
	r.text = strings.Join(parts, "")
	return r
}

// fit renders a turn in the room there is. Long blocks give way first; where
// that is not enough the middle of the turn is left out.
func (t *turn) fit(room int) rendered {
	for l := t.limits; !t.over && l.other >= least; l.other, l.said = l.other/2, l.said/2 {
		if r := t.render(l); runes(r.text) <= room {
			return r
		}
	}
	return t.middleOut(room)
}

// middleOut keeps the blocks of the beginning that take a third of the room,
// and those of the end that take the rest.
func (t *turn) middleOut(room int) rendered {
	var parts []string
	left := t.gone // characters that are not shown
	for _, k := range slices.Concat(t.blocks, t.end) {
		part, _ := k.render(t.shortest(), t.n, t.expand)
		parts, left = append(parts, part), left+runes(part)
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
	marker := oversized
	if !expand {
		marker = func(left int) string {
			return fmt.Sprintf("\n… %s characters left out; expand_turn=%d shows more …\n", text.Thousands(left), n)
		}
	}
	out, cut := text.ElideOf(k.body, k.gap, l.of(k), marker)
	f := fence(out)
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	return fmt.Sprintf("\n### %s\n\n%s\n%s%s\n", k.head, f, out, f), cut
}

func runes(s string) int { return utf8.RuneCountInString(s) }

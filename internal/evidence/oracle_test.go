package evidence

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"evener/internal/session"
	"evener/internal/store"
	"evener/internal/text"
	"evener/internal/transcript"
)

// What is read entry by entry is what would be shown by who has all of it at
// hand, which is simple: that is written down here.

func (t *turn) all(l limits, c Conversation, entries []transcript.Entry) (parts []string, short bool) {
	parts = []string{t.heading()}
	for _, e := range entries {
		for _, k := range c.blocks(e) {
			if k.expanded && !t.expand {
				continue
			}
			k.body = text.Printable(k.body)
			part, cut := k.render(l, t.n, t.expand)
			parts, short = append(parts, part), short || cut
		}
	}
	return parts, short
}

// simply renders the turn in the room there is, from all of its entries.
func (t *turn) simply(room int, c Conversation, entries []transcript.Entry) rendered {
	l := usual
	if t.expand {
		l = limits{t.room, t.room}
	}
	for ; l.other >= least; l = (limits{l.other / 2, l.said / 2}) {
		if parts, short := t.all(l, c, entries); runes(strings.Join(parts, "")) <= room {
			return rendered{strings.Join(parts, ""), short && !t.expand, short && t.expand}
		}
	}
	parts, _ := t.all(t.shortest(), c, entries)
	parts, left := parts[1:], 0
	for _, part := range parts {
		left += runes(part)
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

// simplyShown is the text of the view, and the turns in it.
func simplyShown(c Conversation, room int, p picked) (string, int64, int64) {
	by := map[int64][]transcript.Entry{}
	at := int64(1)
	for _, e := range c.Entries {
		if e.Turn != 0 {
			at = e.Turn
		}
		by[at] = append(by[at], e)
	}
	left, first, last := room-runes(c.head()), int64(0), int64(0)
	var parts []string
	half := left / 2
	for i := range p.to - p.from + 1 {
		n := p.from + i
		if p.newest {
			n = p.to - i
		}
		t := newTurn(n, room, p.expand)
		all, _ := t.all(usual, c, by[n])
		whole := strings.Join(all, "")
		fits := !p.expand && runes(whole) <= left
		if !fits && left < half {
			break
		}
		if !fits {
			whole = t.simply(left, c, by[n]).text
		}
		parts, left = append(parts, whole), left-runes(whole)
		if first == 0 {
			first = n
		}
		last = n
		if !fits {
			break
		}
	}
	if p.newest {
		slices.Reverse(parts)
		first, last = last, first
	}
	return c.head() + strings.Join(parts, ""), first, last
}

func TestReadAsItPasses(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	sizes := []int{0, 3, 100, 900, 1100, 3000, 9000, 40_000}
	for round := range 80 {
		c := Conversation{Talk: store.Talk{Session: talk, Run: "open", Model: "x/y"}}
		size := func() string {
			s := sizes[rnd.IntN(len(sizes))]
			if round%3 != 0 {
				s = min(s, 1+rnd.IntN(1200))
			}
			return strings.Repeat("aé\n", s/3) + fmt.Sprint(s)
		}
		for range rnd.IntN(12) {
			c.Turns++
			if rnd.IntN(5) == 0 {
				continue
			}
			c.Entries = append(c.Entries, said(c.Turns, size()))
			n := rnd.IntN(8)
			if round%3 != 0 && rnd.IntN(6) == 0 {
				n = 200
			}
			for range n {
				c.Entries = append(c.Entries, answered(c.Turns, size(), size())...)
			}
		}
		room := []int{1000, 4000, 24_000}[rnd.IntN(3)]
		for _, rng := range []string{"", "last:1", "last:3", "last:99", "start:1", "start:4", "start:99", "2-5", "expand"} {
			a := session.ReadTranscriptCall{Range: &rng}
			switch rng {
			case "":
				a.Range = nil
			case "expand":
				a = session.ReadTranscriptCall{ExpandTurn: ptr(1 + rnd.Int64N(max(1, c.Turns)))}
			}
			p, _ := pick(a)
			p, refusal := p.within(c.Turns, a)
			if refusal != nil || c.Turns == 0 {
				continue
			}
			want, first, last := simplyShown(c, room, p)
			got := readView(t, c, room, a)
			if got.Content != want || got.Meta.First != first || got.Meta.Last != last {
				t.Fatalf("round %d, %q in %d of %d turns, %d to %d: %+v\n%s\n--- want\n%s", round, rng, room, c.Turns, first, last, got.Meta, got.Content, want)
			}
		}
	}
}

// However long a conversation is, or one turn of it, what is kept while it passes
// is about what can be shown.
func TestReadKeepsLittle(t *testing.T) {
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	body := strings.Repeat("0123456789", 1000)
	for _, x := range []struct {
		name string
		a    session.ReadTranscriptCall
		long bool // one long turn
	}{
		{"newest", session.ReadTranscriptCall{}, false}, {"start", session.ReadTranscriptCall{Range: ptr("start:9999999")}, false},
		{"last", session.ReadTranscriptCall{Range: ptr("last:9999999")}, false}, {"part", session.ReadTranscriptCall{Range: ptr("7-9999999")}, false},
		{"long", session.ReadTranscriptCall{}, true}, {"expanded", session.ReadTranscriptCall{ExpandTurn: ptr(int64(1))}, true},
	} {
		r := Reader{MaxChars: 24_000}
		g, _ := r.gather(x.a)
		before := heap()
		most, turn := int64(0), int64(1)
		for i := range 12_000 {
			s := fmt.Sprint(i, body)[:i%len(body)]
			for _, e := range answered(turn, "{}", s) {
				g.add(Conversation{}, e, turn)
			}
			if !x.long {
				turn++
			}
			if i%3000 == 2999 {
				most = max(most, heap()-before)
			}
		}
		if runtime.KeepAlive(g); most > 4<<20 {
			t.Errorf("%s: %d bytes are kept", x.name, most)
		}
	}
}

package tree_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"evener/internal/attention"
	"evener/internal/delegate"
	"evener/internal/id"
	"evener/internal/session"
	"evener/internal/text"
)

// armed are the notices of delegates that a session was ever owed, by identity.
func armed(t *testing.T, disk []record, s id.Session) map[string]attention.DelegateArmed {
	t.Helper()
	out := map[string]attention.DelegateArmed{}
	for _, r := range disk {
		for _, e := range r.events {
			x, is := e.(attention.DelegateArmed)
			if !is || r.journal != s {
				continue
			}
			if _, twice := out[x.ID]; twice {
				t.Errorf("%s is armed twice", x.ID)
			}
			out[x.ID] = x
		}
	}
	return out
}

// ended are the ends of runs in the journal of the tree.
func ended(disk []record) (out []delegate.Finished) {
	for _, r := range disk {
		for _, e := range r.events {
			if x, is := e.(delegate.Finished); is {
				out = append(out, x)
			}
		}
	}
	return out
}

func frameOf(p *delegate.Packet) string {
	return `kind="report">` + string(text.Encode(p)) + "</delegate-notification>"
}

// Whatever a run came to, its packet is a report. Its message is bounded, and says
// where all of it is.
//
// clause: JC-529 RC-024
func TestPackets(t *testing.T) {
	long := strings.Repeat("é", 16_001)
	for status, end := range map[string]func(b *branch, s id.Session){
		"completed": func(b *branch, s id.Session) {
			b.reply(s, "", `communicate {"message":"`+long+`","end_turn":true}`)
		},
		"failed": func(b *branch, s id.Session) {
			b.take(s, session.ModelFailed{Request: b.requests[s], Text: "no"})
		},
		"exhausted": func(b *branch, s id.Session) {
			for b.state.Sessions[s].Run.Open {
				b.reply(s, "", `job_list {}`)
			}
		},
		"cancelled": func(b *branch, s id.Session) {
			b.reply(root, "", `job_stop {"target":"`+string(id.DelegateOf(s))+`"}`)
		},
	} {
		b := kept(t, 50)
		one, _ := b.delegate(root, 1)
		end(b, one)
		all := armed(t, b.disk, root)
		got := all[string(id.DelegateOf(one))+"/1"].Frame
		if !strings.Contains(got, `kind="report">{"status":"`+status+`"`) || len(all) != 1 {
			t.Errorf("%s: %d notices, %s", status, len(all), got)
		}
		said := ended(b.disk)[0].Packet.Message
		if status != "completed" {
			continue
		}
		note := fmt.Sprintf(`read_transcript(transcript_ref="local:%s")`, one)
		if n := len([]rune(said)); n > 16_000 || n < 15_000 || !strings.Contains(said, note) {
			t.Errorf("the message has %d characters: %s", n, text.Preview(said[len(said)/2-200:], 400))
		}
	}
}

// A packet is made once. Wherever the process is lost on the way to the owner, the
// next one delivers the bytes that are on disk, under the same name, once: it begins
// no run for it, and asks the delegate nothing.
//
// clause: RC-019 RC-023
func TestPacketKept(t *testing.T) {
	b := kept(t, 50)
	one, _ := b.delegate(root, 1)
	from := len(b.disk)
	b.reply(one, "", `communicate {"message":"It is so.","end_turn":true}`)
	made := ended(b.disk)
	if len(made) != 1 || made[0].Packet == nil {
		t.Fatalf("the ends: %+v", made)
	}
	at := slices.IndexFunc(b.disk[from:], func(r record) bool { return len(ended([]record{r})) > 0 }) + from
	for cut := at + 1; cut <= len(b.disk); cut++ {
		c := newBranch(t, b.disk[:cut])
		c.take(root, foundOf(c.state))
		c.take(root, session.Prompt{Text: "more", Mode: session.OneShot, Limits: familyLimits, Context: told})
		for range 3 {
			c.reply(root, "", `job_status {"target":"`+string(id.DelegateOf(one))+`"}`)
		}
		all := armed(t, c.disk, root)
		if got := all[made[0].Delivery].Frame; len(all) != 1 || !strings.HasSuffix(got, frameOf(made[0].Packet)) {
			t.Errorf("cut at %d: %d notices, %s, want %s", cut, len(all), got, frameOf(made[0].Packet))
		}
		if d := c.state.Delegates.Get(id.DelegateOf(one)); d.Generation != 1 || d.Open || len(ended(c.disk)) != 1 {
			t.Errorf("cut at %d: run %d, open %v, %d ends", cut, d.Generation, d.Open, len(ended(c.disk)))
		}
		for _, r := range c.disk[cut:] {
			if r.journal == one {
				t.Errorf("cut at %d: the delegate's journal grows by %v", cut, r.events)
			}
		}
	}
}

// Delegates are what their own journal says, and nothing else: what the journals of
// sessions tell of them makes none.
//
// clause: JC-510
func TestDelegatesOfTheirJournal(t *testing.T) {
	h := newHousehold(t)
	sessions := slices.DeleteFunc(slices.Clone(h.disk), func(r record) bool { return r.journal == "" })
	if s := folded(t, sessions); s.Delegates.Len() != 0 || len(s.Sessions) != 5 {
		t.Errorf("%d sessions make %d delegates", len(s.Sessions), s.Delegates.Len())
	}
	tree := slices.DeleteFunc(slices.Clone(h.disk), func(r record) bool { return r.journal != "" })
	if s := folded(t, tree); s.Delegates.Len() != 4 {
		t.Errorf("the journal of the tree has %d delegates", s.Delegates.Len())
	}
}

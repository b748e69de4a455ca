package tree_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"evener/internal/attention"
	"evener/internal/delegate"
	"evener/internal/id"
	"evener/internal/transcript"
)

// A tree of delegates is played in any order, over a disk that a crash may
// leave with any prefix of each journal that the last batch wrote. Whatever
// happens, what was accepted is delivered once and in order, nothing waits for
// ever, no slot leaks, and a restart that has nothing to say writes nothing.
//
// clause: JC-199 JC-200 JC-201 JC-542 JC-543 JC-570 JC-588 JC-590 JC-592 JC-593 JC-652 JC-653 RC-012 RC-021 RC-022 JC-121 JC-122
func TestFamilies(t *testing.T) {
	for range 5 { // of a hundred each
		rapid.Check(t, anyFamily)
	}
	if restores.Load() == 0 {
		t.Error("no conversation was ever let go and taken back")
	}
}

// restores counts the conversations that were taken back into memory.
var restores atomic.Int64

func FuzzFamilies(f *testing.F) { f.Fuzz(rapid.MakeFuzz(anyFamily)) }

func anyFamily(t *rapid.T) {
	f := newFamily(t)
	f.prompt()
	for range rapid.IntRange(20, 120).Draw(t, "steps") {
		f.step()
	}
	f.home()
	f.check()
	f.home() // what was stopped at the end of that run is told in another one
	f.check()
	for name, s := range f.state.Sessions {
		d := f.state.Delegates.Get(s.Delegate)
		if left := s.Attention.Pending(); len(left) > 0 && (d == nil || d.Drives == 0) {
			f.fatalf("%s was not told of %v", f.name(name), left)
		}
	}
}

// check holds the disk against what was promised.
func (f *family) check() {
	if got := f.fold(); !reflect.DeepEqual(got.Delegates, f.state.Delegates) {
		f.fatalf("the delegates in memory are not what the disk folds to")
	}
	for name, s := range f.fold().Sessions {
		if x := f.state.Sessions[name]; !x.Transcript.Released() && !reflect.DeepEqual(x.Transcript, s.Transcript) {
			f.fatalf("the conversation of %s in memory is not what the disk folds to", f.name(name))
		}
	}
	f.vocabulary()
	owed := map[string]id.Session{} // delivery to its owner
	queue := map[id.Delegate][]string{}
	gone := map[string]bool{}
	armed := map[id.Delegate][]string{}
	closed := map[string]bool{}
	for _, r := range f.disk {
		for _, e := range r.events {
			switch e := e.(type) {
			case delegate.UpdateQueued:
				owed[e.Delivery] = f.state.Delegates.Get(e.Delegate).Owner
				queue[e.Delegate] = append(queue[e.Delegate], e.Delivery)
			case delegate.Finished:
				if e.Packet != nil {
					owed[e.Delivery] = f.state.Delegates.Get(e.Delegate).Owner
					queue[e.Delegate] = append(queue[e.Delegate], e.Delivery)
				}
			case delegate.Discarded:
				for _, x := range e.Deliveries {
					gone[x] = true
				}
			case delegate.Delivered:
				closed[e.Delivery] = true
			case attention.DelegateArmed:
				if e.Class != attention.Quiet {
					armed[e.Delegate] = append(armed[e.Delegate], e.ID)
				}
			}
		}
	}
	for x, owner := range owed {
		if state := f.state.Sessions[owner].Attention.StateOf(x); state == attention.NotArmed && !gone[x] || !closed[x] && !gone[x] {
			f.fatalf("delivery %s of a delegate of %s is %s, acknowledged: %v", f.names(x), f.name(owner), state, closed[x])
		}
	}
	for d, got := range armed {
		want := slices.DeleteFunc(slices.Clone(queue[d]), func(x string) bool { return gone[x] && !slices.Contains(got, x) })
		if !slices.Equal(got, want) {
			f.fatalf("deliveries of %s arrived as %v, queued as %v", f.names(string(d)), got, want)
		}
	}
	f.accepted()
	f.forked()
	f.worktrees()
	d := f.state.Delegates
	if d.Running != 0 || d.Driving != 0 || len(d.Stops()) > 0 {
		f.fatalf("in the end %d run, %d are driven, %d stops are pending", d.Running, d.Driving, len(d.Stops()))
	}
	for name, s := range f.state.Sessions {
		if s.Run.Open || s.Turn != nil || len(s.Transcript.Open()) > 0 || len(s.Stops) > 0 {
			f.fatalf("in the end %s has something open", f.name(name))
		}
	}
}

// forked: a delegate that was to begin with its owner's conversation does.
func (f *family) forked() {
	disk := f.fold()
	for d := range disk.Delegates.All {
		if d.Fork == nil {
			continue
		}
		n, all := d.Fork.Entries, disk.Sessions[d.Session].Transcript.Entries
		if int64(len(all)) <= n || !reflect.DeepEqual(all[:n], disk.Sessions[d.Owner].Transcript.Entries[:n]) {
			f.fatalf("%s does not begin with the %d entries of %s", f.name(d.Session), n, f.name(d.Owner))
		}
	}
}

// accepted: what a send said it took stands in the delegate's conversation once.
func (f *family) accepted() {
	said := map[id.Session]map[string]int{}
	disk := f.fold()
	for name, s := range disk.Sessions {
		said[name] = map[string]int{}
		for _, e := range s.Transcript.Entries {
			for _, w := range strings.Fields(e.Text) {
				if e.Role == transcript.User && strings.HasSuffix(w, ".") {
					said[name][w]++
				}
			}
		}
		for _, m := range s.Messages { // the next run's first request carries it
			said[name][strings.Fields(m.Text)[1]]++
		}
	}
	for _, s := range disk.Sessions {
		for _, e := range s.Transcript.Entries {
			if e.Role != transcript.Tool || e.Name != "delegate_send" {
				continue
			}
			var r struct {
				Delegate id.Delegate `json:"delegate_id"`
				Action   string      `json:"action"`
			}
			if json.Unmarshal([]byte(e.Text), &r) != nil || r.Action == "" {
				continue
			}
			if n := said[r.Delegate.Session()][e.Call+"."]; n != 1 {
				f.fatalf("%s said %s of call %s, and the message stands there %d times", f.name(s.ID), r.Action, e.Call, n)
			}
		}
	}
}

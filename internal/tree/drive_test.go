package tree_test

import (
	"testing"

	"evener/internal/id"
)

// An attention run takes no place of those that messages begin, and none of these
// stands in its way. Above the bound of its own kind it does not begin: what is owed
// stays owed, and is told when another such run has ended.
//
// clause: JC-654 JC-656
func TestDrivePlaces(t *testing.T) {
	l := familyLimits
	l.MaxConcurrentDelegates, l.AttentionDriveLimit, l.MaxRetainedTerminal = 3, 1, 50
	b := prompted(t, l)
	one, _ := b.delegate(root, 1)
	two, _ := b.delegate(root, 2)
	j, k := b.start(one), b.start(two)
	b.report(one)
	b.report(two)
	for n := byte(3); n <= 5; n++ {
		b.delegate(root, n)
	}
	if _, r := b.delegate(root, 6); !r.IsError {
		t.Fatalf("the places are not taken: %s", r.Text)
	}
	counts := func(what string, running, driving int64, open ...bool) {
		t.Helper()
		d := b.state.Delegates
		if d.Running != running || d.Driving != driving {
			t.Errorf("%s: %d run and %d are driven, want %d and %d", what, d.Running, d.Driving, running, driving)
		}
		for i, s := range []id.Session{one, two} {
			x := b.state.Sessions[s]
			if x.Run.Open != open[i] {
				t.Errorf("%s: %d runs: %v", what, i+1, x.Run.Open)
			}
		}
	}
	b.exit(j)
	counts("the end of the one's command", 3, 1, true, false)
	b.exit(k)
	counts("the end of the other's", 3, 1, true, false)
	if owed := b.state.Sessions[two].Attention.Unshown(); len(owed) != 1 {
		t.Errorf("the other is owed %v", owed)
	}
	b.report(one)
	counts("the one was told", 3, 1, false, true)
	b.report(two)
	counts("the other too", 3, 0, false, false)
	if owed := b.state.Sessions[two].Attention.Pending(); len(owed) > 0 {
		t.Errorf("the other is still owed %v", owed)
	}
}

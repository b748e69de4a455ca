package policy

import (
	"testing"

	"evener/internal/fault"
)

func asked(n int64) *int64 { return &n }

// clause: JC-079 JC-080 JC-082 JC-083 JC-084
func TestAllowance(t *testing.T) {
	const must = "invalid_request: delegation_allowance must be less than your own allowance "
	for _, c := range []struct {
		own     int64
		asked   *int64
		want    int64
		refusal string
	}{
		{2, nil, 1, ""},
		{1, nil, 0, ""},
		{7, nil, 6, ""},
		{2, asked(0), 0, ""}, // a leaf, where absent would give 1
		{2, asked(1), 1, ""},
		{7, asked(3), 3, ""},
		{1, asked(0), 0, ""},
		{2, asked(2), 0, must + "(2); valid grants: 0..1"},
		{2, asked(5), 0, must + "(2); valid grants: 0..1"},
		{2, asked(-1), 0, must + "(2); valid grants: 0..1"},
		{3, asked(3), 0, must + "(3); valid grants: 0..2"},
		{1, asked(1), 0, must + "(1); valid grants: 0"},
		{1, asked(-1), 0, must + "(1); valid grants: 0"},
	} {
		got, refusal := Allowance(c.own, c.asked)
		if got != c.want || message(refusal) != c.refusal {
			t.Errorf("own %d, asked %v: got %d, %q; want %d, %q", c.own, c.asked, got, message(refusal), c.want, c.refusal)
		}
	}
}

// A leaf delegates nothing, whatever it asks for.
func TestAllowanceOfALeaf(t *testing.T) {
	for _, own := range []int64{0, -1} {
		for _, a := range []*int64{nil, asked(0), asked(1), asked(-1)} {
			if n, refusal := Allowance(own, a); refusal == nil {
				t.Errorf("own %d: got %d and no refusal", own, n)
			}
		}
	}
}

// TestChainsEnd: whatever is asked for, each level is below the one above it.
func TestChainsEnd(t *testing.T) {
	for depth, want := range map[int64][]int64{2: {1, 0}, 1: {0}} {
		own := depth
		for _, next := range want {
			got, refusal := Allowance(own, nil)
			if refusal != nil || got != next {
				t.Fatalf("depth %d: own %d gives %d (%v), want %d", depth, own, got, refusal, next)
			}
			own = got
		}
		if _, refusal := Allowance(own, nil); refusal == nil {
			t.Errorf("depth %d: the chain has no leaf", depth)
		}
	}
}

func message(refusal *fault.Error) string {
	if refusal == nil {
		return ""
	}
	return refusal.Error()
}

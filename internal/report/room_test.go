package report

import "testing"

// The texts of a page are cut the shorter the more there are, and never to nothing.
func TestRoom(t *testing.T) {
	for _, c := range []struct{ items, most int }{{0, maxBody}, {700, maxBody}, {15_999, 1000}, {1_000_000, minBody}} {
		p := &Page{groups: []*group{{talk: &talk{items: make([]*item, c.items)}}}}
		if got := p.room(); got != c.most {
			t.Errorf("%d items: %d characters, want %d", c.items, got, c.most)
		}
	}
}

package role

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func some(n, description int) Catalog {
	var c Catalog
	for i := range n {
		c.roles = append(c.roles, Role{Name: fmt.Sprintf("role-%03d", i), Description: strings.Repeat("é ", description/2), Path: "/repo/.evener/agents/x.md"})
	}
	return c
}

func TestListing(t *testing.T) {
	c := Catalog{[]Role{
		{Name: "poet", Description: "rhymes\nwell", Tools: Tools{Names: []string{"read_file"}}},
		{Name: "scout", Description: "Looks around.\x1b[2J", Tools: Tools{Names: []string{"delegate"}}},
	}}
	if got, want := c.Listing(2048, nil), "- poet: rhymes well\n- scout: Looks around.\\x1b[2J"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := c.Listing(2048, func(r Role) bool { return r.Name != "scout" }), "- poet: rhymes well"; got != want {
		t.Errorf("filtered: got %q, want %q", got, want)
	}
	if got := c.Listing(2048, func(Role) bool { return false }) + (Catalog{}).Listing(2048, nil); got != "" {
		t.Errorf("nothing to show: got %q", got)
	}
}

// TestListingFits: descriptions are given up before names, and names only with
// a word on where the rest is.
func TestListingFits(t *testing.T) {
	for _, c := range []struct {
		roles, description, limit int
		names                     int
		ends                      string
	}{
		{3, 20, 2048, 3, "é"},
		{10, 1000, 2048, 10, "é…"},
		{25, 1000, 2048, 25, "é…"},
		{140, 1000, 2048, 140, "- role-139"},
		{400, 1000, 2048, 179, "\n[221 more are not shown; their files stand in \"/repo/.evener/agents\"]"},
		{3, 20, 31, 0, "[3 more are not shown; their fi"},
		{3, 20, 10, 0, "[3 more ar"},
	} {
		got := some(c.roles, c.description).Listing(c.limit, nil)
		if len(got) > c.limit || !utf8.ValidString(got) || strings.Count(got, "- role-") != c.names || !strings.HasSuffix(got, c.ends) {
			t.Errorf("%d roles: %d bytes, %d names, got %q", c.roles, len(got), strings.Count(got, "- role-"), got)
		}
	}
}

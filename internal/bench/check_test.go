package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The published table can be read, and says of each row of a group what it is held to.
func TestRecorded(t *testing.T) {
	old, err := readRecorded("../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"durable append, 64 callers", "durable append, 64 callers – against etcd", "job output to its log, yes | head"} {
		if old[name] <= 0 {
			t.Errorf("there is no ratio of %q", name)
		}
	}
}

func TestWorse(t *testing.T) {
	page := filepath.Join(t.TempDir(), "p.md")
	if err := os.WriteFile(page, []byte(`
| what | subject | limit | ratio (min–max) | target | met |
| --- | --- | --- | --- | --- | --- |
| speed a \| b | 10 lines/s | x: 10 lines/s | 0.90 (0.80–1.00) | ≥ 0.80 × | yes |
| – against y | 10 lines/s | y: 1 lines/s | 1,200 (1–2) | – | – |
| time | 3 ms | z: 1 ms | 3 (2–4) | – | – |
| plain | 3 ms | – | – | – | – |
`), 0o600); err != nil {
		t.Fatal(err)
	}
	old, err := readRecorded(page)
	if err != nil {
		t.Fatal(err)
	}
	at := func(what, unit string, ratio float64) result {
		return result{row: row{what: what, unit: unit, limit: "l"}, rounds: 1, ratio: ratio, min: ratio, max: ratio}
	}
	for _, c := range []struct {
		name string
		now  []result
		want []string
	}{
		{"as recorded", []result{at("speed a | b", "lines/s", .9), at("– against y", "lines/s", 1200), at("time", "ms", 3)}, nil},
		{"within a third", []result{at("speed a | b", "lines/s", .61), at("– against y", "lines/s", 801), at("time", "ms", 4.4)}, nil},
		{"slower", []result{at("speed a | b", "lines/s", .59)}, []string{"speed a | b"}},
		{"a row below", []result{at("speed a | b", "lines/s", .9), at("– against y", "lines/s", 700)}, []string{"speed a | b – against y"}},
		{"longer", []result{at("time", "ms", 4.6)}, []string{"time"}},
		{"better", []result{at("speed a | b", "lines/s", 9), at("time", "ms", .1)}, nil},
		{"not recorded", []result{at("new", "ms", 100)}, nil},
	} {
		var got []string
		for _, s := range old.worse(c.now) {
			got = append(got, s.name)
			if !strings.HasPrefix(s.String(), s.name+": ratio ") {
				t.Errorf("%s: it says %q", c.name, s)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// A target is met by the figure that is shown, not by digits that nobody sees.
func TestMet(t *testing.T) {
	for _, c := range []struct {
		want want
		v    float64
		met  bool
	}{
		{value("≤", 2), 2.004, true},
		{value("≤", 2), 2.006, false},
		{ratio("≥", 0.85), 0.846, true},
		{ratio("≥", 0.85), 0.844, false},
		{value("=", 0), 0, true},
		{value("≤", 150), 150.4, true},
		{value("≤", 10), 10.06, false},
	} {
		if got := c.want.met(c.v); got != c.met {
			t.Errorf("%s %v with %v: got %v", c.want.sign, c.want.bound, c.v, got)
		}
	}
}

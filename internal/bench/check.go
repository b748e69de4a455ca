package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// allowance is how much a ratio may be worse than the recorded one. Machines and
// minutes differ; a ratio that is worse by more is worse by the program.
const allowance = 1. / 3

// recorded are the ratios of a published table, by the name of their row: the row
// itself, or, of one that begins with a dash, the row that it belongs to and itself.
type recorded map[string]float64

func rowName(above, what string) (name, nowAbove string) {
	if strings.HasPrefix(what, "– ") {
		return above + " " + what, above
	}
	return what, what
}

// readRecorded reads the markdown table of such a page.
func readRecorded(path string) (recorded, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	out := recorded{}
	above, name := "", ""
	for line := range strings.Lines(string(b)) {
		cells := strings.Split(strings.ReplaceAll(strings.TrimSpace(line), `\|`, "\x00"), "|")
		if len(cells) != len(columns)+2 {
			continue
		}
		for i := range cells {
			cells[i] = strings.ReplaceAll(strings.TrimSpace(cells[i]), "\x00", "|")
		}
		name, above = rowName(above, cells[1])
		median, _, _ := strings.Cut(cells[4], " ")
		ratio, err := strconv.ParseFloat(strings.ReplaceAll(median, ",", ""), 64)
		if err != nil {
			continue // the head, or a row without a ratio
		}
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("%s has two rows %q", path, name)
		}
		out[name] = ratio
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no table of ratios", path)
	}
	return out, nil
}

// slower is a row whose ratio is worse than the recorded one by more than is allowed.
type slower struct {
	name string
	is   result
	was  float64
}

func (s slower) String() string {
	best := s.is.min
	if s.is.moreIsBetter() {
		best = s.is.max
	}
	return fmt.Sprintf("%s: ratio %s (at best %s), recorded %s", s.name, number(s.is.ratio), number(best), number(s.was))
}

// worse are such rows of a group. A row that is not recorded is not judged.
func (old recorded) worse(results []result) []slower {
	var out []slower
	above, name := "", ""
	for _, r := range results {
		name, above = rowName(above, r.what)
		was, ok := old[name]
		if !ok || r.rounds == 0 || r.limit == "" {
			continue
		}
		bad := r.ratio > was/(1-allowance)
		if r.moreIsBetter() {
			bad = r.ratio < was*(1-allowance)
		}
		if bad {
			out = append(out, slower{name, r, was})
		}
	}
	return out
}

// moreIsBetter: the subject is a speed, not a time or a size.
func (r result) moreIsBetter() bool { return strings.HasSuffix(r.unit, "/s") }

// measureAgain gives a group another chance: a row is worse if it is so twice.
func measureAgain(e *env, g group, old recorded, first []slower, progress func(string)) []slower {
	if len(first) == 0 {
		return nil
	}
	return slices.DeleteFunc(old.worse(measure(e, g, progress)), func(s slower) bool {
		return !slices.ContainsFunc(first, func(f slower) bool { return f.name == s.name })
	})
}

package files

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"evener/internal/text"
)

// mostNear bounds how many lines are compared in search of what was meant.
const mostNear = 50_000

var numbered = regexp.MustCompile(`^\s*\d+\t`)

// nearest says why a text is not found: what the file has in its place, as far
// as that can be told.
func nearest(content []byte, old string) string {
	have := splitLines(string(content))
	want := splitLines(old)
	cut := len(have) > mostNear
	have = have[:min(len(have), mostNear)]
	if slices.ContainsFunc(want, func(l string) bool { return l != "" }) && !slices.ContainsFunc(want, func(l string) bool { return l != "" && !numbered.MatchString(l) }) {
		return "its lines begin with the line numbers of read_file, which are not part of the file; leave them out"
	}
	if strings.Contains(old, "\uFFFD") {
		return "it holds U+FFFD, which stands for bytes that are not UTF-8; choose a text without them"
	}
	if i := spaced(have, want, strings.TrimSpace); i >= 0 {
		return whiteSpace(have[i:], want, i)
	}
	if i := spaced(have, want, squeezed); i >= 0 {
		return whiteSpace(have[i:], want, i)
	}
	first := slices.IndexFunc(want, func(l string) bool { return strings.TrimSpace(l) != "" })
	if first < 0 {
		return "it is white space alone; add text around it"
	}
	if i := slices.IndexFunc(have, func(l string) bool { return strings.TrimSpace(l) == strings.TrimSpace(want[first]) }); i >= 0 {
		return firstDifference(have, want, i-first, i)
	}
	if i := likest(have, want[first]); i >= 0 {
		return fmt.Sprintf("the nearest line is %d: %s", i+1, quoted(have[i]))
	}
	if cut {
		return fmt.Sprintf("nothing in its first %d lines is like it", mostNear)
	}
	return "nothing in it is like that; read_file shows what it has now"
}

// spaced finds want in have where lines are the same but for what norm takes away.
func spaced(have, want []string, norm func(string) string) int {
	w := make([]string, len(want))
	blank := true
	for i, l := range want {
		w[i] = norm(l)
		blank = blank && w[i] == ""
	}
	if blank {
		return -1
	}
	h := make([]string, len(have))
	for i, l := range have {
		h[i] = norm(l)
	}
	for i := 0; i+len(w) <= len(h); i++ {
		if slices.Equal(h[i:i+len(w)], w) {
			return i
		}
	}
	return -1
}

func squeezed(s string) string { return strings.Join(strings.Fields(s), " ") }

func whiteSpace(have, want []string, at int) string {
	where, differ, same := fmt.Sprintf("line %d", at+1), "differs", "is the same"
	if len(want) > 1 {
		where, differ, same = fmt.Sprintf("lines %d-%d", at+1, at+len(want)), "differ", "are the same"
	}
	for i, l := range want {
		if have[i] != l {
			return fmt.Sprintf("%s %s in white space only: line %d of the file is %s, old_string has %s", where, differ, at+i+1, quoted(have[i]), quoted(l))
		}
	}
	// The lines are the same: what differs is behind the last or before the first.
	return where + " " + same + ", but the file goes on otherwise behind that (is there a newline at its end?)"
}

// firstDifference goes along from a line that is there.
func firstDifference(have, want []string, start, found int) string {
	for i, l := range want {
		at := start + i
		switch {
		case at < 0:
			continue
		case at >= len(have):
			return fmt.Sprintf("line %d is its line %d, but the file ends before its line %d", found+1, found-start+1, i+1)
		case strings.TrimSpace(have[at]) != strings.TrimSpace(l):
			return fmt.Sprintf("line %d of the file is its line %d, but line %d is %s where old_string has %s", found+1, found-start+1, at+1, quoted(have[at]), quoted(l))
		}
	}
	return fmt.Sprintf("line %d is like its first line, but white space differs", found+1)
}

// likest is the line that is most like one, if any is much like it.
func likest(have []string, want string) int {
	w := strings.TrimSpace(want)
	best, cost := -1, max(1, len(w)*2/5)
	budget := 20_000_000 // steps of comparison; what is left then is not compared
	for i, l := range have {
		l = strings.TrimSpace(l)
		if len(l) > 500 || len(w) > 500 || l == "" || len(l)-len(w) > cost || len(w)-len(l) > cost {
			continue
		}
		if budget -= len(l) * len(w); budget < 0 {
			break
		}
		if d := distance(l, w); d < cost {
			best, cost = i, d
		}
	}
	return best
}

func quoted(s string) string {
	s, cut := text.Head(s, 120)
	q := fmt.Sprintf("%q", s)
	if cut {
		q += "…"
	}
	return q
}

// splitLines gives lines without their ends.
func splitLines(s string) []string {
	out := strings.Split(strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n"), "\n")
	return out
}

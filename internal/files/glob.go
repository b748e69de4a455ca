package files

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A glob matches paths, with / between their parts: * and ? and [a-z] within one
// part, ** over any number of whole parts, \ before what is meant literally.
type glob struct {
	parts  []string
	folder bool // only folders: it ended in /
}

// parseGlob makes a glob, one of which matches at any depth if it has no /, as in
// .gitignore.
func parseGlob(s string) glob {
	var g glob
	s, g.folder = strings.CutSuffix(s, "/")
	if !strings.Contains(s, "/") {
		s = "**/" + s
	}
	g.parts = strings.Split(strings.TrimPrefix(s, "/"), "/")
	return g
}

func (g glob) match(path []string) bool { return matchParts(g.parts, path) }

// matchParts is greedy: what a ** takes is given back from the latest one only,
// which is enough, and never takes more than the product of both lengths.
func matchParts(pattern, path []string) bool {
	p, at, star, taken := 0, 0, -1, 0
	for at < len(path) {
		switch {
		case p < len(pattern) && pattern[p] == "**":
			if p == len(pattern)-1 {
				return true // something is left, and that is all it asks for
			}
			star, taken = p, at
			p++
		case p < len(pattern) && matchPart(pattern[p], path[at]):
			p, at = p+1, at+1
		case star >= 0:
			taken++
			p, at = star+1, taken
		default:
			return false
		}
	}
	return p == len(pattern)
}

// within reports whether a folder may hold, at any depth, what matches.
func (g glob) within(folder []string) bool {
	for i, name := range folder {
		switch {
		case i < len(g.parts) && g.parts[i] == "**":
			return true
		case i >= len(g.parts)-1 || !matchPart(g.parts[i], name):
			return false
		}
	}
	return true
}

func matchPart(pattern, name string) bool {
	p, at, star, taken := 0, 0, -1, 0
	for at < len(name) {
		if p < len(pattern) && pattern[p] == '*' {
			star, taken = p, at
			p++
			continue
		}
		if n, w, ok := matchRune(pattern[p:], name[at:]); ok {
			p, at = p+n, at+w
			continue
		}
		if star < 0 {
			return false
		}
		_, w := utf8.DecodeRuneInString(name[taken:])
		taken += w
		p, at = star+1, taken
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// matchRune matches the first element of a pattern with the first rune of a name,
// and gives the length of both.
func matchRune(pattern, name string) (n, w int, ok bool) {
	if pattern == "" {
		return 0, 0, false
	}
	r, w := utf8.DecodeRuneInString(name)
	switch pattern[0] {
	case '?':
		return 1, w, true
	case '[':
		n, ok = matchClass(pattern, r)
		return n, w, ok
	case '\\':
		if pattern = pattern[1:]; pattern == "" {
			return 0, 0, false
		}
		n = 1
	}
	c, size := utf8.DecodeRuneInString(pattern)
	if c == utf8.RuneError && size == 1 { // a byte that is not UTF-8 is itself
		return n + 1, 1, pattern[0] == name[0]
	}
	return n + size, w, c == r
}

// matchClass matches [a-z], [!a-z], [[:alpha:]]. One that is not closed matches nothing.
func matchClass(pattern string, r rune) (n int, ok bool) {
	i := 1
	not := i < len(pattern) && (pattern[i] == '!' || pattern[i] == '^')
	if not {
		i++
	}
	found := false
	for first := true; ; first = false {
		if i >= len(pattern) {
			return 0, false
		}
		if pattern[i] == ']' && !first {
			return i + 1, found != not
		}
		if strings.HasPrefix(pattern[i:], "[:") {
			name := pattern[i+2:] // as git: up to the next ], with a colon before it
			if end := strings.IndexByte(name, ']'); end > 0 && name[end-1] == ':' {
				in, known := posix[name[:end-1]]
				if !known {
					return 0, false
				}
				found = found || in(r)
				i += 2 + end + 1
				continue
			}
		}
		low, size := classRune(pattern[i:])
		i += size
		high := low
		if i+1 < len(pattern) && pattern[i] == '-' && pattern[i+1] != ']' {
			high, size = classRune(pattern[i+1:])
			i += 1 + size
		}
		found = found || low <= r && r <= high
	}
}

func classRune(pattern string) (rune, int) {
	if pattern[0] == '\\' && len(pattern) > 1 {
		r, size := utf8.DecodeRuneInString(pattern[1:])
		return r, size + 1
	}
	return utf8.DecodeRuneInString(pattern)
}

func ascii(in func(rune) bool) func(rune) bool {
	return func(r rune) bool { return r < utf8.RuneSelf && in(r) }
}

var posix = map[string]func(rune) bool{
	"alpha": ascii(unicode.IsLetter), "digit": ascii(unicode.IsDigit), "upper": ascii(unicode.IsUpper), "lower": ascii(unicode.IsLower),
	"alnum": ascii(func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }),
	"space": ascii(unicode.IsSpace), "blank": func(r rune) bool { return r == ' ' || r == '\t' },
	"punct": ascii(func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }),
	"cntrl": ascii(unicode.IsControl), "print": ascii(unicode.IsPrint), "graph": ascii(unicode.IsGraphic),
	"xdigit": func(r rune) bool { return strings.ContainsRune("0123456789abcdefABCDEF", r) },
}

// globs are the alternatives that the braces of one pattern stand for.
type globs []glob

const mostAlternatives = 64

// parseGlobs reads the pattern of a call.
func parseGlobs(s string) (globs, error) {
	if strings.HasPrefix(s, "/") || strings.HasPrefix(s, "~") {
		return nil, fmt.Errorf("it counts below path, so it cannot begin with %c; give the folder as path", s[0])
	}
	all, err := braces(s)
	if err != nil {
		return nil, err
	}
	var out globs
	for _, x := range all {
		if strings.HasPrefix(x, "./") {
			x = "/" + x[2:]
		}
		g := parseGlob(x)
		if slices.Contains(g.parts, "..") {
			return nil, fmt.Errorf("it goes up with ..; path names another folder")
		}
		if !closed(x) {
			return nil, fmt.Errorf("a [ in it is not closed")
		}
		out = append(out, g)
	}
	return out, nil
}

// closed reports whether each class of a pattern has its end.
func closed(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			n, _ := matchClass(s[i:], 'a')
			if n == 0 {
				return false
			}
			i += n - 1
		}
	}
	return true
}

// braces writes out {a,b}, nested ones too.
func braces(s string) ([]string, error) {
	open, depth := -1, 0
	var cuts []int
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			i++
		case c == '{':
			if depth == 0 {
				open, cuts = i, []int{i}
			}
			depth++
		case c == ',' && depth == 1:
			cuts = append(cuts, i)
		case c == '}' && depth > 0:
			if depth--; depth > 0 {
				continue
			}
			rest, err := braces(s[i+1:])
			if err != nil {
				return nil, err
			}
			return expand(s, open, append(cuts, i), rest)
		}
	}
	if depth > 0 {
		return nil, fmt.Errorf("a { in it is not closed")
	}
	return []string{s}, nil
}

func expand(s string, open int, cuts []int, rest []string) (out []string, err error) {
	for k := range len(cuts) - 1 {
		inner, err := braces(s[cuts[k]+1 : cuts[k+1]])
		if err != nil {
			return nil, err
		}
		for _, x := range inner {
			for _, r := range rest {
				if out = append(out, s[:open]+x+r); len(out) > mostAlternatives {
					return nil, fmt.Errorf("its braces stand for more than %d patterns", mostAlternatives)
				}
			}
		}
	}
	return out, nil
}

func (gs globs) match(path []string, folder bool) bool {
	return slices.ContainsFunc(gs, func(g glob) bool { return g.folder == folder && g.match(path) })
}

func (gs globs) within(folder []string) bool {
	return slices.ContainsFunc(gs, func(g glob) bool { return g.within(folder) })
}

package match

import (
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

// shape is what can be told of all matches of an expression.
type shape struct {
	longest   int   // bytes of the longest match; more than Window when there is no such bound
	oneLine   bool  // no match contains a newline
	looksBack bool  // what stands before a match can matter
	need      *need // strings of which every match has one; nil: none are known
}

func shapeOf(re *syntax.Regexp) shape {
	return shape{
		longest:   longest(re),
		oneLine:   !has(re, takesNewline),
		looksBack: has(re, looksBack),
		need:      needOf(re),
	}
}

// has reports whether one of the nodes of an expression is of a kind.
func has(re *syntax.Regexp, is func(*syntax.Regexp) bool) bool {
	if is(re) {
		return true
	}
	for _, sub := range re.Sub {
		if has(sub, is) {
			return true
		}
	}
	return false
}

func takesNewline(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpAnyChar:
		return true
	case syntax.OpLiteral:
		return strings.ContainsRune(string(re.Rune), '\n')
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if re.Rune[i] <= '\n' && '\n' <= re.Rune[i+1] {
				return true
			}
		}
	}
	return false
}

func looksBack(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginLine, syntax.OpBeginText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return true
	}
	return false
}

// endless is a length without a bound that matters here.
const endless = Window + 1

// longest bounds the bytes of a match.
func longest(re *syntax.Regexp) int {
	n := 0
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			n += widest(r, re.Flags&syntax.FoldCase != 0)
		}
	case syntax.OpCharClass:
		if len(re.Rune) > 0 {
			n = width(re.Rune[len(re.Rune)-1])
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		n = utf8.UTFMax
	case syntax.OpStar, syntax.OpPlus:
		if longest(re.Sub[0]) > 0 {
			return endless
		}
	case syntax.OpRepeat:
		n = longest(re.Sub[0])
		switch {
		case n > 0 && re.Max < 0:
			return endless
		case re.Max >= 0:
			n *= re.Max
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			n = max(n, longest(sub))
		}
	default: // one after the other, or around one, or nothing
		for _, sub := range re.Sub {
			n = min(n+longest(sub), endless)
		}
	}
	return min(n, endless)
}

// widest is the most bytes of a rune, or of what it folds to.
func widest(r rune, fold bool) int {
	n := width(r)
	if fold {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			n = max(n, width(f))
		}
	}
	return n
}

func width(r rune) int {
	switch {
	case r < 0x80:
		return 1
	case r < 0x800:
		return 2
	case r < 0x10000:
		return 3
	}
	return 4
}

// need is a set of strings of which every match contains one.
type need struct {
	texts  []literal
	before int // the most bytes of a match before that string
}

// literal is a string to look for. Folded, ASCII letters count in either case
// and it is lower case itself.
type literal struct {
	text string
	fold bool
}

const (
	maxLiteral  = 32 // bytes looked for of a longer one
	maxLiterals = 16
	maxClass    = 4
)

// needOf finds the best such set: the longer the shortest string, the better.
func needOf(re *syntax.Regexp) *need {
	switch re.Op {
	case syntax.OpLiteral:
		return needLiteral(re)
	case syntax.OpCharClass:
		return needClass(re)
	case syntax.OpCapture, syntax.OpPlus:
		return needOf(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needOf(re.Sub[0])
		}
	case syntax.OpAlternate:
		return needOne(re)
	case syntax.OpConcat:
		var best *need
		before := 0
		for _, sub := range re.Sub {
			if n := needOf(sub); n != nil {
				n.before = min(n.before+before, Window)
				if best == nil || n.worth() > best.worth() {
					best = n
				}
			}
			before = min(before+longest(sub), Window)
		}
		return best
	}
	return nil
}

// needOne joins what the branches need; all must need something.
func needOne(re *syntax.Regexp) *need {
	all := &need{}
	for _, sub := range re.Sub {
		n := needOf(sub)
		if n == nil || len(all.texts)+len(n.texts) > maxLiterals {
			return nil
		}
		all.texts = append(all.texts, n.texts...)
		all.before = max(all.before, n.before)
	}
	return all
}

// needClass takes a class of a few ASCII characters as so many strings.
func needClass(re *syntax.Regexp) *need {
	all := &need{}
	for i := 0; i+1 < len(re.Rune); i += 2 {
		for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
			if len(all.texts) == maxClass || r >= utf8.RuneSelf || !plain(r, false) {
				return nil
			}
			all.texts = append(all.texts, literal{string(r), false})
		}
	}
	if len(all.texts) == 0 {
		return nil
	}
	return all
}

func (n *need) worth() int {
	least := maxLiteral
	for _, l := range n.texts {
		least = min(least, len(l.text))
	}
	return min(least, 8)*(maxLiterals+1) - len(n.texts)
}

// needLiteral is the longest piece of a literal that stands in the raw output
// as it stands here: without line ends, which a pair \r\n imitates, without the
// rune that broken bytes read as, and where case is folded without letters that
// have a relative beyond ASCII.
func needLiteral(re *syntax.Regexp) *need {
	fold := re.Flags&syntax.FoldCase != 0
	var best, piece string
	at, before, bestBefore := 0, 0, 0
	for _, r := range re.Rune {
		at += widest(r, fold)
		if !plain(r, fold) {
			piece, before = "", at
			continue
		}
		if fold && r < utf8.RuneSelf {
			r = unicode.ToLower(r)
		}
		if piece += string(r); len(piece) > len(best) {
			best, bestBefore = piece, before
		}
	}
	if best == "" {
		return nil
	}
	return &need{[]literal{{best[:min(len(best), maxLiteral)], fold}}, min(bestBefore, Window)}
}

func plain(r rune, fold bool) bool {
	if r == '\n' || r == '\r' || r == utf8.RuneError {
		return false
	}
	f := unicode.SimpleFold(r)
	return !fold || f == r || r < utf8.RuneSelf && f < utf8.RuneSelf && unicode.SimpleFold(f) == r
}

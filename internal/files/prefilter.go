package files

import (
	"bytes"
	"io"
	"regexp/syntax"
	"slices"
	"strings"
)

// A prefilter finds where a line may match at all, by texts of which each match
// holds one. To look for a text is ten to a hundred times faster than to match.
type prefilter struct {
	needs []need
	fold  bool // case does not count

	low           []byte // what was made lower case last: [lowAt, lowEnd) of the file
	lowAt, lowEnd int64
}

type need struct {
	text []byte
	from int64 // it does not stand before this offset of the file, and here or later it may
}

// prefilterOf is nil where a pattern says too little.
func prefilterOf(re *syntax.Regexp) *prefilter {
	texts, fold := needed(re)
	if len(texts) == 0 || len(texts) > 16 {
		return nil
	}
	p := &prefilter{fold: fold}
	for _, x := range texts {
		if fold {
			x = string(lower(nil, []byte(x)))
		}
		p.needs = append(p.needs, need{text: []byte(x)})
	}
	return p
}

// reset begins with another file.
func (p *prefilter) reset() {
	p.lowAt, p.lowEnd = 0, 0
	for i := range p.needs {
		p.needs[i].from = 0
	}
}

// find is the first place in a block of whole lines where one of the texts
// stands, or -1. The block stands at this offset of the file.
func (p *prefilter) find(block []byte, at int64) int {
	end := at + int64(len(block))
	if p.fold {
		if at < p.lowAt || end > p.lowEnd {
			p.low, p.lowAt, p.lowEnd = lower(p.low[:0], block), at, end
		}
		block = p.low[at-p.lowAt : end-p.lowAt]
	}
	best := -1
	for i := range p.needs {
		n := &p.needs[i]
		start := max(0, n.from-at)
		if start >= int64(len(block)) {
			continue
		}
		if k := bytes.Index(block[start:], n.text); k < 0 {
			n.from = end
		} else {
			n.from = at + start + int64(k)
			if found := int(start) + k; best < 0 || found < best {
				best = found
			}
		}
	}
	return best
}

// in reports whether one of the texts stands in what a reader gives, as far as it
// can be read.
func (p *prefilter) in(r io.Reader) bool {
	longest := 0
	for _, n := range p.needs {
		longest = max(longest, len(n.text))
	}
	buf := make([]byte, max(lineBuf, 2*longest))
	for kept := 0; ; {
		n, err := io.ReadFull(r, buf[kept:])
		b := buf[:kept+n]
		if p.fold {
			copy(b, lower(nil, b))
		}
		if slices.ContainsFunc(p.needs, func(n need) bool { return bytes.Contains(b, n.text) }) {
			return true
		}
		if err != nil {
			return false
		}
		kept = copy(buf, b[max(0, len(b)-longest+1):])
	}
}

// lower makes ASCII letters lower case and leaves everything else as it is.
func lower(to, b []byte) []byte {
	for _, c := range b {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to
}

// needed gives texts of which each match holds at least one; none if that is not
// seen easily. fold says that one of them counts without case.
func needed(re *syntax.Regexp) (texts []string, fold bool) {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return []string{string(re.Rune)}, false
		}
		if x := foldable(re.Rune); x != "" {
			return []string{x}, true
		}
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return needed(re.Sub[0])
		}
	case syntax.OpConcat:
		best := 0
		for _, sub := range re.Sub {
			x, f := needed(sub)
			if n := shortest(x); n > best {
				texts, fold, best = x, f, n
			}
		}
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			x, f := needed(sub)
			if len(x) == 0 {
				return nil, false
			}
			texts, fold = append(texts, x...), fold || f
		}
	}
	return texts, fold
}

func shortest(texts []string) int {
	if len(texts) == 0 {
		return 0
	}
	return len(slices.MinFunc(texts, func(a, b string) int { return len(a) - len(b) }))
}

// foldable is the longest part of a text of which no letter has a third case: the
// Kelvin sign is a K, the long s an S, and beyond ASCII there are more.
func foldable(runes []rune) string {
	best := ""
	for part := range strings.FieldsFuncSeq(string(runes), func(r rune) bool { return r >= 0x80 || strings.ContainsRune("kKsS", r) }) {
		if len(part) > len(best) {
			best = part
		}
	}
	return best
}

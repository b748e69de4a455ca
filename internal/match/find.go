package match

import "bytes"

// finder gives the offset of the first of its strings in b, -1 when none is there.
type finder func(b []byte) int

func newFinder(texts []literal) finder {
	least := len(texts[0].text)
	for _, l := range texts {
		least = min(least, len(l.text))
	}
	switch {
	case len(texts) == 1 && !texts[0].fold:
		return exact(texts[0].text)
	case least == 1:
		return oneByte(texts)
	}
	return pairs(texts, least)
}

func exact(text string) finder {
	want := []byte(text)
	return func(b []byte) int { return bytes.Index(b, want) }
}

// oneByte stops at the first byte of any string.
func oneByte(texts []literal) finder {
	var first [256]bool
	for _, l := range texts {
		for _, c := range cases(l, 0) {
			first[c] = true
		}
	}
	return func(b []byte) int {
		for i, c := range b {
			if first[c] && starts(texts, b[i:]) {
				return i
			}
		}
		return -1
	}
}

// pairs looks at two bytes at a time and leaps, as Wu and Manber do it: how far
// depends on where those two stand first in the strings' least common length.
func pairs(texts []literal, least int) finder {
	var leap [1 << 12]uint8
	for i := range leap {
		leap[i] = uint8(least - 1)
	}
	for _, l := range texts {
		for i := range least - 1 {
			for _, a := range cases(l, i) {
				for _, b := range cases(l, i+1) {
					h := hash(a, b)
					leap[h] = min(leap[h], uint8(least-2-i))
				}
			}
		}
	}
	return func(b []byte) int {
		for i := least - 2; i+1 < len(b); {
			n := leap[hash(b[i], b[i+1])]
			if n > 0 {
				i += int(n)
				continue
			}
			if at := i - (least - 2); starts(texts, b[at:]) {
				return at
			}
			i++
		}
		return -1
	}
}

func hash(a, b byte) uint16 { return (uint16(a)<<4 ^ uint16(b)) & (1<<12 - 1) }

// cases are the bytes that may stand for byte i of a string.
func cases(l literal, i int) []byte {
	c := l.text[i]
	if l.fold && 'a' <= c && c <= 'z' {
		return []byte{c, c - 'a' + 'A'}
	}
	return []byte{c}
}

func starts(texts []literal, b []byte) bool {
	for _, l := range texts {
		if l.begins(b) {
			return true
		}
	}
	return false
}

func (l literal) begins(b []byte) bool {
	if len(b) < len(l.text) {
		return false
	}
	if !l.fold {
		return string(b[:len(l.text)]) == l.text
	}
	for i := range len(l.text) {
		c := b[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != l.text[i] {
			return false
		}
	}
	return true
}

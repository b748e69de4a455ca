package journal

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// MaxDepth is how deep Data and Cause may nest. jq 1.6 reads 256 levels, counts
// an object twice, and a line adds a few of its own.
const MaxDepth = 120

// validCompact reports whether b is one JSON value in UTF-8 without white space
// between its parts, without half surrogate pairs and not nested deeper than
// MaxDepth. It does not look for repeated keys or numbers that a reader would round.
func validCompact(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	end := jsonValue(b, 0, MaxDepth)
	return end == len(b)
}

// ValidData reports whether b may be the Data of an event. Whoever passes on
// bytes from outside asks first, and wraps in a string what may not.
func ValidData(b []byte) bool { return validCompact(b) }

// jsonValue returns the end of the compact value at i, or -1.
func jsonValue(b []byte, i, depth int) int {
	if i >= len(b) {
		return -1
	}
	switch c := b[i]; c {
	case '"':
		return jsonString(b, i)
	case '{', '[':
		return jsonNested(b, i, depth)
	case 't':
		return jsonWord(b, i, "true")
	case 'f':
		return jsonWord(b, i, "false")
	case 'n':
		return jsonWord(b, i, "null")
	default:
		return jsonNumber(b, i)
	}
}

func jsonNested(b []byte, i, depth int) int {
	object := b[i] == '{'
	closer := b[i] + 2 // ']' follows '[' and '}' follows '{' at this distance
	if depth == 0 {
		return -1
	}
	i++
	if i < len(b) && b[i] == closer {
		return i + 1
	}
	for {
		if object {
			if i >= len(b) || b[i] != '"' {
				return -1
			}
			if i = jsonString(b, i); i < 0 || i >= len(b) || b[i] != ':' {
				return -1
			}
			i++
		}
		if i = jsonValue(b, i, depth-1); i < 0 || i >= len(b) {
			return -1
		}
		switch b[i] {
		case ',':
			i++
		case closer:
			return i + 1
		default:
			return -1
		}
	}
}

func jsonWord(b []byte, i int, w string) int {
	if len(b)-i < len(w) || string(b[i:i+len(w)]) != w {
		return -1
	}
	return i + len(w)
}

func jsonString(b []byte, i int) int {
	for i++; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i + 1
		case c < ' ':
			return -1
		case c == '\\':
			if i++; i >= len(b) {
				return -1
			}
			switch b[i] {
			case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			case 'u':
				if i = jsonEscape(b, i+1); i < 0 {
					return -1
				}
			default:
				return -1
			}
		}
	}
	return -1
}

// jsonEscape takes the four digits of a \u escape at i and, if they are the first
// half of a surrogate pair, the second. It returns the index of the last digit.
// Half a pair is refused: jq 1.6 would stop at it.
func jsonEscape(b []byte, i int) int {
	switch c := hexUnit(b, i); {
	case c < 0 || 0xdc00 <= c && c < 0xe000:
		return -1
	case 0xd800 <= c && c < 0xdc00:
		if len(b)-i < 10 || string(b[i+4:i+6]) != `\u` {
			return -1
		}
		if c := hexUnit(b, i+6); c < 0xdc00 || c >= 0xe000 {
			return -1
		}
		return i + 9
	}
	return i + 3
}

func hexUnit(b []byte, i int) (u int) {
	if !isHex(b, i, 4) {
		return -1
	}
	for _, c := range b[i : i+4] {
		if !isDigit(c) {
			c = c | 0x20 - 'a' + 10 + '0'
		}
		u = u<<4 | int(c-'0')
	}
	return u
}

func isHex(b []byte, i, n int) bool {
	if len(b)-i < n {
		return false
	}
	for _, c := range b[i : i+n] {
		if !isDigit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func jsonNumber(b []byte, i int) int {
	if i < len(b) && b[i] == '-' {
		i++
	}
	digits := func() bool {
		from := i
		for i < len(b) && isDigit(b[i]) {
			i++
		}
		return i > from
	}
	if i < len(b) && b[i] == '0' {
		i++
	} else if !digits() {
		return -1
	}
	if i < len(b) && b[i] == '.' {
		if i++; !digits() {
			return -1
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digits() {
			return -1
		}
	}
	return i
}

// skipValue returns the end of the value at i in JSON that is already known to
// be valid and compact, or -1 where it is not. It balances brackets and looks
// for the end of strings, nothing more.
func skipValue(b []byte, i int) int {
	depth := 0
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			if i = skipString(b, i+1); i < 0 {
				return -1
			}
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
			if depth < 0 {
				return i
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
	if depth == 0 {
		return i
	}
	return -1
}

// skipString returns where the closing quote of the string stands whose first
// byte is at i, or -1. Reading lines is mostly this, so it looks at eight bytes
// at a time.
func skipString(b []byte, i int) int {
	for i+8 <= len(b) {
		w := binary.LittleEndian.Uint64(b[i:])
		found := zeroBytes(w^eachByte('"')) | zeroBytes(w^eachByte('\\'))
		if found == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(found) / 8
		if b[i] == '"' {
			return i
		}
		i += 2 // an escape takes the byte behind it
	}
	for ; i < len(b); i++ {
		switch b[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	return -1
}

// eachByte is eight times c.
func eachByte(c byte) uint64 { return uint64(c) * 0x0101010101010101 }

// zeroBytes sets the high bit of the lowest byte of w that is zero. Bits above
// that one may be set for other bytes too.
func zeroBytes(w uint64) uint64 {
	return (w - 0x0101010101010101) & ^w & 0x8080808080808080
}

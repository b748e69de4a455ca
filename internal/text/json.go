package text

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf16"
)

// JSON is v as journals, models and clients see it: compact, and nothing escaped
// that need not be.
func JSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Encode is JSON of what cannot fail to encode: plain structs, and JSON that was
// checked.
func Encode(v any) []byte {
	b, err := JSON(v)
	if err != nil {
		panic("text: " + err.Error())
	}
	return b
}

// LoneSurrogate finds the first escape in valid JSON that is half of a UTF-16
// pair, and where it begins. Such an escape stands for no character: decoding
// would put U+FFFD in its place without a word.
func LoneSurrogate(raw []byte) (escape string, at int, found bool) {
	for i := 0; i < len(raw); {
		switch {
		case raw[i] != '\\':
			i++
		case i+1 < len(raw) && raw[i+1] != 'u':
			i += 2
		default:
			r, ok := escaped(raw[i:])
			if !ok {
				return "", 0, false // no valid JSON
			}
			second, _ := escaped(raw[i+6:])
			switch {
			case !utf16.IsSurrogate(r):
				i += 6
			case utf16.DecodeRune(r, second) != '\uFFFD':
				i += 12
			default:
				return string(raw[i : i+6]), i, true
			}
		}
	}
	return "", 0, false
}

// escaped is the number of the \uXXXX that raw begins with.
func escaped(raw []byte) (rune, bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return rune(n), err == nil
}

package bundle

import (
	"bytes"
	"encoding/json"

	"evener/internal/text"
)

// json takes secrets out of every string of compact JSON that is a value. All else
// stays as it stands, byte for byte: names, numbers.
func (r *redactor) json(b []byte) ([]byte, error) {
	var out []byte
	from := 0
	for i := 0; i < len(b); i++ {
		if b[i] != '"' {
			continue
		}
		end := i + 1
		for end < len(b) && b[end] != '"' {
			if b[end] == '\\' {
				end++
			}
			end++
		}
		if end = min(end+1, len(b)); end < len(b) && b[end] == ':' {
			i = end
			continue
		}
		lit, hit, err := r.literal(b[i:end])
		if err != nil {
			return nil, err
		}
		if hit {
			out = append(append(out, b[from:i]...), lit...)
			from = end
		}
		i = end - 1
	}
	if from == 0 {
		return b, nil
	}
	return append(out, b[from:]...), nil
}

// literal takes secrets out of one string, and writes it in the way it was written.
func (r *redactor) literal(lit []byte) (out []byte, hit bool, err error) {
	var s string
	if err := json.Unmarshal(lit, &s); err != nil {
		return nil, false, err
	}
	clean := r.text([]byte(s))
	if string(clean) == s {
		return nil, false, nil
	}
	for _, html := range []string{`\u003c`, `\u003e`, `\u0026`} {
		if bytes.Contains(lit, []byte(html)) {
			out, err = json.Marshal(string(clean))
			return out, true, err
		}
	}
	out, err = text.JSON(string(clean))
	return out, true, err
}

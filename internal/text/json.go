package text

import (
	"bytes"
	"encoding/json"
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

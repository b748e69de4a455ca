package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"
)

const maxFile = 1 << 20 // bytes; a configuration is a page, not a stream

// A setting is one member of a file.
type setting struct {
	key   string
	value json.RawMessage
	line  int
}

// readFile reads a regular file of bounded size. Anything else, a pipe in a
// cloned repository say, could hold up or fill the program.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("it is larger than %d bytes", maxFile)
	}
	return data, err
}

// parseFile splits a file into its members, in order.
func parseFile(path string, data []byte) ([]setting, error) {
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	fail := func(offset int64, format string, args ...any) error {
		return &Error{At: fmt.Sprintf("%s:%d", path, lineAt(data, offset)), Text: fmt.Sprintf(format, args...)}
	}
	if !utf8.Valid(data) {
		return nil, &Error{At: path, Text: "the file is not valid UTF-8"}
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, &Error{At: path, Text: "the file is empty; want a JSON object"}
	}
	// The whole text is checked first, so that the token walk below cannot fail.
	var whole json.RawMessage
	if err := json.Unmarshal(data, &whole); err != nil {
		offset := int64(len(data))
		if at, ok := errors.AsType[*json.SyntaxError](err); ok {
			offset = at.Offset
		}
		return nil, fail(offset, "not valid JSON: %v", err)
	}
	d := json.NewDecoder(bytes.NewReader(data))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil, fail(d.InputOffset(), "want a JSON object")
	}
	var all []setting
	seen := map[string]bool{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, fail(d.InputOffset(), "not valid JSON: %v", err)
		}
		s := setting{line: lineAt(data, d.InputOffset())}
		s.key, _ = name.(string)
		if seen[s.key] {
			return nil, fail(d.InputOffset(), "key %q is set twice", s.key)
		}
		seen[s.key] = true
		if err := d.Decode(&s.value); err != nil {
			return nil, fail(d.InputOffset(), "not valid JSON: %v", err)
		}
		all = append(all, s)
	}
	return all, nil
}

// lineAt is the number of the line that holds the byte before offset.
func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:max(min(offset, int64(len(data)))-1, 0)], []byte("\n"))
}

package role

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"evener/internal/pattern"
	"evener/internal/text"
)

// maxFront bounds the front matter, in bytes.
const maxFront = 64 << 10

// fault is why a file is left out, or what of it is.
type fault struct {
	line int
	text string
}

func (f *fault) Error() string { return fmt.Sprintf("%d: %s", f.line, f.text) }

func at(line int, format string, args ...any) *fault {
	return &fault{line: max(line, 1), text: fmt.Sprintf(format, args...)}
}

// split takes a file apart. The front matter keeps its first line, so that the
// lines of YAML are those of the file.
func split(file []byte) (front []byte, body string, bad *fault) {
	file = bytes.TrimPrefix(file, []byte("\xef\xbb\xbf"))
	if bad := notText(file); bad != nil {
		return nil, "", bad
	}
	file = bytes.ReplaceAll(file, []byte("\r\n"), []byte("\n"))
	end := 0
	for n := 1; ; n++ {
		line, _, more := bytes.Cut(file[end:], []byte("\n"))
		if isFence := string(bytes.TrimRight(line, " \t")) == "---"; n == 1 && !isFence {
			return nil, "", at(1, "there is no front matter; the first line must be ---")
		} else if n > 1 && isFence {
			body = string(file[min(end+len(line)+1, len(file)):])
			return file[:end], strings.TrimSpace(body), nil
		}
		if end += len(line) + 1; !more {
			return nil, "", at(1, "the front matter is not closed by a line ---")
		}
		if end > maxFront {
			return nil, "", at(n, "the front matter has more than %d bytes", maxFront)
		}
	}
}

func notText(file []byte) *fault {
	for i := 0; i < len(file); {
		r, n := utf8.DecodeRune(file[i:])
		if r == 0 || r == utf8.RuneError && n == 1 {
			return at(1+bytes.Count(file[:i], []byte("\n")), "it is not UTF-8 text")
		}
		i += n
	}
	return nil
}

// A value is one key of the front matter.
type value struct {
	key  string
	line int
	node *yaml.Node
}

// values are the keys of the front matter in their order.
func values(front []byte) ([]value, *fault) {
	d := yaml.NewDecoder(bytes.NewReader(front))
	var doc yaml.Node
	switch err := d.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, ofYAML(err, front)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, at(1, "the front matter holds more than one document")
	}
	top := doc.Content[0]
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" {
		return nil, nil
	}
	if top.Kind != yaml.MappingNode {
		return nil, at(top.Line, "the front matter must be lines of the form key: value")
	}
	var all []value
	seen := map[string]bool{}
	for i := 0; i < len(top.Content); i += 2 {
		k := top.Content[i]
		if k.Kind != yaml.ScalarNode {
			return nil, at(k.Line, "a key must be a word")
		}
		if seen[k.Value] {
			return nil, at(k.Line, "%s is given twice", shown(k.Value))
		}
		seen[k.Value] = true
		all = append(all, value{key: k.Value, line: k.Line, node: top.Content[i+1]})
	}
	return all, nil
}

var yamlError = pattern.New(`(?s)^yaml: (?:line (\d+): )?(.*)$`)

// ofYAML is an error of the YAML package. Where that names the beginning of
// what it was reading, or a line too early, the entry that is wrong by itself
// is the better place.
func ofYAML(err error, front []byte) *fault {
	m := yamlError().FindStringSubmatch(err.Error())
	if m == nil {
		return at(1, "%s", text.Preview(err.Error(), 200))
	}
	line, _ := strconv.Atoi(m[1])
	if n := wrongEntry(front); n > 0 {
		line = n
	}
	if strings.Contains(m[2], "mapping values are not allowed") {
		return at(line, `a text that holds ": " must stand in quotes, and each key at the start of its line`)
	}
	return at(line, "%s", text.Preview(m[2], 200))
}

// wrongEntry is the line of the first key whose lines are no YAML when read
// alone, or 0.
func wrongEntry(front []byte) int {
	start, from, n := 1, 0, 0
	wrong := func(to int) bool { return yaml.Unmarshal(front[from:to], new(yaml.Node)) != nil }
	for end := 0; end < len(front); {
		line, _, _ := bytes.Cut(front[end:], []byte("\n"))
		if n++; len(line) > 0 && !bytes.ContainsAny(line[:1], " \t#-]}") {
			if wrong(end) {
				return start
			}
			start, from = n, end
		}
		end = min(end+len(line)+1, len(front))
	}
	if wrong(len(front)) {
		return start
	}
	return 0
}

// str is the value as a text.
func (v value) str() (string, *fault) {
	if v.node.Kind == yaml.ScalarNode && v.node.ShortTag() == "!!str" {
		return strings.TrimSpace(v.node.Value), nil
	}
	return "", at(v.line, "%s must be a text; quote what YAML takes for something else", v.key)
}

// names is the value as a list of words: a list, or one text with commas.
func (v value) names() ([]string, *fault) {
	if v.node.Kind == yaml.SequenceNode {
		var all []string
		for _, n := range v.node.Content {
			s, bad := value{v.key, n.Line, n}.str()
			if bad != nil {
				return nil, at(n.Line, "each of %s must be a text", v.key)
			}
			all = append(all, s)
		}
		return all, nil
	}
	s, bad := v.str()
	if bad != nil || s == "" {
		return nil, at(v.line, "%s must be a list of names, or names with commas between; [] is none", v.key)
	}
	var all []string
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	return all, nil
}

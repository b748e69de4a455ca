package host

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"evener/internal/text"
)

// The lines that a living session reads. docs/living.md describes them.

// MaxLine bounds a line of input, in bytes, without its end.
const MaxLine = 4 << 20

// maxID bounds the id of a prompt, in bytes.
const maxID = 200

// A request is one line of input: a prompt, an interrupt or a read of the activity,
// with an id or none.
type request struct {
	prompt    string
	interrupt bool
	activity  *activity
	id        string
}

// lines reads lines of bounded length. One that is longer is read to its end
// and dropped, so that it costs no more memory and the next one is found.
type lines struct {
	r *bufio.Reader
	n int // of the line that was read last, from 1
}

var errLong = fmt.Errorf("the line has more than %d bytes; put long material into a file and name it in the prompt", MaxLine)

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 64<<10)} }

// next gives the next line that is not blank. The end of the input ends the last
// line too. The error is errLong, io.EOF, or the reader's.
func (l *lines) next() ([]byte, error) {
	for {
		line, err := l.read()
		if err != nil || len(bytes.TrimSpace(line)) > 0 {
			return line, err
		}
	}
}

func (l *lines) read() ([]byte, error) {
	var line []byte
	l.n++
	for long := false; ; {
		part, err := l.r.ReadSlice('\n')
		if long = long || len(line)+len(bytes.TrimSuffix(part, []byte("\n"))) > MaxLine; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(line) == 0 && !long):
			return nil, err
		case long:
			return nil, errLong
		}
		return line, nil
	}
}

var bom = []byte("\xEF\xBB\xBF")

// parseLine reads one line. bad says in one line what is wrong with it.
func parseLine(line []byte) (r request, bad string) {
	line = bytes.TrimPrefix(line, bom)
	if !utf8.Valid(line) {
		return r, "the line is not valid UTF-8"
	}
	// The whole line is checked first, so that the walk below cannot fail.
	var whole json.RawMessage
	if err := json.Unmarshal(line, &whole); err != nil {
		if at, ok := errors.AsType[*json.SyntaxError](err); ok {
			return r, fmt.Sprintf("the line is not valid JSON: %v (at byte %d)", err, at.Offset)
		}
		return r, fmt.Sprintf("the line is not valid JSON: %v", err)
	}
	if escape, at, found := text.LoneSurrogate(line); found {
		bad = fmt.Sprintf("%s (at byte %d) is half of a surrogate pair and stands for no character; write both halves, or \\ufffd", escape, at+1)
	}
	d := json.NewDecoder(bytes.NewReader(line))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return r, "the line is no JSON object; want one such as {\"prompt\":\"…\"}"
	}
	seen := map[string]bool{}
	for d.More() {
		key, _ := d.Token()
		name, _ := key.(string)
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return r, fmt.Sprintf("the line is not valid JSON: %v", err)
		}
		wrong := r.set(name, value)
		if seen[name] {
			wrong = fmt.Sprintf("%s is given twice", text.Quote(name, 60))
		}
		bad, seen[name] = cmp.Or(bad, wrong), true // read on: a refusal bears the id
	}
	if bad == "" {
		bad = oneOf(seen)
	}
	return r, bad
}

// oneOf says what is wrong where a line does not have exactly one thing to do.
func oneOf(seen map[string]bool) string {
	n := 0
	for _, name := range []string{"prompt", "interrupt", "activity"} {
		if seen[name] {
			n++
		}
	}
	switch n {
	case 0:
		return "the line has neither prompt nor interrupt nor activity"
	case 1:
		return ""
	}
	return "a line has one of prompt, interrupt and activity"
}

func (r *request) set(name string, value json.RawMessage) (bad string) {
	switch name {
	case "prompt":
		if json.Unmarshal(value, &r.prompt) != nil || value[0] != '"' {
			return "prompt is " + text.Preview(string(value), 60) + "; want a string"
		}
	case "interrupt":
		if r.interrupt = string(value) == "true"; !r.interrupt {
			return "interrupt is " + text.Preview(string(value), 60) + "; want true"
		}
	case "id":
		_, _, half := text.LoneSurrogate(value)
		if json.Unmarshal(value, &r.id) != nil || value[0] != '"' || half || r.id == "" || len(r.id) > maxID || strings.ContainsFunc(r.id, unicode.IsControl) {
			r.id = ""
			return fmt.Sprintf("id is %s; want a string of 1 to %d bytes without control characters", text.Preview(string(value), 60), maxID)
		}
	case "activity":
		var a activity
		a, bad = parseActivity(value)
		r.activity = &a
		return bad
	default:
		return fmt.Sprintf("unknown field %s; a line has prompt, interrupt or activity, and id", text.Quote(name, 60))
	}
	return ""
}

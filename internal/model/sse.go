package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
)

// eventMax bounds one event of a stream. Whole tool calls come in one line, so it is large.
const eventMax = 16 << 20

var errEventTooLong = errors.New("an event of the stream is longer than 16 MiB")

// event is one event of a stream of server-sent events.
type event struct {
	data  []byte // valid until the next call of next
	fault bool   // sent as an error: "event: error", or a line "error: …"
}

// events reads server-sent events as chat servers write them. Comments,
// unknown fields and carriage returns are ignored. An event ends with an empty
// line, but one whose first data line is already whole ends there, because
// some servers leave the empty line out.
type events struct {
	r    *bufio.Reader
	line []byte
	buf  []byte
	any  bool   // some line belonged to an event or was a comment
	text string // the first line that did not
}

func newEvents(r *bufio.Reader) *events { return &events{r: r} }

// next returns the next event, io.EOF at the end, or what reading failed with.
func (e *events) next() (event, error) {
	e.buf = e.buf[:0]
	fault, any := false, false
	for {
		line, err := e.readLine()
		if err != nil && (err != io.EOF || len(line) == 0) {
			if err == io.EOF && any {
				return event{e.buf, fault}, nil
			}
			return event{}, err
		}
		name, value := field(line)
		e.note(name, line)
		switch {
		case len(line) == 0:
			if any {
				return event{e.buf, fault}, nil
			}
			fault = false
		case name == "event":
			fault = string(value) == "error"
		case name == "error" && !any:
			return event{value, true}, nil
		case name == "data":
			if any {
				e.buf = append(e.buf, '\n')
			}
			if len(e.buf)+len(value) > eventMax {
				return event{}, errEventTooLong
			}
			e.buf = append(e.buf, value...)
			if !any && whole(value) {
				return event{e.buf, fault}, nil
			}
			any = true
		}
	}
}

// note remembers whether this looks like a stream of events at all.
func (e *events) note(name string, line []byte) {
	switch {
	case len(line) == 0:
	case slices.Contains([]string{"", "data", "event", "id", "retry", "error"}, name):
		e.any = true
	case e.text == "":
		e.text = string(line[:min(len(line), errorBodyMax)])
	}
}

// whole tells whether a first data line is an event by itself.
func whole(data []byte) bool { return string(data) == "[DONE]" || json.Valid(data) }

// field splits a line; a comment has an empty name.
func field(line []byte) (name string, value []byte) {
	n, v, _ := bytes.Cut(line, []byte(":"))
	return string(n), bytes.TrimPrefix(v, []byte(" "))
}

// readLine returns a line without its end; at the end of input also an unended one, with io.EOF.
func (e *events) readLine() ([]byte, error) {
	e.line = e.line[:0]
	for {
		part, err := e.r.ReadSlice('\n')
		if len(e.line)+len(part) > eventMax {
			return nil, errEventTooLong
		}
		e.line = append(e.line, part...)
		if err == bufio.ErrBufferFull {
			continue
		}
		return bytes.TrimRight(e.line, "\r\n"), err
	}
}

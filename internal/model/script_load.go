package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"time"

	"evener/internal/regular"
)

const builtinPrefix = "builtin:"

// maxScript bounds a script, in bytes.
const maxScript = 64 << 20

func openScript(name string, c Config) (Model, error) {
	raw, err := readScript(name, c.Builtin)
	if err != nil {
		return nil, fmt.Errorf("model script/%s: %w", name, err)
	}
	s, err := parseScript(name, raw)
	if err != nil {
		return nil, fmt.Errorf("model script/%s", err) // begins with the file and line
	}
	s.trace, s.scrub = c.Trace, newScrubber(c.Secrets)
	return s, nil
}

func readScript(name string, builtin fs.FS) ([]byte, error) {
	inner, ok := strings.CutPrefix(name, builtinPrefix)
	if !ok {
		return regular.Read(name, maxScript)
	}
	if builtin == nil {
		return nil, errors.New("this program has no scripts of its own")
	}
	raw, err := fs.ReadFile(builtin, inner+".json")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		names, _ := fs.Glob(builtin, "*.json") // the pattern is well formed
		return nil, fmt.Errorf("the program has no such script; it has %s", strings.ReplaceAll(strings.Join(names, ", "), ".json", ""))
	}
	return raw, err
}

// parser decodes a script strictly: every object lists the fields it may
// have, and every complaint names the line.
type parser struct {
	name string
	raw  []byte
}

// at is a JSON value of the file with its place.
type at struct {
	raw json.RawMessage
	off int
}

func parseScript(name string, raw []byte) (*script, error) {
	p := &parser{name, raw}
	var v json.RawMessage
	d := json.NewDecoder(bytes.NewReader(raw))
	if err := d.Decode(&v); err != nil {
		off := int(d.InputOffset())
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			off = int(syntax.Offset)
		}
		return nil, p.errorf(off, "%v", err)
	}
	end := int(d.InputOffset())
	if rest := bytes.TrimSpace(raw[end:]); len(rest) > 0 {
		return nil, p.errorf(end, "something follows the script")
	}
	s := &script{name: "script/" + name, failed: map[string]int{}}
	err := p.object(at{v, end - len(v)}, map[string]func(at) error{
		"conversations": func(v at) error {
			return p.list(v, func(v at) error { return p.conversation(s, v) })
		},
	})
	if err != nil {
		return nil, err
	}
	if len(s.conversations) == 0 {
		return nil, p.errorf(0, "the script has no conversations")
	}
	return s, nil
}

func (p *parser) errorf(off int, format string, args ...any) error {
	line := 1 + bytes.Count(p.raw[:min(max(off, 0), len(p.raw))], []byte("\n"))
	return fmt.Errorf("%s:%d: %s", p.name, line, fmt.Sprintf(format, args...))
}

func (p *parser) conversation(s *script, v at) error {
	c := &conversation{names: map[string]bool{}}
	err := p.object(v, map[string]func(at) error{
		"name":       p.text(&c.name),
		"first_user": p.pattern(&c.firstUser),
		"replies": func(v at) error {
			return p.list(v, func(v at) error { return p.reply(c, v, false) })
		},
		"matches": func(v at) error {
			return p.list(v, func(v at) error { return p.reply(c, v, true) })
		},
	})
	if err != nil {
		return err
	}
	for _, other := range s.conversations {
		switch {
		case other.name == c.name:
			return p.errorf(v.off, "two conversations have the name %q", c.name)
		case other.firstUser == nil:
			return p.errorf(v.off, "this conversation is never reached: %q before it takes every user text", other.name)
		}
	}
	if len(c.replies)+len(c.matches) == 0 {
		return p.errorf(v.off, "the conversation has no replies")
	}
	s.conversations = append(s.conversations, c)
	return nil
}

func (p *parser) reply(c *conversation, v at, matching bool) error {
	r := &scripted{}
	var delay int64
	fields := map[string]func(at) error{
		"expect":    p.pattern(&r.expect),
		"text":      p.text(&r.text),
		"reasoning": p.text(&r.reasoning),
		"finish":    p.text(&r.finish),
		"delay_ms":  p.number(&delay),
		"capture": func(v at) error {
			return p.list(v, func(v at) error {
				var re *regexp.Regexp
				err := p.pattern(&re)(v)
				r.capture = append(r.capture, re)
				return err
			})
		},
		"calls": func(v at) error {
			return p.list(v, func(v at) error { return p.call(r, v) })
		},
		"error": func(v at) error { return p.fault(r, v) },
		"usage": func(v at) error {
			return p.object(v, map[string]func(at) error{
				"input": p.number(&r.usage.Input), "output": p.number(&r.usage.Output), "reasoning": p.number(&r.usage.Reasoning),
				"cache_read": p.number(&r.usage.CacheRead), "cache_write": p.number(&r.usage.CacheWrite),
			})
		},
	}
	if matching {
		fields["match"] = p.pattern(&r.match)
	}
	if err := p.object(v, fields); err != nil {
		return err
	}
	if matching && r.match == nil {
		return p.errorf(v.off, "an entry of matches needs match")
	}
	r.delay = time.Duration(delay) * time.Millisecond
	if matching {
		c.matches = append(c.matches, r)
	} else {
		c.replies = append(c.replies, r)
	}
	return p.declare(c, r, v)
}

// declare notes the names that the entry captures.
func (p *parser) declare(c *conversation, r *scripted, v at) error {
	for _, re := range r.capture {
		if !declareNames(c, re) {
			return p.errorf(v.off, "the capture %q has no named group", re)
		}
	}
	if r.match != nil {
		declareNames(c, r.match)
	}
	return nil
}

func declareNames(c *conversation, re *regexp.Regexp) (any bool) {
	for _, n := range re.SubexpNames() {
		if n != "" {
			c.names[n], any = true, true
		}
	}
	return any
}

func (p *parser) call(r *scripted, v at) error {
	var c scriptedCall
	err := p.object(v, map[string]func(at) error{
		"id":   p.text(&c.id),
		"name": p.text(&c.name),
		"arguments": func(v at) error {
			c.object = v.raw[0] != '"'
			var a wireArgs
			err := a.UnmarshalJSON(v.raw)
			c.arguments = string(a)
			return err
		},
	})
	r.calls = append(r.calls, c)
	return err
}

func (p *parser) fault(r *scripted, v at) error {
	e := &scriptedError{}
	var status, times int64
	err := p.object(v, map[string]func(at) error{
		"status": p.number(&status), "message": p.text(&e.message), "times": p.number(&times),
	})
	if err == nil && (status < 400 || status > 599) {
		err = p.errorf(v.off, "error needs a status from 400 to 599")
	}
	e.status, e.times = int(status), int(times)
	r.err = e
	return err
}

func (p *parser) text(to *string) func(at) error {
	return func(v at) error {
		if v.raw[0] != '"' || json.Unmarshal(v.raw, to) != nil {
			return p.errorf(v.off, "a string is wanted here")
		}
		return nil
	}
}

func (p *parser) pattern(to **regexp.Regexp) func(at) error {
	return func(v at) error {
		var s string
		if err := p.text(&s)(v); err != nil {
			return err
		}
		re, err := regexp.Compile(s)
		if err != nil {
			return p.errorf(v.off, "%v", err)
		}
		*to = re
		return nil
	}
}

// number takes whole numbers that are not negative and no longer than a day in milliseconds.
func (p *parser) number(to *int64) func(at) error {
	return func(v at) error {
		const most = 24 * 60 * 60 * 1000
		if json.Unmarshal(v.raw, to) != nil || isNull(v.raw) || *to < 0 || *to > most {
			return p.errorf(v.off, "a whole number from 0 to %d is wanted here", most)
		}
		return nil
	}
}

// object gives each member to its field's function; other and repeated names are refused.
func (p *parser) object(v at, fields map[string]func(at) error) error {
	if v.raw[0] != '{' {
		return p.errorf(v.off, "an object is wanted here")
	}
	d := json.NewDecoder(bytes.NewReader(v.raw))
	if _, err := d.Token(); err != nil {
		return p.errorf(v.off, "%v", err)
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return p.errorf(v.off, "%v", err)
		}
		name, off := key.(string), v.off+int(d.InputOffset())
		take := fields[name]
		switch {
		case take == nil:
			return p.errorf(off, "unknown field %q", name)
		case seen[name]:
			return p.errorf(off, "the field %q comes twice", name)
		}
		seen[name] = true
		if err := p.value(d, v.off, take); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) list(v at, take func(at) error) error {
	if v.raw[0] != '[' {
		return p.errorf(v.off, "a list is wanted here")
	}
	d := json.NewDecoder(bytes.NewReader(v.raw))
	if _, err := d.Token(); err != nil {
		return p.errorf(v.off, "%v", err)
	}
	for d.More() {
		if err := p.value(d, v.off, take); err != nil {
			return err
		}
	}
	return nil
}

// value hands on the decoder's next value with its place in the file.
func (p *parser) value(d *json.Decoder, base int, take func(at) error) error {
	var raw json.RawMessage
	if err := d.Decode(&raw); err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return p.errorf(base, "%v", err)
	}
	return take(at{raw, base + int(d.InputOffset()) - len(raw)})
}

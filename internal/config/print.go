package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"
)

// Print writes every key, its effective value and where that came from: as
// aligned lines, or as one JSON object of
// {"value":…,"source":"default|user|project|env|flag","at":"FILE:LINE"}. A key
// of a named object has its whole path: providers.NAME.base_url.
// Of a secret the value is "set" or "unset", and a password in an address and
// the values of its query are hidden.
func (c Config) Print(w io.Writer, asJSON bool) error {
	if asJSON {
		return c.printJSON(w)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	rows := c.rows()
	for i := range rows {
		k := &rows[i]
		o := c.origins[k.name]
		from := string(o.Source)
		if o.At != "" {
			from += " " + o.At
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", k.name, cell(k.shown(&c)), cell(from))
	}
	return t.Flush()
}

func (c Config) printJSON(w io.Writer) error {
	type value struct {
		Value  any    `json:"value"`
		Source Source `json:"source"`
		At     string `json:"at,omitempty"`
	}
	var b bytes.Buffer
	rows := c.rows()
	for i := range rows {
		k := &rows[i]
		o := c.origins[k.name]
		line, err := encode(value{k.shown(&c), o.Source, o.At})
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, ",\n  %q: %s", k.name, line)
	}
	_, err := fmt.Fprintf(w, "{%s\n}\n", strings.TrimPrefix(b.String(), ","))
	return err
}

// shown is the value of a key as it may be read by anybody. What is unset is
// empty, but for numbers, which are 0, and a *float64, which is nil.
func (k *key) shown(c *Config) any {
	if k.named != nil { // none is there
		return map[string]string{}
	}
	switch value := k.load(c).(type) {
	case string:
		if k.secret {
			return setOrUnset(value)
		}
		return redacted(value)
	case map[string]string:
		all := map[string]string{}
		for name, v := range value {
			all[name] = v
			if k.secret {
				all[name] = setOrUnset(v)
			}
		}
		return all
	case []string:
		return append([]string{}, value...)
	case json.RawMessage:
		if len(value) == 0 {
			return map[string]string{}
		}
		return value
	default:
		return value
	}
}

func setOrUnset(s string) string {
	if s == "" {
		return "unset"
	}
	return "set"
}

// redacted hides what an address may carry: a password, and the values of its query.
func redacted(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User == nil && u.RawQuery == "" {
		return text
	}
	query := u.Query()
	for name := range query {
		query[name] = []string{"xxxxx"}
	}
	u.RawQuery = query.Encode()
	return u.Redacted()
}

// cell is a value in a line: quoted where it would not be one plain word.
func cell(v any) string {
	var s string
	switch v := v.(type) {
	case string, int64, bool:
		s = fmt.Sprint(v)
	case *float64:
		s = "unset"
		if v != nil {
			s = fmt.Sprint(*v)
		}
	default:
		b, err := encode(v)
		if err != nil {
			return err.Error()
		}
		s = string(b)
	}
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }) {
		return strconv.Quote(s)
	}
	return s
}

// encode is json.Marshal without the escaping for web pages.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

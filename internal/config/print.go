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
// {"value":…,"source":"default|user|project|env|flag","at":"FILE:LINE"}.
// Of a secret the value is "set" or "unset", and a password in an address is
// hidden.
func (c Config) Print(w io.Writer, asJSON bool) error {
	if asJSON {
		return c.printJSON(w)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := range table {
		k := &table[i]
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
	for i := range table {
		k := &table[i]
		o := c.origins[k.name]
		line, err := json.Marshal(value{k.shown(&c), o.Source, o.At})
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, ",\n  %q: %s", k.name, line)
	}
	_, err := fmt.Fprintf(w, "{%s\n}\n", strings.TrimPrefix(b.String(), ","))
	return err
}

// shown is the value of a key as it may be read by anybody.
func (k *key) shown(c *Config) any {
	value := k.load(c)
	text, ok := value.(string)
	switch {
	case k.secret && text == "":
		return "unset"
	case k.secret:
		return "set"
	case ok:
		if u, err := url.Parse(text); err == nil && u.User != nil {
			return u.Redacted()
		}
	}
	return value
}

// cell is a value in a line: quoted where it would not be one plain word.
func cell(v any) string {
	s := fmt.Sprint(v)
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }) {
		return strconv.Quote(s)
	}
	return s
}

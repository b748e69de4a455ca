package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A key is one row of the table.
type key struct {
	name string
	doc  string // one line
	unit string // of an integer: ms, bytes, …; empty for a plain count
	def  any    // int64, string or bool: the default, and by it the type

	min, max int64    // of an integer, both included
	choices  []string // of a string, when only these are meant

	flag *otherFlag // where the flag is not the key with dashes

	in     []Source // where it may be set, besides its variable
	env    string   // the environment variable that sets it
	secret bool     // never printed

	check   func(string) string // what is wrong with a string; empty: nothing
	project func(any) string    // the same, for a value from a project's file

	field func(*Config) any // pointer to where the value lives
}

// otherFlag is a flag with a name and a form of its own. Its value may be left
// out: that reads as true.
type otherFlag struct {
	name  string
	doc   string
	value func(string) (text string, bad string) // the key's value by that of the flag
}

const everywhere = "flag user project"

func places(s string) []Source {
	var all []Source
	for _, name := range strings.Fields(s) {
		all = append(all, Source(name))
	}
	return all
}

func find(name string) *key {
	for i := range table {
		if table[i].name == name {
			return &table[i]
		}
	}
	return nil
}

func (k *key) allows(s Source) bool { return slices.Contains(k.in, s) }

func (k *key) flagName() string {
	if k.flag != nil {
		return k.flag.name
	}
	return strings.ReplaceAll(k.name, "_", "-")
}

// store puts a value, already judged, into its field.
func (k *key) store(c *Config, value any) {
	switch p := k.field(c).(type) {
	case *int64:
		*p = value.(int64)
	case *string:
		*p = value.(string)
	case *bool:
		*p = value.(bool)
	}
}

func (k *key) load(c *Config) any {
	switch p := k.field(c).(type) {
	case *int64:
		return *p
	case *string:
		return *p
	case *bool:
		return *p
	}
	return nil
}

// misplaced says where a key belongs that a file may not set.
func (k *key) misplaced(in Source) string {
	var ways []string
	if k.allows(User) {
		ways = append(ways, "in the user's configuration")
	}
	if k.env != "" {
		ways = append(ways, "by the environment variable "+k.env)
	}
	if k.allows(Flag) {
		ways = append(ways, "with --"+k.flagName())
	}
	file := "this file"
	if in == Project {
		file = "a project's file"
	}
	return fmt.Sprintf("%s may not set it; set it %s", file, strings.Join(ways, " or "))
}

// fromJSON reads a value of a file.
func (k *key) fromJSON(raw json.RawMessage) (value any, bad string) {
	var decoded any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&decoded); err != nil {
		return nil, err.Error()
	}
	switch v := decoded.(type) {
	case json.Number:
		if _, ok := k.def.(int64); ok {
			return k.integer(v.String())
		}
	case string:
		if _, ok := k.def.(string); ok {
			return k.text(v)
		}
	case bool:
		if _, ok := k.def.(bool); ok {
			return v, ""
		}
	}
	return nil, fmt.Sprintf("got %s; want %s", short(string(raw)), k.wanted())
}

// fromText reads a value of a flag or a variable.
func (k *key) fromText(s string) (value any, bad string) {
	switch k.def.(type) {
	case int64:
		return k.integer(s)
	case bool:
		switch s {
		case "true":
			return true, ""
		case "false":
			return false, ""
		}
		return nil, fmt.Sprintf("got %q; want %s", short(s), k.wanted())
	}
	return k.text(s)
}

func (k *key) integer(s string) (value any, bad string) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < k.min || n > k.max {
		return nil, fmt.Sprintf("got %s; want %s", short(s), k.wanted())
	}
	return n, ""
}

func (k *key) text(s string) (value any, bad string) {
	if strings.ContainsRune(s, 0) {
		return nil, "the value holds a NUL character"
	}
	if k.choices != nil && !slices.Contains(k.choices, s) {
		return nil, fmt.Sprintf("got %q; want %s", short(s), k.wanted())
	}
	if k.check != nil && s != k.def {
		if bad := k.check(s); bad != "" {
			return nil, bad
		}
	}
	return s, ""
}

// wanted describes the values of a key in a few words.
func (k *key) wanted() string {
	switch k.def.(type) {
	case int64:
		return fmt.Sprintf("an integer from %d to %d", k.min, k.max)
	case bool:
		return "true or false"
	}
	if k.choices != nil {
		return "one of " + strings.Join(k.choices, ", ")
	}
	return "a string"
}

const shown = 60 // characters of a wrong value that an error repeats

func short(s string) string {
	line := strings.Join(strings.Fields(s), " ")
	if r := []rune(line); len(r) > shown {
		return string(r[:shown]) + "…"
	}
	return line
}

package config

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A key is one row of the table.
type key struct {
	name string
	doc  string // one line
	unit string // of an integer: ms, bytes, …; empty for a plain count
	def  any    // the default, and by it the type: see store

	min, max int64    // of a number, both included
	choices  []string // of a string, when only these are meant

	dashed string     // the flag, where the contract calls it otherwise than the key
	flag   *otherFlag // where the flag is not the key with dashes

	in     []Source // where it may be set, besides its variable
	env    string   // the environment variable that sets it
	secret bool     // never printed

	check func(string) string             // what is wrong with a string, or with one of a list; empty: nothing
	list  func([]string) string           // the same, for a list as a whole
	pair  func(name, value string) string // the same, for a member of an object of strings
	risky func(any) bool                  // a value that a project's file may have only if it is trusted

	field func(*Config) any   // pointer to where the value lives
	part  func(*Endpoint) any // in place of field
	own   bool                // of part: a named provider does not take it from the top
	top   *key                // of a row of a named provider: the one at the top that it takes its value from

	named *named // in place of all the above: the key holds objects by name
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
		if name == "trusted" {
			name = string(Trusted)
		}
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
	if k.dashed != "" {
		return k.dashed
	}
	return strings.ReplaceAll(k.name, "_", "-")
}

func (k *key) pointer(c *Config) any {
	if k.part != nil {
		return k.part(&c.Endpoint)
	}
	return k.field(c)
}

// store puts a value, already judged, into its field.
func (k *key) store(c *Config, value any) {
	switch p := k.pointer(c).(type) {
	case *int64:
		*p = value.(int64)
	case *string:
		*p = value.(string)
	case *bool:
		*p = value.(bool)
	case **float64:
		*p = value.(*float64)
	case *[]string:
		*p = value.([]string)
	case *map[string]string:
		*p = value.(map[string]string)
	case *json.RawMessage:
		*p = value.(json.RawMessage)
	}
}

func (k *key) load(c *Config) any {
	switch p := k.pointer(c).(type) {
	case *int64:
		return *p
	case *string:
		return *p
	case *bool:
		return *p
	case **float64:
		return *p
	case *[]string:
		return *p
	case *map[string]string:
		return *p
	case *json.RawMessage:
		return *p
	}
	return nil
}

// misplaced says where a key belongs that a file may not set.
func (k *key) misplaced(in Source) string {
	file := "this file"
	if in == Project {
		file = "a project's file"
	}
	return fmt.Sprintf("%s may not set it; set it %s", file, k.ways())
}

// doubted says the same of what a project's file may not do before it is trusted.
func (k *key) doubted(what, doubt string) string {
	return fmt.Sprintf("a project's file may %s only in a folder that %s; or set it %s", short(what), doubt, k.ways())
}

// ways are the other places where a key may be set.
func (k *key) ways() string {
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
	return strings.Join(ways, " or ")
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
		switch k.def.(type) {
		case int64:
			return k.integer(v.String())
		case *float64:
			return k.number(v.String())
		}
	case string:
		if _, ok := k.def.(string); ok {
			return k.text(v)
		}
	case bool:
		if _, ok := k.def.(bool); ok {
			return v, ""
		}
	case []any:
		if _, ok := k.def.([]string); ok {
			return k.texts(v)
		}
	case map[string]any:
		switch k.def.(type) {
		case map[string]string:
			return k.pairs(v)
		case json.RawMessage:
			var compact bytes.Buffer
			err := json.Compact(&compact, raw)
			return json.RawMessage(compact.Bytes()), errorText(err)
		}
	}
	got := short(string(raw))
	if k.secret {
		got = kindOf(raw)
	}
	return nil, fmt.Sprintf("got %s; want %s", got, k.wanted())
}

func errorText(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
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
		return nil, fmt.Sprintf("got %s; want %s", cmp.Or(short(s), `""`), k.wanted())
	}
	return n, ""
}

func (k *key) number(s string) (value any, bad string) {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil || n < float64(k.min) || n > float64(k.max) {
		return nil, fmt.Sprintf("got %s; want %s", cmp.Or(short(s), `""`), k.wanted())
	}
	return &n, ""
}

// texts reads a list of strings.
func (k *key) texts(list []any) (value any, bad string) {
	all := make([]string, 0, len(list))
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			return nil, "want " + k.wanted()
		}
		if _, bad := k.text(s); bad != "" {
			return nil, bad
		}
		all = append(all, s)
	}
	if k.list != nil {
		bad = k.list(all)
	}
	return all, bad
}

// pairs reads an object of strings.
func (k *key) pairs(members map[string]any) (value any, bad string) {
	all := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		s, ok := members[name].(string)
		if !ok {
			return nil, fmt.Sprintf("%s: want a string", short(name))
		}
		if bad := k.pair(name, s); bad != "" {
			return nil, bad
		}
		all[name] = s
	}
	return all, ""
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
	case *float64:
		return fmt.Sprintf("a number from %d to %d", k.min, k.max)
	case []string:
		return "a list of strings"
	case map[string]string:
		return "an object of strings"
	case json.RawMessage:
		return "an object"
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

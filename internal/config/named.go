package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"evener/internal/pattern"
)

// Provider is a model server with a name of its own: --model NAME/model.
type Provider struct {
	Endpoint
	Type              string
	APIKeyEnv         string
	Headers           map[string]string // values as written; Credentials puts the variables in
	Models            []string
	MaxTokensField    string
	ReasoningEcho     string
	ParallelToolCalls bool
	ExtraBody         json.RawMessage
}

// Exec is a command that answers as a model: --model exec/NAME.
type Exec struct {
	Command       []string
	KeyEnv        []string
	TimeoutMS     int64
	ContextTokens int64
}

// named is a key that holds objects by their names.
type named struct {
	rows  func(name string) []key // of one object
	fresh func(c *Config, name string)
	names func(c *Config) []string
	needs string // the member that every object must have
	check func(name string) string
	doc   string // heading and text of its part of the documentation
}

var namedKeys = []key{
	{name: "providers", in: places("user trusted"), doc: "Model servers with names of their own, see below.",
		named: &named{
			rows:  providerRows,
			fresh: func(c *Config, name string) { put(&c.Providers, name, &Provider{}) },
			names: func(c *Config) []string { return slices.Sorted(maps.Keys(c.Providers)) },
			needs: "base_url", check: providerName, doc: providersDoc,
		}},
	{name: "exec", in: places("user trusted"), doc: "Commands that answer as models, see below.",
		named: &named{
			rows:  execRows,
			fresh: func(c *Config, name string) { put(&c.Exec, name, &Exec{}) },
			names: func(c *Config) []string { return slices.Sorted(maps.Keys(c.Exec)) },
			needs: "command", check: plainName, doc: execDoc,
		}},
}

func put[T any](all *map[string]*T, name string, v *T) {
	if *all == nil {
		*all = map[string]*T{}
	}
	(*all)[name] = v
}

// of are the rows of one object: by their whole paths, and settable where the key is.
func (k *key) of(name string) []key {
	rows := k.named.rows(name)
	for i := range rows {
		rows[i].name = k.name + "." + name + "." + rows[i].name
		rows[i].in = k.in
	}
	return rows
}

func providerRows(name string) []key {
	row := func(k key, field func(*Provider) any) key {
		k.field = func(c *Config) any { return field(c.Providers[name]) }
		return k
	}
	var own, shared []key
	for i := range endpointKeys {
		k := endpointKeys[i]
		part := k.part
		k.part, k.env = nil, ""
		k = row(k, func(p *Provider) any { return part(&p.Endpoint) })
		if k.own {
			own = append(own, k)
			continue
		}
		k.top = &endpointKeys[i]
		shared = append(shared, k)
	}
	return slices.Concat([]key{
		row(key{name: "type", def: "openai", choices: []string{"openai"}, doc: "What it speaks: chat completions."},
			func(p *Provider) any { return &p.Type }),
	}, own, []key{
		row(key{name: "api_key_env", def: "", check: variable, doc: "Environment variable that holds the key; never the key itself."},
			func(p *Provider) any { return &p.APIKeyEnv }),
		row(key{name: "headers", def: map[string]string(nil), secret: true, pair: header,
			doc: "Headers sent with every request. ${VARIABLE} in a value is that environment variable."},
			func(p *Provider) any { return &p.Headers }),
		row(key{name: "models", def: []string(nil), check: filled, doc: "The models it offers: they are listed without asking it, and others are refused."},
			func(p *Provider) any { return &p.Models }),
	}, shared, []key{
		row(key{name: "max_tokens_field", def: "max_tokens", choices: []string{"max_tokens", "max_completion_tokens"}, doc: "Name under which max_tokens is sent."},
			func(p *Provider) any { return &p.MaxTokensField }),
		row(key{name: "reasoning_echo", def: "auto", choices: []string{"auto", "off", "reasoning_content", "reasoning"},
			doc: "How the model's earlier reasoning is sent back: as it came, not at all, or under this name."},
			func(p *Provider) any { return &p.ReasoningEcho }),
		row(key{name: "parallel_tool_calls", def: true, doc: "Ask for several calls in one reply; false sends nothing about it."},
			func(p *Provider) any { return &p.ParallelToolCalls }),
		row(key{name: "extra_body", def: json.RawMessage(nil), doc: "Members to add to the body of every request, in place of evener's own."},
			func(p *Provider) any { return &p.ExtraBody }),
	})
}

func execRows(name string) []key {
	row := func(k key, field func(*Exec) any) key {
		k.field = func(c *Config) any { return field(c.Exec[name]) }
		return k
	}
	return []key{
		row(key{name: "command", def: []string(nil), check: filled, list: program, doc: "The program, by its name or absolute path, and its arguments."},
			func(x *Exec) any { return &x.Command }),
		row(key{name: "key_env", def: []string(nil), check: variable, doc: "Environment variables with keys that this command gets, and no other."},
			func(x *Exec) any { return &x.KeyEnv }),
		row(key{name: "timeout_ms", def: int64(600_000), min: 1, max: day, unit: "ms", doc: "How long one reply may take; then the command is ended."},
			func(x *Exec) any { return &x.TimeoutMS }),
		row(key{name: "context_tokens", def: int64(0), min: 0, max: 1 << 30, unit: "tokens", doc: "As of a provider."},
			func(x *Exec) any { return &x.ContextTokens }),
	}
}

// loadNamed takes the objects of a key such as providers. An object of a
// stronger file replaces that of a weaker one whole: a key variable of the one
// must not meet an address of the other.
func (c *Config) loadNamed(f *source, k *key, s setting, from Source) error {
	objects, err := f.members(s, "NAME: {…}")
	if err != nil {
		return err
	}
	for _, o := range objects {
		if bad := k.named.check(o.key); bad != "" {
			return f.fault(o, bad)
		}
		settings, err := f.members(o, k.named.needs+": …")
		if err != nil {
			return err
		}
		k.named.fresh(c, o.key)
		rows := k.of(o.key)
		for i := range rows {
			rows[i].store(c, rows[i].def)
			c.origins[rows[i].name] = Origin{Source: Default}
		}
		for _, s := range settings {
			i := slices.IndexFunc(rows, func(r key) bool { return r.name == s.path })
			if i < 0 {
				return &Error{At: f.at(s), Text: fmt.Sprintf("unknown key %q; %s", s.path, k.known(o.key))}
			}
			if err := c.take(f, &rows[i], s, from); err != nil {
				return err
			}
		}
		if c.origins[o.path+"."+k.named.needs].Source == Default {
			return f.fault(o, k.named.needs+" is missing")
		}
	}
	return nil
}

// known lists the keys of an object for an error.
func (k *key) known(name string) string {
	var all []string
	for _, r := range k.named.rows(name) {
		all = append(all, r.name)
	}
	return "there are " + strings.Join(all, ", ")
}

// inherit gives each named object what it left out and the top has.
func (c *Config) inherit() {
	rows := c.rows()
	for i := range rows {
		k := &rows[i]
		if k.top == nil || c.origins[k.name].Source != Default {
			continue
		}
		k.store(c, k.top.load(c))
		c.origins[k.name] = c.origins[k.top.name]
	}
}

// rows are all rows in effect: the table, with the objects there are in place of their keys.
func (c *Config) rows() []key {
	var all []key
	for _, k := range table {
		var names []string
		if k.named != nil {
			names = k.named.names(c)
		}
		if len(names) == 0 {
			all = append(all, k)
		}
		for _, name := range names {
			all = append(all, k.of(name)...)
		}
	}
	return all
}

var (
	plain        = pattern.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)
	variableName = pattern.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
	fieldName    = pattern.New("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
)

func plainName(s string) string {
	if !plain().MatchString(s) {
		return "a name has letters, digits, _ and -, 64 at most"
	}
	return ""
}

func providerName(s string) string {
	switch s {
	case "openai":
		return "the openai provider is set by base_url and the other keys at the top; choose another name"
	case "exec", "script", "anthropic", "client", "replay":
		return "this name is taken; choose another one"
	}
	return plainName(s)
}

// variable does not repeat a wrong value: it may be the key itself.
func variable(s string) string {
	if !variableName().MatchString(s) {
		return "want the name of an environment variable"
	}
	return ""
}

func filled(s string) string {
	if strings.TrimSpace(s) == "" {
		return "an entry is empty"
	}
	return ""
}

// program refuses a path that depends on the directory: there, a cloned
// repository would choose what runs.
func program(list []string) string {
	switch {
	case len(list) == 0:
		return "want a program and its arguments"
	case strings.Contains(list[0], "/") && absolute(list[0]) != "":
		return fmt.Sprintf("got %q; want a program's name or an absolute path", short(list[0]))
	}
	return ""
}

// header judges a header; nothing of a value is repeated.
func header(name, value string) string {
	switch {
	case !fieldName().MatchString(name):
		return fmt.Sprintf("%q is no name of a header", short(name))
	case slices.Contains([]string{"host", "content-length", "transfer-encoding", "connection"}, strings.ToLower(name)):
		return name + " cannot be set"
	case strings.ContainsFunc(value, control):
		return name + ": the value holds a line break or another control character"
	case strings.Contains(reference().ReplaceAllString(value, ""), "${"):
		return name + ": after ${ must come the name of a variable and }"
	}
	return ""
}

func control(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"evener/internal/config"
	"evener/internal/model"
	"evener/internal/text"
)

var modelsCommand = command{
	name: "models", args: "[--json] [flags] [PROVIDER]", summary: "the models that can be asked, by endpoint",
	help: `Asks each configured endpoint, or that of PROVIDER, once for what it offers, and adds
the commands and scripts that answer as models. Each line is a name for --model; the
configured one is marked. The size of the context stands behind it where the server
tells it or the configuration has it. No command is run.

Exit status: 0 listed, 1 an endpoint did not answer, 2 wrong usage or configuration.`,
}

func init() { modelsCommand.run = runModels }

// listedModel is one line of evener models, and of --json the object.
type listedModel struct {
	Model      string `json:"model"`
	Provider   string `json:"provider"`
	Name       string `json:"name"`
	Configured bool   `json:"configured"` // it is the one that a run would ask
	Context    int64  `json:"context_tokens,omitempty"`
	State      string `json:"state,omitempty"`
	Source     string `json:"source"` // endpoint, configuration or program

	note string
}

func runModels(e *env, args []string) int {
	flags := e.flags(modelsCommand)
	set := config.AddFlags(flags, "model", "base_url")
	e.dirFlag(flags)
	asJSON := flags.Bool("json", false, "one object a line")
	rest, status, ok := e.parse(modelsCommand, flags, args)
	if !ok {
		return status
	}
	c, err := e.load(set)
	if err != nil {
		return e.failLoad(err)
	}
	providers, status, ok := e.listedProviders(c, rest)
	if !ok {
		return status
	}
	var all []listedModel
	for _, p := range providers {
		list, failed := e.modelsOf(c, p)
		if failed != nil {
			// What else there is should be seen also when one endpoint is down.
			status = max(status, e.fail(failedStatus(failed), "", "%v", failed))
			continue
		}
		all = append(all, list...)
	}
	for _, m := range all {
		if *asJSON {
			writeJSON(e, m)
		}
	}
	if !*asJSON {
		printModels(e, all)
	}
	e.sayMissing(c, providers, all, status)
	return status
}

// failedStatus tells an endpoint that did not answer from a wrong configuration.
func failedStatus(err error) int {
	if _, ok := errors.AsType[*model.Error](err); ok {
		return exitNoReport
	}
	return exitUsage
}

// listedProviders are those to list: the one that was asked for, or all that are configured.
func (e *env) listedProviders(c config.Config, args []string) ([]string, int, bool) {
	switch {
	case len(args) > 1:
		return nil, e.fail(exitUsage, "", "models takes one provider"), false
	case len(args) == 1:
		if known := providerNames(c); !slices.Contains(known, args[0]) {
			return nil, e.fail(exitUsage, "", "there is no provider %q; there are %s", args[0], strings.Join(known, ", ")), false
		}
		return args, exitOK, true
	}
	var all []string
	for _, p := range providerNames(c) {
		if p != "openai" || c.BaseURL != "" {
			all = append(all, p)
		}
	}
	return all, exitOK, true
}

func (e *env) modelsOf(c config.Config, provider string) ([]listedModel, error) {
	var out []listedModel
	add := func(name, source string) *listedModel {
		spec := provider + "/" + name
		out = append(out, listedModel{Model: spec, Provider: provider, Name: name, Configured: spec == c.Model, Source: source})
		return &out[len(out)-1]
	}
	switch provider {
	case "replay": // every session there is: evener sessions lists them
		return nil, nil
	case "script":
		names, err := fs.Glob(builtinScripts(), "*.json")
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			add("builtin:"+strings.TrimSuffix(n, ".json"), "program").note = "a script"
		}
		return out, nil
	case "exec":
		for _, name := range slices.Sorted(maps.Keys(c.Exec)) {
			m := add(name, "configuration")
			m.Context, m.note = c.Exec[name].ContextTokens, "runs "+filepath.Base(c.Exec[name].Command[0])
		}
		return out, nil
	}
	p, _ := c.Provider(provider)
	for _, name := range p.Models {
		add(name, "configuration").Context = p.ContextTokens
	}
	if len(p.Models) > 0 {
		return out, nil
	}
	asked, err := e.endpointConfig(c, provider, p)
	if err != nil {
		return nil, err
	}
	offers, err := model.List(context.Background(), asked)
	for _, o := range offers {
		m := add(o.Name, "endpoint")
		m.Context, m.State, m.note = o.Context, o.State, o.State
		if m.Context == 0 {
			m.Context = p.ContextTokens
		}
	}
	return out, err
}

// printModels writes aligned lines. A name is never cut: it is there to be
// copied; a very long one only moves its own line.
func printModels(e *env, all []listedModel) {
	const widest = 44 // so that the rest fits a terminal of 80 columns
	width := 0
	for _, m := range all {
		if n := utf8.RuneCountInString(m.Model); n <= widest {
			width = max(width, n)
		}
	}
	for _, m := range all {
		mark, size := " ", ""
		if m.Configured {
			mark = "*"
		}
		if m.Context > 0 {
			size = text.Thousands(int(m.Context)) + " tokens"
		}
		name := text.Printable(m.Model)
		if pad := width - utf8.RuneCountInString(name); pad >= 0 {
			name += strings.Repeat(" ", pad)
			size = fmt.Sprintf("%16s", size)
		}
		fmt.Fprintln(e.out, strings.TrimRight(fmt.Sprintf("%s %s  %s  %s", mark, name, size, text.Preview(m.note, 30)), " "))
	}
}

// sayMissing tells what a list alone would not: that no endpoint is there, that
// the configured model is in none of the lists, or that it is smaller than configured.
func (e *env) sayMissing(c config.Config, providers []string, all []listedModel, status int) {
	provider, name, _ := strings.Cut(c.Model, "/")
	if c.BaseURL == "" && len(c.Providers) == 0 && len(providers) > 1 {
		fmt.Fprintln(e.err, "hint: no endpoint is configured; set OPENAI_BASE_URL or --base-url, for example http://127.0.0.1:8080/v1")
		return
	}
	if status != exitOK || provider == "script" || provider == "replay" || !slices.Contains(providers, provider) {
		return
	}
	i := slices.IndexFunc(all, func(m listedModel) bool { return m.Configured })
	if i < 0 {
		fmt.Fprintf(e.err, "hint: %q is the configured model (%s), but %s does not list it\n", name, origin(c.Origin("model")), provider)
		return
	}
	key := "context_tokens"
	if provider != "openai" {
		key = "providers." + provider + "." + key
	}
	if p, ok := c.Provider(provider); ok && p.ContextTokens > all[i].Context {
		fmt.Fprintf(e.err, "hint: %s runs with %s tokens; %s is %s (%s)\n", c.Model, text.Thousands(int(all[i].Context)),
			key, text.Thousands(int(p.ContextTokens)), origin(c.Origin(key)))
	}
}

// origin says where a setting came from.
func origin(o config.Origin) string { return strings.TrimSpace(string(o.Source) + " " + o.At) }

package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"evener/internal/config"
	"evener/internal/model"
	"evener/internal/proc"
)

// opened is a model, and what is asked of it with every request.
type opened struct {
	model.Model
	params model.Params
	window int64 // context_tokens of it
	trace  *model.Trace
	close  func() error // once no request is under way
}

// record is params for the journal: nothing where nothing was set.
func (o opened) record() json.RawMessage {
	if o.params == (model.Params{}) {
		return nil
	}
	return toolsJSON(o.params)
}

// openModel opens the model that the configuration names. shared is the trace of
// the run, where it has one already.
func (e *env) openModel(c config.Config, shared *model.Trace) (opened, error) {
	provider, name, _ := strings.Cut(c.Model, "/")
	o := opened{params: params(c.Endpoint), close: func() error { return nil }}
	m := model.Config{Builtin: builtinScripts(), Tries: int(c.ModelRetries) + 1}
	spec := c.Model
	if err := elsewhere(c, provider); err != nil {
		return o, err
	}
	switch provider {
	case "script":
		m.Secrets = e.keys(c)
	case "replay":
		r, window, err := e.recording(c, name)
		if err != nil {
			return o, err
		}
		m.Recording, m.ContextTokens, m.Secrets = &r, window, e.keys(c)
	case "exec":
		x, close, err := e.execConfig(c, name)
		if err != nil {
			return o, err
		}
		m.Exec, m.KeyPrefix, m.ContextTokens, m.Secrets, o.close = x, "exec."+name+".", c.Exec[name].ContextTokens, e.keys(c), close
	default:
		p, ok := c.Provider(provider)
		if !ok {
			return o, fmt.Errorf("%s: there is no provider %q; there are %s", chosen(c), provider, strings.Join(providerNames(c), ", "))
		}
		if len(p.Models) > 0 && !slices.Contains(p.Models, name) {
			return o, fmt.Errorf("%s: providers.%s.models has no %q; it has %s", chosen(c), provider, name, strings.Join(p.Models, ", "))
		}
		var err error
		if m, err = e.endpointConfig(c, provider, p); err != nil {
			return o, err
		}
		o.params = params(p.Endpoint)
		spec = p.Type + "/" + name
	}
	switch {
	case shared != nil:
		m.Trace = shared
	case c.Trace != "":
		t, err := model.OpenTrace(c.Trace)
		if err != nil {
			return o, errors.Join(fmt.Errorf("the trace cannot be written: %w", err), o.close())
		}
		closeModel := o.close
		m.Trace, o.trace, o.close = t, t, func() error { return errors.Join(closeModel(), t.Close()) }
	}
	o.window = m.ContextTokens
	opened, err := model.Open(spec, m)
	if err != nil {
		return o, errors.Join(err, o.close())
	}
	if o.Model = opened; provider != "replay" { // which warns once of each session
		o.Model = &warnsOnce{Model: opened}
	}
	return o, nil
}

// chosen names the model, and the file that chose it.
func chosen(c config.Config) string {
	if o := c.Origin("model"); o.Source != config.Flag {
		return fmt.Sprintf("model %q (%s)", c.Model, origin(o))
	}
	return fmt.Sprintf("model %q", c.Model)
}

// elsewhere refuses an address that was given for this run and would not be asked.
func elsewhere(c config.Config, provider string) error {
	if c.Origin("base_url").Source == config.Flag && provider != "openai" {
		return fmt.Errorf("--base-url is the address of openai/…, but the model is %s", c.Model)
	}
	return nil
}

func params(e config.Endpoint) model.Params {
	return model.Params{MaxTokens: e.MaxTokens, Temperature: e.Temperature, ReasoningEffort: e.ReasoningEffort}
}

// providerNames are those that a model's name may begin with.
func providerNames(c config.Config) []string {
	return slices.Concat([]string{"openai"}, slices.Sorted(maps.Keys(c.Providers)), []string{"exec", "script", "replay"})
}

// endpointConfig is how a model server is asked.
func (e *env) endpointConfig(c config.Config, name string, p config.Provider) (model.Config, error) {
	key, headers, err := c.Credentials(name, e.getenv)
	if err != nil {
		return model.Config{}, err
	}
	m := model.Config{
		Provider: name, BaseURL: p.BaseURL, APIKey: key, Headers: headers, CAFile: p.CAFile, Secrets: e.keys(c),
		ConnectTimeout: time.Duration(p.ModelConnectTimeoutMS) * time.Millisecond,
		IdleTimeout:    time.Duration(p.ModelIdleTimeoutMS) * time.Millisecond,
		Tries:          int(p.ModelRetries) + 1, Stream: "on", NoParallel: !p.ParallelToolCalls,
		MaxTokensField: p.MaxTokensField, ReasoningEcho: p.ReasoningEcho, ExtraBody: p.ExtraBody, ContextTokens: p.ContextTokens,
	}
	if !p.ModelStream {
		m.Stream = "off"
	}
	if name != "openai" {
		m.KeyPrefix, m.KeyVariable = "providers."+name+".", p.APIKeyEnv
	}
	return m, nil
}

// keys are the values of all variables that hold keys: none of them may appear in an error.
func (e *env) keys(c config.Config) []string {
	var all []string
	for _, name := range c.KeyVariables() {
		if v := e.getenv(name); v != "" {
			all = append(all, v)
		}
	}
	return all
}

// execConfig is the command of an exec model, and the way to run it: in this
// directory, with no key but those that the configuration gives it.
func (e *env) execConfig(c config.Config, name string) (*model.Exec, func() error, error) {
	x := c.Exec[name]
	if x == nil {
		names := "there is no command"
		if len(c.Exec) > 0 {
			names = "there are " + strings.Join(slices.Sorted(maps.Keys(c.Exec)), ", ")
		}
		return nil, nil, fmt.Errorf("%s: exec in the user's configuration has no %q; %s", chosen(c), name, names)
	}
	var keys []string
	at := "exec." + name + ".key_env"
	for _, name := range x.KeyEnv {
		v := e.getenv(name)
		if v == "" {
			return nil, nil, c.Unset(at, name)
		}
		keys = append(keys, name+"="+v)
	}
	host, err := proc.Open(proc.Options{Env: without(e.environ, c.KeyVariables()), Post: func(proc.Event) {}})
	if err != nil {
		return nil, nil, err
	}
	run := func(ctx context.Context, k model.Command) (model.Ran, error) {
		r, err := host.Run(ctx, proc.Short{Argv: k.Argv, Dir: e.dir, Env: k.Env, Stdin: k.Stdin, Limit: k.Limit, Strict: true, Last: k.ErrorLimit})
		return model.Ran{Stdout: r.Stdout, Stderr: r.Stderr, Code: r.Code, Signal: r.Signal, Cut: r.Cut}, err
	}
	return &model.Exec{Command: x.Command, Env: keys, Timeout: time.Duration(x.TimeoutMS) * time.Millisecond, Run: run},
		func() error { return host.Close(context.Background()) }, nil
}

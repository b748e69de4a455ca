package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"evener/internal/pattern"
)

var reference = pattern.New(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// Provider is the provider of that name: openai by the keys at the top, or a named one.
func (c Config) Provider(name string) (Provider, bool) {
	if name == "openai" {
		return Provider{Endpoint: c.Endpoint, Type: name, ParallelToolCalls: true}, true
	}
	p, ok := c.Providers[name]
	if !ok {
		return Provider{}, false
	}
	return *p, true
}

// Credentials are the key and the headers of a provider, from the environment.
// A variable that the configuration names must be set.
func (c Config) Credentials(name string, getenv func(string) string) (apiKey string, headers map[string]string, err error) {
	if name == "openai" {
		return c.APIKey, nil, nil
	}
	p, path := c.Providers[name], "providers."+name
	if p.APIKeyEnv != "" {
		if apiKey = getenv(p.APIKeyEnv); apiKey == "" {
			return "", nil, c.Unset(path+".api_key_env", p.APIKeyEnv)
		}
	}
	headers = map[string]string{}
	for _, h := range slices.Sorted(maps.Keys(p.Headers)) {
		value := reference().ReplaceAllStringFunc(p.Headers[h], func(at string) string {
			v := getenv(at[2 : len(at)-1])
			if v == "" {
				err = c.Unset(path+".headers", at[2:len(at)-1])
			}
			return v
		})
		if err == nil && strings.ContainsFunc(value, control) {
			err = &Error{At: c.origins[path+".headers"].At, Key: path + ".headers", Text: h + ": the value holds a line break or another control character"}
		}
		if err != nil {
			return "", nil, err
		}
		headers[h] = value
	}
	return apiKey, headers, nil
}

// Unset is the error of a key that names a variable which is not there.
func (c Config) Unset(key, variable string) error {
	return &Error{At: c.origins[key].At, Key: key, Text: fmt.Sprintf("the environment variable %s is not set", variable)}
}

// KeyVariables are the environment variables that hold keys: those that evener
// itself knows and those that the configuration names. Commands do not get them.
func (c Config) KeyVariables() []string {
	all := []string{"OPENAI_API_KEY", "ANTHROPIC_API_KEY"}
	for _, p := range c.Providers {
		if p.APIKeyEnv != "" {
			all = append(all, p.APIKeyEnv)
		}
		for _, v := range p.Headers {
			for _, m := range reference().FindAllStringSubmatch(v, -1) {
				all = append(all, m[1])
			}
		}
	}
	for _, x := range c.Exec {
		all = append(all, x.KeyEnv...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

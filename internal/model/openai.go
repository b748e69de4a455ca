package model

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"evener/internal/regular"
)

// openai speaks chat completions to one endpoint.
type openai struct {
	caller
	name    string
	address *url.URL // up to and including /v1
	client  *http.Client
	// replyMax bounds text, reasoning and arguments of a reply, in bytes; no model writes that much.
	replyMax int64
}

func openOpenAI(name string, c Config) (Model, error) {
	m, err := newOpenAI(c, name)
	if err != nil {
		return nil, fmt.Errorf("model %s/%s: %w", c.Provider, name, err)
	}
	return m, nil
}

// newOpenAI prepares to ask an endpoint, about one model or, without a name, in general.
func newOpenAI(c Config, name string) (*openai, error) {
	c.APIKey = strings.TrimSpace(c.APIKey)
	u, err := baseURL(c.BaseURL)
	if err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	roots, err := c.roots()
	if err != nil {
		return nil, err
	}
	m := &openai{name: name, address: u, replyMax: replyMax}
	m.caller = caller{c: c, scrub: newScrubber(c.secrets(u))}
	m.base = m.scrub.clean(u.Scheme + "://" + u.Host + u.Path)
	m.where = m.scrub.clean(strings.TrimSuffix(c.Provider+"/"+name, "/") + " at " + m.base)
	if p, err := http.ProxyFromEnvironment(&http.Request{URL: u}); err == nil && p != nil {
		m.through(p)
	}
	m.client = &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: c.ConnectTimeout, KeepAlive: 30 * time.Second}).DialContext,
			TLSClientConfig:     &tls.Config{RootCAs: roots},
			TLSHandshakeTimeout: c.ConnectTimeout,
			ForceAttemptHTTP2:   true,
			DisableCompression:  true, // a compressed stream arrives in lumps
			MaxIdleConnsPerHost: 64,
			IdleConnTimeout:     90 * time.Second,
		},
		// A redirect names another endpoint than the configured one; it is reported instead.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return m, nil
}

// through names a proxy, because its answers look like the server's.
func (m *openai) through(proxy *url.URL) { m.where += " through the proxy " + proxy.Host }

// baseURL accepts the base with or without a slash at its end, and a pasted full address.
func baseURL(s string) (*url.URL, error) {
	if strings.TrimSpace(s) == "" {
		return nil, fmt.Errorf("no endpoint is configured; set OPENAI_BASE_URL or --base-url, for example http://127.0.0.1:8080/v1")
	}
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Fragment != "" {
		return nil, fmt.Errorf("the base URL must look like http://127.0.0.1:8080/v1") // not repeated: it may hold a password
	}
	u.Path = strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions")
	u.RawPath = ""
	return u, nil
}

func (c Config) check() error {
	if strings.ContainsFunc(c.APIKey, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return fmt.Errorf("the API key holds a line break or another control character")
	}
	if !slices.Contains([]string{"on", "off", "no_tools"}, c.Stream) {
		return fmt.Errorf("stream is %q; it must be on, off or no_tools", c.Stream)
	}
	if len(c.ExtraBody) > 0 {
		var extra map[string]json.RawMessage
		if err := json.Unmarshal(c.ExtraBody, &extra); err != nil {
			return fmt.Errorf("the extra body is not a JSON object: %w", err)
		}
		if _, ok := extra["stream"]; ok {
			return fmt.Errorf("the extra body sets stream; use the setting of that name")
		}
	}
	return nil
}

// maxCAFile bounds a ca_file, in bytes: a system's whole set has a quarter of a million.
const maxCAFile = 16 << 20

// roots returns nil for the system's certificates.
func (c Config) roots() (*x509.CertPool, error) {
	if c.CAFile == "" {
		return nil, nil
	}
	pem, err := regular.Read(c.CAFile, maxCAFile)
	if err != nil {
		return nil, fmt.Errorf("read ca_file: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca_file %s holds no PEM certificate", c.CAFile)
	}
	return pool, nil
}

// headerSecret is the length from which a configured header's value counts as a secret.
const headerSecret = 8

func (c Config) secrets(u *url.URL) []string {
	out := append([]string{c.APIKey}, c.Secrets...)
	for _, v := range c.Headers {
		if len(v) >= headerSecret {
			out = append(out, v, v[strings.LastIndex(v, " ")+1:])
		}
	}
	if p, ok := u.User.Password(); ok {
		out = append(out, p, u.User.Username()+":"+p)
	}
	for _, vs := range u.Query() {
		for _, v := range vs {
			if len(v) >= headerSecret {
				out = append(out, v)
			}
		}
	}
	return out
}

// Complete implements Model.
func (m *openai) Complete(ctx context.Context, r Request, progress func(Progress)) (Reply, error) {
	stream := m.c.Stream == "on" || m.c.Stream == "no_tools" && len(r.Tools) == 0
	body, err := m.c.body(m.name, r, stream)
	if err != nil {
		return Reply{}, m.scrub.faultf(BadRequest, 0, "%s: the request cannot be written: %v", m.where, err)
	}
	if e := m.tooLong(body); e != nil {
		return Reply{}, e
	}
	if progress == nil {
		progress = func(Progress) {}
	}
	x := m.c.Trace.exchange(m.c, m.scrub, m.c.Provider+"/"+m.name, r)
	b, err := m.c.retry(ctx, progress, func(attempt int) (*builder, *failure) {
		return m.attempt(ctx, x, body, stream, func(n int64) { progress(Progress{Attempt: attempt, Bytes: n}) })
	})
	if err != nil {
		return Reply{}, m.overflowed(err, body)
	}
	reply := b.reply(callIDs(r.Messages))
	reply.Warning = m.dropped(reply.Usage, body)
	return reply, nil
}

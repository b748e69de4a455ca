package model

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Offer is a model that a server offers.
type Offer struct {
	Name    string
	Context int64  // tokens that it runs with, 0 if the server does not tell
	State   string // loaded, unloaded, …; empty if the server does not tell
}

// listMax bounds an answer about models.
const listMax = 16 << 20

// List asks an endpoint for its models, once. Where it tells them elsewhere,
// context sizes are asked for there; that may fail without harm.
func List(ctx context.Context, c Config) ([]Offer, error) {
	m, err := newOpenAI(c.withDefaults(), "")
	if err != nil {
		return nil, fmt.Errorf("models of %s: %w", c.Provider, err)
	}
	defer m.client.CloseIdleConnections()
	raw, f := m.get(ctx, m.address.JoinPath("models"))
	if f != nil {
		return nil, f.err
	}
	list, ok := readOffers(raw)
	if !ok {
		e := m.scrub.faultf(Protocol, 200, "%s: the answer is no list of models: %s", m.where, plainText(strings.TrimSpace(string(raw))))
		e.Hint = m.noServer()
		return nil, e
	}
	return m.measure(ctx, list), nil
}

// get asks for one JSON document.
func (m *openai) get(parent context.Context, u *url.URL) ([]byte, *failure) {
	ctx, cancel := context.WithTimeoutCause(parent, m.c.ConnectTimeout, errNoAnswer)
	defer cancel()
	req, err := m.request(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, &failure{err: m.scrub.faultf(BadRequest, 0, "%s: %v", m.where, err)}
	}
	resp, err := m.client.Do(req)
	if err != nil && context.Cause(ctx) == errNoAnswer {
		return nil, m.slow()
	} else if err != nil {
		return nil, m.unsent(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		f := m.refused(ctx, resp, resp.Body)
		if s := resp.StatusCode; (s == http.StatusNotFound || s == http.StatusMethodNotAllowed || s == http.StatusNotImplemented) && strings.HasSuffix(m.base, "/v1") {
			f.err.Hint = m.noList()
		}
		return nil, f
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, listMax))
	switch {
	case err != nil && context.Cause(ctx) == errNoAnswer:
		return nil, m.slow()
	case err != nil:
		return nil, m.brokenOff(ctx, err)
	}
	return raw, nil
}

func (m *openai) slow() *failure {
	f := &failure{err: m.scrub.faultf(Timeout, 0, "%s: no answer within %s", m.where, m.c.ConnectTimeout)}
	f.err.Hint = "check that the server runs, and " + m.c.addressKey() + ", or raise " + m.c.key("model_connect_timeout_ms")
	return f
}

func (m *openai) noList() string {
	if m.c.KeyPrefix == "" {
		return "this server does not list its models: ask it with the name that it was started with, or check " + m.c.addressKey()
	}
	return "this server does not list its models: name them in " + m.c.key("models") + ", or check " + m.c.addressKey()
}

// listed is a list of models in the forms that servers use.
type listed struct {
	Data   []json.RawMessage `json:"data"`
	Models []json.RawMessage `json:"models"` // Ollama's own, LM Studio's own, some gateways
}

// offered is an entry of a list.
type offered struct {
	ID    looseText `json:"id"`
	Key   looseText `json:"key"`
	Name  looseText `json:"name"`
	Model looseText `json:"model"`
	Owner looseText `json:"owned_by"`

	Loaded count `json:"loaded_context_length"` // LM Studio
	MaxLen count `json:"max_model_len"`         // vLLM, SGLang
	Length count `json:"context_length"`        // Ollama's loaded models, gateways
	Window count `json:"context_window"`

	Status    json.RawMessage `json:"status"` // llama.cpp with several models: {"value":"loaded"}
	State     looseText       `json:"state"`  // LM Studio
	Instances []struct {
		Config struct {
			Length count `json:"context_length"`
		} `json:"config"`
	} `json:"loaded_instances"` // LM Studio
}

type listedOffer struct {
	Offer
	owner string
}

func readOffers(raw []byte) ([]listedOffer, bool) {
	var l listed
	entries := []json.RawMessage(nil)
	switch {
	case json.Unmarshal(raw, &entries) == nil && entries != nil:
	case json.Unmarshal(raw, &l) != nil || l.Data == nil && l.Models == nil:
		return nil, false
	case l.Data != nil:
		entries = l.Data
	default:
		entries = l.Models
	}
	out := []listedOffer{}
	for _, e := range entries {
		var o offered
		if name := ""; json.Unmarshal(e, &name) == nil {
			o.ID = looseText(name)
		} else if json.Unmarshal(e, &o) != nil {
			continue
		}
		if x := o.offer(); x.Name != "" {
			out = append(out, listedOffer{x, string(o.Owner)})
		}
	}
	return out, true
}

func (o offered) offer() Offer {
	x := Offer{State: string(o.State)}
	for _, name := range []looseText{o.ID, o.Key, o.Model, o.Name} {
		if x.Name == "" {
			x.Name = words(string(name))
		}
	}
	for _, n := range []count{o.Loaded, o.MaxLen, o.Length, o.Window} {
		if x.Context == 0 {
			x.Context = int64(n)
		}
	}
	var status struct {
		Value looseText `json:"value"`
	}
	if json.Unmarshal(o.Status, &status) == nil && x.State == "" {
		x.State = string(status.Value)
	}
	if len(o.Instances) > 0 {
		x.State = "loaded"
		if x.Context == 0 {
			x.Context = int64(o.Instances[0].Config.Length)
		}
	}
	x.State = oneLine(x.State)
	return x
}

// measure asks a server by its own interface for the context sizes that it
// runs its models with. The size that a model was trained with is not that.
func (m *openai) measure(ctx context.Context, list []listedOffer) []Offer {
	owner, unknown := "", false
	for _, o := range list {
		owner, unknown = o.owner, unknown || o.Context == 0
	}
	root := *m.address
	root.Path = strings.TrimSuffix(root.Path, "/v1")
	var own []listedOffer
	if unknown {
		switch {
		case owner == "library":
			own = m.ask(ctx, root.JoinPath("api", "ps"))
		case owner == "organization_owner":
			own = m.ask(ctx, root.JoinPath("api", "v1", "models"))
		case owner == "llamacpp" && len(list) == 1:
			list[0].Context = m.slot(ctx, root.JoinPath("props"))
		}
	}
	out := make([]Offer, 0, len(list))
	for _, o := range list {
		for _, known := range own {
			if known.Name != o.Name {
				continue
			}
			o.Context = max(o.Context, known.Context)
			if owner == "library" { // what it lists there is loaded
				known.State = "loaded"
			}
			if known.State != "" {
				o.State = known.State
			}
		}
		out = append(out, o.Offer)
	}
	return out
}

func (m *openai) ask(ctx context.Context, u *url.URL) []listedOffer {
	raw, f := m.get(ctx, u)
	if f != nil {
		return nil
	}
	list, _ := readOffers(raw)
	return list
}

// slot is the context size of llama.cpp's one model.
func (m *openai) slot(ctx context.Context, u *url.URL) int64 {
	raw, f := m.get(ctx, u)
	var props struct {
		Settings struct {
			Context count `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	if f != nil || json.Unmarshal(raw, &props) != nil {
		return 0
	}
	return int64(props.Settings.Context)
}

// request is one request to the endpoint, with the key and the headers that it wants.
func (m *openai) request(ctx context.Context, method, to string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, to, bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the endpoint's address cannot be used")
	}
	h := req.Header
	h.Set("User-Agent", "evener")
	h.Set("Accept", "application/json")
	if body != nil {
		h.Set("Content-Type", "application/json")
	}
	if m.c.APIKey != "" {
		h.Set("Authorization", "Bearer "+m.c.APIKey)
	}
	for k, v := range m.c.Headers {
		h.Set(k, v)
	}
	return req, nil
}

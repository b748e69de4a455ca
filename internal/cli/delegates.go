package cli

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"evener/internal/config"
	"evener/internal/delegate"
	"evener/internal/fault"
	"evener/internal/model"
	"evener/internal/policy"
	"evener/internal/role"
	"evener/internal/schema"
	"evener/internal/supervisor"
	"evener/internal/text"
	"evener/internal/tool"
)

// models opens each model that sessions of a tree name once.
type models struct {
	env    *env
	config config.Config
	trace  *model.Trace
	mu     sync.Mutex
	open   map[string]opened
}

// newModels knows the root's model already; its opener closes that one.
func newModels(e *env, c config.Config, m opened) *models {
	m.close = func() error { return nil }
	return &models{env: e, config: c, trace: m.trace, open: map[string]opened{c.Model: m}}
}

// get returns the model of a name such as openai/qwen3-coder.
func (s *models) get(name string) (model.Model, error) {
	m, err := s.opened(name)
	return m.Model, err
}

func (s *models) opened(name string) (opened, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m, ok := s.open[name]; ok {
		return m, nil
	}
	c := s.config
	c.Model = name
	m, err := s.env.openModel(c, s.trace)
	if err == nil {
		s.open[name] = m
	}
	return m, err
}

// close ends what was opened, once no request is under way.
func (s *models) close() error {
	var errs []error
	for _, m := range s.open {
		errs = append(errs, m.close())
	}
	return errors.Join(errs...)
}

// rootTools are what a root session may call.
func rootTools(c config.Config) []string {
	var names []string
	for _, n := range tool.Names() {
		if n == "delegate" && c.MaxSubagentDepth == 0 {
			continue
		}
		names = append(names, n)
	}
	return names
}

// prepare answers what a delegate call asks of the outside: its role, its
// model, its schema. Nothing is made but the worktree that it asks for, in the end.
func (r *runner) prepare(s supervisor.DelegateSpec) (supervisor.Prepared, *fault.Error) {
	a := s.Call
	none := supervisor.Prepared{}
	replays := strings.HasPrefix(s.Model, "replay/")
	if replays { // whatever model it was, its replies are recorded
		a.Model = ""
	}
	if a.Model != "" {
		if _, err := r.models.get(a.Model); err != nil {
			return none, fault.Invalid("delegate: %v", err)
		}
	}
	kind, refused := r.role(a.AgentType)
	if refused != nil {
		return none, refused
	}
	if replays {
		kind.Model = role.Inherit
	}
	name, warning := role.ResolveModel(kind, a.Model, s.Model, r.offers(s.Model))
	if warning != "" {
		r.warn(warning)
	}
	m, err := r.models.opened(name)
	if err != nil {
		return none, fault.Invalid("delegate: %v", err)
	}
	if a.ReasoningEffort != "" {
		m.params.ReasoningEffort = a.ReasoningEffort
	}
	d := delegate.Descriptor{
		Name: strings.TrimSpace(a.Name), AgentType: a.AgentType, Model: name, Allowance: s.Allowance,
		Dir: s.Dir, Params: m.record(), ContextTokens: m.window, WatchParent: a.WatchParent,
	}
	if a.ResultSchema != nil {
		raw, err := json.Marshal(a.ResultSchema)
		if err != nil {
			return none, fault.Invalid("delegate: result_schema: %v", err)
		}
		if _, err := schema.Compile(raw, r.config.ResultSchemaBytes); err != nil {
			return none, fault.Invalid("delegate: result_schema: %v", err)
		}
		d.ResultSchema = raw
	}
	spec := policy.Spec{Grants: a.GrantTools, Allowance: s.Allowance}
	if a.AgentType != "" {
		spec = kind.Spec(s.Allowance, a.GrantTools)
	}
	names, refused := policy.Tools(s.Tools, spec)
	if refused != nil {
		return none, refused
	}
	if s.Isolate != nil {
		w, refused := s.Isolate()
		if refused != nil {
			return none, refused
		}
		d.Worktree, d.Dir = &w, w.Dir
	}
	e := r.promptEnv(d.Dir, time.Now())
	e.Delegate, e.Role = true, kind.Prompt
	if slices.Contains(names, "delegate") {
		e.Allowance = s.Allowance
	}
	d.System = tool.SystemPrompt(e)
	d.Tools = toolsJSON(tool.DefinitionsFor(tool.Surface{Names: names, Delegate: true, Output: d.ResultSchema, Types: r.types}))
	return supervisor.Prepared{Descriptor: d}, nil
}

// typesLen bounds what the agent types add to a request, in bytes.
const typesLen = 2 << 10

// loadRoles reads the agent types that delegates may have.
func (r *runner) loadRoles() error {
	dirs, err := r.roleDirs()
	if err != nil {
		return err
	}
	r.roles = role.Load(dirs, r.warn)
	r.types = r.roles.Listing(typesLen, func(role.Role) bool { return true })
	return nil
}

// role finds an agent type; an empty name is none.
func (r *runner) role(name string) (role.Role, *fault.Error) {
	if name == "" {
		return role.Role{}, nil
	}
	if x, ok := r.roles.Find(name); ok {
		return x, nil
	}
	known := "there are none; they stand in .evener/agents"
	if names := r.roles.Names(); len(names) > 0 {
		known = "there are " + strings.Join(names, ", ")
	}
	return role.Role{}, fault.Invalid("delegate: there is no agent type %s; %s", text.Quote(name, 80), known)
}

// offers tells which models the provider of a model is known to have: those
// that its configuration lists.
func (r *runner) offers(name string) func(string) bool {
	provider, _, _ := strings.Cut(name, "/")
	p, ok := r.config.Provider(provider)
	return func(model string) bool { return ok && slices.Contains(p.Models, model) }
}

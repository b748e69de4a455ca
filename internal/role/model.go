package role

import (
	"fmt"
	"strings"
)

// ResolveModel is the model of a delegate, as provider/name: the role's, if
// the parent's provider offers it, else the call's explicit one, else the
// parent's. available tells whether that provider offers a name; where it
// cannot tell, the answer is no. A role never switches providers: its model is
// a name at the parent's, and the provider's own prefix before it is dropped.
// A warning, which may be empty, says that a role's model could not be had, or
// that it outranked the explicit one.
func ResolveModel(r Role, explicit, parent string, available func(string) bool) (model, warning string) {
	fallback, whose := parent, "its parent's"
	if explicit != "" {
		fallback, whose = explicit, "the call's"
	}
	if r.Model == "" || r.Model == Inherit {
		return fallback, ""
	}
	provider, _, _ := strings.Cut(parent, "/")
	for _, name := range []string{r.Model, strings.TrimPrefix(r.Model, provider+"/")} {
		if available == nil || !available(name) {
			continue
		}
		model = provider + "/" + name
		if explicit != "" && explicit != model && explicit != name {
			warning = fmt.Sprintf("the agent type %s uses its own model %s, which comes before the model %s of the call", r.Name, model, shown(explicit))
		}
		return model, warning
	}
	return fallback, fmt.Sprintf("the agent type %s asks for the model %s, which %s is not known to offer; the delegate uses %s model %s",
		r.Name, r.Model, provider, whose, shown(fallback))
}

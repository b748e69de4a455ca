package role

import (
	"slices"
	"testing"
)

// clause: RC-058 RC-059 RC-061 RC-062
func TestResolveModel(t *testing.T) {
	offered := func(name string) bool {
		return slices.Contains([]string{"small", "big", "qwen/coder", "haiku"}, name)
	}
	const parent = "local/big"
	for _, c := range []struct {
		what, role, explicit string
		available            func(string) bool
		want, warning        string
	}{
		{"the parent's", "inherit", "", offered, "local/big", ""},
		{"the parent's, of a zero role", "", "", offered, "local/big", ""},
		{"the call's", "inherit", "other/x", offered, "other/x", ""},
		{"the role's", "small", "", offered, "local/small", ""},
		{"a name with a slash is the provider's", "qwen/coder", "", offered, "local/qwen/coder", ""},
		{"the provider's own prefix", "local/small", "", offered, "local/small", ""},
		{"the role's before the call's", "small", "other/x", offered, "local/small", "the agent type scout uses its own model local/small, which comes before the model other/x of the call"},
		{"both the same", "small", "local/small", offered, "local/small", ""},
		{"both the same, short", "small", "small", offered, "local/small", ""},
		{"no other provider", "other/small", "", offered, "local/big", "the agent type scout asks for the model other/small, which local is not known to offer; the delegate uses its parent's model local/big"},
		{"not offered, then the call's", "huge", "other/x", offered, "other/x", "the agent type scout asks for the model huge, which local is not known to offer; the delegate uses the call's model other/x"},
		{"an alias that is not offered", "sonnet", "", offered, "local/big", "the agent type scout asks for the model sonnet, which local is not known to offer; the delegate uses its parent's model local/big"},
		{"an alias that is", "haiku", "", offered, "local/haiku", ""},
		{"nobody can tell", "small", "", nil, "local/big", "the agent type scout asks for the model small, which local is not known to offer; the delegate uses its parent's model local/big"},
	} {
		got, warning := ResolveModel(Role{Name: "scout", Model: c.role}, c.explicit, parent, c.available)
		if got != c.want || warning != c.warning {
			t.Errorf("%s: got %q, %q; want %q, %q", c.what, got, warning, c.want, c.warning)
		}
	}
}

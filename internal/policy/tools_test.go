package policy

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// root is what an interactive root session can call.
var root = strings.Fields("shell read_file delegate delegate_send job_watch job_list ask_user read_transcript communicate")

// clause: JC-080 JC-087 JC-091 JC-092 JC-093 JC-472 RC-026 RC-028 RC-029 RC-036 RC-037 RC-116
func TestTools(t *testing.T) {
	for _, c := range []struct {
		what string
		own  []string
		s    Spec
		want string
	}{
		{"untyped, may delegate", root, Spec{Allowance: 1}, "shell read_file delegate delegate_send job_watch job_list read_transcript communicate"},
		{"untyped leaf", root, Spec{}, "shell read_file delegate_send job_watch job_list read_transcript communicate"},
		{"untyped: a list without a type counts for nothing", root, Spec{Listed: []string{"shell"}, Denied: []string{"shell"}}, "shell read_file delegate_send job_watch job_list read_transcript communicate"},
		{"typed, all", root, Spec{Typed: true, All: true, Allowance: 1}, "shell read_file delegate delegate_send job_watch job_list read_transcript communicate"},
		{"typed, all, leaf", root, Spec{Typed: true, All: true}, "shell read_file delegate_send job_watch job_list read_transcript communicate"},
		{"typed, all, of a narrow creator", []string{"read_file", "delegate", "communicate"}, Spec{Typed: true, All: true, Allowance: 1}, "read_file delegate communicate"},
		{"typed, no list", root, Spec{Typed: true, Default: true, Allowance: 1}, "shell read_file delegate_send job_watch job_list read_transcript communicate"},
		{"typed, a list", root, Spec{Typed: true, Listed: []string{"read_file"}, Allowance: 1}, "read_file read_transcript communicate"},
		{"typed, an empty list", root, Spec{Typed: true}, "read_transcript communicate"},
		{"typed, lists delegate", root, Spec{Typed: true, Listed: []string{"delegate", "shell"}, Allowance: 1}, "shell delegate read_transcript communicate"},
		{"typed leaf, lists delegate", root, Spec{Typed: true, Listed: []string{"delegate", "shell"}}, "shell read_transcript communicate"},
		{"typed, lists what the creator lacks", []string{"read_file", "communicate"}, Spec{Typed: true, Listed: []string{"shell", "mcp_x", "read_file"}}, "read_file communicate"},
		{"typed, lists ask_user", root, Spec{Typed: true, Listed: []string{"ask_user", "shell"}}, "shell read_transcript communicate"},
		{"typed, denies", root, Spec{Typed: true, All: true, Denied: []string{"shell", "delegate"}, Allowance: 1}, "read_file delegate_send job_watch job_list read_transcript communicate"},
		{"typed, denies what it lists", root, Spec{Typed: true, Listed: []string{"shell", "read_file"}, Denied: []string{"shell"}}, "read_file read_transcript communicate"},
		{"typed, denies the result tool", root, Spec{Typed: true, Denied: []string{"communicate", "read_transcript"}}, "read_transcript communicate"},
		{"typed, granted", root, Spec{Typed: true, Listed: []string{"read_file"}, Grants: []string{"shell"}}, "shell read_file read_transcript communicate"},
		{"untyped, granted what it has", root, Spec{Grants: []string{"shell", "communicate"}}, "shell read_file delegate_send job_watch job_list read_transcript communicate"},
		{"granted delegate where it is listed", root, Spec{Typed: true, Listed: []string{"delegate"}, Grants: []string{"delegate"}, Allowance: 1}, "delegate read_transcript communicate"},
	} {
		got, refusal := Tools(c.own, c.s)
		if strings.Join(got, " ") != c.want || refusal != nil {
			t.Errorf("%s: got %q, %v; want %q", c.what, strings.Join(got, " "), refusal, c.want)
		}
	}
}

// clause: RC-032 RC-033 RC-034
func TestGrantsRefused(t *testing.T) {
	narrow := []string{"read_file", "communicate"}
	for _, c := range []struct {
		own  []string
		s    Spec
		want string
	}{
		{root, Spec{Grants: []string{"ask_user"}}, `cannot grant tool "ask_user" via grant_tools: it belongs to the root session alone`},
		{narrow, Spec{Grants: []string{"ask_user"}}, `cannot grant tool "ask_user" via grant_tools: it belongs to the root session alone`},
		{root, Spec{Grants: []string{"shell", "no_such_tool"}}, `cannot grant tool "no_such_tool": it is not currently callable in this session, and a delegate gets no tool`},
		{narrow, Spec{Grants: []string{"shell"}}, `cannot grant tool "shell": it is not currently callable in this session`},
		{root, Spec{Grants: []string{""}}, `cannot grant tool "": it is not currently callable in this session`},
		{root, Spec{Grants: []string{"delegate"}}, `cannot grant tool "delegate" via grant_tools: at delegation_allowance 0 a delegate is a leaf`},
		{root, Spec{Typed: true, Listed: []string{"shell"}, Grants: []string{"delegate"}, Allowance: 1}, `cannot grant tool "delegate" via grant_tools: an agent type has it only if its own tool list names it`},
		{root, Spec{Typed: true, Default: true, Grants: []string{"delegate"}, Allowance: 1}, `cannot grant tool "delegate" via grant_tools: an agent type has it only if its own tool list names it`},
		{root, Spec{Typed: true, Listed: []string{"shell"}, Denied: []string{"shell"}, Grants: []string{"shell"}}, `cannot grant tool "shell" via grant_tools: the agent type denies it`},
	} {
		got, refusal := Tools(c.own, c.s)
		if got != nil || !strings.HasPrefix(message(refusal), "invalid_request: "+c.want) {
			t.Errorf("grants %q: got %q, %q; want %q", c.s.Grants, got, message(refusal), c.want)
		}
	}
}

// TestToolsOnlyNarrow: along any chain of children nothing appears that the
// session above lacks, what was granted is there, and a report stays possible.
//
// clause: RC-026 RC-028 RC-032
func TestToolsOnlyNarrow(t *testing.T) {
	names := rapid.SliceOfN(rapid.SampledFrom(append(slices.Clone(root), "unknown")), 0, 5)
	rapid.Check(t, func(t *rapid.T) {
		own := root
		for allowance := int64(3); allowance > 0 && slices.Contains(own, "delegate"); allowance-- {
			s := Spec{
				Typed: rapid.Bool().Draw(t, "typed"), All: rapid.Bool().Draw(t, "all"), Default: rapid.Bool().Draw(t, "default"),
				Listed: names.Draw(t, "listed"), Denied: names.Draw(t, "denied"), Grants: names.Draw(t, "grants"), Allowance: allowance - 1,
			}
			got, refusal := Tools(own, s)
			if refusal != nil {
				return
			}
			rest := own
			for _, name := range got {
				i := slices.Index(rest, name)
				if i < 0 {
					t.Fatalf("%q is not in %q, or out of its order", name, own)
				}
				rest = rest[i+1:]
			}
			for _, name := range append(s.Grants, "communicate", "read_transcript") {
				if !slices.Contains(got, name) {
					t.Fatalf("%q is missing in %q", name, got)
				}
			}
			if slices.Contains(got, "ask_user") || s.Allowance == 0 && slices.Contains(got, "delegate") {
				t.Fatalf("%q holds a tool that this child may not have", got)
			}
			own = got
		}
	})
}

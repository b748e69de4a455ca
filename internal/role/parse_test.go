package role

import (
	"reflect"
	"strings"
	"testing"
)

// lead and end make a whole file of some lines of front matter.
const (
	lead = "---\nname: scout\ndescription: Looks around.\n"
	end  = "---\nYou are the scout.\n"
)

// base is what such a file says without further lines.
func base(change func(*Role)) Role {
	r := Role{Name: "scout", Description: "Looks around.", Tools: Tools{Default: true}, Model: "inherit", Color: "blue", Prompt: "You are the scout."}
	if change != nil {
		change(&r)
	}
	return r
}

func listed(names ...string) func(*Role) {
	return func(r *Role) { r.Tools = Tools{Names: names} }
}

// clause: RC-055 RC-056 RC-057
func TestParse(t *testing.T) {
	for _, c := range []struct {
		what, file string
		want       Role
		notes      string
	}{
		{"the least", lead + end, base(nil), ""},
		{"tools: all", lead + "tools: all\n" + end, base(func(r *Role) { r.Tools = Tools{All: true} }), ""},
		{"one tool", lead + "tools: read_file\n" + end, base(listed("read_file")), ""},
		{"with commas", lead + "tools: read_file, shell ,\n" + end, base(listed("read_file", "shell")), ""},
		{"a list", lead + "tools:\n  - read_file\n  - shell\n" + end, base(listed("read_file", "shell")), ""},
		{"a list in one line", lead + "tools: [read_file, 'shell']\n" + end, base(listed("read_file", "shell")), ""},
		{"no tool", lead + "tools: []\n" + end, base(listed()), ""},
		{"names of others stay", lead + "tools: mcp__db__query, read_file\n" + end, base(listed("mcp__db__query", "read_file")), ""},
		{"Claude's names", lead + "tools: Read, Grep, Glob, Bash\n" + end,
			base(listed("read_file", "search_files", "list_files", "shell", "job_status", "job_list", "job_stop")), ""},
		{"each once", lead + "tools: Edit, MultiEdit, edit_file, Task, Agent\n" + end,
			base(listed("edit_file", "delegate", "delegate_send", "job_status", "job_list", "job_stop")), ""},
		{"no counterpart", lead + "tools: Read, WebFetch, Bash(git status), *\n" + end, base(listed("read_file")),
			"4: tools: these have no counterpart here and are left out: WebFetch, Bash(git status), *"},
		{"nothing left is none", lead + "tools: WebFetch\n" + end, base(listed()), "4: tools: these have no counterpart here and are left out: WebFetch"},
		{"denied", lead + "disallowedTools: Bash, write_file, WebFetch, Bash\n" + end, base(func(r *Role) { r.Denied = []string{"shell", "write_file"} }), ""},
		{"model and colour", lead + "model: qwen/qwen3-coder\ncolor: red\n" + end, base(func(r *Role) { r.Model, r.Color = "qwen/qwen3-coder", "red" }), ""},
		{"another colour", lead + "color: mauve\n" + end, base(nil), "4: there is no color mauve; it is blue"},
		{"other keys", lead + "permissionMode: plan\nhooks:\n  Stop: []\n" + end, base(nil), "4: these keys are not used here: permissionMode, hooks"},
		{"no prompt", lead + "---\n\n", base(func(r *Role) { r.Prompt = "" }), "1: there is no prompt below the front matter"},
		{"the end of the file closes", lead + "---", base(func(r *Role) { r.Prompt = "" }), "1: there is no prompt below the front matter"},
		{"a mark and carriage returns", "\ufeff" + strings.ReplaceAll(lead+end, "\n", "\r\n"), base(nil), ""},
		{"fences with spaces", "--- \nname: scout\ndescription: Looks around.\n---\t\nYou are the scout.", base(nil), ""},
		{"a fence in the prompt", lead + "---\nYou are\n---\nthe scout.\n", base(func(r *Role) { r.Prompt = "You are\n---\nthe scout." }), ""},
		{"a description of several lines", "---\nname: scout\ndescription: |\n  Looks around.\n  Far.\n" + end, base(func(r *Role) { r.Description = "Looks around.\nFar." }), ""},
		{"aliases lead nowhere", lead + "a: &a [*a, *a]\n" + end, base(nil), "4: these keys are not used here: a"},
	} {
		got, notes, bad := parse([]byte(c.file))
		var said []string
		for _, n := range notes {
			said = append(said, n.Error())
		}
		if bad != nil || !reflect.DeepEqual(got, c.want) || strings.Join(said, "; ") != c.notes {
			t.Errorf("%s: got\n%+v, %q, %v\nwant\n%+v, %q", c.what, got, said, bad, c.want, c.notes)
		}
	}
}

// clause: RC-054 RC-055
func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"", "1: there is no front matter; the first line must be ---"},
		{"You are the scout.\n---\n", "1: there is no front matter; the first line must be ---"},
		{"---\nname: scout\n", "1: the front matter is not closed by a line ---"},
		{"---\n---\n", "1: name is missing"},
		{"---\n# nothing\n---\n", "1: name is missing"},
		{"---\nname: scout\n---\n", "1: description is missing"},
		{"---\ndescription: Looks around.\n---\n", "1: name is missing"},
		{"---\n- name\n---\n", "2: the front matter must be lines of the form key: value"},
		{"---\nscout\n---\n", "2: the front matter must be lines of the form key: value"},
		{"---\nname: scout\n...\nmore: 1\n---\n", "1: the front matter holds more than one document"},
		{"---\nname: scout\ndescription: ''\n---\n", "3: description is empty; it says when the role is to be used"},
		{"---\nname: scout\ndescription:\n---\n", "3: description must be a text; quote what YAML takes for something else"},
		{"---\nname: scout\ndescription: [a]\n---\n", "3: description must be a text; quote what YAML takes for something else"},
		{"---\nname: 7\n---\n", "2: name must be a text; quote what YAML takes for something else"},
		{"---\nname: ''\n---\n", `2: name: got ""; want lower-case letters and digits, with single hyphens between, at most 64 in all`},
		{"---\nname: Scout\n---\n", "2: name: got Scout; want lower-case"},
		{"---\nname: a--b\n---\n", "2: name: got a--b; want"},
		{"---\nname: plug:scout\n---\n", "2: name: got plug:scout; want"},
		{"---\nname: ../scout\n---\n", "2: name: got ../scout; want"},
		{"---\nname: " + strings.Repeat("a", 65) + "\n---\n", "2: name: got aaaa"},
		{"---\nname: \"a\\nb\"\n---\n", `2: name: got "a b"; want`},
		{lead + "name: again\n" + end, "4: name is given twice"},
		{lead + "? [a]\n: b\n" + end, "4: a key must be a word"},
		{lead + "tools:\n" + end, "4: tools must be a list of names, or names with commas between; [] is none"},
		{lead + "tools: ''\n" + end, "4: tools must be a list of names, or names with commas between; [] is none"},
		{lead + "tools: {a: b}\n" + end, "4: tools must be a list of names, or names with commas between; [] is none"},
		{lead + "tools: true\n" + end, "4: tools must be a list of names, or names with commas between; [] is none"},
		{lead + "tools:\n  - read_file\n  - 7\n" + end, "6: each of tools must be a text"},
		{lead + "tools: [all, read_file]\n" + end, "4: tools: all stands alone, not among other names"},
		{lead + "tools: [all]\n" + end, "4: tools: all stands alone, not among other names"},
		{lead + "disallowedTools: Bash(rm *)\n" + end, "4: disallowedTools: Bash(rm *): a tool can be denied as a whole only"},
		{lead + "disallowedTools: 'mcp__*'\n" + end, "4: disallowedTools: mcp__*: a tool can be denied as a whole only"},
		{lead + "disallowedTools:\n" + end, "4: disallowedTools must be a list of names"},
		{lead + "model: two words\n" + end, `4: model: got two words; want a model's name, or inherit`},
		{lead + "model: \"a\\e[2J\"\n" + end, `4: model: got "a\x1b[2J"; want a model's name`},
		{lead + "model:\n" + end, "4: model must be a text"},
		{"---\nname: scout\ndescription: Use it when: always\n---\n", `3: a text that holds ": " must stand in quotes, and each key at the start of its line`},
		{"---\nname: scout\ndescription: 'open\n---\n", "3: found unexpected"},
		{"---\nname: scout\ndescription: 'quoted' and not\ntools: all\n---\n", "3: did not find expected key"},
		{"---\nname: scout\ndescription: [a\ntools: all\n---\n", "3: did not find expected ',' or ']'"},
		{"---\nname: scout\ndescription: a\n- b\n---\n", "3: did not find expected key"},
		{"---\nname: scout\ndescription: `a`\n---\n", "3: found character that cannot start any token"},
		{"---\nname: scout\njust words\n---\n", "3: could not find expected ':'"},
		{"---\nname: *none\n---\n", "unknown anchor"},
		{"---\nname: scout\ndescription: a\xffb\n---\n", "3: it is not UTF-8 text"},
		{lead + "---\na\x00b\n", "5: it is not UTF-8 text"},
		{"---\nname: scout\n" + strings.Repeat("# more\n", 10000) + "---\n", "the front matter has more than 65536 bytes"},
	} {
		r, _, bad := parse([]byte(c.file))
		if bad == nil || !strings.Contains(bad.Error(), c.want) {
			t.Errorf("%q: got %+v, %v; want %q", c.file[:min(len(c.file), 200)], r, bad, c.want)
		}
	}
}

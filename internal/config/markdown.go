package config

import (
	"encoding/json"
	"fmt"
	"strings"
)

const intro = `# Configuration

<!-- Written by make golden from the table in internal/config. -->

A value comes from the first of these places that sets it:

1. a flag, named as the key with dashes: ` + "`max_turns`" + ` is ` + "`--max-turns`" + `;
2. an environment variable;
3. the project's file, ` + "`.evener/config.json`" + `;
4. the user's file, ` + "`$XDG_CONFIG_HOME/evener/config.json`" + ` (else ` + "`~/.config/evener/config.json`" + `);
5. the default.

Both files hold one JSON object. An unknown key, a key set twice, a wrong type or a value out of bounds is an error that
names file, line and key; so is a key in a project's file that is not marked *project* below. ` + "`evener config`" + ` prints every
effective value and where it came from.

A cloned repository does not decide where requests go, what they carry, or which program answers as the model. Keys
marked *project if trusted* count in a project's file once the user has read it and said ` + "`evener trust DIR`" + `. That is kept in
` + "`trusted/`" + ` beside the user's file, by the real path of the folder and the text of its ` + "`config.json`" + `: when the file
changes, it is asked about again. What the file names (a program, certificates, a script) can change without that.

`

const statePlaces = `
## Where state lies

| set | sessions stand in |
| --- | --- |
| nothing | ` + "`.evener/sessions`" + ` of the project: the nearest ` + "`.evener`" + ` at or above the working directory, inside the repository, else one made in it |
| ` + "`state_dir`" + ` | ` + "`<state_dir>/sessions`" + `, of all projects that set it alike |
| ` + "`state_home`" + ` | ` + "`<state_home>/projects/<project>/sessions`" + `; nothing is written into the project |

Of the two keys the one from the stronger place counts, so that ` + "`--state-dir`" + ` goes before ` + "`EVENER_STATE_HOME`" + `, and that
before a ` + "`state_dir`" + ` of the user's file; from the same place ` + "`state_dir`" + ` does. The settings of a project stay in its ` + "`.evener`" + `.

In a state home the project is the folder that holds the nearest ` + "`.evener`" + `, else the repository, else the working
directory. Its name begins readably and ends in a hash of its real path: folders never share one, and one folder has one
however it is reached. Two spellings of a word (composed or not) are two projects where they are two folders. A folder
that was moved is another project. An exact ` + "`job:`" + ` ref is looked for in the project first, then in its siblings; where two of
them have it, that is an error and none is read.
`

// Markdown is docs/configuration.md.
func Markdown() string {
	var b strings.Builder
	b.WriteString(intro)
	b.WriteString("| key | type and bounds | default | set in | meaning |\n| --- | --- | --- | --- | --- |\n")
	for i := range table {
		k := &table[i]
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", k.name, k.bounds(), k.defaultText(), k.settable(), k.doc)
	}
	for i := range table {
		if k := &table[i]; k.named != nil {
			b.WriteString(k.namedMarkdown())
		}
	}
	b.WriteString("\n## Environment\n\nAn empty variable is an unset one.\n\n| variable | key |\n| --- | --- |\n")
	for i := range table {
		if k := &table[i]; k.env != "" {
			fmt.Fprintf(&b, "| `%s` | `%s` |\n", k.env, k.name)
		}
	}
	b.WriteString("| `XDG_CONFIG_HOME`, `HOME` | where the user's file stands |\n")
	b.WriteString(statePlaces)
	fmt.Fprintf(&b, "\n## Foreground wait\n\nA foreground command is waited for `default_command_timeout_ms`, but never longer than `max_command_timeout_ms`.\n"+
		"A session that has no provider profile yet waits %d ms, unless a file sets the key.\n", FallbackCommandTimeoutMS)
	return b.String()
}

// namedMarkdown documents the objects of a key.
func (k *key) namedMarkdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n| key | type and bounds | default | meaning |\n| --- | --- | --- | --- |\n", k.named.doc)
	for _, r := range k.of("NAME") {
		def := r.defaultText()
		switch {
		case strings.HasSuffix(r.name, "."+k.named.needs):
			def = "required"
		case r.top != nil:
			def = "`" + r.top.name + "` at the top"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.name, r.bounds(), def, r.doc)
	}
	return b.String()
}

func (k *key) bounds() string {
	if k.named != nil {
		return "object"
	}
	switch k.def.(type) {
	case int64:
		unit := k.unit
		if unit != "" {
			unit = " " + unit
		}
		return fmt.Sprintf("%d to %d%s", k.min, k.max, unit)
	case bool:
		return "`true`, `false`"
	case *float64:
		return fmt.Sprintf("%d to %d, with a fraction", k.min, k.max)
	case []string:
		return "list of strings"
	case map[string]string:
		return "object of strings"
	case json.RawMessage:
		return "object"
	}
	if k.choices != nil {
		return "`" + strings.Join(k.choices, "`, `") + "`"
	}
	return "text"
}

func (k *key) defaultText() string {
	switch k.def.(type) {
	case int64, bool:
	case string:
		if k.def == "" {
			return "unset"
		}
	default:
		return "unset"
	}
	return fmt.Sprintf("`%v`", k.def)
}

func (k *key) settable() string {
	var all []string
	for _, s := range k.in {
		all = append(all, string(s))
	}
	if k.env != "" {
		all = append(all, "env")
	}
	return strings.Join(all, ", ")
}

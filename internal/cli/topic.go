package cli

import (
	"flag"
	"strings"
)

// topic is a command with its flags, as its help shows them; the run without a name is the first.
type topic struct {
	command
	set *flag.FlagSet
}

// topics is what documents and completions are made from: the same table and the
// same flags that serve the commands.
func topics() []topic {
	out := []topic{{runUsage, runFlagSet()}}
	e := &env{described: func(c command, fs *flag.FlagSet) { out = append(out, topic{c, fs}) }}
	for _, c := range commands() {
		c.run(e, []string{"-h"})
	}
	return out
}

// topicOf is the command of that name, else the run.
func topicOf(name string) topic {
	all := topics()
	for _, t := range all {
		if t.name == name {
			return t
		}
	}
	return all[0]
}

// lookup is the flag that a word with dashes names, or nil.
func (t topic) lookup(word string) *flag.Flag {
	name, dashed := strings.CutPrefix(word, "-")
	if !dashed {
		return nil
	}
	return t.set.Lookup(strings.TrimPrefix(name, "-"))
}

// flagWords are the flags by the names that the help gives them.
func (t topic) flagWords() []candidate {
	var out []candidate
	t.set.VisitAll(func(f *flag.Flag) {
		_, usage := flag.UnquoteUsage(f)
		out = append(out, candidate{dashed("-" + f.Name), usage})
	})
	return out
}

// valueName is what the help calls the value of a flag, or "" where there is none.
func valueName(f *flag.Flag) string {
	kind, _ := flag.UnquoteUsage(f)
	if v := values[f.Name]; v != "" {
		return v
	}
	return strings.ToUpper(kind)
}

// spelled is a flag with its value, as the help writes it.
func spelled(f *flag.Flag) string {
	value := valueName(f)
	switch {
	case value != "" && isBool(f):
		value = "[=" + value + "]"
	case value != "":
		value = " " + value
	}
	return dashed("-"+f.Name) + value
}

package cli

import (
	"embed"
	"flag"
	"fmt"
	"strings"

	"evener/internal/pattern"
	"evener/internal/text"
)

//go:embed completion
var completionScripts embed.FS

var completionCommand = command{
	name: "completion", args: "bash|zsh|fish | words -- WORD...", summary: "what lets a shell complete commands, flags and ids",
	help: `Prints a script for the shell. It asks the evener on the PATH at each completion, so that it knows its
commands, flags and their values, and the sessions and jobs there are.

  bash  . <(evener completion bash)        in ~/.bashrc
  zsh   . <(evener completion zsh)         in ~/.zshrc, after compinit
  fish  evener completion fish | source    in ~/.config/fish/config.fish

words is what the scripts ask: WORD... is the line behind evener, its last word the one at the cursor, which
may be empty. Each line is a word that fits there, a tab and what it means; :files and :folders stand for
those of the file system. Nothing is written, and no connection is opened.`,
}

func init() { completionCommand.run = runCompletion }

func runCompletion(e *env, args []string) int {
	rest, status, ok := e.parse(completionCommand, e.flags(completionCommand), args)
	switch {
	case !ok:
		return status
	case len(rest) > 0 && rest[0] == "words":
		for _, c := range complete(e, rest[1:]) {
			fmt.Fprintln(e.out, strings.TrimRight(c.word+"\t"+c.about, "\t"))
		}
		return exitOK
	case len(rest) != 1:
		return e.fail(exitUsage, "", "completion takes one shell: bash, zsh or fish")
	}
	script, err := completionScripts.ReadFile("completion/evener." + rest[0])
	if err != nil {
		return e.fail(exitUsage, "", "no completion for %q; there is one for bash, zsh and fish", rest[0])
	}
	_, _ = e.out.Write(script) // what could not be written is told at the end
	return exitOK
}

// candidate is a word that may stand at the cursor, and what it means.
type candidate struct{ word, about string }

// What a shell completes better itself.
var (
	anyFile   = candidate{word: ":files"}
	anyFolder = candidate{word: ":folders"}
)

// complete are the words that may stand in place of the last one.
func complete(e *env, words []string) []candidate {
	if len(words) == 0 {
		words = []string{""}
	}
	before, last := words[:len(words)-1], words[len(words)-1]
	t, first := topicOf(""), len(before) == 0
	if !first {
		if c := topicOf(before[0]); c.name != "" && c.name == before[0] {
			t, before = c, before[1:]
		}
	}
	l := readLine(t, before)
	w := world{e, l.given}
	w.enter()
	switch {
	case l.open != nil:
		return w.values(t, l.open, last, "")
	case strings.HasPrefix(last, "-") && l.flags:
		if name, _, ok := strings.Cut(last, "="); ok {
			if f := t.lookup(name); f != nil {
				return w.values(t, f, last, name+"=")
			}
			return nil
		}
		return fitting(t.flagWords(), last)
	case first:
		if found := fitting(commandWords(), last); len(found) > 0 {
			return found
		}
	}
	return w.arguments(t, last)
}

// typed is what the words before the cursor are.
type typed struct {
	open  *flag.Flag        // the flag whose value stands at the cursor
	flags bool              // a flag may stand there
	given map[string]string // values of flags
}

// readLine reads words as parse would, and as run does of a run, where the flags end at the prompt.
func readLine(t topic, words []string) typed {
	l := typed{flags: true, given: map[string]string{}}
	for i := 0; i < len(words) && l.flags; i++ {
		w := words[i]
		if w == "--" || t.name == "" && !strings.HasPrefix(w, "-") {
			l.flags = false
		}
		name, value, inline := strings.Cut(w, "=")
		f := t.lookup(name)
		switch {
		case f == nil || !inline && isBool(f):
		case inline:
			l.given[f.Name] = value
		case i+1 == len(words):
			l.open = f
		default:
			i++
			l.given[f.Name] = words[i]
		}
	}
	return l
}

func isBool(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}

// fitting are those that begin with what was typed. A word in which a shell would see
// more than a word is not offered: names of models come from files, too.
func fitting(all []candidate, typed string) []candidate {
	var out []candidate
	for _, c := range all {
		if strings.HasPrefix(c.word, typed) && harmless().MatchString(c.word) {
			out = append(out, candidate{c.word, text.Preview(c.about, 60)})
		}
	}
	return out
}

var harmless = pattern.New(`^[A-Za-z0-9._/:@+,=-]+$`)

func commandWords() []candidate {
	var out []candidate
	for _, c := range commands() {
		out = append(out, candidate{c.name, c.summary})
	}
	return out
}

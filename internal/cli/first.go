package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"evener/internal/config"
	"evener/internal/store"
	"evener/internal/text"
)

// What somebody reads who has no model yet, or did not say what to do.

const (
	demoLine  = `evener --model script/builtin:demo hello`
	localURL  = "http://127.0.0.1:8080/v1"
	localLine = `evener --model openai/NAME --base-url ` + localURL + ` PROMPT`
)

// hints prints each hint on a line of its own.
func (e *env) hints(texts ...string) {
	for _, t := range texts {
		if t != "" {
			fmt.Fprintf(e.err, "hint: %s\n", strings.ReplaceAll(text.Printable(t), "\n", " "))
		}
	}
}

// noPrompt says how to begin to a person, and in a pipe that nothing came.
func (e *env) noPrompt(c config.Config) int {
	if f, ok := e.in.(*os.File); !ok || !isTerminal(f) {
		return e.fail(exitUsage, "evener help shows what there is", "no prompt: give it as arguments or on standard input")
	}
	e.fail(exitUsage, "", `no prompt: say what to do, as in evener "fix the failing test"`)
	if c.Model == "" {
		e.hints(demoLine+" shows a session, no network", localLine)
	}
	e.hints("evener help shows what there is")
	return exitUsage
}

// noModel names the places that may name a model, with what to write there.
func (e *env) noModel(c config.Config, home store.Home, guess string) int {
	e.fail(exitUsage, guess, "no model: name one as provider/name, in one of three ways")
	address, setting := "", ""
	if c.BaseURL == "" {
		address, setting = " --base-url "+localURL, fmt.Sprintf(`, "base_url": %q`, localURL)
	}
	e.hints("for one run: --model openai/NAME" + address)
	if file := config.UserFile(e.getenv); file != "" {
		e.hints(`for all folders: {"model": "openai/NAME"` + setting + `} in ` + file)
	}
	e.hints(`for this folder: {"model": "openai/NAME"} in `+home.Project+"/config.json",
		"what a server offers: evener models"+address, "with no server: "+demoLine)
	return exitUsage
}

// near is the name that a word stands for, if it is one slip of typing away
// from it or its beginning.
func near(word string, names []string) string {
	if len(word) < 3 {
		return ""
	}
	for _, n := range names {
		if n != word && (strings.HasPrefix(n, word) || slip(word, n)) {
			return n
		}
	}
	return ""
}

// slip: one letter too many, too few, another one, or two in the wrong order.
func slip(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	x, y := a[i:], b[i:]
	switch {
	case len(a) == len(b) && len(x) > 1 && x[0] == y[1] && x[1] == y[0]:
		return x[2:] == y[2:]
	case len(a) == len(b):
		return len(x) > 0 && x[1:] == y[1:]
	case len(a)+1 == len(b):
		return x == y[1:]
	}
	return false
}

func commandNames() []string {
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	return names
}

// guess is a hint where the words of a prompt may have been meant as a command.
// A prompt may be any word, so it is never more than a hint.
func guess(args, words []string) string {
	if len(words) == 0 || slices.Contains(args, "--") {
		return ""
	}
	names := commandNames()
	if slices.Contains(names, words[0]) { // behind flags, else it would have been the command
		return fmt.Sprintf("evener %s is a command where it comes first, before its flags", words[0])
	}
	if n := near(words[0], names); n != "" {
		return fmt.Sprintf("%q counts as a prompt; there is a command evener %s", words[0], n)
	}
	return ""
}

// asPrompt adds a hint where a command was given words that are none of its
// arguments: a sentence may begin with the name of a command.
func (e *env) asPrompt(args []string, status int) int {
	dash := func(s string) bool { return strings.HasPrefix(s, "-") }
	if status == exitUsage && len(args) > 2 && !slices.ContainsFunc(args, dash) {
		e.hints("evener -- " + text.Preview(strings.Join(args, " "), 40) + " takes these words as a prompt")
	}
	return status
}

package match

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

const (
	// Window is the most bytes that one match, and one excerpt, can have.
	Window = 4096
	// MaxPattern is the most bytes of a pattern.
	MaxPattern = 4096
	// MaxSteps bounds what a pattern may compile to: each byte of output can
	// cost as many steps. .{0,1000} has 2000.
	MaxSteps = 4000
)

// Pattern is a compiled expression. It does not change, and any number of
// matchers may use it at once.
type Pattern struct {
	text  string
	re    *regexp.Regexp // anywhere
	here  *regexp.Regexp // at the beginning of the text
	past  *regexp.Regexp // at the second byte of the text; nil when the first one would not matter
	later *regexp.Regexp // anywhere from the second byte on, as group 1; nil likewise
	find  finder         // nil: no string stands in every match
	shape
}

// Compile checks a pattern and prepares it, in multiline mode. An error is one
// line that says what is wrong with it.
func Compile(pattern string) (*Pattern, error) {
	if len(pattern) > MaxPattern {
		return nil, fmt.Errorf("pattern has %d bytes; at most %d", len(pattern), MaxPattern)
	}
	// By itself first: what follows must not lend it a parenthesis.
	if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
		return nil, invalid(err)
	}
	body := "(?m:" + pattern + ")"
	tree, err := syntax.Parse(body, syntax.Perl)
	if err != nil { // \Q needs no \E at the end of a pattern, but here
		body = "(?m:" + pattern + `\E)`
		if tree, err = syntax.Parse(body, syntax.Perl); err != nil {
			return nil, invalid(err)
		}
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, invalid(err)
	}
	if n := len(prog.Inst); n > MaxSteps {
		return nil, fmt.Errorf("pattern compiles to %d steps; at most %d: use smaller or fewer counted repetitions", n, MaxSteps)
	}
	p := &Pattern{text: pattern, shape: shapeOf(tree)}
	forms := []form{{&p.re, body}, {&p.here, `\A` + body}}
	if p.looksBack {
		forms = append(forms, form{&p.past, `\A(?s:.)` + body}, form{&p.later, `\A(?s:.)(?s:.*?)(` + body + `)`})
	}
	for _, f := range forms {
		if *f.re, err = regexp.Compile(f.text); err != nil {
			return nil, invalid(err)
		}
	}
	if p.need != nil {
		p.find = newFinder(p.need.texts)
	}
	return p, nil
}

type form struct {
	re   **regexp.Regexp
	text string
}

// String is the pattern as it was given.
func (p *Pattern) String() string { return p.text }

func invalid(err error) error {
	var bad *syntax.Error
	if errors.As(err, &bad) {
		return fmt.Errorf("not a valid regular expression: %s: %q", bad.Code, bad.Expr)
	}
	return fmt.Errorf("not a valid regular expression: %w", err)
}

package cli

import (
	"flag"
	"fmt"
)

// parseGiven parses flags as fs does, and refuses one whose value is empty: it is mostly
// a variable of a script that is not set, and must not be taken for a flag that is not there.
func parseGiven(fs *flag.FlagSet, args []string) error {
	fs.VisitAll(func(f *flag.Flag) {
		if !isBool(f) {
			f.Value = given{f.Value, f}
		}
	})
	defer fs.VisitAll(func(f *flag.Flag) { // what shows flags knows values by their types
		if g, ok := f.Value.(given); ok {
			f.Value = g.Value
		}
	})
	return fs.Parse(args)
}

// given is a value that may not be empty.
type given struct {
	flag.Value
	of *flag.Flag
}

func (g given) Set(s string) error {
	if s == "" {
		if err := g.Value.Set(s); err != nil { // it says better what it wants
			return err
		}
		g.of.Value = g.Value
		return fmt.Errorf(`got ""; want %s`, valueName(g.of))
	}
	return g.Value.Set(s)
}

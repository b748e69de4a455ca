package config

import (
	"errors"
	"flag"
	"fmt"
	"slices"
)

// Flags holds the flags that were given: key name to text.
type Flags map[string]string

// AddFlags gives a flag set one flag for each key that has one, or of only
// these keys, named as the key with dashes, and returns where their values
// appear as they are parsed. A wrong value fails the parsing.
func AddFlags(fs *flag.FlagSet, only ...string) Flags {
	set := Flags{}
	for i := range table {
		k := &table[i]
		if !k.allows(Flag) || len(only) > 0 && !slices.Contains(only, k.name) {
			continue
		}
		take := func(text string) error {
			if k.flag != nil {
				value, bad := k.flag.value(text)
				if bad != "" {
					return errors.New(bad)
				}
				text = value
			}
			if _, bad := k.fromText(text); bad != "" {
				return errors.New(bad)
			}
			set[k.name] = text
			return nil
		}
		if _, ok := k.def.(bool); ok || k.flag != nil {
			fs.BoolFunc(k.flagName(), k.usage(), take)
		} else {
			fs.Func(k.flagName(), k.usage(), take)
		}
	}
	return set
}

// Choices are the only values that the flag of this name takes, or none where it takes others.
func Choices(flagName string) []string {
	for i := range table {
		if k := &table[i]; k.allows(Flag) && k.flagName() == flagName {
			return slices.Clone(k.choices)
		}
	}
	return nil
}

// usage is the help of a flag.
func (k *key) usage() string {
	if k.flag != nil {
		return k.flag.doc
	}
	if k.def == "" || k.def == false {
		return k.doc
	}
	return fmt.Sprintf("%s (default %v)", k.doc, k.def)
}

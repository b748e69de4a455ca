// Package pattern makes regular expressions that are compiled when they are
// first used: most commands need none of the many that there are, and compiling
// them all took a good part of every start.
package pattern

import (
	"regexp"
	"sync"
)

// New gives a function that compiles the expression once. Like
// regexp.MustCompile, it is for constants: a wrong one panics when it is used.
func New(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

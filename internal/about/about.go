// Package about knows the program's version, and answers "evener version".
package about

import "os"

// Version is the program's; the build sets it.
var Version = "devel"

// Line is what "evener version" prints.
func Line() string { return "evener " + Version + "\n" }

// init answers the bare command before the rest of the program is initialised,
// which takes longer than everything else that the command does: packages come
// in the order of their import paths once what they import is ready. Whatever
// goes wrong is left to the command itself, which says so.
func init() {
	if len(os.Args) != 2 || os.Args[1] != "version" {
		return
	}
	if _, err := os.Stdout.WriteString(Line()); err == nil {
		os.Exit(0)
	}
}

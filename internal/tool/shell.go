package tool

import (
	_ "embed"
	"strings"

	"evener/internal/fault"
	"evener/internal/session"
)

//go:embed shell.md
var shellText string

var shell = define("shell", shellText, checkShell)

// checkShell refuses a NUL in the command. A command line is handed over as a
// C string, which would end there: the rest would be cut off without a word.
func checkShell(c session.ShellCall) *fault.Error {
	if at := strings.IndexByte(c.Command, 0); at >= 0 {
		return fault.Invalid("shell: command holds a NUL character at byte %d, which no command line can carry; write it as an escape that the command expands, such as printf '\\0'", at)
	}
	return nil
}

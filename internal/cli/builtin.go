package cli

import (
	"embed"
	"io/fs"
)

//go:embed scripts
var scripts embed.FS

// builtinScripts are the scripted models that came with the program:
// --model script/builtin:NAME.
func builtinScripts() fs.FS {
	sub, err := fs.Sub(scripts, "scripts")
	if err != nil {
		panic("cli: no scripts: " + err.Error()) // the folder is embedded above
	}
	return sub
}
